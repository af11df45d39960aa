"""The turn as a state machine: every edge, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprise.domain.deltas import TextDelta
from reprise.domain.events import (
    Answer,
    AttemptFailed,
    AttemptStarted,
    DeltaArrived,
    ModelSwitched,
    Outcome,
    RetryScheduled,
    RetryStarted,
    RoundCompleted,
    RoundLimitAnswered,
    RoundLimitAsked,
    Steered,
    ToolCallStarted,
    ToolResultRecorded,
    Truncated,
    TurnEvent,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import ModelRef, ToolCallPart, Usage, user_message
from reprise.domain.retry import PendingRetry, WaitReason
from reprise.domain.sessions import Entry
from reprise.domain.turns import (
    AwaitingAnswer,
    AwaitingRetry,
    Finished,
    Idle,
    IllegalTransition,
    RunningTools,
    Streaming,
    TurnState,
    advance,
    is_busy,
)

ENTRY = Entry("1", "s", None, datetime(2026, 1, 2, tzinfo=UTC), user_message("hi"))
FAILURE = Failure(FailureKind.SERVER, "down", True)
WAITING = PendingRetry("hi", FAILURE, 1, 3, due_at=5.0)
PENDING = PendingRetry("hi", FAILURE, 1, 3)
OFFLINE = PendingRetry("hi", reason=WaitReason.OFFLINE)
BEHIND = PendingRetry("hi", reason=WaitReason.PROBE)

SENT = Streaming(1, 1, sent=True)
FAILED = Streaming(1, 1, sent=True, failed=True)
ANSWERED = Streaming(1, 1, sent=True, answered=True)
CONTINUES = Streaming(1, 1, sent=True, answered=True, continues=True)
STOPPING = RunningTools(1, stopping=True)

STARTED = TurnStarted(ENTRY)
DELTA = DeltaArrived(TextDelta("x"))
COMPLETED = RoundCompleted(ENTRY)
CALLS = RoundCompleted(ENTRY, runs_tools=True)
USAGE = UsageReported(Usage(1, 1), "api")
CALL = ToolCallStarted(ToolCallPart("1", "ping", "{}"))
RESULT = ToolResultRecorded(ENTRY)
FAILS = AttemptFailed(ENTRY, FAILURE)
SCHEDULED = RetryScheduled(WAITING, ENTRY)
HELD = RetryScheduled(OFFLINE)
SWITCHED = ModelSwitched(ENTRY, ModelRef("test", "m"), ModelRef("spare", "n"))
STEERED = Steered(ENTRY)
WELL = TurnFinished(Outcome.COMPLETED)
STOPPED = TurnFinished(Outcome.STOPPED, PENDING)
BROKEN = TurnFinished(Outcome.FAILED, PENDING, FAILURE)

EDGES: list[tuple[TurnState, TurnEvent, TurnState]] = [
    (Idle(), STARTED, Streaming(1, 1)),
    (Finished(Outcome.FAILED, PENDING), TurnStarted(ENTRY, resumed=True), Streaming(1, 1)),
    (Idle(), SCHEDULED, AwaitingRetry(0, 0, SCHEDULED.pending)),
    (Finished(Outcome.FAILED, PENDING), SCHEDULED, AwaitingRetry(0, 0, SCHEDULED.pending)),
    (AwaitingRetry(0, 0, WAITING), TurnStarted(ENTRY, resumed=True), Streaming(1, 1)),
    (Streaming(1, 1), AttemptStarted(ENTRY, 1, 1), SENT),
    (SENT, DELTA, SENT),
    (SENT, COMPLETED, ANSWERED),
    (SENT, CALLS, RunningTools(1)),
    (SENT, FAILS, FAILED),
    (ANSWERED, Truncated(3), ANSWERED),
    (ANSWERED, Truncated(3, continued=True), CONTINUES),
    (ANSWERED, USAGE, ANSWERED),
    (CONTINUES, USAGE, CONTINUES),
    (CONTINUES, AttemptStarted(ENTRY, 2, 1), Streaming(2, 1, sent=True)),
    (FAILED, SCHEDULED, AwaitingRetry(1, 1, WAITING)),
    (AwaitingRetry(1, 1, WAITING), RetryStarted(1), Streaming(1, 2)),
    (Streaming(1, 2), AttemptStarted(ENTRY, 1, 2), Streaming(1, 2, sent=True)),
    (RunningTools(1), USAGE, RunningTools(1)),
    (RunningTools(1), CALL, RunningTools(1)),
    (RunningTools(1), RESULT, RunningTools(1)),
    (RunningTools(1), AttemptStarted(ENTRY, 2, 1), Streaming(2, 1, sent=True)),
    (RunningTools(1), RoundLimitAsked(32), AwaitingAnswer(1, 32)),
    (AwaitingAnswer(1, 32), RoundLimitAnswered(32, Answer.CONTINUE), RunningTools(1)),
    (AwaitingAnswer(1, 32), RoundLimitAnswered(32, Answer.ALWAYS), RunningTools(1)),
    (AwaitingAnswer(1, 32), RoundLimitAnswered(32, Answer.STOP), STOPPING),
    (Streaming(1, 1), HELD, AwaitingRetry(1, 0, OFFLINE)),
    (AwaitingRetry(1, 0, OFFLINE), RetryStarted(0), Streaming(1, 1)),
    (Streaming(1, 2), HELD, AwaitingRetry(1, 1, OFFLINE)),
    (FAILED, HELD, AwaitingRetry(1, 1, OFFLINE)),
    (Streaming(1, 2), RetryScheduled(BEHIND), AwaitingRetry(1, 1, BEHIND)),
    (RunningTools(1), HELD, AwaitingRetry(2, 0, OFFLINE)),
    (CONTINUES, HELD, AwaitingRetry(2, 0, OFFLINE)),
    (FAILED, SWITCHED, Streaming(1, 2)),
    (RunningTools(1), STEERED, RunningTools(1)),
    (ANSWERED, WELL, Finished(Outcome.COMPLETED)),
    *[
        (state, end, Finished(end.outcome, PENDING))
        for state in (
            Streaming(1, 1),
            SENT,
            FAILED,
            ANSWERED,
            CONTINUES,
            RunningTools(1),
            STOPPING,
            AwaitingRetry(1, 1, WAITING),
            AwaitingAnswer(1, 32),
        )
        for end in (STOPPED, BROKEN)
    ],
]

EVENTS: list[TurnEvent] = [
    STARTED,
    TurnStarted(ENTRY, resumed=True),
    *[AttemptStarted(ENTRY, round_, attempt) for round_ in (1, 2, 3) for attempt in (1, 2)],
    DELTA,
    COMPLETED,
    CALLS,
    Truncated(3),
    Truncated(3, continued=True),
    USAGE,
    CALL,
    RESULT,
    RoundLimitAsked(32),
    *[RoundLimitAnswered(32, answer) for answer in Answer],
    FAILS,
    SCHEDULED,
    HELD,
    RetryStarted(1),
    SWITCHED,
    STEERED,
    WELL,
    STOPPED,
    BROKEN,
    TurnFinished(Outcome.COMPLETED, PENDING),
    TurnFinished(Outcome.COMPLETED, None, FAILURE),
    TurnFinished(Outcome.FAILED, WAITING, FAILURE),
    TurnFinished(Outcome.STOPPED),
]


@pytest.mark.parametrize(("state", "event", "after"), EDGES)
def test_every_edge(state: TurnState, event: TurnEvent, after: TurnState) -> None:
    """Design section 4: the turn goes where the event says."""
    assert advance(state, event) == after


@pytest.mark.parametrize(
    ("state", "event"),
    [
        (SENT, STARTED),
        (AwaitingRetry(1, 1, WAITING), STARTED),
        (Streaming(1, 1), AttemptStarted(ENTRY, 1, 2)),
        (SENT, AttemptStarted(ENTRY, 1, 1)),
        (Streaming(1, 1), DELTA),
        (FAILED, DELTA),
        (ANSWERED, DELTA),
        (SENT, SCHEDULED),
        (SENT, HELD),
        (ANSWERED, HELD),
        (STOPPING, HELD),
        (SENT, SWITCHED),
        (Streaming(1, 1), SWITCHED),
        (STOPPING, STEERED),
        (ANSWERED, STEERED),
        (ANSWERED, FAILS),
        (ANSWERED, AttemptStarted(ENTRY, 2, 1)),
        (ANSWERED, CALL),
        (FAILED, RetryStarted(1)),
        (STOPPING, AttemptStarted(ENTRY, 2, 1)),
        (STOPPING, RoundLimitAsked(32)),
        (RunningTools(1), AttemptStarted(ENTRY, 1, 1)),
        (RunningTools(1), WELL),
        (CONTINUES, WELL),
        (FAILED, WELL),
        (ANSWERED, TurnFinished(Outcome.COMPLETED, PENDING)),
        (ANSWERED, TurnFinished(Outcome.COMPLETED, None, FAILURE)),
        (AwaitingRetry(1, 1, WAITING), TurnFinished(Outcome.STOPPED, WAITING)),
        (Idle(), STOPPED),
        (Finished(Outcome.COMPLETED), STOPPED),
    ],
)
def test_an_edge_that_is_not_there_raises(state: TurnState, event: TurnEvent) -> None:
    """Design section 4: an event that cannot happen is a bug of ours and says so."""
    with pytest.raises(IllegalTransition):
        advance(state, event)


def agrees_with_itself(state: TurnState) -> bool:
    match state:
        case Finished(outcome, pending):
            return pending is None or (outcome is not Outcome.COMPLETED and pending.due_at is None)
        case AwaitingRetry(pending=pending):
            return (pending.due_at is None) is (pending.reason in (WaitReason.OFFLINE, WaitReason.PROBE))
        case Streaming(attempt=attempt, sent=sent, failed=failed, answered=answered):
            return attempt >= 1 and not (failed and answered) and (sent or not (failed or answered))
        case _:
            return True


@given(st.lists(st.sampled_from(EVENTS), max_size=40))
def test_any_event_advances_or_raises_and_never_contradicts_itself(events: list[TurnEvent]) -> None:
    """Design section 4, B2: a completed turn has nothing pending, a finished one nothing scheduled or running."""
    state: TurnState = Idle()
    for event in events:
        try:
            state = advance(state, event)
        except IllegalTransition:
            continue
        assert agrees_with_itself(state)
        assert is_busy(state) is not isinstance(event, TurnFinished)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60))
def test_every_walk_over_legal_events_agrees_with_itself_and_can_go_on(choices: list[int]) -> None:
    """Design section 4: no dead end, and a busy turn can always be stopped (D6)."""
    state: TurnState = Idle()
    for choice in choices:
        legal = list(after_each(state))
        event, state = legal[choice % len(legal)]
        assert agrees_with_itself(state), event
        assert not is_busy(state) or isinstance(advance(state, STOPPED), Finished)


def after_each(state: TurnState) -> Iterator[tuple[TurnEvent, TurnState]]:
    """Every event that can happen in `state`, with the state after it."""
    for event in EVENTS:
        with suppress(IllegalTransition):
            yield event, advance(state, event)


def test_a_turn_is_busy_from_its_start_to_its_end() -> None:
    """L22, F9: waits and questions included."""
    assert not is_busy(Idle())
    assert not is_busy(Finished(Outcome.COMPLETED))
    assert all(
        is_busy(state)
        for state in (Streaming(1, 1), RunningTools(1), AwaitingRetry(1, 1, WAITING), AwaitingAnswer(1, 32))
    )
