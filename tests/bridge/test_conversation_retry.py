"""The retry story in the window: countdown, Retry now, Cancel, restart in the middle of a wait."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from reprise.domain.deltas import TextDelta
from reprise.domain.events import Outcome
from reprise.domain.failures import FailureKind
from reprise.domain.sessions import AttemptState
from reprise.domain.turns import AwaitingRetry, Finished
from support.aio import Aio
from support.bridge import BridgeStage, end_of, recorder
from support.clock import ManualClock
from support.engine import HANG, fails, says, texts

Play = Callable[..., None]

TOO_FAST = fails(FailureKind.RATE_LIMIT, retry_after_s=3.0, words="slow down")


def test_the_banner_counts_a_retry_after_of_three_seconds_twice_and_then_the_reply_comes(play: Play) -> None:
    """Issue 'must show': 429 with Retry-After 3 twice, then a reply; one prompt and one reply are stored."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert isinstance(chat.state, AwaitingRetry)
        assert chat.pending == chat.state.pending
        assert chat.pending is not None
        assert (chat.pending.retry, chat.pending.retries, chat.retry_manager.seconds_left) == (1, 3, 3)
        await stage.clock.advance(3)
        assert chat.retry_manager.seconds_left == 5
        assert chat.pending is not None
        assert chat.pending.retry == 2
        await stage.clock.advance(5)
        assert end_of(heard).outcome is Outcome.COMPLETED
        assert [entry[1] for entry in heard.seen if entry[0] == "seconds"] == [3, 2, 1, 5, 4, 3, 2, 1]
        assert [entry[1] for entry in heard.seen if entry[0] == "retry"] == [1, 2]
        assert "exhausted" not in heard.names()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        assert chat.pending is None
        await stage.assert_memory_equals_disk(chat)

    play(scene, TOO_FAST, TOO_FAST, says("ok"))


def test_esc_cancels_the_wait_only_and_retry_completes_the_turn(play: Play) -> None:
    """D7, C3, B2, R50: cancelled, still pending with its failure, then one click away."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.stop()
        chat.stop()
        await stage.clock.drain()
        assert end_of(heard).outcome is Outcome.STOPPED
        assert heard.names().count("cancelled") == 1
        assert chat.pending is not None
        assert (chat.pending.due_at, chat.pending.failure and chat.pending.failure.message) == (None, "slow down")
        assert chat.state == Finished(Outcome.STOPPED, chat.pending)
        (attempt,) = await stage.attempts(chat)
        assert attempt.retry_at is None
        await stage.clock.advance(60)
        assert len(stage.provider.requests) == 1
        chat.retry()
        await stage.clock.drain()
        assert chat.pending is not None
        assert (chat.pending.retry, chat.pending.retries) == (1, 3)
        chat.retry()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, TOO_FAST, TOO_FAST, says("ok"))


def test_retry_during_the_countdown_retries_now_and_only_once(play: Play) -> None:
    """Ctrl+R is enabled during a countdown; two presses are one retry."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.retry()
        chat.retry()
        await stage.clock.drain()
        assert heard.names().count("retry") == 1
        assert len(stage.provider.requests) == 2
        assert end_of(heard).outcome is Outcome.COMPLETED
        await stage.assert_memory_equals_disk(chat)

    play(scene, TOO_FAST, says("ok"))


def test_retry_now_and_esc_in_one_turn_of_the_loop_are_one_decision(play: Play) -> None:
    """F12: the first wins; the Esc that came a hair later stops the request that it finds."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.retry()
        chat.stop()
        await stage.clock.drain()
        assert heard.names().count("finished") == 1
        assert end_of(heard).outcome is Outcome.STOPPED
        assert chat.pending is not None
        await stage.assert_memory_equals_disk(chat)

    play(scene, TOO_FAST, [HANG])


def test_exhausted_retries_leave_the_turn_pending_and_retry_has_a_full_budget(play: Play) -> None:
    """R2, R12, B2: one delay and two failures; then the manual retry succeeds."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat, "hold-me")
        await stage.clock.advance(5)
        assert len(stage.provider.requests) == 2
        assert heard.names()[-2:] == ["exhausted", "finished"]
        assert chat.pending is not None
        assert (chat.pending.text, chat.pending.retry, chat.pending.retries) == ("hold-me", 1, 1)
        chat.retry()
        await stage.clock.drain()
        assert chat.retry_manager.is_counting
        await stage.clock.advance(5)
        assert texts(await stage.stored(chat)) == [("user", "hold-me"), ("assistant", "ok")]
        assert chat.pending is None
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), fails(), fails(), says("ok"), delays=(5.0,))


def test_a_failed_partial_is_gone_from_the_branch_before_the_wait(play: Play) -> None:
    """D5, R49: memory, too, holds the attempt and not the words."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        assert chat.partial is None
        assert len(chat.history.branch) == 1
        await stage.assert_memory_equals_disk(chat)
        chat.stop()
        await stage.clock.drain()

    play(scene, fails(FailureKind.SERVER, TextDelta("half")))


def test_stop_inside_a_retried_attempt_ends_it_and_counts_what_was_tried(play: Play) -> None:
    """F11: the second attempt is stopped like the first one would be; both are in the log under their numbers."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        await stage.clock.advance(5)
        assert len(stage.provider.requests) == 2
        chat.stop()
        await stage.clock.drain()
        assert end_of(heard).outcome is Outcome.STOPPED
        assert stage.provider.closed == 2
        attempts = await stage.attempts(chat)
        assert [(attempt.number, attempt.state) for attempt in attempts] == [
            (1, AttemptState.FAILED),
            (2, AttemptState.STOPPED),
        ]
        await stage.clock.advance(600)
        assert len(stage.provider.requests) == 2
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), [TextDelta("half"), HANG], says("never"))


def test_a_wait_over_the_cap_asks_and_waits_only_when_told_to(play: Play) -> None:
    """D3: two minutes are not waited for silently; `wait_as_asked` counts them down, from the failure on."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert chat.pending is not None
        assert chat.pending.ask_s == 130
        assert not chat.is_busy
        await stage.clock.advance(100)
        chat.wait_as_asked()
        await stage.clock.drain()
        assert chat.retry_manager.seconds_left == 30
        assert isinstance(chat.state, AwaitingRetry)
        await stage.clock.advance(30)
        assert end_of(heard).outcome is Outcome.COMPLETED
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(FailureKind.RATE_LIMIT, retryable=False, retry_after_s=130.0), says("ok"))


async def interrupted_wait(folder: Path, *replies: object) -> tuple[str, ManualClock]:
    """A life of the program that ends while a retry of 60 s has 50 s to go."""
    stage = await BridgeStage.open(folder, *replies, delays=(60.0, 70.0))
    chat = stage.chat()
    await stage.send(chat)
    await stage.clock.advance(10)
    await chat.close()
    await stage.close()
    return chat.session_id, stage.clock


def test_a_countdown_goes_on_after_a_restart(aio: Aio, tmp_path: Path) -> None:
    """D8: what was scheduled and is not yet due counts on, and the turn completes by itself."""

    async def main() -> None:
        session_id, clock = await interrupted_wait(tmp_path, fails())
        later = ManualClock(now=5.0, utc=clock.utc() + timedelta(seconds=20))
        stage = await BridgeStage.open(tmp_path, says("ok"), clock=later)
        chat = await stage.reopened(session_id)
        heard = recorder(chat)
        assert chat.is_busy
        assert isinstance(chat.state, AwaitingRetry)
        assert chat.retry_manager.seconds_left == 30
        assert chat.pending is not None
        assert (chat.pending.text, chat.pending.retry, chat.pending.retries) == ("hello", 1, 2)
        await later.advance(30)
        assert heard.names()[-4:] == ["started", "attempt", "round", "finished"]
        assert [entry[1] for entry in heard.seen if entry[0] == "retry"] == [1]
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(chat)
        await stage.close()

    aio(main())


def test_a_wait_that_was_moved_is_due_at_its_new_time_after_a_restart(aio: Aio, tmp_path: Path) -> None:
    """D8 for `extend`: the banner's promise is what the log says."""

    async def main() -> None:
        first = await BridgeStage.open(tmp_path, fails())
        chat = first.chat()
        await first.send(chat)
        chat.retry_manager.extend(30)
        await first.assert_memory_equals_disk(chat)
        await chat.close()
        await first.close()
        stage = await BridgeStage.open(tmp_path, says("ok"), clock=ManualClock(utc=first.clock.utc()))
        again = await stage.reopened(chat.session_id)
        assert again.retry_manager.seconds_left == 35
        again.retry_manager.extend(-30)
        await stage.clock.advance(5)
        assert texts(await stage.stored(again)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(again)
        await stage.close()

    aio(main())


def test_a_restored_countdown_can_be_cancelled(aio: Aio, tmp_path: Path) -> None:
    """D7, D8: Esc ends that wait too, and the next start does not count it again."""

    async def main() -> None:
        session_id, clock = await interrupted_wait(tmp_path, fails())
        stage = await BridgeStage.open(tmp_path, says("ok"), clock=ManualClock(utc=clock.utc()))
        chat = await stage.reopened(session_id)
        heard = recorder(chat)
        chat.stop()
        await stage.clock.drain()
        assert heard.names() == ["cancelled", "finished"]
        assert chat.state == Finished(Outcome.STOPPED, chat.pending)
        assert chat.pending is not None
        assert chat.pending.due_at is None
        await stage.assert_memory_equals_disk(chat)
        again = await stage.reopened(session_id)
        assert not again.is_busy
        again.retry()
        await stage.clock.drain()
        assert texts(await stage.stored(again)) == [("user", "hello"), ("assistant", "ok")]
        await stage.close()

    aio(main())


def test_a_restored_countdown_stays_scheduled_when_the_program_closes_again(aio: Aio, tmp_path: Path) -> None:
    """D8, however often."""

    async def main() -> None:
        session_id, clock = await interrupted_wait(tmp_path, fails())
        stage = await BridgeStage.open(tmp_path, clock=ManualClock(utc=clock.utc()))
        chat = await stage.reopened(session_id)
        await chat.close()
        (attempt,) = await stage.attempts(chat)
        assert attempt.retry_at is not None
        await stage.close()

    aio(main())


@pytest.mark.parametrize("late_s", [50.0, 3600.0])
def test_a_retry_whose_time_passed_while_the_program_was_closed_is_never_fired_unasked(
    aio: Aio, tmp_path: Path, late_s: float
) -> None:
    """D8: it is pending, with its failure, and waits for the user."""

    async def main() -> None:
        session_id, clock = await interrupted_wait(tmp_path, fails())
        later = ManualClock(utc=clock.utc() + timedelta(seconds=late_s))
        stage = await BridgeStage.open(tmp_path, says("ok"), clock=later)
        chat = await stage.reopened(session_id)
        await later.advance(3600)
        assert stage.provider.requests == []
        assert chat.pending is not None
        assert chat.pending.due_at is None
        assert chat.pending.failure is not None
        chat.retry()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        await stage.close()

    aio(main())


def test_a_chat_is_read_once_and_its_pending_turn_is_known(aio: Aio, tmp_path: Path) -> None:
    """B1: a turn stopped in another life is pending here; loading twice changes nothing."""

    async def main() -> None:
        first = await BridgeStage.open(tmp_path, [TextDelta("half"), HANG])
        chat = first.chat()
        await first.send(chat)
        chat.stop()
        await first.clock.drain()
        await first.close()
        stage = await BridgeStage.open(tmp_path, says("ok"))
        again = await stage.reopened(chat.session_id)
        history = again.history
        await again.load()
        assert again.history is history
        assert again.pending is not None
        assert again.pending.text == "hello"
        assert [attempt.state for attempt in await stage.attempts(again)] == [AttemptState.STOPPED]
        await stage.close()

    aio(main())
