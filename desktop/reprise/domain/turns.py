"""The turn as a state machine: one pure function over every edge."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
from reprise.domain.retry import PendingRetry


class IllegalTransition(ValueError):
    """An event that cannot happen in this state: a bug of ours."""


@dataclass(frozen=True, slots=True)
class Idle:
    """No turn ran yet in this life of the session."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """A request of `round` is about to be sent, runs, or just ended.

    `sent` once the attempt is open, `failed` once it left the branch, `answered` once its message is on disk;
    `continues` when that message was cut at the output limit and the next round goes on from it.
    """

    round: int
    attempt: int
    sent: bool = False
    failed: bool = False
    answered: bool = False
    continues: bool = False


@dataclass(frozen=True, slots=True)
class RunningTools:
    """The calls of `round` run; `stopping` once the round limit was answered with Stop."""

    round: int
    stopping: bool = False


@dataclass(frozen=True, slots=True)
class AwaitingRetry:
    """The request after attempt `attempt` of `round` (0 = none was made yet) waits, by ``pending.reason``.

    Round 0 is the wait before a turn that goes on.
    """

    round: int
    attempt: int
    pending: PendingRetry


@dataclass(frozen=True, slots=True)
class AwaitingAnswer:
    """The round limit asks whether to go on."""

    round: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The turn is over; `pending` is what Retry would go on with."""

    outcome: Outcome
    pending: PendingRetry | None = None


TurnState = Idle | Streaming | RunningTools | AwaitingRetry | AwaitingAnswer | Finished


def is_busy(state: TurnState) -> bool:
    """True from Send until the turn is settled, waits included (behaviour L22)."""
    return not isinstance(state, Idle | Finished)


def advance(state: TurnState, event: TurnEvent) -> TurnState:
    """The state after `event`. Raises IllegalTransition when `event` cannot happen in `state`."""
    match state, event:
        case ((Idle() | Finished()), TurnStarted()):
            return Streaming(round=1, attempt=1)
        # A wait before its turn: one that another life of the program began, or that the user chose (D3, D8).
        case ((Idle() | Finished()), RetryScheduled(pending=pending)):
            return AwaitingRetry(0, 0, pending)
        case AwaitingRetry(round=0), TurnStarted(resumed=True):
            return Streaming(round=1, attempt=1)
        case AwaitingRetry(round=0), RetryStarted():
            return state
        case Streaming(round=r, attempt=a, sent=False), AttemptStarted(round=er, attempt=ea) if (r, a) == (
            er,
            ea,
        ):
            return replace(state, sent=True)
        case Streaming(sent=True, failed=False, answered=False), DeltaArrived():
            return state
        case Streaming(sent=True, failed=False, answered=False), RoundCompleted(runs_tools=True):
            return RunningTools(state.round)
        case Streaming(sent=True, failed=False, answered=False), RoundCompleted():
            return replace(state, answered=True)
        case Streaming(answered=True), Truncated(continued=continued):
            return replace(state, continues=continued)
        case Streaming(answered=True), UsageReported():
            return state
        case Streaming(continues=True), AttemptStarted(round=er, attempt=1) if er == state.round + 1:
            return Streaming(er, 1, sent=True)
        case Streaming(sent=True, failed=False, answered=False), AttemptFailed():
            return replace(state, failed=True)
        case Streaming(failed=True), RetryScheduled(pending=pending):
            return AwaitingRetry(state.round, state.attempt, pending)
        case Streaming(failed=True), ModelSwitched():
            return Streaming(state.round, state.attempt + 1)
        case Streaming(sent=False), RetryScheduled(pending=pending):
            return AwaitingRetry(state.round, state.attempt - 1, pending)
        case Streaming(continues=True) | RunningTools(stopping=False), RetryScheduled(pending=pending):
            return AwaitingRetry(state.round + 1, 0, pending)
        case RunningTools(stopping=False), Steered():
            return state
        case AwaitingRetry(), RetryStarted():
            return Streaming(state.round, state.attempt + 1)
        case RunningTools(), (UsageReported() | ToolCallStarted() | ToolResultRecorded()):
            return state
        case RunningTools(stopping=False), RoundLimitAsked(rounds=rounds):
            return AwaitingAnswer(state.round, rounds)
        case AwaitingAnswer(), RoundLimitAnswered(answer=answer):
            return RunningTools(state.round, stopping=answer is Answer.STOP)
        case RunningTools(stopping=False), AttemptStarted(round=er, attempt=1) if er == state.round + 1:
            return Streaming(er, 1, sent=True)
        case _, TurnFinished() if (fault := _fault(state, event)) is not None:
            raise IllegalTransition(f"{fault} while {state!r}")
        case (
            (Streaming() | RunningTools() | AwaitingRetry() | AwaitingAnswer()),
            TurnFinished(outcome, pending),
        ):
            return Finished(outcome, pending)
        case _:
            raise IllegalTransition(f"{type(event).__name__} cannot happen while {state!r}")


def _fault(state: TurnState, end: TurnFinished) -> str | None:
    """What `end` says that cannot be true in `state`."""
    if end.pending is not None and end.pending.due_at is not None:
        return "a turn ended with a retry still scheduled"
    if end.outcome is not Outcome.COMPLETED:
        return None
    if not (isinstance(state, Streaming) and state.answered and not state.continues):
        return "a turn cannot complete"
    if end.pending is not None or end.failure is not None:
        return "a completed turn has nothing pending"
    return None
