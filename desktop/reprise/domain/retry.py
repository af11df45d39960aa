"""When to try again: schedules, budgets, the ceiling and Retry-After live here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from random import Random

from reprise.domain.failures import AFTER_CAP_S, RETRYABLE_KINDS, Failure

STEADY_RETRIES = 10
EXPONENTIAL_RETRIES = 5
CEILING_S = 1800.0
LONGEST_WAIT_S = 2 * 366 * 86_400.0
"""No wait is longer: a provider may ask for a year, and a person may put it off."""
STAGGER_S = 2.0
"""Between two requests that begin in a row and share the limits of a provider and key (behaviour D3)."""
_MAX_EXPONENT = 10


class PolicyName(StrEnum):
    """The policies Settings names (behaviour D2)."""

    STEADY = "steady"
    EXPONENTIAL = "exponential"
    CUSTOM = "custom"
    OFF = "off"


class GiveUpReason(StrEnum):
    """Why no retry is scheduled."""

    NOT_RETRYABLE = "not_retryable"
    OFF = "off"
    EXHAUSTED = "exhausted"
    CEILING = "ceiling"


class WaitReason(StrEnum):
    """Why a turn waits.

    `RETRY`: an attempt failed. `LIMITS`: another request met the limits of the same provider and key (behaviour D3).
    `OFFLINE`: the system reports no network, and no due time is set (D14). `TURN`: its place in a row of retries
    started together. `PROBE`: the provider is down and another session tries it, for which no due time is set (N6).
    """

    RETRY = "retry"
    LIMITS = "limits"
    OFFLINE = "offline"
    TURN = "turn"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Wait:
    """Try again in `delay_s`; `asked_by_provider` when Retry-After decided it."""

    delay_s: float
    asked_by_provider: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """The provider wants a wait over the cap: the turn becomes pending and asks (behaviour D3)."""

    delay_s: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """No retry is scheduled; the turn becomes pending."""

    reason: GiveUpReason


Decision = Wait | Ask | GiveUp


def steady_schedule(retries: int) -> tuple[float, ...]:
    """Behaviour R1: 5, 10, 15, 20, then 30, 40 ... seconds; none for zero or less."""

    def steps() -> Iterator[float]:
        yield from (5.0, 10.0, 15.0, 20.0)
        delay = 30.0
        while True:
            yield delay
            delay += 10.0

    return tuple(islice(steps(), max(0, retries)))


def backoff_s(retry: int, base_s: float, cap_s: float) -> float:
    """Behaviour R21: ``base * 2**(retry - 1)`` with an exponent of at most 10, never over the cap."""
    return min(base_s * 2.0 ** min(max(retry - 1, 0), _MAX_EXPONENT), cap_s)


def exponential_schedule(retries: int, base_s: float = 1.0, cap_s: float = 60.0) -> tuple[float, ...]:
    """The waits of the exponential policy, in seconds (behaviour R20)."""
    return tuple(backoff_s(retry, base_s, cap_s) for retry in range(1, retries + 1))


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A schedule of waits in seconds (its length is N of "retry n of N") and the limits around it.

    `jitter` multiplies a scheduled wait by 0.5 to 1 (behaviour D2); a wait the provider asked for is kept exact.
    `ceiling_s` bounds the waiting of a whole turn (behaviour D4).
    """

    schedule: tuple[float, ...]
    jitter: bool = False
    after_cap_s: float = AFTER_CAP_S
    ceiling_s: float = CEILING_S

    @property
    def retries(self) -> int:
        """N of "retry n of N"."""
        return len(self.schedule)

    def longest_s(self, failure: Failure | None) -> float:
        """No wait of its own is longer after `failure`: a longer one is of the user's making."""
        asked_s = None if failure is None else failure.retry_after_s
        return max(asked_s or 0.0, *self.schedule, 0.0)

    def decide(self, failure: Failure, retry: int, waited_s: float, rng: Random) -> Decision:
        """What follows `failure`, the `retry`-th in a row of its round, after `waited_s` of waiting this turn."""
        asked_s = failure.retry_after_s
        if asked_s is not None and asked_s > self.after_cap_s and failure.kind in RETRYABLE_KINDS:
            return Ask(asked_s)
        if not failure.retryable:
            return GiveUp(GiveUpReason.NOT_RETRYABLE)
        if not self.schedule:
            return GiveUp(GiveUpReason.OFF)
        if retry > len(self.schedule):
            return GiveUp(GiveUpReason.EXHAUSTED)
        if asked_s is not None:
            # Retry 1 waits exactly what was asked; a later one at least the schedule's previous step (D3).
            floor_s = self.schedule[retry - 2] if retry > 1 else 0.0
            delay_s = max(asked_s, floor_s)
        else:
            delay_s = self.schedule[retry - 1] * (rng.uniform(0.5, 1.0) if self.jitter else 1.0)
        if waited_s + delay_s > self.ceiling_s:
            return GiveUp(GiveUpReason.CEILING)
        return Wait(delay_s, asked_by_provider=asked_s is not None)


def policy(
    name: PolicyName,
    *,
    max_retries: int | None = None,
    base_s: float = 1.0,
    cap_s: float = 60.0,
    jitter: bool = False,
    after_cap_s: float = AFTER_CAP_S,
    ceiling_s: float = CEILING_S,
) -> RetryPolicy:
    """The policy called `name`; `base_s` and `cap_s` count under exponential and custom only (behaviour D17)."""
    match name:
        case PolicyName.STEADY:
            schedule = steady_schedule(STEADY_RETRIES if max_retries is None else max_retries)
        case PolicyName.EXPONENTIAL | PolicyName.CUSTOM:
            count = EXPONENTIAL_RETRIES if max_retries is None else max_retries
            schedule = exponential_schedule(count, base_s, cap_s)
        case PolicyName.OFF:
            schedule = ()
    return RetryPolicy(schedule, jitter, after_cap_s, ceiling_s)


@dataclass(frozen=True, slots=True)
class PendingRetry:
    """A turn that can be retried: its prompt, what went wrong, and "retry n of N".

    `due_at` (seconds of the Clock) is set while a retry is scheduled; None means it waits for the user, or (`reason`)
    for the network or another session's retry. `ask_s` is the wait a provider asked for over the cap. `after_tools`
    means the prompt's tools already ran.
    """

    text: str
    failure: Failure | None = None
    retry: int = 0
    retries: int = 0
    due_at: float | None = None
    ask_s: float | None = None
    after_tools: bool = False
    reason: WaitReason = WaitReason.RETRY

    def waiting_until(self, due_at: float | None) -> PendingRetry:
        """The same turn, due at `due_at`."""
        return replace(self, due_at=due_at)
