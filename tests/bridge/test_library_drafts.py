"""Unsent text: whose it is, and that nothing but being sent takes it away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from reprise.bridge.library import Library
from reprise.domain.ports import Draft, Drafts, LogError
from support.aio import Aio
from support.bridge import BridgeStage, FixedCatalog
from support.engine import HANG, says
from support.qt import Recorder

Play = Callable[..., None]
TYPED = Draft("half an idea", 4)


def test_a_text_from_outside_begins_a_chat_of_its_own_and_leaves_the_draft_alone(aio: Aio, tmp_path: Path) -> None:
    """N11: a prompt from the command line eats nothing; the draft is there in the next new chat, and the next life."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, says("hi"))
        library = stage.library()
        typed_in = library.current
        library.save_draft(typed_in.session_id, TYPED)
        heard = Recorder(current=library.current_changed)
        begun = library.begin("from outside")
        assert begun is not typed_in
        assert library.current is begun
        assert heard.seen == [("current", begun)]
        assert library.draft(begun.session_id) is None
        await stage.clock.drain()
        assert [message.text for message in await stage.stored(begun)] == ["from outside", "hi"]
        assert library.draft(begun.session_id) is None
        assert library.draft(typed_in.session_id) == TYPED
        assert library.new_chat() is typed_in
        await stage.close()

        later = await BridgeStage.open(tmp_path)
        library = later.library()
        await library.load()
        assert library.draft(library.current.session_id) == TYPED
        await later.close()

    aio(main())


def test_a_draft_of_another_text_outlives_a_stored_prompt(play: Play) -> None:
    """A draft is forgotten only when it is what was sent; else it goes on in the chat that it was typed in."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        chat = library.current
        library.save_draft(chat.session_id, TYPED)
        await stage.send(chat, "something else")
        assert library.draft(chat.session_id) == TYPED
        assert library.draft(library.new_chat().session_id) is None
        assert await stage.store.drafts.load() == {chat.session_id: TYPED}
        await stage.send(chat, TYPED.text)
        assert library.draft(chat.session_id) is None
        assert await stage.store.drafts.load() == {}

    play(scene, says("hi"), says("hi"))


def test_a_new_chat_begun_while_a_prompt_is_on_its_way_does_not_show_that_prompt(play: Play) -> None:
    """Each has its own unsent text, although neither is stored yet."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        first = library.current
        library.save_draft(first.session_id, Draft("hello"))
        assert first.send("hello")
        second = library.new_chat()
        assert second is not first
        assert library.draft(second.session_id) is None
        library.save_draft(second.session_id, TYPED)
        await stage.clock.drain()
        assert library.draft(first.session_id) is None
        assert library.draft(second.session_id) == TYPED
        assert await stage.store.drafts.load() == {"": TYPED}
        first.stop()
        await stage.clock.drain()

    play(scene, [HANG])


def unsendable(stage: BridgeStage) -> Library:
    """A library without a model: every text is refused."""
    return Library(replace(stage.services, catalog=FixedCatalog({})), stage.scope)


def test_two_unsent_texts_are_each_reached_by_new_chat_and_survive_a_restart(aio: Aio, tmp_path: Path) -> None:
    """N11: a refused text and a typed one: none is let go, and the next life has both."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path)
        library = unsendable(stage)
        typed_in = library.current
        library.save_draft(typed_in.session_id, TYPED)
        begun = library.begin("refused")
        library.save_draft(begun.session_id, Draft("refused"))
        assert library.draft(typed_in.session_id) == TYPED
        assert [library.new_chat() for _ in range(4)] == [typed_in, begun, typed_in, begun]
        for _ in range(12):
            library.add_chat()
        assert library.conversation(begun.session_id) is begun
        await stage.close()

        later = await BridgeStage.open(tmp_path)
        library = later.library()
        await library.load()
        both = Draft(f"{TYPED.text}\n\nrefused", TYPED.cursor)
        assert library.draft(library.current.session_id) == both
        await later.clock.drain()
        assert await later.store.drafts.load() == {"": both}
        await later.close()

    aio(main())


def test_a_chat_added_for_a_scripted_run_is_stored_like_any_other(play: Play) -> None:
    """`add_chat` sends nothing by itself: whoever asked for it listens first."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        chat = library.add_chat()
        assert (library.current, chat.is_busy) == (chat, False)
        gate = asyncio.Event()
        chat.subscribe(lambda _: gate.set())
        await stage.send(chat, "one")
        assert gate.is_set()
        assert [row.session.title for row in library.rows()] == ["one"]

    play(scene, says("hi"))


class FullDisk:
    """The real drafts, whose disk is full for a while."""

    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts
        self.is_full = True

    async def load(self) -> Mapping[str, Draft]:
        return await self._drafts.load()

    async def save(self, session: str, draft: Draft | None) -> None:
        if self.is_full:
            raise LogError("The disk is full.")
        await self._drafts.save(session, draft)


@pytest.mark.parametrize("then", ["the same text again", "another draft", "close"])
def test_a_draft_that_the_disk_refused_is_saved_later(aio: Aio, tmp_path: Path, then: str) -> None:
    """N11: with the next chance at the latest when the program closes."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path)
        disk = FullDisk(stage.store.drafts)
        library = Library(replace(stage.services, drafts=disk), stage.scope)
        heard = Recorder(problem=library.problem)
        key = library.current.session_id
        library.save_draft(key, TYPED)
        await stage.clock.drain()
        assert heard.seen == [("problem", "The disk is full.")]
        disk.is_full = False
        if then == "the same text again":
            library.save_draft(key, TYPED)
        elif then == "another draft":
            library.save_draft("another", Draft("x"))
        else:
            await library.close()
        await stage.clock.drain()
        assert TYPED in (await stage.store.drafts.load()).values()
        await stage.close()

    aio(main())
