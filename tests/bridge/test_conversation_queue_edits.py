"""The queue in the window's hands: edited, removed, taken, and what the disk refuses."""

from __future__ import annotations

from collections.abc import Callable

from reprise.domain.messages import user_message
from reprise.domain.sessions import Queued
from support.bridge import BridgeStage, held, queue, said, waiting
from support.engine import HANG, FaultyLog, says, texts

Play = Callable[..., None]
LEFT = Queued(user_message("left"))


def test_queued_messages_can_be_edited_removed_and_taken(play: Play) -> None:
    """I5: in their place; what is taken is the composer's, what is removed is nobody's."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c", "d")
        b, c, d = (entry.id for entry in chat.queue.entries())
        chat.queue.edit(b, "B")
        chat.queue.remove(c)
        chat.queue.take(d)
        assert waiting(chat) == ["b"]
        await stage.clock.drain()
        assert waiting(chat) == ["B"]
        assert [entry for entry in told.seen if entry[0] == "returned"] == [("returned", "d")]
        await stage.assert_memory_equals_disk(chat)
        for command in (chat.queue.remove, chat.queue.take, lambda id_: chat.queue.edit(id_, "again")):
            command(d)
        chat.queue.edit(b, "  \n")
        await stage.clock.drain()
        assert [entry[1] for entry in told.seen if entry[0] == "refused"] == [
            *["That message is delivered already."] * 3,
            "There is nothing to send.",
        ]
        assert waiting(chat) == ["B"]
        chat.stop()
        await stage.clock.drain()
        assert ("returned", "B") in told.seen

    play(scene, [HANG])


def test_an_edit_that_cannot_be_stored_gives_its_text_back(play: Play) -> None:
    """I6: what was typed is not lost, and the message stays as it was."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b")
        (entry,) = chat.queue.entries()
        chat.queue.edit(entry.id, "much better")
        await stage.clock.drain()
        assert told.seen[-2:] == [("returned", "much better"), ("problem", "The disk is full.")]
        assert waiting(chat) == ["b"]
        chat.stop()
        await stage.clock.drain()

    play(scene, [HANG], wrap=lambda log: FaultyLog(log, refuse={"requeue"}))


def test_a_message_that_is_being_edited_is_not_delivered_as_it_was(play: Play) -> None:
    """I5: the delivery waits for the edit, and comes right behind it."""
    kept: list[FaultyLog] = []

    def slow(log: object) -> FaultyLog:
        kept.append(FaultyLog(log, hold={"requeue"}))  # type: ignore[arg-type]
        return kept[0]

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies.append(says("two"))
        await stage.send(chat, "a")
        await queue(stage, chat, "b")
        chat.queue.edit(chat.queue.entries()[0].id, "B")
        end()
        await stage.clock.drain()
        assert not chat.is_busy
        kept[0].release.set()
        await stage.clock.drain()
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "B", "two"]

    play(scene, wrap=slow)


def test_a_message_that_cannot_be_queued_is_the_composers_again(play: Play) -> None:
    """F112: nothing is dropped silently."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        assert chat.send("b")
        await stage.clock.drain()
        name, text, failure = told.seen[-1]
        assert (name, text, failure.message) == ("send_refused", "b", "The disk is full.")
        assert chat.send("b")
        await stage.clock.drain()
        chat.stop()
        await stage.clock.drain()

    play(scene, [HANG], wrap=lambda log: FaultyLog(log, refuse={"queue"}))


def test_a_delivery_that_cannot_be_stored_leaves_the_message_in_the_queue(play: Play) -> None:
    """I6: if delivery fails it returns to the queue; the window is told, and nothing is sent."""
    refused: set[str] = set()

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies += [says("two"), says("three")]
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b")
        refused.add("open_turn")
        end()
        await stage.clock.drain()
        assert told.seen[-1] == ("problem", "The disk is full.")
        assert waiting(chat) == ["b"]
        assert len(stage.provider.requests) == 1
        await stage.assert_memory_equals_disk(chat)
        refused.clear()
        await stage.send(chat, "c")
        assert [text for _, text in texts(await stage.stored(chat))] == ["a", "one", "c", "two", "b", "three"]

    play(scene, wrap=lambda log: FaultyLog(log, refuse=refused))
