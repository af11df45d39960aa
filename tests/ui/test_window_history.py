"""A long chat in the window: its end at once, the rest behind it without being felt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.domain.messages import user_message
from reprise.domain.sessions import Entry
from reprise.storage import slices
from reprise.ui import history_feed
from support.storage import exchange
from support.window import SMALL, WindowStage

pytestmark = pytest.mark.slow_callbacks
Act = Callable[..., None]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of four entries and three nodes."""
    monkeypatch.setattr(slices, "ENTRIES", 4)
    monkeypatch.setattr(slices, "NODES", 3)
    monkeypatch.setattr(history_feed, "AT_ONCE", 4)


async def _stored(stage: WindowStage, count: int) -> list[Entry]:
    """A session of so many exchanges on the disk, listed but not open."""
    store = stage.stage.store
    entries = [entry for number in range(count) for entry in await exchange(store, "s", f"ask {number}\n" * 9)]
    await stage.library.load(resume=False)
    return entries


def _texts(stage: WindowStage) -> list[str]:
    """The first line of every message that the timeline has."""
    items = stage.find("timeline").scroller.stack.items
    return [item.message.text.splitlines()[0] for item in items]


async def _until(stage: WindowStage, count: int) -> None:
    """Until the timeline has so many messages, and no more than what is on the way."""
    for _ in range(500):
        if len(_texts(stage)) >= count:
            return
        await stage.clock.drain()
    raise AssertionError(f"{len(_texts(stage))} messages instead of {count}")


def test_opening_shows_the_end_and_then_all_of_it(act: Act) -> None:
    """F86: the messages are those of the branch, in its order."""

    async def scene(stage: WindowStage) -> None:
        await _stored(stage, 12)
        stage.library.open("s")
        await stage.conversation.load()
        first = _texts(stage)
        assert 0 < len(first) < 24
        await _until(stage, 24)
        assert _texts(stage) == [text for number in range(12) for text in (f"ask {number}", f"ASK {number}")]
        assert stage.find("timeline").is_at_tail

    act(scene)


def test_the_versions_of_a_message_are_known_once_all_is_read(act: Act) -> None:
    """N1: its place among them is shown, and the commands can be used."""

    async def scene(stage: WindowStage) -> None:
        entries = await _stored(stage, 6)
        log = stage.stage.store.log
        await log.open_turn("s", user_message("edited"), SMALL, beside=entries[2].id)
        await log.move_leaf("s", entries[-1].id)
        stage.library.open("s")
        await _until(stage, 12)
        await stage.drain()
        timeline = stage.find("timeline")
        assert [timeline.item(at).place for at in range(4)] == [None, None, (1, 2), None]
        assert stage.window.commands.action("nextBranch").isEnabled()

    act(scene)


def test_a_turn_that_begins_while_older_messages_come_is_shown_whole(act: Act) -> None:
    """UX 5: prompt and reply stand at the end, everything before them above."""

    async def scene(stage: WindowStage) -> None:
        await _stored(stage, 8)
        stage.library.open("s")
        await stage.conversation.load()
        stage.conversation.choose_model(SMALL)
        await stage.send("now")
        await _until(stage, 18)
        assert _texts(stage)[-3:] == ["ASK 7", "now", "fine"]
        assert _texts(stage)[:2] == ["ask 0", "ASK 0"]

    act(scene, ["fine"])


def test_another_chat_that_is_opened_meanwhile_gets_none_of_it(act: Act) -> None:
    """F67: what is still read belongs to the chat it is read for."""

    async def scene(stage: WindowStage) -> None:
        await _stored(stage, 8)
        stage.library.open("s")
        await stage.conversation.load()
        stage.library.new_chat()
        await stage.drain()
        assert _texts(stage) == []
        stage.library.open("s")
        await _until(stage, 16)
        assert len(_texts(stage)) == 16

    act(scene)
