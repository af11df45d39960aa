"""Messages sent while a turn runs: when they are delivered, and that none is lost or sent unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reprise.bridge.conversation import Conversation
from reprise.domain.messages import user_message
from reprise.domain.sessions import Delivery, Queued
from support.aio import Aio
from support.bridge import BridgeStage, held, queue, recorder, said, waiting
from support.engine import HANG, FakeTools, FaultyLog, calls, fails, pong, says, texts
from support.qt import Recorder

Play = Callable[..., None]
LEFT = Queued(user_message("left"))


def test_queued_messages_follow_a_completed_turn_one_at_a_time(play: Play) -> None:
    """I4: each is a turn of its own; the order is that of sending, and memory equals disk at the end."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies += [says("two"), says("three")]
        heard, told = recorder(chat), said(chat)
        changed = Recorder(changed=chat.queue.changed)
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c")
        assert waiting(chat) == ["b", "c"]
        assert len(changed.seen) == 2
        await stage.assert_memory_equals_disk(chat)
        end()
        await stage.clock.drain()
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "b", "two", "c", "three"]
        assert waiting(chat) == []
        assert heard.names().count("finished") == 3
        assert [entry[1] for entry in told.seen if entry[0] == "stored"] == ["a", "b", "c"]
        await stage.assert_memory_equals_disk(chat)

    play(scene)


def test_steers_are_delivered_before_follow_ups(play: Play) -> None:
    """I4: Enter joins the turn as early as it can, Alt+Enter waits for its end."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies += [says("two"), says("three")]
        await stage.send(chat, "a")
        await queue(stage, chat, "later", delivery=Delivery.FOLLOW_UP)
        await queue(stage, chat, "sooner")
        assert waiting(chat) == ["sooner", "later"]
        end()
        await stage.clock.drain()
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "sooner", "two", "later", "three"]

    play(scene)


@pytest.mark.parametrize("mode", ["one", "all"])
def test_a_steer_joins_the_turn_behind_its_whole_tool_batch(play: Play, mode: str) -> None:
    """I4, F110: one at a time or all, before the next request; a follow-up does not."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies[-1] = [*stage.provider._replies[-1], *calls("ping")]
        stage.provider._replies += [says("two"), says("three"), says("four")]
        steered = Recorder(steered=chat.steered)
        await stage.send(chat, "a")
        await queue(stage, chat, "s1", "s2")
        await queue(stage, chat, "f", delivery=Delivery.FOLLOW_UP)
        end()
        await stage.clock.drain()
        assert stage.provider.requests[1].messages[-1].text == ("s1\n\ns2" if mode == "all" else "s1")
        assert len(steered.seen) == (2 if mode == "all" else 1)
        stored = [text for role, text in texts(await stage.stored(chat)) if role == "user"]
        assert stored == ["a", "s1", "s2", "f"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, tools=FakeTools(ping=pong), queue_mode=lambda: mode, max_rounds=lambda: 9)


def test_all_at_once_are_as_many_prompts_of_one_turn(play: Play) -> None:
    """I4: `turn.queue` = all."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies.append(says("two"))
        heard = recorder(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c")
        end()
        await stage.clock.drain()
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "b", "c", "two"]
        assert heard.names().count("started") == 2
        await stage.assert_memory_equals_disk(chat)

    play(scene, queue_mode=lambda: "all")


def test_stop_gives_the_queue_back_to_the_composer(play: Play) -> None:
    """D11, I5, C12: joined by blank lines, in order, and gone from the queue on disk too."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c\nd")
        chat.stop()
        await stage.clock.drain()
        assert [entry for entry in told.seen if entry[0] == "returned"] == [("returned", "b\n\nc\nd")]
        assert waiting(chat) == []
        assert (await stage.history(chat)).queue == ()
        assert len(stage.provider.requests) == 1
        await stage.assert_memory_equals_disk(chat)

    play(scene, [HANG])


def test_a_cancelled_wait_gives_the_queue_back(play: Play) -> None:
    """D11, I6: a message sent during the countdown is queued; Esc gives it back."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        assert chat.retry_manager.is_counting
        await queue(stage, chat, "b")
        chat.stop()
        await stage.clock.drain()
        assert ("returned", "b") in told.seen
        assert chat.pending is not None
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails())


def test_a_failed_turn_keeps_the_queue_until_its_retry_has_completed(play: Play) -> None:
    """I6: listed, not sent; delivered once the pending turn is done."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b")
        await stage.clock.advance(5)
        assert not chat.is_busy
        assert waiting(chat) == ["b"]
        chat.retry()
        await stage.clock.drain()
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "ok", "b", "fine"]
        assert "returned" not in told.names()
        await stage.assert_memory_equals_disk(chat)

    play(scene, fails(), fails(), says("ok"), says("fine"), delays=(5.0,))


def test_stop_while_a_queued_message_is_delivered_leaves_it_pending_and_gives_the_rest_back(play: Play) -> None:
    """D6, D11, C10: the message gets to the branch first; nothing is sent for it, and nothing behind it."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c")

        def stop_the_next(event: object) -> None:
            chat.turn_finished.disconnect(stop_the_next)
            # The delivery begins right behind this signal.
            stage.scope.start(stop_soon(), name="esc")

        async def stop_soon() -> None:
            assert chat.is_busy
            chat.stop()

        chat.turn_finished.connect(stop_the_next)
        end()
        await stage.clock.drain()
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "b"]
        assert chat.pending is not None
        assert chat.pending.text == "b"
        assert ("returned", "c") in told.seen
        assert len(stage.provider.requests) == 1
        await stage.assert_memory_equals_disk(chat)

    play(scene)


def test_what_another_life_left_in_the_queue_is_the_composers_and_never_sent_unasked(aio: Aio, tmp_path: Path) -> None:
    """I4, D11: nothing is pending, so nothing will deliver it; the draft has it, and the queue on disk is empty."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, says("one"))
        chat = stage.chat()
        await stage.send(chat, "a")
        await stage.store.log.queue(chat.session_id, LEFT)
        await stage.close()
        later = await BridgeStage.open(tmp_path, says("never"))
        library = later.library()
        await library.load()
        library.open(chat.session_id)
        told = said(library.current)
        await later.clock.drain()
        assert told.seen == [("returned", "left")]
        draft = library.draft(chat.session_id)
        assert draft is not None
        assert (draft.text, draft.cursor) == ("left", 4)
        assert (await later.store.sessions.load(chat.session_id)).queue == ()
        assert later.provider.requests == []
        await later.close()

    aio(main())


def test_the_queue_of_a_pending_turn_survives_a_restart(aio: Aio, tmp_path: Path) -> None:
    """I6, N11: closing is no stop; the queue waits for the turn that was interrupted, and follows its retry."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, [HANG])
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b")
        await chat.close()
        await stage.close()
        assert "returned" not in told.names()
        later = await BridgeStage.open(tmp_path, says("one"), says("two"))
        again = await later.reopened(chat.session_id)
        assert waiting(again) == ["b"]
        assert not again.is_busy
        again.retry()
        await later.clock.drain()
        assert [text for _, text in texts(await later.stored(again))] == ["a", "one", "b", "two"]
        await later.close()

    aio(main())


def test_a_text_sent_into_a_chat_that_is_still_being_read_does_not_take_its_old_queue_along(
    aio: Aio, tmp_path: Path
) -> None:
    """D11: what another life left is given back, although a turn runs by then."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, says("one"))
        chat = stage.chat()
        await stage.send(chat, "a")
        await stage.store.log.queue(chat.session_id, LEFT)
        await stage.close()
        later = await BridgeStage.open(tmp_path, says("two"), says("never"))
        history = await later.store.sessions.load(chat.session_id)
        again = Conversation(history.session, later.services, later.scope)
        told = said(again)
        assert again.send("b")
        await again.load()
        await later.clock.drain()
        assert ("returned", "left") in told.seen
        assert [text for _, text in texts(await later.stored(again))] == ["a", "one", "b", "two"]
        await later.close()

    aio(main())


def test_a_message_that_arrives_behind_the_end_of_the_turn_is_delivered_all_the_same(play: Play) -> None:
    """F111: the turn ended while the message was on its way into the queue; it is not stuck there."""
    kept: list[FaultyLog] = []

    def slow(log: object) -> FaultyLog:
        kept.append(FaultyLog(log, hold={"queue"}))  # type: ignore[arg-type]
        return kept[0]

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies.append(says("two"))
        await stage.send(chat, "a")
        assert chat.send("b")
        end()
        await stage.clock.drain()
        assert not chat.is_busy
        kept[0].release.set()
        await stage.clock.drain()
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "b", "two"]

    play(scene, wrap=slow)


def test_the_end_of_a_turn_is_told_before_the_next_message_is_delivered(play: Play) -> None:
    """L22: whoever hears of the end sees a conversation at rest, and may send first."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies += [says("two"), says("three")]
        ends: list[tuple[bool, list[str]]] = []
        await stage.send(chat, "a")
        await queue(stage, chat, "b")

        def first(_: object) -> None:
            ends.append((chat.is_busy, waiting(chat)))
            if len(ends) == 1:
                chat.send("me first")

        chat.turn_finished.connect(first)
        end()
        await stage.clock.drain()
        assert ends[0] == (False, ["b"])
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "me first", "two", "b", "three"]

    play(scene)
