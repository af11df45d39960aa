"""All sessions: the rows of the sidebar, the conversations that live, and which one is shown."""

from __future__ import annotations

import asyncio
from functools import partial

from PySide6.QtCore import QObject, Signal

from reprise.bridge.conversation import Conversation
from reprise.bridge.services import Services
from reprise.bridge.session_row import Mark, SessionRow
from reprise.bridge.tasks import TaskScope
from reprise.domain.events import TurnFinished
from reprise.domain.ports import Draft, LogError
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
        problem(str): a sentence about something that could not be read or stored.
    """

    reset = Signal()
    row_changed = Signal(str)
    row_added = Signal(str)
    current_changed = Signal(object)
    problem = Signal(str)

    def __init__(self, services: Services, scope: TaskScope, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._scope = scope
        self._order: list[str] = []
        self._rows: dict[str, SessionRow] = {}
        self._sessions: dict[str, Session] = {}
        self._drafts: dict[str, Draft] = {}
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

        Retries that are not yet due go on counting down, and fire, without their chats being opened (behaviour D8);
        not so without `resume`.
        """
        try:
            sessions = await self._services.sessions.list()
            drafts = await self._services.drafts.load()
        except LogError as error:
            self.problem.emit(str(error))
            return
        self._drafts = {**drafts, **self._drafts}
        known = {session.id: session for session in sessions}
        begun = [key for key in self._order if key not in known]
        self._sessions = {**known, **{key: self._live[key].session for key in self._live if self._live[key].is_stored}}
        self._order = [*begun, *known]
        self._rows = {key: self._make_row(key) for key in self._order}
        self.reset.emit()
        self._gather_drafts()
        now = self._services.clock.utc()
        for session in sessions if resume else ():
            if session.retry_at is not None and session.retry_at > now:
                self._reach(session.id)

    def rows(self) -> list[SessionRow]:
        """Every stored session, newest activity first."""
        return [self._rows[key] for key in self._order]

    def row(self, session_id: str) -> SessionRow | None:
        """One row; None for a session that is not in the list."""
        return self._rows.get(session_id)

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
        if (conversation := self._reach(session_id)) is not None:
            self._show(conversation)

    def step(self, by: int) -> None:
        """Show the next (1) or previous (-1) session of the list; nothing at its ends. A new chat is before it."""
        shown = self._current.session_id
        index = (self._order.index(shown) if shown in self._order else -1) + by
        if 0 <= index < len(self._order):
            self.open(self._order[index])

    def rename(self, session_id: str, title: str) -> None:
        """Give a session another title; `problem` says why not."""
        self._scope.start(self._rename(session_id, title), name=f"rename {session_id}", writes=True)

    def draft(self, session_id: str) -> Draft | None:
        """The unsent text of a session (of a new chat under its own id)."""
        return self._drafts.get(self._draft_key(session_id))

    def save_draft(self, session_id: str, draft: Draft | None) -> None:
        """Keep or forget unsent text; empty text is forgotten."""
        self._keep_draft(self._draft_key(session_id), draft if draft is not None and draft.text else None)

    async def close(self) -> None:
        """End every conversation because the program closes, within 1 s."""
        await asyncio.gather(*(conversation.close() for conversation in self._live.values()))

    # -- conversations

    def _add_new_chat(self) -> Conversation:
        conversation = self._adopt(Conversation(None, self._services, self._scope))
        if self._new_id in self._live:
            # Its prompt is on its way to the disk: what is typed there is its own from here on.
            self._move_draft(_NEW_CHAT, self._new_id)
        self._new_id = conversation.session_id
        return conversation

    def _reach(self, session_id: str) -> Conversation | None:
        """The conversation of a session, being read if it was not; None for an unknown id."""
        conversation = self._live.get(session_id)
        if conversation is None and session_id in self._sessions:
            conversation = self._adopt(Conversation(self._sessions[session_id], self._services, self._scope))
        if conversation is not None and not conversation.is_loaded and session_id not in self._loading:
            self._loading.add(session_id)
            self._scope.start(self._load(conversation), name=f"load {session_id}")
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
        conversation.prompt_stored.connect(partial(self._note_prompt, key))
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
        """Forget conversations that rest, the longest unused first."""
        for key, conversation in list(self._live.items())[:-_KEPT_ALIVE]:
            is_unsent = not conversation.is_stored and key in self._drafts
            if conversation is self._current or is_unsent or key in self._loading:
                continue
            if conversation.is_resting:
                del self._live[key]
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
            was, self._sessions[key] = self._sessions.get(key), conversation.session
            if was is None or was.updated_at != conversation.session.updated_at:
                self._to_top(key)
        if key not in self._sessions:
            return
        row = self._make_row(key)
        was_row, self._rows[key] = self._rows.get(key), row
        if was_row is None:
            self.row_added.emit(key)
        elif row != was_row:
            self.row_changed.emit(key)

    def _to_top(self, key: str) -> None:
        is_new = key not in self._order
        if not is_new and self._order[0] == key:
            return
        if not is_new:
            self._order.remove(key)
        self._order.insert(0, key)
        if not is_new:
            self.reset.emit()

    def _make_row(self, key: str) -> SessionRow:
        conversation = self._live.get(key)
        left = None if conversation is None else conversation.retry_manager.seconds_left
        return SessionRow(self._sessions[key], self._mark(key, conversation), left)

    def _mark(self, key: str, conversation: Conversation | None) -> Mark:
        if conversation is not None and conversation.is_busy:
            if conversation.question_rounds is not None:
                return Mark.ASKS
            return Mark.COUNTDOWN if conversation.retry_manager.is_counting else Mark.STREAMING
        if self._sessions[key].pending:
            return Mark.PENDING
        if key in self._unread:
            return Mark.UNREAD
        if key in self._drafts and key != self._current.session_id:
            return Mark.DRAFT
        return Mark.NONE

    def _note_end(self, key: str, _: TurnFinished) -> None:
        if key != self._current.session_id:
            self._unread.add(key)
        self._refresh(key)
        self._let_go()

    def _note_prompt(self, key: str, text: str) -> None:
        draft = self.draft(key)
        if draft is not None and draft.text == text:
            self.save_draft(key, None)
        if key == self._new_id:
            # What was typed behind the prompt belongs to what is a session now.
            self._new_id = ""
            self._move_draft(_NEW_CHAT, key)

    def _draft_key(self, session_id: str) -> str:
        return _NEW_CHAT if session_id == self._new_id else session_id

    def _move_draft(self, source: str, target: str) -> None:
        if (draft := self._drafts.get(source)) is not None:
            # In this order: a crash in between leaves the text twice, and not at all the other way round.
            self._keep_draft(target, draft)
            self._keep_draft(source, None)

    def _gather_drafts(self) -> None:
        """Put what was left unsent in chats that never came to be behind the new chat's text, nothing lost."""
        lost = [key for key in self._drafts if key and key not in self._sessions and key not in self._live]
        if not lost:
            return
        kept = self._drafts.get(_NEW_CHAT, Draft(""))
        texts = [kept.text, *(self._drafts[key].text for key in lost)]
        self._keep_draft(_NEW_CHAT, Draft("\n\n".join(text for text in texts if text), kept.cursor))
        for key in lost:
            self._keep_draft(key, None)

    def _keep_draft(self, key: str, draft: Draft | None) -> None:
        if draft == self._drafts.get(key):
            return
        if draft is None:
            del self._drafts[key]
        else:
            self._drafts[key] = draft
        self._refresh(key)
        self._scope.start(self._save_draft(key, draft), name=f"draft {key}", writes=True)

    async def _save_draft(self, key: str, draft: Draft | None) -> None:
        try:
            await self._services.drafts.save(key, draft)
        except LogError as error:
            self.problem.emit(str(error))

    async def _rename(self, session_id: str, title: str) -> None:
        try:
            session = await self._services.sessions.rename(session_id, title)
        except LogError as error:
            self.problem.emit(str(error))
            return
        self._sessions[session_id] = session
        if (conversation := self._live.get(session_id)) is not None:
            conversation.retitle(session.title)
        self._refresh(session_id)
