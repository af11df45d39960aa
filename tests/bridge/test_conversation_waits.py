"""Waits that no failed attempt of the turn began, other models, and what a limit or a dead network holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from reprise.domain.deltas import TextDelta
from reprise.domain.events import Outcome
from reprise.domain.failures import FailureKind
from reprise.domain.messages import ToolCallPart
from reprise.domain.retry import WaitReason
from reprise.domain.turns import AwaitingRetry
from support.aio import Aio
from support.bridge import BridgeStage, end_of, recorder
from support.clock import ManualClock
from support.engine import HANG, FakeTools, FaultyLog, calls, fails, says, texts

Play = Callable[..., None]
LIMITED = fails(FailureKind.RATE_LIMIT, retry_after_s=30.0, words="slow down")
ASKED = fails(FailureKind.RATE_LIMIT, retryable=False, retry_after_s=130.0)


def test_retry_after_waits_and_then_retries_with_a_full_budget(play: Play) -> None:
    """D3, R12: a place in a row of retries; it counts down like any wait, and is stored."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.retry_after(4)
        await stage.clock.drain()
        assert isinstance(chat.state, AwaitingRetry)
        assert chat.pending is not None
        assert (chat.pending.reason, chat.retry_manager.seconds_left) == (WaitReason.TURN, 4)
        (attempt,) = await stage.attempts(chat)
        assert attempt.retry_at == stage.clock.utc() + timedelta(seconds=4)
        await stage.assert_memory_equals_disk(chat)
        await stage.clock.advance(4)
        assert end_of(heard).outcome is Outcome.COMPLETED
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), says("ok"), delays=())


def test_retry_after_nothing_retries_at_once(play: Play) -> None:
    """The first of a row."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        chat.retry_after(0)
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]

    play(scene, fails(), says("ok"), delays=())


def test_a_wait_can_begin_where_no_attempt_was_made(play: Play) -> None:
    """F44: stopped before anything was sent; there is no attempt to store the time with, and the wait runs all the
    same.
    """

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        assert chat.send("hello")
        chat.stop()
        await stage.clock.drain()
        assert stage.provider.requests == []
        chat.retry_after(3)
        await stage.clock.drain()
        assert chat.retry_manager.seconds_left == 3
        await stage.clock.advance(3)
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("ok"))


def test_such_a_wait_that_was_ended_by_retry_counts_down_no_more(play: Play) -> None:
    """D8, L15: not even when the branch ends at its attempt again, since what the retry called is taken back."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        chat.retry_after(40)
        await stage.clock.advance(1)
        chat.retry()
        await stage.clock.drain()
        chat.stop()
        await stage.clock.drain()
        assert chat.pending is not None
        assert chat.session.retry_at == stage.clock.utc()
        await stage.assert_memory_equals_disk(chat)

    async def hang(call: ToolCallPart) -> str:
        await asyncio.Event().wait()
        return "never"

    play(scene, fails(), calls("hang"), delays=(), tools=FakeTools(hang=hang))


def test_esc_during_such_a_wait_takes_its_time_back(play: Play) -> None:
    """D7, D8: pending as before, for whatever reason, and nothing scheduled in the log."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        before = chat.pending
        chat.retry_after(4)
        await stage.clock.drain()
        chat.stop()
        await stage.clock.drain()
        assert chat.pending == before
        assert before is not None
        assert before.reason is WaitReason.RETRY
        (attempt,) = await stage.attempts(chat)
        assert attempt.retry_at is None
        await stage.clock.advance(60)
        assert len(stage.provider.requests) == 1
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), delays=())


def test_esc_before_the_wait_has_begun_ends_it_too(play: Play) -> None:
    """D6, C10, F12: the time is on its way to the disk; no countdown starts behind the Esc."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.retry_after(4)
        chat.stop()
        await stage.clock.drain()
        assert end_of(heard).outcome is Outcome.STOPPED
        assert (chat.is_busy, chat.retry_manager.is_counting) == (False, False)
        (attempt,) = await stage.attempts(chat)
        assert attempt.retry_at is None
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), delays=())


async def closed_in_a_wait(folder: Path, reply: object, begin: Callable[[object], None]) -> tuple[str, ManualClock]:
    """A life that ends while a wait that `begin` began has run for one second."""
    stage = await BridgeStage.open(folder, reply, delays=())
    chat = stage.chat()
    await stage.send(chat)
    if chat.is_busy:
        chat.stop()
        await stage.clock.drain()
    begin(chat)
    await stage.clock.advance(1)
    await chat.close()
    await stage.close()
    return chat.session_id, stage.clock


def test_closing_while_such_a_wait_runs_keeps_it_scheduled(aio: Aio, tmp_path: Path) -> None:
    """D8: for a failed turn put in a row, for one that was stopped, and for a wait the provider asked for."""
    begins: list[tuple[object, Callable[[object], None], int]] = [
        (fails(), lambda chat: chat.retry_after(10), 9),  # type: ignore[attr-defined]
        ([TextDelta("half"), HANG], lambda chat: chat.retry_after(10), 9),  # type: ignore[attr-defined]
        (ASKED, lambda chat: chat.wait_as_asked(), 129),  # type: ignore[attr-defined]
    ]

    async def main() -> None:
        for number, (reply, begin, left_s) in enumerate(begins):
            folder = tmp_path / str(number)
            folder.mkdir()
            session_id, clock = await closed_in_a_wait(folder, reply, begin)
            stage = await BridgeStage.open(folder, says("ok"), clock=ManualClock(utc=clock.utc()))
            again = await stage.reopened(session_id)
            assert again.retry_manager.seconds_left == left_s
            await stage.clock.advance(left_s)
            assert texts(await stage.stored(again)) == [("user", "hello"), ("assistant", "ok")]
            await stage.assert_memory_equals_disk(again)
            await stage.close()

    aio(main())


def test_a_wait_the_user_began_ends_with_a_full_budget_after_a_restart_too(aio: Aio, tmp_path: Path) -> None:
    """R12, D8: only a schedule's own wait goes on as its retry n; Esc leaves what the failed attempt says."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, *[fails()] * 2, delays=(5.0,))
        chat = stage.chat()
        await stage.send(chat)
        await stage.clock.advance(5)
        used_up = chat.pending
        assert used_up is not None
        assert (used_up.retry, used_up.retries) == (1, 1)
        chat.retry_after(10)
        await stage.clock.drain()
        chat.stop()
        await stage.clock.drain()
        assert chat.pending == used_up
        chat.retry_after(10)
        await stage.clock.advance(1)
        await chat.close()
        await stage.close()
        clock = ManualClock(utc=stage.clock.utc())
        stage = await BridgeStage.open(tmp_path, fails(), says("ok"), clock=clock, delays=(5.0,))
        again = await stage.reopened(chat.session_id)
        await clock.advance(9)
        assert again.pending is not None
        assert (again.pending.retry, again.retry_manager.seconds_left) == (1, 5)
        await clock.advance(5)
        assert texts(await stage.stored(again)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(again)
        await stage.close()

    aio(main())


def test_a_wait_that_cannot_be_stored_ends_the_turn_with_that_failure(play: Play) -> None:
    """D19: pending, and the reason is ours."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.retry_after(4)
        await stage.clock.drain()
        finished = end_of(heard)
        assert finished.failure is not None
        assert (finished.outcome, finished.failure.kind) == (Outcome.FAILED, FailureKind.STORAGE)
        assert chat.pending is not None
        assert not chat.is_busy

    play(scene, fails(), delays=(), wrap=lambda log: FaultyLog(log, refuse={"reschedule"}))
