"""What happens in a turn, as past facts, in the order of behaviour L3.

The engine yields these; `turns.advance` folds them into a state; the bridge turns each into a signal.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reprise.domain.deltas import Delta
from reprise.domain.failures import Failure
from reprise.domain.messages import ModelRef, ToolCallPart, Usage
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Entry


class Outcome(StrEnum):
    """How a turn ended."""

    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


class Answer(StrEnum):
    """The answers to "go on after this many tool rounds?" (behaviour D15)."""

    CONTINUE = "continue"
    STOP = "stop"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The prompt is on disk (`prompt`), or a turn goes on (`resumed`); nothing was sent yet.

    `beside` is the reply that stands until this turn has another one: that of Regenerate, or the cut one of Continue
    (behaviour D9, D20). None in a turn whose prompt has no reply.
    """

    prompt: Entry
    resumed: bool = False
    beside: Entry | None = None


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """The request of `attempt` (from 1) of `round` (from 1) is about to be sent; `entry` is its open attempt."""

    entry: Entry
    round: int
    attempt: int


@dataclass(frozen=True, slots=True)
class DeltaArrived:
    """Part of the reply, as it came."""

    delta: Delta


@dataclass(frozen=True, slots=True)
class RoundCompleted:
    """The model's message of this round is on disk and replaces whatever the deltas built (behaviour L5)."""

    entry: Entry
    runs_tools: bool = False


@dataclass(frozen=True, slots=True)
class Truncated:
    """The reply was cut at the output limit after `kept_chars` characters (behaviour D9)."""

    kept_chars: int
    continued: bool = False


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of the round; `source` is ``api``, ``estimate`` or ``mixed`` (behaviour L11)."""

    usage: Usage
    source: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A call of the round, before any of them runs (behaviour L8)."""

    call: ToolCallPart


@dataclass(frozen=True, slots=True)
class ToolResultRecorded:
    """A call's result is on disk."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class RoundLimitAsked:
    """`rounds` tool rounds ran; the turn waits for an Answer."""

    rounds: int


@dataclass(frozen=True, slots=True)
class RoundLimitAnswered:
    """The answer came (`STOP` when nobody can answer)."""

    rounds: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """The attempt left the active branch; `entry` keeps it in the log (behaviour D5)."""

    entry: Entry
    failure: Failure


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A request waits, by ``pending.reason``; `attempt` is the failed attempt's entry, None when none failed."""

    pending: PendingRetry
    attempt: Entry | None = None


@dataclass(frozen=True, slots=True)
class ModelSwitched:
    """Retries of `before` are exhausted: from here on `after` answers; `entry` records it (behaviour D13)."""

    entry: Entry
    before: ModelRef
    after: ModelRef


@dataclass(frozen=True, slots=True)
class Steered:
    """A queued message joined the turn before its next request (behaviour I4)."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class RetryStarted:
    """The wait ended, by itself or by Retry now; retry `retry` of the round begins."""

    retry: int


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over. `pending` says what can be retried; `failure` why it failed."""

    outcome: Outcome
    pending: PendingRetry | None = None
    failure: Failure | None = None


TurnEvent = (
    TurnStarted
    | AttemptStarted
    | DeltaArrived
    | RoundCompleted
    | Truncated
    | UsageReported
    | ToolCallStarted
    | ToolResultRecorded
    | RoundLimitAsked
    | RoundLimitAnswered
    | AttemptFailed
    | RetryScheduled
    | RetryStarted
    | ModelSwitched
    | Steered
    | TurnFinished
)
