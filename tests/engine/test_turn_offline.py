"""While the system has no network a request waits for it, and no retry is used up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reprise.domain.deltas import TextDelta
from reprise.domain.events import AttemptFailed, Outcome, RetryScheduled, RetryStarted
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.models import Route
from reprise.domain.ports import HoldResult
from reprise.domain.retry import WaitReason
from reprise.domain.sessions import AttemptState
from support.engine import (
    HANG,
    EngineStage,
    Network,
    Reply,
    ScriptedGate,
    ScriptedProvider,
    SleepingGate,
    ending,
    fails,
    lost,
    says,
    shown_retries,
    texts,
)

Play = Callable[..., None]


def reasons(stage: EngineStage) -> list[WaitReason]:
    return [event.pending.reason for event in stage.events if isinstance(event, RetryScheduled)]


def goes_down(network: Network, kind: FailureKind = FailureKind.NETWORK) -> Reply:
    """A reply under which the network goes away."""

    async def down() -> None:
        network.set_offline(True)
        raise CompletionError(Failure(kind, "network is unreachable", True))

    return [TextDelta("Hal"), down]


def test_a_prompt_sent_offline_is_stored_and_sent_when_the_network_returns(play: Play) -> None:
    """D14, L1, N5: the wait has no due time; nothing is asked before."""

    async def scene(stage: EngineStage) -> None:
        network, provider = Network(offline=True), ScriptedProvider(says("ok"))
        gate = SleepingGate(stage.clock)
        async with asyncio.TaskGroup() as group:
            sent = group.create_task(stage.send(stage.turn(provider, 5.0, reachability=network, gate=gate)))
            await gate.waiting.wait()
            await stage.clock.advance(3600.0)
            assert provider.requests == []
            assert texts(await stage.stored()) == [("user", "hello")]
            network.set_offline(False)
        assert ending(sent.result()).outcome is Outcome.COMPLETED
        (scheduled,) = [event for event in stage.events if isinstance(event, RetryScheduled)]
        assert (scheduled.pending.reason, scheduled.pending.due_at, scheduled.attempt) == (
            WaitReason.OFFLINE,
            None,
            None,
        )
        assert await stage.attempts() == []

    play(scene)


@pytest.mark.parametrize("kind", [FailureKind.NETWORK, FailureKind.TIMEOUT])
def test_an_attempt_that_lost_the_network_uses_no_retry(play: Play, kind: FailureKind) -> None:
    """D14: it is recorded, the wait for the network follows directly, and the whole budget is left."""

    async def scene(stage: EngineStage) -> None:
        network = Network()

        class Gate(ScriptedGate):
            async def hold(self, pending: object, ready: object = None) -> HoldResult:  # type: ignore[override]
                network.set_offline(False)
                return await super().hold(pending, ready)  # type: ignore[arg-type]

        stage.gate = Gate(stage.clock)
        provider = ScriptedProvider(*[goes_down(network, kind)] * 3, lost(), says("ok"))
        events = await stage.send(stage.turn(provider, 5.0, reachability=network))
        assert ending(events).outcome is Outcome.COMPLETED
        assert reasons(stage) == [WaitReason.OFFLINE] * 3 + [WaitReason.RETRY]
        assert shown_retries(events) == ["0/1", "0/1", "0/1", "1/1"]
        failed = [event.entry for event in events if isinstance(event, AttemptFailed)]
        assert [event.attempt for event in events if isinstance(event, RetryScheduled)] == failed
        attempts = await stage.attempts()
        assert [attempt.number for attempt in attempts] == [1, 2, 3, 4]
        assert {attempt.state for attempt in attempts} == {AttemptState.FAILED}
        assert stage.gate.waits == [5.0]

    play(scene)


def test_a_failure_that_is_not_the_networks_takes_the_normal_schedule_offline_too(play: Play) -> None:
    """D14: the wait for the network comes behind it."""

    async def scene(stage: EngineStage) -> None:
        network = Network()

        class Gate(ScriptedGate):
            async def hold(self, pending: object, ready: object = None) -> HoldResult:  # type: ignore[override]
                network.set_offline(not network.is_offline)
                return await super().hold(pending, ready)  # type: ignore[arg-type]

        stage.gate = Gate(stage.clock)
        provider = ScriptedProvider(fails(FailureKind.SERVER), says("ok"))
        events = await stage.send(stage.turn(provider, 5.0, reachability=network))
        assert reasons(stage) == [WaitReason.RETRY, WaitReason.OFFLINE]
        assert [event.retry for event in events if isinstance(event, RetryStarted)] == [1, 1]
        assert ending(events).outcome is Outcome.COMPLETED

    play(scene)


@pytest.mark.parametrize("options", [{"route": Route("local", is_local=True)}, {"reachability": None}])
def test_a_model_on_this_machine_is_never_held_nor_anyone_when_that_is_off(
    play: Play, options: dict[str, object]
) -> None:
    """D14: loopback providers need no network; `retry.hold_offline` off leaves the normal schedule."""

    async def scene(stage: EngineStage) -> None:
        provider = ScriptedProvider(fails(FailureKind.NETWORK), says("ok"))
        turn = stage.turn(provider, 5.0, **{"reachability": Network(offline=True), **options})
        assert ending(await stage.send(turn)).outcome is Outcome.COMPLETED
        assert reasons(stage) == [WaitReason.RETRY]

    play(scene)


def test_retry_now_goes_through_offline_and_the_wait_may_be_cancelled(play: Play) -> None:
    """D14, C3: a request that fails then waits again, at no cost; a cancel leaves the turn pending."""

    async def scene(stage: EngineStage) -> None:
        stage.gate = ScriptedGate(stage.clock, HoldResult.NOW, HoldResult.CANCELLED)
        provider = ScriptedProvider(fails(FailureKind.NETWORK, words="unreachable"))
        end = ending(await stage.send(stage.turn(provider, 5.0, reachability=Network(offline=True))))
        assert end.outcome is Outcome.STOPPED
        assert end.pending is not None
        assert (end.pending.retry, end.pending.due_at, end.pending.reason) == (0, None, WaitReason.RETRY)
        assert end.pending.failure is not None
        assert end.pending.failure.message == "unreachable"
        assert len(provider.requests) == 1
        assert (await stage.history()).session.pending

    play(scene)


def test_stopping_the_wait_for_the_network_leaves_the_turn_pending(play: Play) -> None:
    """D6, C9: at once, and nothing is sent when the network returns."""

    async def scene(stage: EngineStage) -> None:
        network, provider, gate = Network(offline=True), ScriptedProvider([HANG]), SleepingGate(stage.clock)
        task = asyncio.create_task(stage.send(stage.turn(provider, 5.0, reachability=network, gate=gate)))
        await gate.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        network.set_offline(False)
        await stage.clock.advance(60.0)
        assert provider.requests == []
        assert (await stage.history()).session.pending

    play(scene)
