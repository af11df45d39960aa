"""Esc, closing, and what is pending afterwards: fast, harmless to repeat, and never a word lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from reprise.bridge.conversation import Conversation
from reprise.bridge.signals import until
from reprise.domain.deltas import TextDelta, ThinkingDelta, ToolCallDelta
from reprise.domain.events import Outcome
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import TextPart
from reprise.domain.sessions import AttemptState
from reprise.domain.turns import Finished
from support.aio import Aio
from support.bridge import BridgeStage, end_of, recorder
from support.engine import HANG, FaultyLog, fails, says, texts
from support.qt import Recorder

Play = Callable[..., None]


def test_stop_on_a_silent_socket_ends_the_turn_at_once(play: Play) -> None:
    """D6, C1, C9, F33: under 50 ms here; the guard is generous because the machine may be busy."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        loop = asyncio.get_running_loop()
        began = loop.time()
        chat.stop()
        assert loop.time() - began < 0.05
        (finished,) = await until(chat.turn_finished)
        took = loop.time() - began
        print(f"stopped after {took * 1000:.1f} ms")
        assert took < 0.5
        assert finished.outcome is Outcome.STOPPED
        assert chat.state == Finished(Outcome.STOPPED, chat.pending)
        assert chat.pending is not None
        assert chat.pending.text == "hello"
        assert stage.provider.closed == 1
        assert texts(await stage.stored(chat)) == [("user", "hello")]
        assert [attempt.state for attempt in await stage.attempts(chat)] == [AttemptState.STOPPED]
        await stage.assert_memory_equals_disk(chat)

    play(scene, [HANG])


def test_what_had_arrived_is_kept_with_the_stopped_attempt(play: Play) -> None:
    """D5: out of the branch at once, in the log for good."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        assert chat.partial is not None
        chat.stop()
        await stage.clock.drain()
        assert chat.partial is None
        (attempt,) = await stage.attempts(chat)
        assert attempt.parts == (TextPart("half a rep"),)
        await stage.assert_memory_equals_disk(chat)

    play(scene, [TextDelta("half a rep"), HANG])


def test_further_escs_are_harmless(play: Play) -> None:
    """D6, C4, C5: within the same turn of the loop, while it is reported, and afterwards."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        chat.turn_finished.connect(chat.stop)
        await stage.send(chat)
        chat.stop()
        chat.stop()
        await asyncio.sleep(0)
        chat.stop()
        await stage.clock.drain()
        chat.stop()
        await stage.clock.drain()
        assert heard.names().count("finished") == 1
        assert chat.pending is not None
        await stage.assert_memory_equals_disk(chat)

    play(scene, [HANG])


def test_a_listener_that_raises_while_the_stop_is_reported_changes_nothing(play: Play, qtbot: QtBot) -> None:
    """C4, D19: the turn is stopped, pending stays, and the chat can be used."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()

        def raising(*_: object) -> None:
            raise KeyError("interrupted")

        for signal in (chat.state_changed, chat.turn_finished, chat.history_changed):
            signal.connect(raising)
        with qtbot.capture_exceptions() as raised:
            await stage.send(chat, "cancel-me")
            chat.stop()
            await stage.clock.drain()
            assert chat.pending is not None
            assert chat.pending.text == "cancel-me"
            chat.retry()
            await stage.clock.drain()
        assert raised
        assert texts(await stage.stored(chat)) == [("user", "cancel-me"), ("assistant", "ok")]

    play(scene, [HANG], says("ok"))


def test_esc_right_after_send_stores_the_prompt_and_sends_nothing(play: Play) -> None:
    """F44, L1: the prompt is on its way to the disk; the turn ends there, pending."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        assert chat.send("hello")
        chat.stop()
        await stage.clock.drain()
        assert heard.names() == ["started", "stored", "finished"]
        assert end_of(heard).outcome is Outcome.STOPPED
        assert chat.pending is not None
        assert stage.provider.requests == []
        await stage.assert_memory_equals_disk(chat)

    play(scene, says("never"))


def test_esc_with_nothing_running_does_nothing(play: Play) -> None:
    """C5."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        chat.stop()
        chat.retry()
        chat.wait_as_asked()
        await stage.clock.drain()
        assert heard.seen == []

    play(scene)


def test_a_stop_that_cannot_be_recorded_still_ends_the_turn(play: Play) -> None:
    """L16: the disk refuses the stopped attempt; the turn is stopped and pending all the same."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        chat.stop()
        await stage.clock.drain()
        assert end_of(heard).outcome is Outcome.STOPPED
        assert chat.pending is not None
        await stage.assert_memory_equals_disk(chat)

    play(scene, [TextDelta("half"), HANG], wrap=lambda log: FaultyLog(log, refuse={"fail_attempt"}))


def test_retry_goes_on_with_the_pending_turn_without_a_second_prompt(play: Play) -> None:
    """B2: one prompt, one reply, nothing pending; the card is gone once the retry starts (D20)."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        chat.stop()
        await stage.clock.drain()
        pending = Recorder(pending=chat.retry_manager.pending_changed)
        chat.retry()
        chat.retry()
        await stage.clock.drain()
        assert pending.seen == [("pending", None)]
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "ok")]
        assert len(stage.provider.requests) == 2
        await stage.assert_memory_equals_disk(chat)

    play(scene, [HANG], says("ok"))


def test_a_message_after_a_stop_keeps_the_partial_as_the_reply(play: Play) -> None:
    """D6, C12: turn.keep_on_followup, on by default; the model sees what it had said."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "first")
        chat.stop()
        await stage.clock.drain()
        await stage.send(chat, "second")
        stored = await stage.stored(chat)
        assert texts(stored) == [("user", "first"), ("assistant", "half"), ("user", "second"), ("assistant", "ok")]
        assert stored[1].reply is not None
        assert stored[1].reply.finish_reason == "stopped"
        assert [message.text for message in stage.provider.requests[-1].messages] == ["first", "half", "second"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, [TextDelta("half"), ToolCallDelta(0, "1", "ping"), HANG], says("ok"))


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ([HANG], {}),
        ([TextDelta(" \n"), HANG], {}),
        ([ToolCallDelta(0, "1", "ping"), HANG], {}),
        ([TextDelta("half"), HANG], {"keep_on_followup": lambda: False}),
    ],
    ids=["nothing", "white space", "only a call", "switched off"],
)
def test_an_empty_partial_or_the_setting_off_keeps_nothing(
    play: Play, reply: list[object], options: dict[str, object]
) -> None:
    """D6, B5, C12: the new message then follows the old one; the log keeps both, the request merges them."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "first")
        chat.stop()
        await stage.clock.drain()
        await stage.send(chat, "second")
        assert [text for _, text in texts(await stage.stored(chat))] == ["first", "second", "ok"]
        assert chat.pending is None
        await stage.assert_memory_equals_disk(chat)

    play(scene, reply, says("ok"), **options)


def test_a_failed_partial_is_not_kept_by_the_next_message(play: Play) -> None:
    """D6 is about what the user stopped; a broken reply stays an attempt."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "first")
        await stage.send(chat, "second")
        assert [text for _, text in texts(await stage.stored(chat))] == ["first", "second", "ok"]

    play(scene, fails(FailureKind.SERVER, TextDelta("half")), says("ok"), delays=())


def test_a_stopped_partial_behind_which_a_retry_failed_is_not_kept_by_itself(play: Play) -> None:
    """D6: the message does not follow the Stop any more; Keep would take those words."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "first")
        chat.stop()
        await stage.clock.drain()
        chat.retry()
        await stage.clock.drain()
        assert chat.can_keep
        await stage.send(chat, "second")
        assert [text for _, text in texts(await stage.stored(chat))] == ["first", "second", "ok"]

    play(scene, [TextDelta("half"), HANG], fails(), says("ok"), delays=())


def test_reasoning_alone_is_a_partial_worth_keeping(play: Play) -> None:
    """D6: non-empty means anything was written."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "first")
        chat.stop()
        await stage.clock.drain()
        await stage.send(chat, "second")
        assert [message.thinking for message in await stage.stored(chat)] == ["", "hmm", "", ""]

    play(scene, [ThinkingDelta("hmm"), HANG], says("ok"))


def test_closing_while_a_reply_streams_records_it_as_interrupted(aio: Aio, tmp_path: Path) -> None:
    """F13, F21: closing is not the user's stop: what arrived is kept, and the turn is pending at the next start."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, [TextDelta("half a rep"), HANG])
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await chat.close()
        took = loop.time() - began
        assert not chat.send("too late")
        chat.retry()
        assert heard.names()[-1] == "refused"
        await stage.close()
        print(f"closed after {took * 1000:.1f} ms")
        assert took < 1.0

        later = await BridgeStage.open(tmp_path, says("whole"))
        again = await later.reopened(chat.session_id)
        (attempt,) = await later.attempts(again)
        assert (attempt.state, attempt.parts) == (AttemptState.INTERRUPTED, (TextPart("half a rep"),))
        assert again.pending is not None
        assert not again.is_busy
        again.retry()
        await later.clock.drain()
        assert texts(later.provider.requests[0].messages) == [("user", "hello")]
        assert texts(await later.stored(again)) == [("user", "hello"), ("assistant", "whole")]
        assert len(await later.attempts(again)) == 1
        await later.close()

    aio(main())


def test_closing_right_after_send_stores_the_prompt(play: Play) -> None:
    """L1: Enter and the window's close button in the same turn of the loop lose nothing, and send nothing."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        assert chat.send("hello")
        await chat.close()
        assert texts(await stage.stored(chat)) == [("user", "hello")]
        assert stage.provider.requests == []

    play(scene, says("never"))


def test_closing_right_after_retry_sends_nothing(play: Play) -> None:
    """The turn stays pending as it was."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        chat.stop()
        await stage.clock.drain()
        chat.retry()
        await chat.close()
        assert len(stage.provider.requests) == 1
        assert (await stage.history(chat)).session.pending

    play(scene, [HANG], says("never"))


def test_closing_takes_no_longer_than_a_second_when_the_disk_hangs(play: Play) -> None:
    """Quit takes at most 2 s whatever hangs."""
    kept: list[FaultyLog] = []

    def hanging(log: object) -> FaultyLog:
        kept.append(FaultyLog(log, hold={"fail_attempt"}))  # type: ignore[arg-type]
        return kept[0]

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await chat.close()
        assert 0.9 < loop.time() - began < 1.5
        kept[0].release.set()
        await stage.clock.drain()

    play(scene, [HANG], wrap=hanging)


def test_closing_an_idle_chat_is_immediate(play: Play) -> None:
    """Nothing runs, nothing is waited for."""

    async def scene(stage: BridgeStage) -> None:
        chat: Conversation = stage.chat()
        await chat.close()
        await chat.close()
        assert not chat.is_busy

    play(scene)


def test_a_chat_that_cannot_be_read_refuses_the_prompt(play: Play) -> None:
    """A prompt is never stored onto a history that is not known."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat)
        history = await stage.history(chat)
        gone = Conversation(
            history.session.__class__("gone", "Gone", None, history.session.created_at, history.session.updated_at),
            stage.services,
            stage.scope,
        )
        heard = recorder(gone)
        await stage.send(gone)
        failure: Failure = heard.seen[0][2]
        assert heard.names() == ["refused"]
        assert failure.kind is FailureKind.STORAGE

    play(scene, says("hi"))
