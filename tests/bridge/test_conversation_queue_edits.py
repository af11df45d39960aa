"""The queue in the window's hands: edited, removed, taken, and what the disk refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from reprise.bridge.signals import until
from reprise.domain.deltas import FinishDelta, TextDelta
from reprise.domain.messages import Message, user_message
from reprise.domain.ports import LogError
from reprise.domain.sessions import Queued
from support.bridge import OTHER, BridgeStage, held, queue, said, shown, waiting
from support.engine import HANG, FaultyLog, says, texts
from support.qt import Recorder

Play = Callable[..., None]
LEFT = Queued(user_message("left"))


def test_queued_messages_can_be_edited_and_removed(play: Play) -> None:
    """I5: in their place; what is removed is nobody's."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c")
        b, c = (entry.id for entry in chat.queue.entries())
        chat.queue.edit(b, "B")
        chat.queue.remove(c)
        assert waiting(chat) == ["b"]
        await stage.clock.drain()
        assert waiting(chat) == ["B"]
        assert "returned" not in told.names()
        await stage.assert_memory_equals_disk(chat)
        chat.queue.remove(c)
        assert not chat.queue.edit(c, "again")
        assert not chat.queue.edit(b, "  \n")
        await stage.clock.drain()
        assert [entry[1] for entry in told.seen if entry[0] == "refused"] == [
            *["That message is delivered already."] * 2,
            "There is nothing to send.",
        ]
        assert waiting(chat) == ["B"]
        chat.stop()
        await stage.clock.drain()
        assert ("returned", "B") in told.seen

    play(scene, [HANG])


def test_an_edit_that_cannot_be_stored_stays_its_writers(play: Play) -> None:
    """I6: nobody is told that it is stored, and the message stays as it was."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, "b")
        (entry,) = chat.queue.entries()
        edited = Recorder(edited=chat.queue.edited)
        assert chat.queue.edit(entry.id, "much better")
        await stage.clock.drain()
        assert told.seen[-1] == ("problem", "The disk is full.")
        assert edited.seen == []
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


def test_a_long_text_is_queued_edited_and_given_back_whole(play: Play) -> None:
    """F114: no mark stands for any part of it, in the queue, on disk, in the request or back in the composer."""
    long = "\n".join(f"line {number} 😀" for number in range(20_000))

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies.append([HANG])
        told = said(chat)
        await stage.send(chat, "a")
        await queue(stage, chat, long, long + "!")
        assert waiting(chat) == [long, long + "!"]
        assert [entry.data.message.text for entry in (await stage.history(chat)).queue] == [long, long + "!"]  # type: ignore[union-attr]
        end()
        await stage.clock.drain()
        assert stage.provider.requests[-1].messages[-1].text == long
        chat.stop()
        await stage.clock.drain()
        assert ("returned", long + "!") in told.seen

    play(scene)


class Choosy:
    """The log, but it refuses one prompt."""

    def __init__(self, log: object, text: str) -> None:
        self._log = log
        self.text = text

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._log, name)

        async def open_turn(session: str, message: Message, *arguments: Any, **options: Any) -> Any:
            if message.text == self.text:
                raise LogError("The disk is full.")
            return await method(session, message, *arguments, **options)

        return open_turn if name == "open_turn" else method


def test_a_delivery_of_several_that_breaks_off_leaves_the_rest_until_the_retry_has_completed(play: Play) -> None:
    """I6: what got to the branch is pending; what did not is in the queue, and nothing sends it meanwhile."""
    kept: list[Choosy] = []

    def choosy(log: object) -> Choosy:
        kept.append(Choosy(log, "c"))
        return kept[0]

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[OTHER] = stage.provider
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies += [says("two"), says("three")]
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c")
        end()
        await stage.clock.drain()
        assert (shown(chat), waiting(chat)) == (["a", "one", "b"], ["c"])
        assert chat.pending is not None
        assert chat.pending.text == "b"
        kept[0].text = ""
        chat.choose_model(OTHER)
        await stage.clock.drain()
        assert len(stage.provider.requests) == 1
        chat.retry()
        await stage.clock.drain()
        assert shown(chat) == ["a", "one", "b", "two", "c", "three"]
        await stage.assert_memory_equals_disk(chat)

    play(scene, wrap=choosy, queue_mode=lambda: "all")


def test_stop_between_several_messages_on_their_way_gives_the_rest_back(play: Play) -> None:
    """D6, D11: the one on its way to the disk gets there; those behind it do not."""
    slow: set[str] = set()
    kept: list[FaultyLog] = []

    def holding(log: object) -> FaultyLog:
        kept.append(FaultyLog(log, hold=slow))  # type: ignore[arg-type]
        return kept[0]

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        end = held(stage, "one")
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c")
        slow.add("open_turn")
        end()
        await kept[0].entered.wait()
        chat.stop()
        kept[0].release.set()
        await stage.clock.drain()
        assert shown(chat) == ["a", "one", "b"]
        assert told.seen[-1] == ("returned", "c")
        assert len(stage.provider.requests) == 1
        await stage.assert_memory_equals_disk(chat)

    play(scene, wrap=holding, queue_mode=lambda: "all")


def test_a_message_on_its_way_to_the_model_cannot_be_taken_out(play: Play) -> None:
    """I5: it is delivered once, and whoever was late is told."""
    gate = asyncio.Event()

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        told = said(chat)
        await stage.send(chat, "one")
        await queue(stage, chat, "two")
        (entry,) = chat.queue.entries()
        ended = until(chat.turn_finished)
        gate.set()
        await ended
        chat.queue.remove(entry.id)
        await stage.clock.drain()
        assert ("refused", "That message is delivered already.") in told.seen
        assert [text for role, text in texts(await stage.stored(chat)) if role == "user"] == ["one", "two"]

    play(scene, [TextDelta("a"), gate.wait, FinishDelta("stop")], says("b"))


def test_an_edit_can_change_when_a_message_is_delivered(play: Play) -> None:
    """I4: a steer follows up then and the other way round, in the order of sending; memory equals disk."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c")
        edited = Recorder(edited=chat.queue.edited)
        b, c = (entry.id for entry in chat.queue.entries())
        chat.queue.edit(b, "B", moves=True)
        await stage.clock.drain()
        assert waiting(chat) == ["c", "B"]
        chat.queue.edit(c, "C")
        chat.queue.edit(b, "BB", moves=True)
        await stage.clock.drain()
        assert waiting(chat) == ["BB", "C"]
        assert [entry[1:] for entry in edited.seen] == [(b, "B"), (c, "C"), (b, "BB")]
        await stage.assert_memory_equals_disk(chat)
        chat.stop()
        await stage.clock.drain()

    play(scene, [HANG])
