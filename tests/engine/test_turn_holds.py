"""Limits of a provider and key hold every session's requests to it, and no others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.domain.events import AttemptStarted, Outcome, RetryScheduled, RetryStarted
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import user_message
from reprise.domain.models import Route
from reprise.domain.ports import HoldResult
from reprise.domain.retry import RetryPolicy, WaitReason
from reprise.engine.holds import Holds
from support.clock import ManualClock
from support.engine import (
    OTHER,
    EngineStage,
    FakeTools,
    ScriptedGate,
    ScriptedProvider,
    calls,
    ending,
    fails,
    lost,
    pong,
    says,
)

Play = Callable[..., None]

BUSY = Failure(FailureKind.RATE_LIMIT, "slow down", True)
SHARED = Route("test")


def waits(stage: EngineStage) -> list[tuple[WaitReason, float]]:
    """Every wait of the stage's turns: why, and until when after the clock's start."""
    scheduled = [event.pending for event in stage.events if isinstance(event, RetryScheduled)]
    return [(pending.reason, (pending.due_at or 0.0) - 1000.0) for pending in scheduled]


def test_a_hold_passes_with_its_time(play: Play) -> None:
    """D3: per provider and key; the longer of two counts, and nothing is remembered afterwards."""

    async def scene(stage: EngineStage) -> None:
        clock = ManualClock()
        holds = Holds(clock)
        holds.note("a", BUSY, 10.0)
        holds.note("a", Failure(FailureKind.SERVER, "later", True), 5.0)
        assert (holds.until("a"), holds.failure("a")) == (1010.0, BUSY)
        assert (holds.until("b"), holds.failure("b")) == (None, None)
        await clock.advance(9.9995)
        assert (holds.until("a"), holds.failure("a")) == (None, None)

    play(scene)


def test_what_a_hold_keeps_back_begins_in_a_row(play: Play) -> None:
    """D3: the first when the hold ends, the others 2 s apart; each hold has a row of its own."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)
        assert holds.slot("a", "one") is None
        holds.note("a", BUSY, 10.0)
        holds.note("b", BUSY, 20.0)
        assert [holds.slot("a", session) for session in ("one", "two", "three")] == [1010.0, 1012.0, 1014.0]
        assert (holds.slot("b", "two"), holds.slot("a", "two")) == (1020.0, 1012.0)
        holds.note("a", BUSY, 5.0)
        assert holds.slot("a", "four") == 1016.0
        holds.note("a", BUSY, 30.0)
        assert [holds.slot("a", session) for session in ("two", "one")] == [1030.0, 1032.0]
        await stage.clock.advance(30.0)
        assert holds.slot("a", "one") is None
        holds.note("a", BUSY, 1.0)
        assert holds.slot("a", "one") == 1031.0

    play(scene)


def test_sessions_held_by_the_same_limits_go_on_two_seconds_apart(play: Play) -> None:
    """D3: when the hold ends they do not all ask in the same second, and each says when it does."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)
        holds.note("test", BUSY, 30.0)
        for number in range(3):
            stage.gate = ScriptedGate(stage.clock, HoldResult.CANCELLED)
            turn = stage.turn(ScriptedProvider(), 5.0, holds=holds)
            await stage.follow(turn.run(f"session {number}", user_message("hello")))
        assert waits(stage) == [(WaitReason.LIMITS, 30.0), (WaitReason.LIMITS, 32.0), (WaitReason.LIMITS, 34.0)]

    play(scene)


def test_a_429_holds_the_other_sessions_of_that_provider_and_key(play: Play) -> None:
    """D3: the next request waits as long as the one that met the limits, and says why."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)
        stage.gate = ScriptedGate(stage.clock, HoldResult.CANCELLED)
        busy = fails(FailureKind.RATE_LIMIT, words="slow down")
        turn = stage.turn(ScriptedProvider(busy), 30.0, holds=holds)
        await stage.follow(turn.run("another session", user_message("first")))
        stage.gate = ScriptedGate(stage.clock)
        provider = ScriptedProvider(says("ok"))
        events = await stage.send(stage.turn(provider, 5.0, holds=holds), "second")
        assert waits(stage) == [(WaitReason.RETRY, 30.0), (WaitReason.LIMITS, 30.0)]
        (scheduled,) = [event for event in events if isinstance(event, RetryScheduled)]
        assert scheduled.attempt is None
        assert scheduled.pending.failure is not None
        assert scheduled.pending.failure.message == "slow down"
        assert (scheduled.pending.retry, scheduled.pending.retries) == (0, 0)
        assert ending(events).outcome is Outcome.COMPLETED
        assert await stage.attempts() == []

    play(scene)


def test_other_providers_and_keys_are_not_held(play: Play) -> None:
    """D3."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)
        holds.note("test", BUSY, 30.0)
        turn = stage.turn(ScriptedProvider(says("ok")), 5.0, holds=holds, model=OTHER)
        assert ending(await stage.send(turn)).outcome is Outcome.COMPLETED
        assert waits(stage) == []

    play(scene)


def test_who_met_the_limits_waits_once(play: Play) -> None:
    """D3: its own schedule is the wait; there is no second one behind it."""

    async def scene(stage: EngineStage) -> None:
        busy = fails(FailureKind.RATE_LIMIT, retry_after_s=3.0)
        await stage.send(stage.turn(ScriptedProvider(busy, says("ok")), 5.0, holds=Holds(stage.clock)))
        assert waits(stage) == [(WaitReason.RETRY, 3.0)]

    play(scene)


def test_limits_met_by_another_session_meanwhile_are_waited_for_behind_the_own_wait(play: Play) -> None:
    """D3: for what is left of them; that wait uses neither budget nor ceiling."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)

        async def elsewhere() -> None:
            holds.note("test", BUSY, 40.0)
            raise RuntimeError("connection lost")

        provider = ScriptedProvider([elsewhere], lost(), says("ok"))
        policy = RetryPolicy((5.0, 10.0), ceiling_s=15.0)
        assert ending(await stage.send(stage.turn(provider, policy=policy, holds=holds))).outcome is Outcome.COMPLETED
        assert waits(stage) == [(WaitReason.RETRY, 5.0), (WaitReason.LIMITS, 40.0), (WaitReason.RETRY, 50.0)]
        shown = [event.pending.retry for event in stage.events if isinstance(event, RetryScheduled)]
        assert shown == [1, 1, 2]
        assert [event.attempt for event in stage.events if isinstance(event, AttemptStarted)] == [1, 2, 3]

    play(scene)


def test_retry_now_goes_through_whatever_the_limits(play: Play) -> None:
    """D3, N4: the user has seen what it was to wait for; the next request is held again."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)
        holds.note("test", BUSY, 30.0)
        stage.gate = ScriptedGate(stage.clock, HoldResult.NOW)
        provider = ScriptedProvider(calls("ping"), says("ok"))
        await stage.send(stage.turn(provider, 5.0, holds=holds, tools=FakeTools(ping=pong)))
        assert waits(stage) == [(WaitReason.LIMITS, 30.0), (WaitReason.LIMITS, 30.0)]
        assert stage.clock.now() == 1030.0
        assert [event.retry for event in stage.events if isinstance(event, RetryStarted)] == [0, 0]

    play(scene)


def test_cancelling_the_wait_for_limits_leaves_the_turn_pending(play: Play) -> None:
    """C3: no request; the prompt is on disk."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)
        holds.note("test", BUSY, 30.0)
        stage.gate = ScriptedGate(stage.clock, HoldResult.CANCELLED)
        provider = ScriptedProvider(says("never"))
        end = ending(await stage.send(stage.turn(provider, 5.0, holds=holds), "keep me"))
        assert end.outcome is Outcome.STOPPED
        assert end.pending is not None
        assert (end.pending.text, end.pending.due_at, end.pending.reason) == ("keep me", None, WaitReason.RETRY)
        assert provider.requests == []
        assert (await stage.history()).session.pending

    play(scene)


def test_cancelling_that_wait_behind_a_retrys_own_leaves_nothing_scheduled(play: Play) -> None:
    """C3, D8: the failed attempt's due time goes, though it has passed."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)

        async def elsewhere() -> None:
            holds.note("test", BUSY, 40.0)
            raise RuntimeError("connection lost")

        stage.gate = ScriptedGate(stage.clock, HoldResult.ELAPSED, HoldResult.CANCELLED)
        end = ending(await stage.send(stage.turn(ScriptedProvider([elsewhere]), 5.0, holds=holds)))
        assert end.pending is not None
        assert (end.pending.retry, end.pending.retries) == (1, 1)
        assert end.pending.failure is not None
        assert end.pending.failure.message == "RuntimeError: connection lost"
        assert [attempt.retry_at for attempt in await stage.attempts()] == [None]

    play(scene)


@pytest.mark.parametrize(
    ("failure", "held_s"),
    [
        (BUSY, None),
        (Failure(FailureKind.RATE_LIMIT, "slow down", True, 20.0), 20.0),
        (Failure(FailureKind.OVERLOADED, "busy", True, 20.0), 20.0),
        (Failure(FailureKind.RATE_LIMIT, "tomorrow", False, 9420.0), None),
        (Failure(FailureKind.SERVER, "down", True), None),
    ],
    ids=["429", "429 with Retry-After", "Retry-After", "over the cap", "neither"],
)
def test_a_turn_that_gives_up_holds_as_long_as_the_provider_asked(
    play: Play, failure: Failure, held_s: float | None
) -> None:
    """D3: a wait over the cap is the user's to decide, so it holds nobody else."""

    async def scene(stage: EngineStage) -> None:
        holds = Holds(stage.clock)
        reply = fails(failure.kind, retryable=failure.retryable, retry_after_s=failure.retry_after_s)
        await stage.send(stage.turn(ScriptedProvider(reply), holds=holds, route=SHARED))
        until = holds.until("test")
        assert (None if until is None else until - stage.clock.now()) == held_s

    play(scene)
