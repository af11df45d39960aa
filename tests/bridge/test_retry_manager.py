"""The countdown: it measures by the Clock, is decided exactly once, and no listener can change how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from reprise.domain.ports import HoldResult
from reprise.domain.retry import PendingRetry
from support.countdown import FAILURE, Stage
from support.qt import Recorder

Played = Callable[[Callable[[Stage], Coroutine[Any, Any, None]]], None]


def test_a_wait_that_elapses_retries(played: Played) -> None:
    """R8, first half: the wait ends by itself and the retry goes on."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(0.01)
        await stage.clock.advance(0.01)
        assert await wait is HoldResult.ELAPSED

    played(scene)


def test_the_countdown_shows_each_second_once_rounded_up(played: Played) -> None:
    """R48, F10: live, rounded up, and said only when the shown number changes."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(2.5, retry=2)
        for _ in range(24):
            await stage.clock.advance(0.1)
        assert not wait.done()
        assert stage.manager.seconds_left == 1
        await stage.clock.advance(0.1)
        assert await wait is HoldResult.ELAPSED
        assert stage.seconds() == [3, 2, 1]
        assert stage.heard.names() == ["pending", "started", "changed", "changed", "changed", "pending", "retry"]
        assert stage.heard.seen[-2:] == [("pending", None), ("retry", 2)]
        assert stage.manager.seconds_left is None

    played(scene)


def test_retry_now_ends_the_wait_at_once(played: Played) -> None:
    """The banner's button."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(60)
        stage.manager.retry_now()
        assert not stage.manager.is_counting
        assert await wait is HoldResult.NOW
        assert stage.heard.names()[-1] == "retry"

    played(scene)


def test_cancel_ends_the_wait_and_the_turn_stays_pending(played: Played) -> None:
    """C3, R8 second half: no retry, and what is pending is there without a due time."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(60)
        stage.manager.cancel()
        assert await wait is HoldResult.CANCELLED
        assert stage.heard.names()[-2:] == ["pending", "cancelled"]
        assert stage.manager.pending == PendingRetry("hello", FAILURE, 1, 3, None)

    played(scene)


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ("retry_now", "retry_now", HoldResult.NOW),
        ("retry_now", "cancel", HoldResult.NOW),
        ("cancel", "retry_now", HoldResult.CANCELLED),
        ("cancel", "cancel", HoldResult.CANCELLED),
    ],
)
def test_two_clicks_within_one_turn_of_the_loop_are_one_decision(
    played: Played, first: str, second: str, result: HoldResult
) -> None:
    """C4: the first decides; whatever comes before the wait has ended is too late."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(60)
        getattr(stage.manager, first)()
        getattr(stage.manager, second)()
        assert await wait is result
        getattr(stage.manager, second)()
        names = stage.heard.names()
        assert names.count("retry") + names.count("cancelled") == 1

    played(scene)


def test_a_click_in_the_last_ten_milliseconds_retries_exactly_once(played: Played) -> None:
    """The click and the due time race; one of them starts the retry."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(3)
        await stage.clock.advance(2.99)
        stage.manager.retry_now()
        await stage.clock.advance(0.02)
        assert await wait is HoldResult.NOW
        assert stage.heard.names().count("retry") == 1

    played(scene)


def test_a_cancel_after_the_due_time_comes_too_late(played: Played) -> None:
    """The due time decided first; the cancel in the same turn of the loop changes nothing."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(3)
        stage.manager.retry_started.connect(stage.manager.cancel)
        await stage.clock.advance(3)
        assert await wait is HoldResult.ELAPSED
        assert "cancelled" not in stage.heard.names()

    played(scene)


def test_extending_moves_the_due_time_both_ways(played: Played) -> None:
    """N4, design section 4: `extend`."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(3)
        await stage.clock.advance(1)
        stage.manager.extend(10)
        await stage.clock.drain()
        assert stage.manager.pending == stage.pending(12)
        assert stage.manager.seconds_left == 12
        await stage.clock.advance(2)
        assert not wait.done()
        stage.manager.extend(-9.5)
        await stage.clock.drain()
        assert stage.manager.seconds_left == 1
        await stage.clock.advance(0.5)
        assert await wait is HoldResult.ELAPSED
        assert stage.seconds()[:4] == [3, 2, 12, 11]

    played(scene)


def test_extending_into_the_past_retries_at_once(played: Played) -> None:
    """A due time that has come is no wait."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(3)
        stage.manager.extend(-60)
        assert await wait is HoldResult.ELAPSED

    played(scene)


def test_waking_from_sleep_retries_at_once(played: Played) -> None:
    """N5: the clock jumped past the due time while the computer slept."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(80)
        await stage.clock.jump(3600)
        assert await wait is HoldResult.ELAPSED
        assert stage.seconds() == [80]

    played(scene)


def test_waking_from_a_short_sleep_shows_what_is_left(played: Played) -> None:
    """Seconds that were slept through are not shown one by one."""

    async def scene(stage: Stage) -> None:
        await stage.hold(80)
        await stage.clock.jump(50)
        assert stage.seconds() == [80, 30]
        stage.manager.cancel()

    played(scene)


def test_waits_of_one_conversation_never_overlap(played: Played) -> None:
    """One turn, one countdown; a second wait is a bug that shows."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(60)
        with pytest.raises(RuntimeError, match="waits already"):
            await stage.manager.hold(stage.pending(5))
        assert stage.manager.is_counting
        stage.manager.cancel()
        await wait
        again = await stage.hold(1)
        await stage.clock.advance(1)
        assert await again is HoldResult.ELAPSED

    played(scene)


def test_a_wait_without_an_end_is_refused(played: Played) -> None:
    """`hold` needs a due time or something to wait for."""

    async def scene(stage: Stage) -> None:
        with pytest.raises(ValueError, match="something to wait for"):
            await stage.manager.hold(PendingRetry("hello"))

    played(scene)


def test_cancelling_the_task_ends_the_wait_and_cleans_up(played: Played) -> None:
    """C2: CancelledError reaches the awaiter, nothing counts on, and the next wait works."""

    async def scene(stage: Stage) -> None:
        wait = await stage.hold(60)
        wait.cancel()
        with pytest.raises(asyncio.CancelledError):
            await wait
        assert stage.manager.seconds_left is None
        await stage.clock.advance(120)
        assert stage.scope.running == ()
        assert not {"retry", "cancelled"} & set(stage.heard.names())
        again = await stage.hold(1)
        await stage.clock.advance(1)
        assert await again is HoldResult.ELAPSED

    played(scene)


def test_repeated_waits_leave_nothing_behind(played: Played) -> None:
    """F14: no task and no connection per wait."""

    async def scene(stage: Stage) -> None:
        for _ in range(50):
            wait = await stage.hold(5)
            stage.manager.retry_now()
            await wait
        await stage.clock.drain()
        assert stage.scope.running == ()
        assert stage.clock.sleepers == ()

    played(scene)


def interrupt(*_: object) -> None:
    """A listener that raises."""
    raise KeyError("a listener that raises")


def test_a_listener_that_raises_while_the_cancel_is_reported_changes_nothing(played: Played, qtbot: QtBot) -> None:
    """R10, C4, D19: the wait stays cancelled, later listeners hear it, and pending stays."""

    async def scene(stage: Stage) -> None:
        stage.manager.cancelled.connect(interrupt)
        later = Recorder(cancelled=stage.manager.cancelled)
        with qtbot.capture_exceptions() as raised:
            wait = await stage.hold(60)
            stage.manager.cancel()
            assert await wait is HoldResult.CANCELLED
        assert [kind for kind, _, _ in raised] == [KeyError]
        assert later.names() == ["cancelled"]
        assert stage.manager.pending is not None

    played(scene)


def test_a_listener_that_raises_while_the_retry_is_announced_changes_nothing(played: Played, qtbot: QtBot) -> None:
    """R10, D19: the retry still happens."""

    async def scene(stage: Stage) -> None:
        for signal in (
            stage.manager.countdown_started,
            stage.manager.countdown_changed,
            stage.manager.pending_changed,
            stage.manager.retry_started,
        ):
            signal.connect(interrupt)
        with qtbot.capture_exceptions() as raised:
            wait = await stage.hold(2)
            await stage.clock.advance(2)
            assert await wait is HoldResult.ELAPSED
        assert len(raised) == 6
        assert stage.seconds() == [2, 1]

    played(scene)


def test_a_second_cancel_while_the_first_is_reported_is_swallowed(played: Played) -> None:
    """C4: a second Esc inside the listener of the first."""

    async def scene(stage: Stage) -> None:
        stage.manager.cancelled.connect(stage.manager.cancel)
        stage.manager.cancelled.connect(stage.manager.retry_now)
        wait = await stage.hold(60)
        stage.manager.cancel()
        assert await wait is HoldResult.CANCELLED
        assert stage.heard.names().count("cancelled") == 1
        assert stage.manager.pending is not None

    played(scene)


def test_a_listener_may_decide_as_soon_as_the_countdown_starts(played: Played) -> None:
    """A decision inside `countdown_started` counts, and no countdown begins behind it."""

    async def scene(stage: Stage) -> None:
        stage.manager.countdown_started.connect(stage.manager.retry_now)
        wait = await stage.hold(60)
        assert await wait is HoldResult.NOW
        assert stage.seconds() == []

    played(scene)


def test_clicks_while_nothing_waits_do_nothing(played: Played) -> None:
    """C5: a cancel between turns is a no-op."""

    async def scene(stage: Stage) -> None:
        stage.manager.cancel()
        stage.manager.retry_now()
        stage.manager.extend(5)
        await stage.clock.drain()
        assert stage.heard.seen == []

    played(scene)


def test_exhaustion_is_reported_with_its_failure(played: Played) -> None:
    """The conversation tells; the manager holds no policy."""

    async def scene(stage: Stage) -> None:
        stage.manager.set_pending(PendingRetry("hello", FAILURE, 3, 3))
        stage.manager.set_pending(PendingRetry("hello", FAILURE, 3, 3))
        stage.manager.report_exhausted(FAILURE)
        assert stage.heard.seen == [
            ("pending", PendingRetry("hello", FAILURE, 3, 3)),
            ("exhausted", FAILURE),
        ]

    played(scene)
