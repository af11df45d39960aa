"""Messages that leave the queue: each is told of once, as itself, and none is lost."""

from __future__ import annotations

from collections.abc import Callable

from support.bridge import BridgeStage, queue, waiting
from support.engine import HANG, FaultyLog

Play = Callable[..., None]


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
