"""What the log still says of waits and limits when the program starts again."""

from __future__ import annotations

from datetime import datetime, timedelta

from reprise.bridge.services import Services
from reprise.domain.failures import Failure
from reprise.domain.ports import History
from reprise.domain.retry import LONGEST_WAIT_S, RetryPolicy
from reprise.domain.sessions import Attempt, prompt_entry

_LOOK_BACK = timedelta(days=1)
"""Whatever met a limit before this is not asked whether it still holds."""


def waited_s(history: History, policy: RetryPolicy, now: datetime) -> float:
    """How long the turn at the end of a branch has waited for its own retries until `now`, in seconds (behaviour D4).

    A retry by the user's own hand began a budget of its own (R12): what was waited before it does not count.
    """
    prompt = prompt_entry(history.branch)
    total_s, until = 0.0, now
    for entry in reversed(history.branch):
        under = history.attempts.get(entry.id, ())
        for attempt in reversed(under):
            if not isinstance(attempt.data, Attempt):
                continue
            total_s += _own_wait_s(attempt.data, policy, until)
            until = attempt.at
            if attempt.data.number == 1 and attempt.id != under[0].id:
                return total_s
        if prompt is None or entry.id == prompt.id:
            break
        until = min(until, entry.at)
    return total_s


async def restore_holds(services: Services) -> None:
    """Let limits that were met before a restart hold until they have run out (behaviour D3). Raises LogError."""
    now = services.clock.utc()
    for entry in await services.sessions.limits_met(now - _LOOK_BACK):
        if not isinstance(attempt := entry.data, Attempt) or attempt.failure is None or attempt.ended_at is None:
            continue
        # A clock that was set back makes no hold longer than it was.
        passed_s = max(0.0, (now - attempt.ended_at).total_seconds())
        left_s = _held_s(attempt, attempt.failure, services.policy(attempt.model, {})) - passed_s
        if 0 < left_s <= LONGEST_WAIT_S:
            services.holds.note(services.catalog.route(attempt.model).limits, attempt.failure, left_s)


def _own_wait_s(attempt: Attempt, policy: RetryPolicy, until: datetime) -> float:
    """The wait for the retry of `attempt`, which began no later than `until`; what the user put it off by is none."""
    passed_s = 0.0 if attempt.ended_at is None else (until - attempt.ended_at).total_seconds()
    return max(0.0, min(_scheduled_s(attempt), passed_s, policy.longest_s(attempt.failure)))


def _held_s(attempt: Attempt, failure: Failure, policy: RetryPolicy) -> float:
    """How long the limits hold that `attempt` met: as the provider asked, else as long as its retry waits by itself.

    A wait over the cap holds nobody but while the user lets a retry wait for it.
    """
    asked_s = failure.retry_after_s
    if asked_s is not None and asked_s <= policy.after_cap_s:
        return asked_s
    return min(_scheduled_s(attempt), policy.longest_s(failure))


def _scheduled_s(attempt: Attempt) -> float:
    """From the end of `attempt` to the retry that was scheduled for it; 0 when none was."""
    if attempt.retry_at is None or attempt.ended_at is None:
        return 0.0
    return (attempt.retry_at - attempt.ended_at).total_seconds()
