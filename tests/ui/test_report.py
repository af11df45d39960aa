"""A report says what happened and keeps what is the person's own out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import ModelRef, TextPart
from reprise.domain.sessions import Attempt, AttemptState, Entry
from reprise.ui.report import redacted, report_of

AT = datetime(2026, 3, 1, 14, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
        ("header x-api-key: 8c1fa2", "8c1fa2"),
        ('{"api_key": "zz-top-secret"}', "zz-top-secret"),
        ("Incorrect API key provided: sk-proj-abcdefghijkl1234", "sk-proj-abcdefghijkl1234"),
        ("https://anna:hunter2@host/v1 refused", "hunter2"),
        ("GET https://host/v1/models?key=abc123&x=1 failed", "abc123"),
        ("no such file /home/anna/prompts.txt", "anna"),
        ("no such file C:\\Users\\Anna\\prompts.txt", "Anna"),
    ],
)
def test_nothing_that_is_somebodys_own_is_in_a_report(said: str, hidden: str) -> None:
    """Copy report is redacted."""
    assert hidden in said
    assert hidden not in redacted(said)


@pytest.mark.parametrize(
    "said",
    [
        "Rate limit reached for requests",
        "The model `gpt-4o` does not exist",
        "maximum context length is 8192 tokens",
        "connect to https://api.example.org/v1/chat/completions failed",
        "the task sk-1 is unknown",
    ],
)
def test_what_tells_the_cause_stays(said: str) -> None:
    """A report that says nothing helps nobody."""
    assert redacted(said) == said


def test_a_report_has_every_attempt_and_neither_prompt_nor_reply() -> None:
    """D5, N9, N19: times, kinds, status, request ids; the texts are counted only."""
    failure = Failure(FailureKind.RATE_LIMIT, "slow down", True, 20.0, 429, "req-7", "key sk-abcdefghijklmnop is busy")
    failed = Attempt(
        ModelRef("own", "m"), 1, AttemptState.FAILED, (TextPart("eleven char"),), failure, AT.replace(second=9)
    )
    stopped = Attempt(ModelRef("own", "m"), 2, AttemptState.STOPPED, (), None, AT)
    report = report_of([Entry("a", "s", "p", AT, failed), Entry("b", "s", "p", AT, stopped)])
    assert "1. 2026-03-01 14:02:03 UTC, ended 14:02:09: failed, 11 characters" in report
    assert "failure: rate_limit, status 429, may be retried" in report
    assert "asked to wait: 20 s" in report
    assert "request: req-7" in report
    assert "| slow down" in report
    assert "2. 2026-03-01 14:02:03 UTC, ended 14:02:03: stopped, 0 characters" in report
    assert "eleven" not in report
    assert "sk-abcdefghijklmnop" not in report
