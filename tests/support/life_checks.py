"""What must hold in every session, and in what is shown of it, once everything has settled."""

from __future__ import annotations

from collections import Counter
from typing import Any

from peewee import SqliteDatabase

from reprise.bridge.conversation import Conversation
from reprise.bridge.message_queue import message_of
from reprise.bridge.session_row import Mark, SessionRow
from reprise.bridge.standing import pending_in
from reprise.domain.messages import Message, Role
from reprise.domain.ports import History
from reprise.domain.retry import WaitReason
from reprise.domain.sessions import (
    Attempt,
    AttemptState,
    Entry,
    Queued,
    answered_entry,
    newest_partial,
    readable_parts,
)
from reprise.storage.branches import Row, entry_of
from reprise.storage.sql import sql
from reprise.ui.composer import Turn
from reprise.ui.controls import Elided
from reprise.ui.report import report_of
from reprise.ui.sidebar.model import Data
from reprise.ui.words import countdown_segments
from support.engine_checks import check_requests, tokens
from support.engine_world import TOKEN
from support.life import TYPED, Book, Life, World, newest_prompt


async def check(world: World) -> None:
    """Everything, between any two steps."""
    assert not world.troubles, world.troubles
    disk: dict[str, History] = {}
    for book in world.books.values():
        if book.accepted:
            disk[book.session] = await world.life.stage.store.sessions.load(book.session)
            check_log(world, book, disk[book.session], await entries(world, book.session))
        conversation = world.conversation(book.session)
        if conversation is not None:
            check_conversation(world, conversation, disk.get(book.session))
        elif book.session in disk and not book.is_trashed:
            due_at = disk[book.session].session.retry_at
            assert due_at is None or due_at <= world.clock.utc(), "a scheduled retry waits for nobody"
        check_requests(world.wire.of(book.session))
    check_rows(world, disk)
    check_page(world)


async def entries(world: World, session: str) -> list[Entry]:
    """Every entry of a session on disk, on whatever branch."""

    def read(db: SqliteDatabase) -> list[Entry]:
        rows = sql(db, "SELECT id, parent, kind, at, data FROM entry WHERE session = ?", session).fetchall()
        return [entry_of(session, Row(*row)) for row in rows]

    return await world.life.stage.store.database.read(read)


def check_log(world: World, book: Book, history: History, stored: list[Entry]) -> None:
    """One prompt per send, nothing lost, nothing empty, nothing of another session, no run but the one that runs."""
    said = [entry.data for entry in stored if isinstance(entry.data, Message)]
    attempts = [entry.data for entry in stored if isinstance(entry.data, Attempt)]
    queued = [entry.data.message for entry in stored if isinstance(entry.data, Queued)]
    prompts = Counter(message.text for message in (*said, *queued) if message.role is Role.USER)
    assert prompts <= book.accepted <= book.pressed, "more prompts than sends"
    kept = set(TYPED.findall(" ".join([*prompts, world.written(book.session)])))
    assert book.sent() <= kept | book.dropped, "a text is nowhere"
    assert all(message.parts for message in said), "an empty message"
    replies = [Message(Role.ASSISTANT, attempt.parts) for attempt in attempts]
    everything = tokens(*said, *queued, *replies)
    assert all(map(book.owns, everything)), "something of another session is stored here"
    is_streaming = book.session in world.wire.streaming()
    if not is_streaming:
        assert book.heard <= set(everything), "something the model said is nowhere"
    on_branch = [entry.data for entry in history.branch if isinstance(entry.data, Message)]
    assert max(Counter(tokens(*on_branch)).values(), default=0) <= 1, "something stands twice on the branch"
    assert sum(attempt.state is AttemptState.OPEN for attempt in attempts) == is_streaming
    assert history.session.pending == (answered_entry(history.branch) is not None)


def check_conversation(world: World, conversation: Conversation, disk: History | None) -> None:
    """Memory equals disk; what runs is what there is to wait for; pending is what the log says."""
    session, gate, partial = conversation.session_id, conversation.retry_manager, conversation.partial
    is_streaming = session in world.wire.streaming()
    runs = [is_streaming, session in world.hanging.values(), gate.is_counting, conversation.question_rounds is not None]
    assert sum(runs) == conversation.is_busy, "busy with nothing, or with two things at once"
    assert (partial is not None) == is_streaming == (conversation.waiting_since is not None)
    if disk is None:
        assert not conversation.is_stored
        assert conversation.pending is None
        return
    assert conversation.is_loaded
    assert conversation.history == disk, "memory is not what is on disk"
    due_at = disk.session.retry_at
    pending, stored = conversation.pending, pending_in(disk, world.clock)
    if gate.is_counting:
        assert pending is not None
        if due_at is not None and pending.reason is WaitReason.RETRY and pending.due_at is not None:
            shift_s = pending.due_at - world.clock.now() - (due_at - world.clock.utc()).total_seconds()
            assert abs(shift_s) < 1e-3, "the countdown is not that of the log"
    elif conversation.is_busy:
        assert pending is None, "something is pending while a turn runs"
        assert due_at is None or conversation.beside is not None, "an older countdown outlived a new attempt"
    else:
        assert conversation.beside is None
        assert (pending is None) == (stored is None), "pending is not what the log says"
        assert stored is not None or not conversation.queue.entries(), "messages wait for nothing"
        assert due_at is None or due_at <= world.clock.utc(), "a scheduled retry does not count down"
    if pending is not None and conversation.beside is None:
        assert pending.text == newest_prompt(conversation), "another prompt is pending"
        if not gate.is_counting and stored is not None:
            assert pending.failure == stored.failure


def check_rows(world: World, disk: dict[str, History]) -> None:
    """Every stored session that is not in the trash has one row, with its own state."""
    model = world.life.sidebar.list.sessions  # type: ignore[union-attr]
    found = [model.data(model.index(place), Data.ROW) for place in range(model.rowCount())]
    rows: list[SessionRow] = [row for row in found if isinstance(row, SessionRow)]
    assert Counter(row.session.id for row in rows) == Counter(key for key in disk if not world.books[key].is_trashed)
    for row in rows:
        key = row.session.id
        # What a call of a batch gave is told of with the others' results (behaviour L10).
        is_told = key not in world.hanging.values()
        assert row.session == disk[key].session or not is_told, f"{row} is not {disk[key].session}"
        assert (row.mark, row.seconds_left) == (wanted_mark(world, disk[key]), seconds_left(world, key)), row
    marked = [model.data(model.index(place), Data.CURRENT) for place in range(model.rowCount())]
    assert marked.count(True) == (world.shown.session_id in {row.session.id for row in rows})


def seconds_left(world: World, session: str) -> int | None:
    conversation = world.conversation(session)
    return None if conversation is None else conversation.retry_manager.seconds_left


def wanted_mark(world: World, history: History) -> Mark:
    """What the sidebar must say of a session."""
    key = history.session.id
    conversation, is_shown = world.conversation(key), key == world.shown.session_id
    if key in world.wire.streaming() or key in world.hanging.values():
        return Mark.STREAMING
    if conversation is not None and conversation.question_rounds is not None:
        return Mark.ASKS
    if conversation is not None and conversation.retry_manager.is_counting:
        return Mark.COUNTDOWN
    if answered_entry(history.branch) is not None:
        return Mark.PENDING
    if world.books[key].is_unread and not is_shown:
        return Mark.UNREAD
    draft = world.life.library.draft(key)
    return Mark.DRAFT if draft is not None and not is_shown else Mark.NONE


def check_page(world: World) -> None:
    """What is shown is the shown session, all of it and nothing else."""
    life, conversation, book = world.life, world.shown, world.book
    assert life.view.conversation is conversation
    check_timeline(life, conversation, in_batch=book.session in world.hanging.values())
    items = life.view.timeline.scroller.stack.items
    live = life.view.timeline.scroller.stack.live
    texts = [item.message.text for item in items] + [live.text if live is not None else ""]
    assert all(map(book.owns, TOKEN.findall(" ".join(texts)))), "something of another session is shown"
    composer = life.page.composer
    assert set(TYPED.findall(composer.text())) <= book.typed, f"{composer.text()!r} is of another session than {book}"
    check_banner(life, conversation)
    check_card(life, conversation)
    counts, asks = conversation.retry_manager.is_counting, conversation.question_rounds is not None
    turn = Turn.ASKING if asks else Turn.COUNTING if counts else Turn.BUSY if conversation.is_busy else Turn.IDLE
    is_stop = turn in (Turn.BUSY, Turn.ASKING) and not composer.text().strip()
    assert composer.stops == is_stop, "the composer's button is another"
    assert composer.button.accessibleName() == ("Stop" if is_stop else "Send")
    edit = life.view._edits.of(conversation.session_id)
    assert composer.is_editing == (edit is not None)
    assert composer.hint.isVisible() == (turn in (Turn.BUSY, Turn.ASKING) or (edit is not None and edit.waits))
    check_tray(life, conversation)


def check_timeline(life: Life, conversation: Conversation, *, in_batch: bool) -> None:
    """The messages of the branch, and under them the reply that comes or the words that are left of one."""
    life.view.timeline._streaming.flush()
    stack = life.view.timeline.scroller.stack
    history, beside = conversation.history, conversation.beside
    wanted: list[tuple[str, str]] = []
    for entry in history.branch:
        if beside is not None and entry.id == beside.id:
            break
        left_out = (Role.SYSTEM, Role.TOOL) if in_batch else (Role.SYSTEM,)
        if isinstance(entry.data, Message) and entry.data.role not in left_out:
            wanted.append((entry.id, entry.data.text))
    items = [item for item in stack.items if item.message.role is not Role.TOOL or not in_batch]
    assert [(item.key, item.message.text) for item in items] == wanted, f"{items} is not {wanted}"
    answers, partial = answered_entry(history.branch), conversation.partial
    left = None if answers is None else newest_partial(history.attempts.get(answers.id, ()))
    live = stack.live
    if partial is not None:
        assert live is not None, "no reply is shown while one comes"
        if live.failed:
            assert partial.is_empty, "older words stand while others come"
            assert live.text == said_in(left)
        else:
            assert live.text == partial.text
    elif left is not None:
        assert live is not None, "the words so far are not shown"
        assert live.failed
        assert live.text == said_in(left)
        assert bool(live.item.note) == conversation.retry_manager.is_counting
    else:
        assert live is None, f"older words are shown: {live.text if live else ''}"


def said_in(attempt: Entry | None) -> str:
    data: Any = None if attempt is None else attempt.data
    return "" if data is None else Message(Role.ASSISTANT, readable_parts(data.parts)).text


def check_banner(life: Life, conversation: Conversation) -> None:
    """The banner is there exactly while this session waits, and says how long."""
    banner, gate, pending = life.page.banner, conversation.retry_manager, conversation.pending
    assert banner.isVisible() == gate.is_counting, "the banner is not that of a wait"
    if gate.is_counting and pending is not None:
        place = life.view.place(conversation.model)
        pieces = countdown_segments(pending, gate.seconds_left or 0, place)
        assert banner.sentence.text() == "".join(text for text, _ in pieces)
        assert banner.later.isHidden() == (gate.seconds_left is None)


def check_card(life: Life, conversation: Conversation) -> None:
    """One card exactly while something is pending and nothing runs, about that; the question's while it is asked."""
    history, pending = conversation.history, conversation.pending
    card, question = life.card("pendingCard"), life.card("approvalCard")
    assert (question is not None) == (conversation.question_rounds is not None)
    answers = answered_entry(history.branch)
    assert (card is not None) == (answers is not None and not conversation.is_busy), "the card is not what is pending"
    if card is None or answers is None or pending is None:
        return
    attempts = history.attempts.get(answers.id, ())
    assert card._details.failure == pending.failure, "the card is another turn's"
    assert card._details.report == (report_of(attempts) if attempts else "")


def check_tray(life: Life, conversation: Conversation) -> None:
    """The messages that wait in this session stand on the composer, and an edit if there is one."""
    tray: Any = life.page.tray
    lines = [line.text() for line in tray.findChildren(Elided, "trayText") if line.isVisible()]
    edits = [line for line in lines if line.startswith("Editing")]
    assert len(edits) == life.page.composer.is_editing
    waiting = [line.rpartition(": ")[2] for line in lines if line not in edits and not line.endswith(" more")]
    assert waiting == [
        " ".join(message_of(entry).text.split()) for entry in conversation.queue.entries()[: len(waiting)]
    ]
    assert bool(waiting) == bool(conversation.queue.entries())
