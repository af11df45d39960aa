"""The wait before a retry: how long, what is on disk meanwhile, and who may end it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from reprise.domain.deltas import TextDelta
from reprise.domain.events import (
    Outcome,
    RetryStarted,
)
from reprise.domain.failures import FailureKind
from reprise.domain.messages import TextPart
from reprise.domain.ports import HoldResult
from reprise.domain.retry import RetryPolicy
from reprise.domain.sessions import Attempt, AttemptState
from support.engine import (
    EngineStage,
    FakeTools,
    ScriptedProvider,
    SleepingGate,
    calls,
    ending,
    fails,
    lost,
    pong,
    says,
)

Play = Callable[..., None]


def test_a_retry_begins_when_its_wait_has_elapsed(play: Play) -> None:
    """R8: the wait ends by itself when its time is over, and not before."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), says("ok"))
        gate = SleepingGate(stage.clock)
        turn = stage.turn(provider, 5.0, gate=gate)

        async def time_passes() -> None:
            await gate.waiting.wait()
            await stage.clock.advance(4.9)
            assert len(provider.requests) == 1
            await stage.clock.advance(0.1)

        async with asyncio.TaskGroup() as group:
            sent = group.create_task(stage.send(turn))
            group.create_task(time_passes())
        assert ending(sent.result()).outcome is Outcome.COMPLETED
        assert len(provider.requests) == 2

    play(scene)


def test_a_failed_attempt_is_on_disk_with_its_retry_before_the_wait(play: Play) -> None:
    """R49, D5, D8: number, "n of N", the due time in UTC and the parts are stored before anything waits."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(fails(FailureKind.SERVER, TextDelta("Hal")), says("ok"))
        seen: list[Attempt] = []

        class Gate:
            async def hold(self, pending: object, ready: object = None) -> HoldResult:
                seen.extend(await stage.attempts())
                return HoldResult.NOW

        await stage.send(stage.turn(provider, 5.0, 10.0, gate=Gate()))
        (attempt,) = seen
        assert (attempt.number, attempt.state, attempt.retry, attempt.retries) == (1, AttemptState.FAILED, 1, 2)
        assert attempt.retry_at is not None
        assert (attempt.retry_at - stage.clock.utc()).total_seconds() == 5.0
        assert attempt.parts[0] == TextPart("Hal")

    play(scene)


def test_retry_after_decides_the_first_wait_and_raises_the_next(play: Play) -> None:
    """D3: asked for 3 s twice, the turn waits 3 s, then the larger of 3 s and the schedule's previous step."""

    async def scene(stage: EngineStage) -> None:
        busy = fails(FailureKind.RATE_LIMIT, retry_after_s=3.0)
        events = await stage.send(stage.turn(ScriptedProvider(busy, busy, says("ok")), 5.0, 10.0))
        assert stage.gate.waits == [3.0, 5.0]
        assert ending(events).outcome is Outcome.COMPLETED

    play(scene)


def test_a_retry_after_over_the_cap_asks_instead_of_waiting(play: Play) -> None:
    """D3: nothing waits silently; the pending turn says how long the provider asks for."""

    async def scene(stage: EngineStage) -> None:
        busy = fails(FailureKind.RATE_LIMIT, retryable=False, retry_after_s=9420.0)
        end = ending(await stage.send(stage.turn(ScriptedProvider(busy), 5.0)))
        assert end.outcome is Outcome.FAILED
        assert end.pending is not None
        assert (end.pending.ask_s, end.pending.due_at) == (9420.0, None)
        assert stage.gate.waits == []
        (attempt,) = await stage.attempts()
        assert attempt.retry_at is None

    play(scene)


def test_a_turn_never_waits_longer_than_its_ceiling(play: Play) -> None:
    """D4, N19: waits of all rounds add up; the one that would pass the ceiling is not made."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), calls("ping"), lost(), calls("ping"), lost())
        turn = stage.turn(provider, policy=RetryPolicy((5.0,), ceiling_s=12.0), tools=FakeTools(ping=pong))
        end = ending(await stage.send(turn))
        assert stage.gate.waits == [5.0, 5.0]
        assert end.outcome is Outcome.FAILED
        assert end.pending is not None
        assert end.pending.after_tools

    play(scene)


def test_a_computer_that_slept_through_a_wait_did_not_use_up_the_ceiling(play: Play) -> None:
    """D4, N5: eight hours of sleep count as the five seconds that were scheduled."""

    async def scene(stage: EngineStage) -> None:
        class Asleep:
            async def hold(self, pending: object, ready: object = None) -> HoldResult:
                await stage.clock.jump(8 * 3600.0)
                return HoldResult.ELAPSED

        turn = stage.turn(ScriptedProvider(lost(), lost(), says("ok")), 5.0, 10.0, gate=Asleep())
        assert ending(await stage.send(turn)).outcome is Outcome.COMPLETED

    play(scene)


def test_cancelling_the_wait_sends_nothing_more_and_leaves_the_turn_pending(play: Play) -> None:
    """C3, R11, R32, R4: no further request, the text is pending, and nothing is scheduled on disk."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(lost(), says("never"))
        stage.gate = type(stage.gate)(stage.clock, HoldResult.CANCELLED)
        end = ending(await stage.send(stage.turn(provider, 5.0), "keep me"))
        assert end.outcome is Outcome.STOPPED
        assert end.pending is not None
        assert (end.pending.text, end.pending.due_at) == ("keep me", None)
        await stage.clock.advance(60.0)
        assert len(provider.requests) == 1
        (attempt,) = await stage.attempts()
        assert (attempt.state, attempt.retry_at) == (AttemptState.FAILED, None)
        assert (await stage.history()).session.pending

    play(scene)


def test_retry_now_ends_the_wait(play: Play) -> None:
    """D6, N4: the retry is the one that was scheduled."""

    async def scene(stage: EngineStage) -> None:
        stage.gate = type(stage.gate)(stage.clock, HoldResult.NOW)
        before = stage.clock.now()
        events = await stage.send(stage.turn(ScriptedProvider(lost(), says("ok")), 300.0))
        assert ending(events).outcome is Outcome.COMPLETED
        assert stage.clock.now() == before
        assert [event.retry for event in events if isinstance(event, RetryStarted)] == [1]

    play(scene)
