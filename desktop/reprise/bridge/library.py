"""All sessions: the rows of the sidebar, the conversations that live, and which one is shown."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from reprise.bridge.conversation import Conversation
from reprise.bridge.draft_box import DraftBox
from reprise.bridge.former_life import restore_holds
from reprise.bridge.services import Services
from reprise.bridge.session_list import SessionList
from reprise.bridge.session_row import Mark, SessionRow
from reprise.bridge.tasks import TaskScope
from reprise.domain.events import TurnFinished
from reprise.domain.ports import Draft, LogError
from reprise.domain.retry import STAGGER_S, WaitReason
from reprise.domain.sessions import Session

_KEPT_ALIVE = 8
"""Conversations at rest that stay in memory, so that going back and forth between chats reads nothing."""

_NEW_CHAT = ""
"""The key of the new chat's draft."""


class Library(QObject):
    """Owns the conversations and keeps each one while it streams, waits or asks, shown or not.

    Signals:
        reset(): the list was replaced or put in another order.
        row_changed(str), row_added(str): by session id; a new chat is added once its first prompt is stored.
        current_changed(Conversation): another conversation is shown.
        turn_ended(str, TurnFinished), turn_asks(str, int): of every session, by its id: a turn is over, or asks
            whether to go on after so many tool rounds.
        trashed(str, str): a session is in the trash: its id and title. `restore` brings it back.
        problem(str): a sentence about something that could not be read or stored.
    """

    reset = Signal()
    row_changed = Signal(str)
    row_added = Signal(str)
    current_changed = Signal(object)
    turn_ended = Signal(str, object)
    turn_asks = Signal(str, int)
    trashed = Signal(str, str)
    problem = Signal(str)

    def __init__(self, services: Services, scope: TaskScope, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._scope = scope
        self._list = SessionList(self._row_of, self.reset.emit, self.row_added.emit, self.row_changed.emit)
        self._drafts = DraftBox(services.drafts, scope, self._refresh, self.problem.emit)
        self._unread: set[str] = set()
        self._loading: set[str] = set()
        # In the order of use, the newest last.
        self._live: dict[str, Conversation] = {}
        # The new chat: its unsent text is kept under `_NEW_CHAT`. "" from when it is sent until there is another.
        self._new_id = ""
        self._current = self._add_new_chat()

    @property
    def current(self) -> Conversation:
        """The conversation that is shown; a new chat from the start."""
        return self._current

    async def load(self, *, resume: bool = True) -> None:
        """Read the sessions and the drafts; `problem` says what could not be read.

        Retries that are not yet due go on counting down, and fire, without their chats being opened (behaviour D8), and
        limits that were met hold for as long as they did (D3); not so without `resume`.
        """
        try:
            sessions = await self._services.sessions.list()
            await self._drafts.load()
        except LogError as error:
            self.problem.emit(str(error))
            return
        self._list.replace(sessions, [each.session for each in self._live.values() if each.is_stored])
        await self._gather_drafts()
        if not resume:
            return
        await self._see_through(restore_holds(self._services))
        now = self._services.clock.utc()
        for session in sessions:
            if session.retry_at is not None and session.retry_at > now:
                self.reach(session.id)

    def rows(self) -> list[SessionRow]:
        """Every stored session, newest activity first."""
        return self._list.rows

    def row(self, session_id: str) -> SessionRow | None:
        """One row; None for a session that is not in the list."""
        return self._list.row(session_id)

    def conversation(self, session_id: str) -> Conversation | None:
        """The live conversation of a session, if there is one."""
        return self._live.get(session_id)

    def new_chat(self) -> Conversation:
        """Show a new chat; one in which nothing was sent is used again, first another one with unsent text in it."""
        unsent = [each for each in self._live.values() if not each.is_stored and not each.is_busy]
        unsent.sort(key=lambda each: each is self._current or self.draft(each.session_id) is None)
        self._show(unsent[0] if unsent else self._add_new_chat())
        return self._current

    def add_chat(self) -> Conversation:
        """Show a new chat of its own, for a text that was not typed: the unsent text of `new_chat` is not in it."""
        conversation = self._adopt(Conversation(None, self._services, self._scope))
        self._show(conversation)
        return conversation

    def begin(self, text: str) -> Conversation:
        """Send `text` in a chat of its own, and show it. One that cannot be sent is refused there (`send_refused`)."""
        conversation = self.add_chat()
        conversation.send(text)
        return conversation

    def open(self, session_id: str) -> None:
        """Show a session; its history follows with `history_changed`. Nothing for an unknown id."""
        if (conversation := self.reach(session_id)) is not None:
            self._show(conversation)

    def reach(self, session_id: str) -> Conversation | None:
        """The conversation of a session, being read if it was not; None for an unknown id."""
        conversation = self._find(session_id)
        if conversation is not None and not conversation.is_loaded and session_id not in self._loading:
            self._loading.add(session_id)
            self._scope.start(self._load(conversation), name=f"load {session_id}")
        return conversation

    def step(self, by: int) -> None:
        """Show the next (1) or previous (-1) session of the list; nothing at its ends. A new chat is before it."""
        ids, shown = self._list.ids, self._current.session_id
        index = (ids.index(shown) if shown in ids else -1) + by
        if 0 <= index < len(ids):
            self.open(ids[index])

    def rename(self, session_id: str, title: str) -> None:
        """Give a session another title; `problem` says why not."""
        self._start(self._rename(session_id, title), f"rename {session_id}")

    def pending_ids(self) -> list[str]:
        """The sessions with a turn that can be retried and does not wait for that by itself, in the list's order."""
        return [row.session.id for row in self._list.rows if row.session.pending and not self._is_busy(row.session.id)]

    def retry_pending(self, ids: Sequence[str] | None = None, *, resume: bool = False) -> None:
        """Retry these sessions, or (None) every one that is pending; what runs or counts down is left alone.

        Those that share the limits of a provider and key begin 2 s apart, the first at once; what holds other requests
        holds them as well (behaviour D3). One that cannot be read is a `problem`, and keeps none of the others. With
        `resume` each goes on from the words under its prompt, where there are any.
        """
        wanted = set(self._list.ids if ids is None else ids)
        self._start(self._retry([key for key in self.pending_ids() if key in wanted], resume), "retry")

    def fork(self, session_id: str, entry_id: str | None) -> None:
        """Begin a session with a copy of the branch up to an entry (None = nothing), and show it (behaviour B11).

        While something runs there it is refused, by that conversation (F79).
        """
        conversation = self._live.get(session_id)
        if session_id in self._list and (conversation is None or conversation.is_free()):
            self._start(self._fork(session_id, entry_id), f"fork {session_id}")

    def trash(self, session_id: str) -> None:
        """End what runs in a session and take it out of the list; `trashed` follows. Shown, a new chat takes its place.

        Nothing for a session that is not in the list.
        """
        if session_id in self._list:
            self._start(self._trash(session_id), f"trash {session_id}")

    def restore(self, session_id: str) -> None:
        """Take a session out of the trash; nothing for one that is in the list."""
        if session_id not in self._list:
            self._start(self._restore(session_id), f"restore {session_id}")

    def draft(self, session_id: str) -> Draft | None:
        """The unsent text of a session (of a new chat under its own id)."""
        return self._drafts.get(self._draft_key(session_id))

    def save_draft(self, session_id: str, draft: Draft | None) -> None:
        """Keep or forget unsent text; empty text is forgotten."""
        self._drafts.keep(self._draft_key(session_id), draft)

    async def close(self) -> None:
        """End every conversation because the program closes, within 1 s."""
        await asyncio.gather(self._drafts.save_rest(), *(conversation.close() for conversation in self._live.values()))

    # -- conversations

    def _add_new_chat(self) -> Conversation:
        conversation = self._adopt(Conversation(None, self._services, self._scope))
        if self._new_id in self._live:
            # Its prompt is on its way to the disk: what is typed there is its own from here on.
            self._drafts.move(_NEW_CHAT, self._new_id)
        self._new_id = conversation.session_id
        return conversation

    def _is_busy(self, session_id: str) -> bool:
        conversation = self._live.get(session_id)
        return conversation is not None and conversation.is_busy

    def _find(self, session_id: str) -> Conversation | None:
        """The conversation of a session, read or not; None for an unknown id."""
        conversation = self._live.get(session_id)
        if conversation is None and (session := self._list.session(session_id)) is not None:
            conversation = self._adopt(Conversation(session, self._services, self._scope))
        return conversation

    def _adopt(self, conversation: Conversation) -> Conversation:
        key = conversation.session_id
        self._live[key] = conversation
        refresh = partial(self._refresh, key)
        retries = conversation.retry_manager
        for signal in (
            conversation.state_changed,
            conversation.history_changed,
            conversation.title_changed,
            conversation.question_asked,
            conversation.question_settled,
            retries.countdown_changed,
            retries.pending_changed,
        ):
            signal.connect(refresh)
        conversation.turn_finished.connect(partial(self._note_end, key))
        conversation.turn_finished.connect(self._let_go, Qt.ConnectionType.QueuedConnection)
        conversation.question_asked.connect(partial(self._note_question, key))
        conversation.prompt_stored.connect(partial(self._note_prompt, key))
        conversation.text_returned.connect(partial(self._note_return, key))
        conversation.problem.connect(self.problem)
        return conversation

    def _show(self, conversation: Conversation) -> None:
        key = conversation.session_id
        self._live[key] = self._live.pop(key)
        if conversation is self._current:
            return
        left, self._current = self._current, conversation
        self._unread.discard(key)
        self._refresh(left.session_id)
        self._refresh(key)
        self.current_changed.emit(conversation)
        self._let_go()

    def _let_go(self) -> None:
        """Forget conversations that rest, the longest unused first; queued, since a turn's end may begin another."""
        for key, conversation in list(self._live.items())[:-_KEPT_ALIVE]:
            is_unsent = not conversation.is_stored and key in self._drafts
            if conversation is self._current or is_unsent or key in self._loading:
                continue
            if conversation.is_resting:
                del self._live[key]
                conversation.reading.stop()
                conversation.deleteLater()

    async def _load(self, conversation: Conversation) -> None:
        try:
            await conversation.load()
        except LogError as error:
            self.problem.emit(str(error))
        finally:
            self._loading.discard(conversation.session_id)

    # -- rows

    def _refresh(self, key: str, *_: object) -> None:
        conversation = self._live.get(key)
        if conversation is not None and conversation.is_stored:
            self._list.put(conversation.session)
        else:
            self._list.refresh(key)

    def _row_of(self, session: Session) -> SessionRow:
        conversation = self._live.get(session.id)
        mark = self._mark(session, conversation)
        if conversation is None or mark is not Mark.COUNTDOWN:
            return SessionRow(session, mark)
        pending = conversation.pending
        is_behind = pending is not None and pending.reason is WaitReason.PROBE
        return SessionRow(session, mark, conversation.retry_manager.seconds_left, is_behind)

    def _mark(self, session: Session, conversation: Conversation | None) -> Mark:
        if conversation is not None and conversation.is_busy:
            if conversation.question_rounds is not None:
                return Mark.ASKS
            return Mark.COUNTDOWN if conversation.retry_manager.is_counting else Mark.STREAMING
        if session.pending:
            return Mark.PENDING
        if session.id in self._unread:
            return Mark.UNREAD
        if session.id in self._drafts and session.id != self._current.session_id:
            return Mark.DRAFT
        return Mark.NONE

    def _note_end(self, key: str, finished: TurnFinished) -> None:
        if key not in self._live:
            return
        if key != self._current.session_id:
            self._unread.add(key)
        self._refresh(key)
        self.turn_ended.emit(key, finished)

    def _note_question(self, key: str, rounds: int) -> None:
        if key in self._live:
            self.turn_asks.emit(key, rounds)

    def _note_return(self, key: str, text: str) -> None:
        self._drafts.put_ahead(self._draft_key(key), text)

    def _note_prompt(self, key: str, text: str) -> None:
        draft = self.draft(key)
        if draft is not None and draft.text == text:
            self.save_draft(key, None)
        if key == self._new_id:
            # What was typed behind the prompt belongs to what is a session now.
            self._new_id = ""
            self._drafts.move(_NEW_CHAT, key)

    def _draft_key(self, session_id: str) -> str:
        return _NEW_CHAT if session_id == self._new_id else session_id

    async def _gather_drafts(self) -> None:
        """Put what was left unsent in chats that never came to be behind the new chat's text."""
        lost = [key for key in self._drafts if key and key not in self._list and key not in self._live]
        self._drafts.gather([key for key in lost if not await self._is_stored(key)], _NEW_CHAT)

    async def _is_stored(self, key: str) -> bool:
        """Whether a session that is not in the list is in the trash."""
        try:
            await self._services.sessions.open(key)
        except LogError:
            return False
        return True

    # -- writes

    def _start(self, write: Coroutine[Any, Any, None], name: str) -> None:
        self._scope.start(self._see_through(write), name=name, writes=True)

    async def _see_through(self, write: Coroutine[Any, Any, None]) -> None:
        try:
            await write
        except LogError as error:
            self.problem.emit(str(error))

    async def _retry(self, ids: Sequence[str], resume: bool) -> None:
        begun: Counter[str] = Counter()
        for key in ids:
            conversation = self._find(key)
            if conversation is None:
                continue
            self._loading.add(key)
            await self._load(conversation)
            if not conversation.is_loaded or conversation.is_busy or (model := conversation.model) is None:
                continue
            limits = self._services.catalog.route(model).limits
            conversation.retry_after(STAGGER_S * begun[limits], resume=resume)
            begun[limits] += 1

    async def _fork(self, session_id: str, entry_id: str | None) -> None:
        session = await self._services.sessions.fork(session_id, entry_id)
        self._list.put_back(session)
        self.open(session.id)

    async def _trash(self, key: str) -> None:
        conversation = self._live.pop(key, None)
        session = self._list.remove(key)
        self._unread.discard(key)
        if conversation is self._current:
            self.new_chat()
        try:
            if conversation is not None:
                await conversation.end()
            await self._services.sessions.trash(key, self._services.clock.utc())
        except LogError:
            self._list.put_back(session)
            raise
        self.trashed.emit(key, session.title)

    async def _restore(self, key: str) -> None:
        await self._services.sessions.trash(key, None)
        for session in await self._services.sessions.list():
            if session.id == key:
                self._list.put_back(session)

    async def _rename(self, session_id: str, title: str) -> None:
        session = await self._services.sessions.rename(session_id, title)
        if (conversation := self._live.get(session_id)) is not None:
            conversation.retitle(session.title)
        elif session_id in self._list:
            self._list.put(session)
