"""The countdown's other wait: for the network, however long that takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from reprise.domain.ports import HoldResult
from reprise.domain.retry import PendingRetry, WaitReason
from support.countdown import Stage

Played = Callable[[Callable[[Stage], Coroutine[Any, Any, None]]], None]


def offline() -> PendingRetry:
    """A turn that waits for the network."""
    return PendingRetry("hello", reason=WaitReason.OFFLINE)


async def hold_until(stage: Stage, ready: asyncio.Event) -> asyncio.Task[HoldResult]:
    """A wait without a due time that has begun."""

    async def wait() -> None:
        await ready.wait()

    task = stage.scope.start(stage.manager.hold(offline(), wait()), name="wait")
    await stage.clock.drain()
    return task


def test_a_wait_for_the_network_shows_no_seconds_and_ends_when_it_is_there(played: Played) -> None:
    """D14: however long it takes; `extend` has nothing to move."""

    async def scene(stage: Stage) -> None:
        ready = asyncio.Event()
        wait = await hold_until(stage, ready)
        assert (stage.manager.is_counting, stage.manager.seconds_left) == (True, None)
        stage.manager.extend(60)
        await stage.clock.advance(3600)
        assert stage.manager.is_counting
        ready.set()
        assert await wait is HoldResult.ELAPSED
        assert stage.heard.seen == [("pending", offline()), ("started", offline()), ("pending", None), ("retry", 0)]

    played(scene)


@pytest.mark.parametrize(
    ("command", "result"), [("retry_now", HoldResult.NOW), ("cancel", HoldResult.CANCELLED)], ids=["try now", "cancel"]
)
def test_a_wait_for_the_network_can_be_decided(played: Played, command: str, result: HoldResult) -> None:
    """D14: Try now and Cancel; what was waited for is let go, and what stays pending waits for nobody."""

    async def scene(stage: Stage) -> None:
        wait = await hold_until(stage, asyncio.Event())
        getattr(stage.manager, command)()
        assert await wait is result
        await stage.clock.drain()
        assert stage.scope.running == ()
        expected = None if result is HoldResult.NOW else PendingRetry("hello")
        assert stage.manager.pending == expected
        again = await stage.hold(1)
        await stage.clock.advance(1)
        assert await again is HoldResult.ELAPSED

    played(scene)


def test_a_wait_for_the_network_that_is_decided_before_it_begins_awaits_nothing(played: Played) -> None:
    """A listener decides inside `countdown_started`; the coroutine is closed."""

    async def scene(stage: Stage) -> None:
        stage.manager.countdown_started.connect(stage.manager.retry_now)
        wait = await hold_until(stage, asyncio.Event())
        assert await wait is HoldResult.NOW

    played(scene)


def test_what_a_refused_wait_was_given_is_closed(played: Played) -> None:
    """A second wait is a bug of ours; it leaves no coroutine behind."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(60)
        with pytest.raises(RuntimeError, match="waits already"):
            await stage.manager.hold(offline(), asyncio.sleep(0))
        stage.manager.cancel()
        await wait

    played(scene)


def test_cancelling_the_task_ends_a_wait_for_the_network(played: Played) -> None:
    """C2: nothing waits on, and nothing is said."""

    async def scene(stage: Stage) -> None:
        wait = await hold_until(stage, asyncio.Event())
        wait.cancel()
        with pytest.raises(asyncio.CancelledError):
            await wait
        await stage.clock.drain()
        assert stage.scope.running == ()
        assert not {"retry", "cancelled"} & set(stage.heard.names())

    played(scene)
