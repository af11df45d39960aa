"""The list of sessions: rows and marks, which conversation is shown, drafts, and the end of the program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.bridge.session_row import Mark
from reprise.domain.events import Answer
from reprise.domain.ports import Draft
from reprise.domain.sessions import AttemptState
from support.aio import Aio
from support.bridge import BridgeStage, held, queue
from support.engine import HANG, FakeTools, calls, fails, pong, says
from support.qt import Recorder

Play = Callable[..., None]


def recorded(library: Library) -> Recorder:
    """Everything a library says."""
    return Recorder(
        reset=library.reset,
        changed=library.row_changed,
        added=library.row_added,
        current=library.current_changed,
        problem=library.problem,
    )


def marks(library: Library) -> list[tuple[str, Mark]]:
    """The list as (title, mark)."""
    return [(row.session.title, row.mark) for row in library.rows()]


async def three_chats(stage: BridgeStage, library: Library) -> list[str]:
    """Three finished sessions, oldest first; a new chat is shown."""
    ids = []
    for text in ("one", "two", "three"):
        ids.append(library.current.session_id)
        await stage.send(library.current, text)
        await stage.clock.advance(1)
        library.new_chat()
    return ids


def test_a_new_chat_enters_the_list_when_its_prompt_is_stored(play: Play) -> None:
    """An untouched chat is no session."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        heard = recorded(library)
        chat = library.current
        assert library.rows() == []
        assert library.new_chat() is chat
        await stage.send(chat, "one")
        assert heard.names()[0] == "added"
        assert marks(library) == [("one", Mark.NONE)]
        assert library.new_chat() is not chat
        assert len(library.rows()) == 1

    play(scene, says("hi"))


def test_the_list_is_newest_activity_first_and_the_same_after_a_restart(aio: Aio, tmp_path: Path) -> None:
    """S3, F80, F94: a prompt and a reply are activity."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, *[says("hi")] * 4)
        library = stage.library()
        ids = await three_chats(stage, library)
        heard = recorded(library)
        assert [row.session.id for row in library.rows()] == ids[::-1]
        library.open(ids[0])
        await stage.clock.drain()
        await stage.send(library.current, "again")
        assert [row.session.id for row in library.rows()] == [ids[0], ids[2], ids[1]]
        assert "reset" in heard.names()
        rows = library.rows()
        await library.close()
        await stage.close()

        later = await BridgeStage.open(tmp_path)
        again = later.library()
        await again.load()
        assert again.rows() == rows
        await later.close()

    aio(main())


def test_opening_a_session_shows_it_and_reads_it_once(aio: Aio, tmp_path: Path) -> None:
    """Shown at once; the history follows."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, *[says("hi")] * 3)
        ids = await three_chats(stage, stage.library())
        library = stage.library()
        await library.load()
        heard = recorded(library)
        library.open(ids[1])
        library.open(ids[1])
        library.open("unknown")
        chat = library.current
        assert (chat.session_id, chat.title, chat.is_loaded) == (ids[1], "two", False)
        assert heard.seen == [("current", chat)]
        loaded = Recorder(history=chat.history_changed)
        await stage.clock.drain()
        assert loaded.names() == ["history"]
        assert len(chat.history.branch) == 2
        await stage.close()

    aio(main())


def test_stepping_walks_the_list_and_stops_at_its_ends(play: Play) -> None:
    """Previous and next session; a new chat stands before the first."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        ids = await three_chats(stage, library)
        shown = []
        for by in (-1, 1, 1, 1, 1, -1):
            library.step(by)
            shown.append(library.current.session_id)
            await stage.clock.drain()
        assert shown[0] not in ids
        assert shown[1:] == [ids[2], ids[1], ids[0], ids[0], ids[1]]

    play(scene, *[says("hi")] * 3)


def test_a_turn_that_ends_out_of_sight_is_unread_until_it_is_shown(play: Play) -> None:
    """A reply in the background marks its row."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        gate = asyncio.Event()
        stage.provider._replies.append([gate.wait, *says("hi")])
        chat = library.current
        await stage.send(chat, "one")
        assert marks(library) == [("one", Mark.STREAMING)]
        library.new_chat()
        gate.set()
        await stage.clock.drain()
        assert marks(library) == [("one", Mark.UNREAD)]
        library.open(chat.session_id)
        assert library.current is chat
        assert marks(library) == [("one", Mark.NONE)]

    play(scene)


def test_marks_follow_a_turn_through_its_countdown(play: Play) -> None:
    """N3, N10: streaming, counting down with its seconds, pending, and nothing once the reply is there."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        chat = library.current
        await stage.send(chat, "one")
        (row,) = library.rows()
        assert (row.mark, row.seconds_left) == (Mark.COUNTDOWN, 5)
        heard = recorded(library)
        await stage.clock.advance(1)
        assert library.row(chat.session_id) == library.rows()[0]
        assert library.rows()[0].seconds_left == 4
        assert heard.seen == [("changed", chat.session_id)]
        chat.stop()
        await stage.clock.drain()
        (row,) = library.rows()
        assert (row.mark, row.seconds_left) == (Mark.PENDING, None)
        chat.retry()
        await stage.clock.drain()
        assert marks(library) == [("one", Mark.NONE)]

    play(scene, fails(), says("ok"))


def test_a_question_out_of_sight_is_marked(play: Play) -> None:
    """The mark that wants an answer comes before all others."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        chat = library.current
        await stage.send(chat, "one")
        library.new_chat()
        assert marks(library) == [("one", Mark.ASKS)]
        chat.answer(Answer.CONTINUE)
        await stage.clock.drain()
        assert marks(library) == [("one", Mark.UNREAD)]

    play(scene, calls("ping"), says("done"), tools=FakeTools(ping=pong))


def test_sessions_left_pending_by_another_life_are_marked(aio: Aio, tmp_path: Path) -> None:
    """D8: derived from the log, before the session is opened."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, [HANG])
        chat = stage.chat()
        await stage.send(chat, "one")
        await chat.close()
        await stage.close()
        later = await BridgeStage.open(tmp_path)
        library = later.library()
        await library.load()
        assert marks(library) == [("one", Mark.PENDING)]
        await later.close()

    aio(main())


def test_renaming_changes_the_row_and_the_title(play: Play) -> None:
    """S4: trimmed; a title that is none is a problem in words, and the old one stays."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        (first, *_) = await three_chats(stage, library)
        chat = library.conversation(first)
        assert chat is not None
        titles = Recorder(title=chat.title_changed)
        heard = recorded(library)
        library.rename(first, "  Colours ")
        await stage.clock.drain()
        assert (chat.title, titles.seen) == ("Colours", [("title", "Colours")])
        row = library.row(first)
        assert row is not None
        assert row.session.title == "Colours"
        library.rename(first, "   ")
        await stage.clock.drain()
        assert heard.names() == ["changed", "problem"]
        assert chat.title == "Colours"
        assert [row.session.id for row in library.rows()][-1] == first

    play(scene, *[says("hi")] * 3)


def test_drafts_survive_a_restart_and_are_forgotten_when_sent(aio: Aio, tmp_path: Path) -> None:
    """Unsent text belongs to its chat; the new chat has one too, and a stored prompt is no draft."""

    async def main() -> None:
        stage = await BridgeStage.open(tmp_path, *[says("hi")] * 3)
        library = stage.library()
        (first, *_) = await three_chats(stage, library)
        new = library.current.session_id
        library.save_draft(first, Draft("more about one", 4))
        library.save_draft(new, Draft("a new idea", 10))
        await stage.clock.drain()
        assert dict(marks(library))["one"] is Mark.DRAFT
        await stage.close()

        later = await BridgeStage.open(tmp_path, says("hi"))
        library = later.library()
        await library.load()
        chat = library.current
        assert library.draft(first) == Draft("more about one", 4)
        assert library.draft(chat.session_id) == Draft("a new idea", 10)
        await later.send(chat, "a new idea")
        assert library.draft(chat.session_id) is None
        assert library.draft(library.new_chat().session_id) is None
        library.save_draft(first, Draft(""))
        await later.clock.drain()
        assert await later.store.drafts.load() == {}
        await later.close()

    aio(main())


def test_conversations_that_rest_are_let_go_and_those_that_work_are_kept(play: Play) -> None:
    """The library keeps what streams, shown or not, and a few of the rest."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        busy = library.current
        await stage.send(busy, "busy")
        for number in range(12):
            library.new_chat()
            await stage.send(library.current, f"chat {number}")
        alive = [row for row in library.rows() if library.conversation(row.session.id) is not None]
        assert len(alive) == 9
        assert library.conversation(busy.session_id) is busy
        assert library.conversation(library.rows()[-1].session.id) is busy or busy.is_busy
        gone = next(row.session.id for row in library.rows() if library.conversation(row.session.id) is None)
        library.open(gone)
        await stage.clock.drain()
        assert len(library.current.history.branch) == 2
        busy.stop()
        await stage.clock.drain()

    play(scene, [HANG], *[says("hi")] * 12)


def test_a_conversation_whose_queue_goes_on_is_kept_however_long_it_was_not_shown(play: Play) -> None:
    """L20, D11: what waits behind its turn is sent in the conversation that the library knows."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        queuing = library.current
        finish = held(stage, "first")
        await stage.send(queuing, "one")
        await queue(stage, queuing, "two")
        stage.provider._replies.extend([*(says("hi") for _ in range(9)), [HANG]])
        for number in range(9):
            library.new_chat()
            await stage.send(library.current, f"chat {number}")
        finish()
        await stage.clock.drain()
        assert library.conversation(queuing.session_id) is queuing
        row = library.row(queuing.session_id)
        assert row is not None
        assert row.mark is Mark.STREAMING
        queuing.stop()
        await stage.clock.drain()

    play(scene)


def test_closing_ends_every_conversation_within_a_second(play: Play) -> None:
    """Two streams and a countdown; all are on disk as interrupted or scheduled."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        chats: list[Conversation] = []
        for text in ("one", "two", "three"):
            chats.append(library.new_chat())
            await stage.send(library.current, text)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await library.close()
        assert loop.time() - began < 1.0
        attempts = [(await stage.attempts(chat))[-1] for chat in chats]
        assert [attempt.state for attempt in attempts] == [
            AttemptState.INTERRUPTED,
            AttemptState.FAILED,
            AttemptState.INTERRUPTED,
        ]
        assert attempts[1].retry_at is not None

    play(scene, [HANG], fails(), [HANG])


def test_a_list_that_cannot_be_read_is_said(play: Play) -> None:
    """A sentence in the window, no traceback."""

    async def scene(stage: BridgeStage) -> None:
        library = stage.library()
        heard = recorded(library)
        assert await stage.store.close()
        await library.load()
        assert heard.names() == ["problem"]
        assert library.rows() == []

    play(scene)
