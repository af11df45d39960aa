"""Messages that leave the queue, and texts on their way into it: each is told of once, as itself, and none is lost."""

from __future__ import annotations

from collections.abc import Callable

from support.bridge import BridgeStage, held, queue, said, shown, waiting
from support.engine import HANG, FaultyLog, says
from support.qt import Recorder

Play = Callable[..., None]


def test_what_leaves_the_queue_is_told_with_whether_it_was_delivered(play: Play) -> None:
    """I5: whoever edits a message learns that it waits no more, once, and only when it does not come back."""
    refused = {"open_turn"}

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies.append([HANG])
        refused.clear()
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c", "d")
        left = Recorder(left=chat.queue.left)
        b, c, d = (entry.id for entry in chat.queue.entries())
        chat.queue.remove(c)
        assert left.seen == [("left", {c}, False)]
        refused.add("open_turn")
        end()
        await stage.clock.drain()
        assert waiting(chat) == ["b", "d"]
        assert len(left.seen) == 1
        refused.clear()
        await stage.send(chat, "e")
        chat.stop()
        await stage.clock.drain()
        assert left.seen[1:] == [("left", {b, d}, False)]

    play(scene, wrap=lambda log: FaultyLog(log, refuse=refused))


def test_a_delivered_message_is_told_as_delivered(play: Play) -> None:
    """I4: as a steer and as the prompt of a turn of its own, however many at once."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies += [says("two"), says("three")]
        left = Recorder(left=chat.queue.left)
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c")
        b, c = (entry.id for entry in chat.queue.entries())
        end()
        await stage.clock.drain()
        assert left.seen == [("left", {b, c}, True)]

    play(scene, queue_mode=lambda: "all")


def test_the_whole_queue_is_given_back_first_and_taken_off_the_disk_in_one_write(play: Play) -> None:
    """D11, F112: a crash in between leaves every text twice, as a draft and in the queue."""
    kept: list[FaultyLog] = []

    def slow(log: object) -> FaultyLog:
        kept.append(FaultyLog(log, hold={"unqueue"}))  # type: ignore[arg-type]
        return kept[0]

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        chat = library.current
        await stage.send(chat, "a")
        await queue(stage, chat, "b", "c", "d")
        chat.stop()
        await stage.clock.drain()
        assert (await stage.store.drafts.load())[chat.session_id].text == "b\n\nc\n\nd"
        assert len((await stage.history(chat)).queue) == 3
        kept[0].release.set()
        await stage.clock.drain()
        assert kept[0].calls.count("unqueue") == 1
        await stage.assert_memory_equals_disk(chat)
        assert waiting(chat) == []

    play(scene, [HANG], wrap=slow)


def test_a_text_on_its_way_into_the_queue_is_not_the_one_that_is_delivered(play: Play) -> None:
    """L1, F112: the composer may forget a text once that very text is on disk, not another one."""
    slow: set[str] = set()
    kept: list[FaultyLog] = []

    def holding(log: object) -> FaultyLog:
        kept.append(FaultyLog(log, hold=slow))  # type: ignore[arg-type]
        return kept[0]

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        end = held(stage, "one")
        stage.provider._replies.append([HANG])
        await stage.send(chat, "a")
        await queue(stage, chat, "b")
        told = said(chat)
        slow.add("queue")
        assert chat.send("c")
        end()
        await stage.clock.drain()
        assert shown(chat) == ["a", "one", "b"]
        assert told.seen == []
        kept[0].release.set()
        await stage.clock.drain()
        assert told.seen == [("stored", "c")]
        assert waiting(chat) == ["c"]
        chat.stop()
        await stage.clock.drain()

    play(scene, wrap=holding)


def test_two_texts_that_say_the_same_are_two(play: Play) -> None:
    """B9: another version of a prompt on its way does not swallow a text of the same words."""

    async def scene(stage: BridgeStage) -> None:
        chat = stage.chat()
        await stage.send(chat, "a")
        told = said(chat)
        assert chat.resend(chat.history.branch[0].id, "b")
        assert not chat.send("b")
        assert told.names() == ["send_refused"]
        await stage.clock.drain()

    play(scene, says("one"), says("two"))
