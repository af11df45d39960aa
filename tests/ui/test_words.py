"""Every failure is a sentence a person understands."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import Message, ModelRef, ReplyInfo, Role, TextPart
from reprise.domain.ports import History
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, AttemptState, Entry, Session
from reprise.ui.fuzzy import match
from reprise.ui.language import duration
from reprise.ui.timeline_items import Telling, items_of
from reprise.ui.words import again_sentence, attempt_rows, countdown_segments, failure_sentence, pending_sentence

NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)
MODEL = ModelRef("p", "m")


@pytest.mark.parametrize("kind", list(FailureKind))
def test_each_kind_has_a_sentence_without_the_exception(kind: FailureKind) -> None:
    """ux section 2: never a raw exception."""
    said = failure_sentence(Failure(kind, "Traceback: KeyError('x')", retryable=True, status=503), "Acme")
    assert said.title.endswith(".")
    assert "Traceback" not in said.title
    assert "KeyError" not in said.advice or kind is FailureKind.STORAGE


@pytest.mark.parametrize(
    "words",
    [
        "Cannot find api.opnai.com - check the address.",
        "127.0.0.1:9 refused the connection - is the server running, and is the port right?",
    ],
)
def test_a_host_that_never_worked_names_itself(words: str) -> None:
    """D14: the wire's own words name the host."""
    assert failure_sentence(Failure(FailureKind.NETWORK, words, retryable=True)).title == words


def test_an_unknown_address_says_what_to_check() -> None:
    """404 is a bad request of its own kind (D1)."""
    said = failure_sentence(Failure(FailureKind.BAD_REQUEST, "no such model", retryable=False, status=404), "Acme")
    assert "404" in said.title
    assert "Settings" in said.advice


def test_a_wait_the_user_chose_is_no_retry_of_a_schedule() -> None:
    """N4, R12: "1 of 3" only where one of the three is used."""
    limited = Failure(FailureKind.RATE_LIMIT, "slow down", retryable=True)
    middles = [countdown_segments(PendingRetry("", limited, retry, 3, 9.0), 5, "Acme")[1][0] for retry in (0, 1)]
    assert middles == [" Retry in ", " Retry 1 of 3 in "]


@pytest.mark.parametrize(("reason", "is_cut"), [("length", True), ("MAX_TOKENS", True), ("stop", False), (None, False)])
def test_a_reply_cut_at_the_output_limit_says_so_however_the_limit_is_spelt(reason: str | None, is_cut: bool) -> None:
    """L13, D9: the domain decides what a cut reply is."""
    reply = Message(Role.ASSISTANT, (TextPart("words"),), ReplyInfo(MODEL, reason))
    entry = Entry("e", "s", None, NOW, reply)
    (item,) = items_of(
        History(Session("s", "T", "e", NOW, NOW), (entry,)), Telling(lambda _: "M", lambda entry: (entry,))
    )
    assert bool(item.note) is is_cut


def test_times_have_at_most_two_units() -> None:
    """The clock of the banner."""
    assert [duration(s) for s in (0.4, 12, 60, 380, 9420, 7200)] == [
        "0 s",
        "12 s",
        "1 min",
        "6 min 20 s",
        "2 h 37 min",
        "2 h",
    ]


def test_a_wait_over_the_cap_names_the_clock_time() -> None:
    """D3."""
    failure = Failure(FailureKind.RATE_LIMIT, "later", retryable=False, retry_after_s=9420, status=429)
    said = pending_sentence(PendingRetry("go", failure, ask_s=9420), "Acme", (), (), NOW)
    until = (NOW + timedelta(seconds=9420)).astimezone().strftime("%H:%M")
    assert said.title == f"Acme asks for a wait of 2 h 37 min, until {until}."


@pytest.mark.parametrize(
    ("pending", "said"),
    [
        (PendingRetry("t"), ""),
        (PendingRetry("t", Failure(FailureKind.AUTH, "no", False), 0, 10), "Not by itself: trying again"),
        (PendingRetry("t", Failure(FailureKind.SERVER, "no", False), 0, 10), "Not by itself: trying again"),
        (PendingRetry("t", Failure(FailureKind.BUG, "x", False), 0, 10), "Not by itself: the mistake is"),
        (PendingRetry("t", Failure(FailureKind.STORAGE, "x", False), 0, 10), "Not by itself: the mistake is"),
        (
            PendingRetry("t", Failure(FailureKind.RATE_LIMIT, "no", False, 9420), 0, 10, ask_s=9420),
            "Not by itself: the provider asks for a longer wait",
        ),
        (PendingRetry("t", Failure(FailureKind.SERVER, "no", True), 0, 0), "Not by itself: automatic retries are off"),
        (PendingRetry("t", Failure(FailureKind.SERVER, "no", True), 3, 3), "It may work"),
    ],
)
def test_a_pending_turn_says_why_it_is_or_is_not_tried_again(pending: PendingRetry, said: str) -> None:
    """N19: for every way in which a turn can come to wait for the user; a stop needs no reason."""
    assert again_sentence(pending).startswith(said)
    assert bool(again_sentence(pending)) is bool(said)


def test_attempts_say_what_each_came_to_and_what_followed() -> None:
    """F11, R48: ux section 2: attempts with times."""
    limited = Failure(FailureKind.RATE_LIMIT, "x", retryable=True, status=429)

    def entry(at_s: float, attempt: Attempt) -> Entry:
        return Entry(f"e{at_s}", "s", "p", NOW + timedelta(seconds=at_s), attempt)

    rows = attempt_rows(
        [
            entry(
                0,
                Attempt(MODEL, 1, AttemptState.FAILED, (TextPart("one two"),), limited, NOW + timedelta(seconds=3)),
            ),
            entry(8, Attempt(MODEL, 2, AttemptState.FAILED, (), limited, NOW + timedelta(seconds=8.2))),
            entry(20, Attempt(MODEL, 3, AttemptState.STOPPED, (), None, NOW + timedelta(seconds=21))),
        ]
    )
    assert [(row.number, row.what, row.then) for row in rows] == [
        (1, "cut off after 2 words", "then waited 5 s"),
        (2, "429 at once", "then waited 12 s"),
        (3, "stopped", ""),
    ]


DOWN = Failure(FailureKind.SERVER, "down", retryable=True)


def failed(number: int, retry: int, retries: int = 2, *, model: ModelRef = MODEL, failure: Failure = DOWN) -> Attempt:
    """Attempt `number` of a round; no retry of it is scheduled any more."""
    return Attempt(model, number, AttemptState.FAILED, (), failure, NOW, retry, retries)


@pytest.mark.parametrize(
    ("attempts", "then", "again"),
    [
        ([failed(1, 1), failed(2, 2), failed(3, 2)], "gave up", "The automatic retries have ended."),
        ([failed(1, 1)], "wait cancelled", "You cancelled the wait"),
        ([failed(1, 1), failed(2, 2)], "wait cancelled", "You cancelled the wait"),
        ([failed(1, 1, 1), failed(2, 1, 1)], "gave up", "The automatic retries have ended."),
        ([failed(1, 1, 1), failed(1, 1, 1)], "wait cancelled", "You cancelled the wait"),
        ([failed(1, 1, 1), failed(2, 1, 1, model=ModelRef("p", "other"))], "wait cancelled", "You cancelled the wait"),
        ([failed(1, 0)], "not tried again", "The wait for the next try has ended."),
        ([failed(1, 1), failed(2, 1)], "not tried again", "The wait for the next try has ended."),
        ([failed(1, 0, 0)], "not tried again", "automatic retries are off"),
        ([failed(1, 0, failure=Failure(FailureKind.AUTH, "no", False))], "not tried again", "the same way"),
    ],
    ids=[
        *("exhausted", "first wait cancelled", "last wait cancelled", "one retry", "the only wait cancelled again"),
        *("the wait of the fallback cancelled", "offline hold cancelled", "waited long enough", "off", "refused"),
    ],
)
def test_only_a_schedule_that_is_used_up_has_given_up(attempts: list[Attempt], then: str, again: str) -> None:
    """N19, D6: a wait that the person ended is their own doing, whichever of the retries it was for."""
    last = attempts[-1]
    entries = [Entry(f"e{place}", "s", "p", NOW, attempt) for place, attempt in enumerate(attempts)]
    assert attempt_rows(entries)[-1].then == then
    assert again in again_sentence(PendingRetry("t", last.failure, last.retry, last.retries), attempts)


@pytest.mark.parametrize(
    ("query", "text", "hit"),
    [
        ("retr", "Retry", True),
        ("nc", "New Chat", True),
        ("xyz", "Retry", False),
        ("re", "One-pass CSV importer", False),
    ],
)
def test_the_palette_finds_beginnings_of_words(query: str, text: str, hit: bool) -> None:
    """Scattered letters inside words are chance."""
    assert (match(query, text) is not None) == hit
