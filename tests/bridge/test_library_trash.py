"""Trash and back: a session's work ends, nothing of it is lost, and no other is touched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.bridge.signals import until
from reprise.domain.deltas import TextDelta
from reprise.domain.messages import ToolCallPart
from reprise.domain.ports import Draft, LogError
from reprise.domain.sessions import AttemptState
from support.aio import Aio
from support.bridge import BridgeStage, chats, lives, titles
from support.engine import HANG, FakeTools, FaultyLog, calls, fails, pong, says

Play = Callable[..., None]


def test_trash_takes_a_session_out_of_the_list_and_restore_puts_it_back_in_its_place(aio: Aio, tmp_path: Path) -> None:
    """N12: nothing is deleted; after a restart it is still out of the list, and can still be brought back."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, *[says("hi")] * 4)
        library = stage.library()
        made = await chats(stage, library, "one", "two", "three")
        two = made[1].session_id
        heard = lives(library)
        library.trash(two)
        await stage.clock.drain()
        assert titles(library) == ["three", "one"]
        assert heard.seen == [("trashed", two, "two")]
        assert library.conversation(two) is None
        library.open(two)
        library.trash(two)
        library.trash("unknown")
        await stage.clock.drain()
        assert library.current is made[2]
        library.restore(two)
        await stage.clock.drain()
        assert titles(library) == ["three", "two", "one"]
        library.open(two)
        await stage.clock.drain()
        await stage.send(library.current, "more")
        assert titles(library) == ["two", "three", "one"]
        library.trash(two)
        await stage.clock.drain()
        await stage.close()

        later = await BridgeStage.open(tmp_path)
        library = later.library()
        await library.load()
        assert titles(library) == ["three", "one"]
        library.restore(two)
        await later.clock.drain()
        assert titles(library) == ["two", "three", "one"]
        await later.close()

    aio(main())


def test_trashing_the_shown_session_shows_a_new_chat(play: Play) -> None:
    """S4: the open session makes room for an empty one."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        (chat,) = await chats(stage, library, "one")
        library.trash(chat.session_id)
        await stage.clock.drain()
        assert library.current is not chat
        assert not library.current.is_stored
        assert library.rows() == []

    play(scene, says("hi"))


@pytest.mark.parametrize(
    ("reply", "state"),
    [([TextDelta("half"), HANG], AttemptState.STOPPED), (fails(), AttemptState.FAILED)],
    ids=["streams", "counts down"],
)
def test_trashing_a_session_ends_its_work_and_touches_no_other(play: Play, reply: object, state: AttemptState) -> None:
    """C14, F38, F45: what runs is stopped and recorded there; the other chat streams on; nothing fires later."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        other, chat = await chats(stage, library, "other", "one")
        heard = lives(library)
        assert chat.send("queued")
        await stage.clock.drain()
        library.trash(chat.session_id)
        await stage.clock.drain()
        assert not chat.is_busy
        history = await stage.store.sessions.load(chat.session_id)
        ((attempt,),) = history.attempts.values()
        assert (attempt.data.state, attempt.data.retry_at) == (state, None)  # type: ignore[union-attr]
        assert other.is_busy
        await stage.clock.advance(600)
        assert len(stage.provider.requests) == 2
        assert "ended" not in heard.names()
        assert library.draft(library.current.session_id) is None
        assert not chat.send("too late")
        library.restore(chat.session_id)
        await stage.clock.drain()
        library.open(chat.session_id)
        await stage.clock.drain()
        assert library.current.pending is not None
        assert [entry.data.message.text for entry in library.current.queue.entries()] == ["queued"]  # type: ignore[union-attr]
        other.stop()
        await stage.clock.drain()

    play(scene, [HANG], reply)


async def trashed(library: Library, chat: Conversation) -> None:
    """A chat moved to the trash."""
    gone = asyncio.ensure_future(until(library.trashed))
    await asyncio.sleep(0)
    library.trash(chat.session_id)
    await gone


@pytest.mark.parametrize("how", ["trash", "close"])
def test_a_session_ends_only_once_its_tools_have_their_results_on_disk(play: Play, how: str) -> None:
    """F38: what ran is recorded, however slow the disk; what did not end leaves no call without a result."""
    hanging = asyncio.Event()
    kept: list[FaultyLog] = []

    async def hang(call: ToolCallPart) -> str:
        hanging.set()
        await asyncio.Event().wait()
        return "never"

    def slow(log: object) -> FaultyLog:
        kept.append(FaultyLog(log, hold={"record_result"}))  # type: ignore[arg-type]
        return kept[0]

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        (chat,) = await chats(stage, library, "one")
        await hanging.wait()
        await kept[0].entered.wait()
        ended = asyncio.ensure_future(chat.close() if how == "close" else trashed(library, chat))
        await stage.clock.drain()
        assert not ended.done()
        kept[0].release.set()
        await ended
        stored = await stage.stored(chat)
        assert [message.role for message in stored] == ["user", "assistant", "tool"]
        assert (await stage.history(chat)).session.pending

    play(scene, calls("ping", "hang"), tools=FakeTools(ping=pong, hang=hang), wrap=slow)


def test_the_draft_of_a_trashed_session_stays_its_own_over_a_restart(aio: Aio, tmp_path: Path) -> None:
    """N11: it is not gathered into the new chat, and is there again once the session is."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, says("hi"))
        library = stage.library()
        (chat,) = await chats(stage, library, "one")
        library.save_draft(chat.session_id, Draft("unsent", 3))
        library.trash(chat.session_id)
        await stage.clock.drain()
        await stage.close()
        later = await BridgeStage.open(tmp_path)
        library = later.library()
        await library.load()
        assert library.draft(library.current.session_id) is None
        library.restore(chat.session_id)
        await later.clock.drain()
        assert library.draft(chat.session_id) == Draft("unsent", 3)
        await later.close()

    aio(main())


class Refusing:
    """Sessions that refuse one thing."""

    def __init__(self, sessions: object, name: str) -> None:
        self._sessions = sessions
        self._name = name

    def __getattr__(self, name: str) -> object:
        async def refused(*_: object) -> None:
            raise LogError("The disk is full.")

        return refused if name == self._name else getattr(self._sessions, name)


def test_a_session_that_cannot_be_trashed_is_in_the_list_again(play: Play) -> None:
    """S13: said, and in its place; its work was ended, and it can be opened again."""

    async def scene(stage: BridgeStage) -> None:
        services = replace(stage.services, sessions=Refusing(stage.store.sessions, "trash"))  # type: ignore[arg-type]
        library = Library(services, stage.scope)
        one, _ = await chats(stage, library, "one", "two")
        heard = lives(library)
        library.trash(one.session_id)
        await stage.clock.drain()
        assert titles(library) == ["two", "one"]
        assert heard.seen == [("problem", "The disk is full.")]
        library.open(one.session_id)
        await stage.clock.drain()
        assert len(library.current.history.branch) == 2
        assert library.current.send("again")
        await stage.clock.drain()
        library.restore("unknown")
        await stage.clock.drain()
        assert heard.seen[-1] == ("problem", "The disk is full.")

    play(scene, says("hi"), says("hi"), says("hi"))


def test_a_trash_while_the_chat_is_being_read_is_harmless(aio: Aio, tmp_path: Path) -> None:
    """The read ends for nobody; no row and no conversation comes back by it."""

    async def main() -> None:
        before = await BridgeStage.open(tmp_path, says("hi"))
        await chats(before, before.library(), "one")
        await before.close()
        stage = await BridgeStage.open(tmp_path)
        library = stage.library()
        await library.load()
        (row,) = library.rows()
        library.open(row.session.id)
        library.trash(row.session.id)
        await stage.clock.drain()
        assert library.rows() == []
        assert library.conversation(row.session.id) is None
        await stage.close()

    aio(main())
