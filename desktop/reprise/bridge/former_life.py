"""What the log still says of waits and limits when the program starts again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from reprise.bridge.services import Services
from reprise.domain.ports import History
from reprise.domain.retry import LONGEST_WAIT_S
from reprise.domain.sessions import Attempt, Entry, prompt_entry

_LOOK_BACK = timedelta(days=1)
"""Whatever met a limit before this is not asked whether it still holds."""


def waited_s(history: History, now: datetime) -> float:
    """How long the turn at the end of a branch has waited for its own retries until `now`, in seconds (behaviour D4).

    A retry by the user's own hand began a budget of its own (R12): what was waited before it does not count.
    """
    prompt = prompt_entry(history.branch)
    total_s, until = 0.0, now
    for entry in reversed(history.branch):
        for attempt in reversed(history.attempts.get(entry.id, ())):
            if not isinstance(attempt.data, Attempt):
                continue
            total_s += _own_wait_s(attempt.data, until)
            until = attempt.at
            if attempt.data.number == 1 and not _is_first(attempt, history.attempts[entry.id]):
                return total_s
        if prompt is None or entry.id == prompt.id:
            break
        until = min(until, entry.at)
    return total_s


async def restore_holds(services: Services) -> None:
    """Let limits that were met before a restart hold until they have run out (behaviour D3). Raises LogError."""
    now = services.clock.utc()
    for entry in await services.sessions.limits_met(now - _LOOK_BACK):
        if not isinstance(attempt := entry.data, Attempt) or attempt.failure is None:
            continue
        cap_s = services.policy(attempt.model, {}).after_cap_s
        left_s = _held_s(attempt, cap_s, now)
        if 0 < left_s <= LONGEST_WAIT_S:
            services.holds.note(services.catalog.route(attempt.model).limits, attempt.failure, left_s)


def _own_wait_s(attempt: Attempt, until: datetime) -> float:
    """The wait for the retry of `attempt`, which began no later than `until`."""
    if attempt.retry_at is None or attempt.ended_at is None:
        return 0.0
    return max(0.0, (min(attempt.retry_at, until) - attempt.ended_at).total_seconds())


def _is_first(attempt: Entry, under: Sequence[Entry]) -> bool:
    return attempt.id == under[0].id


def _held_s(attempt: Attempt, cap_s: float, now: datetime) -> float:
    """How much longer the limits hold that `attempt` met: as the provider asked, else as long as its retry waits.

    A wait over the cap holds nobody until the user has chosen it.
    """
    failure, ended_at, retry_at = attempt.failure, attempt.ended_at, attempt.retry_at
    if failure is None or ended_at is None:
        return 0.0
    asked_s = failure.retry_after_s
    if asked_s is None:
        return 0.0 if retry_at is None else (retry_at - now).total_seconds()
    if asked_s > cap_s and retry_at is None:
        return 0.0
    return min(asked_s, asked_s - (now - ended_at).total_seconds())
