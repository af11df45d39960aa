"""What keeps a request from being sent, and the wait for it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.ports import Clock, HoldResult
from reprise.domain.retry import Ask, Decision, PendingRetry, Wait, WaitReason
from reprise.engine.breaker import OVER_S
from reprise.engine.progress import Progress, Setup

_OFFLINE_KINDS = frozenset({FailureKind.NETWORK, FailureKind.TIMEOUT})


def is_offline(setup: Setup, turn: Progress) -> bool:
    """Whether the system has no network and the request would need one (behaviour D14)."""
    reachability = setup.reachability
    return reachability is not None and not turn.answerer.route.is_local and reachability.is_offline


def is_held_offline(setup: Setup, turn: Progress, failure: Failure) -> bool:
    """Whether `failure` says no more than that the system is offline: it uses no budget."""
    return failure.kind in _OFFLINE_KINDS and is_offline(setup, turn)


def obstacle(setup: Setup, turn: Progress, failed: PendingRetry, *, is_retry: bool) -> PendingRetry | None:
    """What the next request has to wait for; `failed` is the turn as the newest attempt left it.

    What the limits hold has its own place in the row of requests that begins when they are free (behaviour D3). A
    retry that nobody asked for (`is_retry`) waits for the one session that tries a provider that is down (N6).
    """
    if is_offline(setup, turn):
        return replace(failed, reason=WaitReason.OFFLINE)
    limits = turn.answerer.route.limits
    if (slot := setup.holds.slot(limits, turn.session)) is not None:
        return replace(failed, failure=setup.holds.failure(limits), due_at=slot, reason=WaitReason.LIMITS)
    breaker = setup.holds.breaker
    if is_retry and (wait := breaker.obstacle(limits, turn.session)) is not None:
        reason, due_at = wait
        return replace(failed, failure=failed.failure or breaker.newest(limits), due_at=due_at, reason=reason)
    return None


def is_over_ceiling(setup: Setup, turn: Progress, wait: PendingRetry) -> bool:
    """Whether the turn may not wait so long for a provider that is down (behaviour D4, N6)."""
    if wait.reason is WaitReason.PROBE:
        return turn.waiting_left_s < OVER_S
    return wait.reason is WaitReason.RETRY and (wait.due_at or 0.0) - setup.clock.now() > turn.waiting_left_s


def note_limits(setup: Setup, turn: Progress, failure: Failure, decision: Decision) -> None:
    """A 429 or a Retry-After holds every request to that provider and key (behaviour D3).

    It holds them as long as this turn waits, or as the provider asked if it does not wait; a wait over the cap is the
    user's to decide.
    """
    asked_s = failure.retry_after_s
    if asked_s is None and failure.kind is not FailureKind.RATE_LIMIT:
        return
    match decision:
        case Wait(delay_s):
            held_s: float | None = delay_s
        case Ask():
            held_s = None
        case _:
            held_s = asked_s if asked_s is not None and asked_s <= turn.answerer.policy.after_cap_s else None
    if held_s is not None:
        setup.holds.note(turn.answerer.route.limits, failure, held_s)


async def hold(setup: Setup, turn: Progress, pending: PendingRetry) -> HoldResult:
    """Wait at the gate. Only the wait for a retry, its own or another session's, is the turn's waiting (D4, N6)."""
    if pending.reason is WaitReason.OFFLINE and setup.reachability is not None:
        return await setup.gate.hold(pending, setup.reachability.back_online())
    clock, began_at, ends_at = setup.clock, setup.clock.now(), pending.due_at
    if pending.reason is WaitReason.PROBE:
        ends_at = began_at + turn.waiting_left_s
        held = await _hold_behind(setup, turn, pending, ends_at)
    else:
        held = await setup.gate.hold(pending)
    if pending.reason in (WaitReason.RETRY, WaitReason.PROBE) and ends_at is not None:
        # A computer that slept through the wait did not use up the turn's waiting.
        turn.waited_s += min(clock.now() - began_at, ends_at - began_at)
    return held


async def _hold_behind(setup: Setup, turn: Progress, pending: PendingRetry, ends_at: float) -> HoldResult:
    """Wait behind the session that tries a provider that is down, no longer than until `ends_at`."""
    breaker, limits = setup.holds.breaker, turn.answerer.route.limits
    freed = breaker.line_up(limits, turn.session, turn.step_s)
    try:
        return await setup.gate.hold(pending, _freed_or_late(freed, setup.clock, ends_at))
    finally:
        breaker.step_out(limits, turn.session)


async def _freed_or_late(freed: asyncio.Future[None], clock: Clock, ends_at: float) -> None:
    async with asyncio.TaskGroup() as group:
        late = group.create_task(clock.sleep_until(ends_at))
        freed.add_done_callback(lambda _: late.cancel())
