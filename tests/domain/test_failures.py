"""What a failure is and whether it may be retried."""

from __future__ import annotations

import re

import pytest

from reprise.domain.failures import (
    CompletionError,
    Failure,
    FailureKind,
    failure_fields,
    failure_from_exception,
    is_retryable,
    is_retryable_text,
)

# One text per pattern of R22, in its order, each matching no other pattern.
PATTERNS = {
    "overloaded": "the model is overloaded",
    "provider.?returned.?error": "provider-returned-error",
    "rate.?limit": "Rate_Limit reached",
    "too many requests": "Too Many Requests",
    "429": "HTTP 429",
    "500": "HTTP 500",
    "502": "HTTP 502",
    "503": "HTTP 503",
    "504": "HTTP 504",
    "service.?unavailable": "service unavailable",
    "server.?error": "server_error",
    "internal.?error": "internal error",
    "network.?error": "network-error",
    "connection.?error": "connection error",
    "connection.?refused": "Connection refused",
    "connection.?lost": "connection lost",
    "websocket.?closed": "WebSocket closed",
    "websocket.?error": "websocket error",
    "other side closed": "other side closed",
    "fetch failed": "fetch failed",
    "upstream.?connect": "upstream connect",
    "reset before headers": "reset before headers",
    "socket hang up": "socket hang up",
    "ended without": "ended without a reply",
    "stream ended before message_stop": "stream ended before message_stop",
    "http2 request did not get a response": "HTTP2 request did not get a response",
    "timed? out": "it timed out",
    "timeout": "idle timeout",
    "terminated": "terminated",
    "retry delay": "retry delay",
}


def test_there_are_thirty_patterns() -> None:
    """R22."""
    assert len(PATTERNS) == 30


@pytest.mark.parametrize(("pattern", "text"), PATTERNS.items(), ids=PATTERNS.keys())
def test_each_pattern_makes_its_text_retryable(pattern: str, text: str) -> None:
    """R22: each alone, whatever the case."""
    assert [each for each in PATTERNS if re.search(each, text, re.IGNORECASE)] == [pattern]
    assert is_retryable_text(text)
    assert is_retryable_text(text.upper())


@pytest.mark.parametrize(
    "text", ["ratelimit", "rate-limit", "service_unavailable", "timed out", "time out", "connectionrefused"]
)
def test_at_most_one_character_stands_between(text: str) -> None:
    """R22: ``.?`` is one character or none."""
    assert is_retryable_text(text)
    assert not is_retryable_text("rate the limit")


@pytest.mark.parametrize(
    "text",
    [
        "overloaded_error",
        "Provider returned error: 429 Too Many Requests",
        "rate limit exceeded",
        "HTTP 503 Service Unavailable",
        "websocket closed",
        "stream ended before message_stop",
        "socket hang up",
        "reset before headers",
    ],
)
def test_the_examples_that_must_match(text: str) -> None:
    """R23."""
    assert is_retryable_text(text)


@pytest.mark.parametrize("text", ["bad request: missing field", "Unauthorized", "model not found", ""])
def test_the_examples_that_must_not_match(text: str) -> None:
    """R23."""
    assert not is_retryable_text(text)


@pytest.mark.parametrize(
    ("kind", "retried"),
    [
        (FailureKind.AUTH, False),
        (FailureKind.BAD_REQUEST, False),
        (FailureKind.QUOTA, False),
        (FailureKind.CONTEXT_LENGTH, False),
        (FailureKind.CONTENT_FILTER, False),
        (FailureKind.RATE_LIMIT, True),
        (FailureKind.OVERLOADED, True),
        (FailureKind.SERVER, True),
        (FailureKind.NETWORK, True),
        (FailureKind.TIMEOUT, True),
        (FailureKind.PROTOCOL, True),
        (FailureKind.UNKNOWN, True),
        (FailureKind.BUG, False),
        (FailureKind.STORAGE, False),
    ],
)
def test_what_is_retried(kind: FailureKind, retried: bool) -> None:
    """D1."""
    assert is_retryable(kind) is retried


@pytest.mark.parametrize("kind", list(FailureKind))
def test_the_providers_no_wins_and_its_yes_makes_nothing_retryable(kind: FailureKind) -> None:
    """D1: `x-should-retry: false`."""
    assert not is_retryable(kind, should_retry=False)
    assert is_retryable(kind, should_retry=True) is is_retryable(kind)


def test_a_retry_after_over_the_cap_is_not_retryable() -> None:
    """D1, D3."""
    assert is_retryable(FailureKind.RATE_LIMIT, retry_after_s=120.0)
    assert not is_retryable(FailureKind.RATE_LIMIT, retry_after_s=120.5)
    assert is_retryable(FailureKind.RATE_LIMIT, retry_after_s=120.5, after_cap_s=200.0)


@pytest.mark.parametrize(
    "error", [TypeError("x"), AttributeError("x"), NameError("x"), AssertionError(), KeyError("x")]
)
def test_our_own_mistakes_are_bugs(error: Exception) -> None:
    """D1: never retried; the words name the exception, with or without a text."""
    failure = failure_from_exception(error)
    assert (failure.kind, failure.retryable) == (FailureKind.BUG, False)
    assert failure.message.startswith(type(error).__name__)


def test_an_exception_that_fits_nothing_is_unknown_and_retryable() -> None:
    """D1, R2: "fail-1" is retried."""
    failure = failure_from_exception(RuntimeError("fail-1"))
    assert failure == Failure(FailureKind.UNKNOWN, "RuntimeError: fail-1", True)


def test_a_providers_failure_is_taken_as_it_is() -> None:
    """Design section 4: made at the wire, not read again."""
    failure = Failure(FailureKind.QUOTA, "no credit", False, status=429)
    assert failure_from_exception(CompletionError(failure)) is failure
    assert str(CompletionError(failure)) == "no credit"


def test_a_failure_keeps_the_names_it_is_stored_and_printed_under() -> None:
    """The files of earlier versions and the readers of `--json` know these names."""
    failure = Failure(FailureKind.RATE_LIMIT, "slow down", True, 7.5, 429, "req-1", "the whole body")
    assert failure_fields(failure) == {
        "kind": "rate_limit",
        "message": "slow down",
        "retryable": True,
        "retry_after_s": 7.5,
        "status": 429,
        "request_id": "req-1",
    }
