"""Waits that no failed attempt of the turn began, other models, and what a limit or a dead network holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from reprise.domain.deltas import TextDelta
from reprise.domain.events import ModelSwitched, Outcome
from reprise.domain.failures import FailureKind
from reprise.domain.models import Route
from reprise.domain.retry import WaitReason
from reprise.domain.sessions import ModelChange
from reprise.domain.turns import AwaitingRetry
from support.aio import Aio
from support.bridge import MODEL, OTHER, BridgeStage, end_of, recorder, said
from support.clock import ManualClock
from support.engine import HANG, FaultyLog, fails, says, texts
from support.qt import Recorder

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
        chat.retry_after(3)
        await stage.clock.drain()
        assert chat.retry_manager.seconds_left == 3
        await stage.clock.advance(3)
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("ok"))


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
    """D6: the time is on its way to the disk; no countdown starts behind the Esc."""

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


def test_extending_a_wait_that_is_not_stored_stores_nothing(play: Play) -> None:
    """D8: a hold by the limits is not in the log, and moving it does not put it there."""

    async def scene(stage: BridgeStage) -> None:
        first, second = stage.chat(), stage.chat()
        await stage.send(second)
        second.stop()
        await stage.clock.drain()
        await stage.send(first)
        second.retry()
        await stage.clock.drain()
        assert second.pending is not None
        assert second.pending.reason is WaitReason.LIMITS
        second.retry_manager.extend(60)
        await stage.clock.drain()
        assert [attempt.retry_at for attempt in await stage.attempts(second)] == [None]
        await stage.assert_memory_equals_disk(second)
        for chat in (first, second):
            chat.stop()
        await stage.clock.drain()

    play(scene, [TextDelta("half"), HANG], LIMITED)


def test_retry_with_another_model_during_a_countdown_retries_at_once_with_it(play: Play) -> None:
    """N4: the wait is cancelled, the choice is in the log, and the first model's schedule is over."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        models = Recorder(model=chat.model_changed)
        await stage.send(chat)
        assert chat.retry_manager.is_counting
        chat.retry_with(OTHER)
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        assert [request.model for request in stage.provider.requests] == [MODEL, OTHER]
        assert (models.seen, chat.model) == ([("model", OTHER)], OTHER)
        assert [entry.data for entry in chat.history.branch if isinstance(entry.data, ModelChange)] == [
            ModelChange(OTHER)
        ]
        await stage.clock.advance(60)
        assert len(stage.provider.requests) == 2
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), says("ok"))


def test_retry_with_another_model_when_the_turn_is_pending(play: Play) -> None:
    """N4: from the card; with nothing pending it is refused and nothing is chosen."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        await stage.send(chat)
        chat.retry_with(OTHER)
        await stage.clock.drain()
        assert [request.model for request in stage.provider.requests] == [MODEL, OTHER]
        told = said(chat)
        chat.retry_with(MODEL)
        chat.retry()
        chat.retry_after(5)
        assert told.seen == [("refused", "There is nothing to retry in this chat.")] * 3
        assert chat.model == OTHER
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), says("ok"), delays=())


def test_two_commands_in_one_countdown_are_one_the_last(play: Play) -> None:
    """C4: the wait ends once, and one turn follows."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        await stage.send(chat)
        chat.keep()
        chat.retry_with(OTHER)
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(FailureKind.SERVER, TextDelta("half")), says("ok"))


def test_a_fallback_shows_in_the_model_and_can_be_left_again(play: Play) -> None:
    """D13, N7: one switch, one prompt; one click back."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.stands_in = OTHER
        chat = stage.chat()
        heard = Recorder(model=chat.model_changed, switched=chat.model_switched)
        await stage.send(chat)
        await stage.clock.advance(5)
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        assert [request.model for request in stage.provider.requests] == [MODEL, MODEL, OTHER]
        assert heard.names() == ["model", "switched"]
        switch = heard.seen[1][1]
        assert isinstance(switch, ModelSwitched)
        assert (switch.before, switch.after, chat.model, chat.switched_from) == (MODEL, OTHER, OTHER, MODEL)
        await stage.assert_memory_equals_disk(chat)
        again = await stage.reopened(chat.session_id)
        assert (again.model, again.switched_from) == (OTHER, MODEL)
        chat.choose_model(MODEL)
        await stage.clock.drain()
        assert (chat.model, chat.switched_from) == (MODEL, None)
        await stage.send(chat, "more")
        assert stage.provider.requests[-1].model == MODEL
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), fails(), says("ok"), says("fine"), delays=(5.0,))


def test_a_partial_of_a_fallback_is_kept_as_the_fallbacks(play: Play) -> None:
    """D13, D5: the mark "answered by the fallback" is on what was kept, too; not on what follows it."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.stands_in = OTHER
        chat = stage.chat()
        await stage.send(chat)
        await stage.clock.advance(5)
        chat.stop()
        await stage.clock.drain()
        assert chat.switched_from == MODEL
        chat.keep()
        await stage.clock.drain()
        reply = (await stage.stored(chat))[-1].reply
        assert reply is not None
        assert (reply.model, reply.fallback_from) == (OTHER, MODEL)
        await stage.send(chat, "next")
        assert chat.switched_from is None
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), fails(), [TextDelta("half"), HANG], says("ok"), delays=(5.0,))


def test_a_fallback_that_cannot_answer_leaves_the_first_failure(play: Play) -> None:
    """R28: an unknown fallback is no switch."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.stands_in = OTHER
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        await stage.clock.advance(5)
        finished = end_of(heard)
        assert finished.failure is not None
        assert (finished.failure.message, chat.model, chat.switched_from) == ("the provider is down", MODEL, None)
        assert len(chat.history.branch) == 1

    play(scene, fails(), fails(), delays=(5.0,))


def test_one_429_holds_every_chat_with_that_provider_and_key(play: Play) -> None:
    """D3, N6: the second chat asks nobody until the limit is over; Retry now goes through."""

    async def scene(stage: BridgeStage) -> None:
        first, second, third = stage.chat(), stage.chat(), stage.chat()
        stage.catalog.providers[OTHER] = stage.provider
        stage.catalog.routes[OTHER] = Route("elsewhere")
        await stage.send(first, "a")
        assert first.retry_manager.seconds_left == 30
        await stage.send(second, "b")
        assert second.pending is not None
        assert (second.pending.reason, second.retry_manager.seconds_left) == (WaitReason.LIMITS, 30)
        third.choose_model(OTHER)
        await stage.send(third, "c")
        assert texts(await stage.stored(third)) == [("user", "c"), ("assistant", "three")]
        second.retry()
        await stage.clock.drain()
        assert texts(await stage.stored(second)) == [("user", "b"), ("assistant", "two")]
        assert first.retry_manager.is_counting
        first.stop()
        await stage.clock.drain()

    play(scene, LIMITED, says("three"), says("two"))


def test_offline_holds_the_request_and_the_network_lets_it_go(play: Play) -> None:
    """D14, N5: no request, no budget, no seconds; the turn goes on by itself."""

    async def scene(stage: BridgeStage) -> None:
        stage.network.set_offline(True)
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        assert chat.pending is not None
        assert (chat.pending.reason, chat.pending.due_at) == (WaitReason.OFFLINE, None)
        assert (chat.retry_manager.is_counting, chat.retry_manager.seconds_left) == (True, None)
        await stage.clock.advance(3600)
        assert stage.provider.requests == []
        stage.network.set_offline(False)
        await stage.clock.drain()
        assert end_of(heard).outcome is Outcome.COMPLETED
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("ok"))


def test_the_offline_hold_can_be_left_by_try_now_and_by_esc(play: Play) -> None:
    """D14, D7: Try now sends whatever the system says; Esc leaves the turn pending, as an ordinary one."""

    async def scene(stage: BridgeStage) -> None:
        stage.network.set_offline(True)
        chat = stage.chat()
        await stage.send(chat)
        chat.stop()
        await stage.clock.drain()
        assert chat.pending is not None
        assert (chat.is_busy, chat.pending.reason) == (False, WaitReason.RETRY)
        chat.retry()
        await stage.clock.drain()
        assert chat.pending is not None
        assert chat.pending.reason is WaitReason.OFFLINE
        chat.retry()
        await stage.clock.drain()
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("ok"))


def test_nothing_is_held_offline_when_that_is_switched_off_or_the_model_is_local(play: Play) -> None:
    """D14, D17: `retry.hold_offline`, and models on this machine."""

    async def scene(stage: BridgeStage) -> None:
        stage.network.set_offline(True)
        chat = stage.chat()
        await stage.send(chat, "a")
        stage.catalog.routes[MODEL] = Route("here", is_local=True)
        held.append(True)
        await stage.send(chat, "b")
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "b", "two"]

    held: list[bool] = []
    play(scene, says("one"), says("two"), hold_offline=lambda: bool(held))


def test_closing_during_an_offline_hold_leaves_no_task_behind(play: Play) -> None:
    """The wait for the network ends with the program; the turn is pending at the next start."""

    async def scene(stage: BridgeStage) -> None:
        stage.network.set_offline(True)
        chat = stage.chat()
        await stage.send(chat)
        await chat.close()
        again = await stage.reopened(chat.session_id)
        assert again.pending is not None
        assert not again.is_busy

    play(scene, says("never"))
