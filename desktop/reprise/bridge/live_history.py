"""A session in memory, equal to what is on disk: it changes after each commit and in no other way."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from datetime import datetime

from reprise.domain.deltas import Delta
from reprise.domain.failures import RETRYABLE_KINDS
from reprise.domain.messages import Message, ModelRef, Role, ToolResultPart
from reprise.domain.ports import Clock, History, Log, Sessions
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import (
    Attempt,
    AttemptState,
    Entry,
    EntryData,
    ModelChange,
    Session,
    answered_entry,
    prompt_entry,
    title_of,
)


def new_session(clock: Clock) -> Session:
    """A session that is not stored yet."""
    now = clock.utc()
    return Session(uuid.uuid4().hex, title_of(""), None, now, now)


class LiveHistory:
    """One session's `ports.Log`, as its turns write it: each write goes to the log, then into memory.

    The branch is answered from memory, so a request costs no read however long the chat is. Whoever writes several
    things in a row holds `writing` meanwhile.
    """

    def __init__(self, session: Session, log: Log, sessions: Sessions, *, is_stored: bool) -> None:
        self.writing = asyncio.Lock()
        self._is_stored = is_stored
        self._is_loaded = not is_stored
        self._loading = asyncio.Lock()
        self._session = session
        self._log = log
        self._sessions = sessions
        self._branch: list[Entry] = []
        self._attempts: dict[str, tuple[Entry, ...]] = {}
        self._history: History | None = None
        self._is_news = False

    @property
    def session(self) -> Session:
        """The session as it is listed."""
        return self._session

    @property
    def is_stored(self) -> bool:
        """False until the session's first prompt is on disk."""
        return self._is_stored

    @property
    def is_loaded(self) -> bool:
        """True once memory is what the disk is; at once for a session that is not stored."""
        return self._is_loaded

    @property
    def history(self) -> History:
        """The session, whole; the same value until something changes."""
        if self._history is None:
            self._history = History(self._session, tuple(self._branch), dict(self._attempts))
        return self._history

    def take_news(self) -> bool:
        """Whether something changed since this was last asked."""
        news, self._is_news = self._is_news, False
        return news

    async def load(self) -> None:
        """Read the session, unless it is read already. Raises LogError; memory is what it was then."""
        async with self._loading:
            if not self._is_loaded:
                await self._read()

    async def _read(self) -> None:
        history = await self._sessions.load(self._session.id)
        self._branch = list(history.branch)
        self._attempts = dict(history.attempts)
        self._is_loaded = True
        self._changed(history.session)

    def retitle(self, title: str) -> None:
        """The session was given another title."""
        self._changed(replace(self._session, title=title))

    def newest_attempt(self) -> Entry | None:
        """The newest attempt under what waits for a reply."""
        answers = answered_entry(self._branch)
        attempts = () if answers is None else self._attempts.get(answers.id, ())
        return attempts[-1] if attempts else None

    # -- ports.Log

    async def branch(self, session: str) -> tuple[Entry, ...]:
        """The active branch."""
        return self.history.branch

    async def open_turn(self, session: str, message: Message, model: ModelRef) -> Entry:
        """Store a prompt."""
        entry = await self._log.open_turn(session, message, model)
        if not self._is_stored:
            self._is_stored = True
            self._session = replace(self._session, title=title_of(message.text), created_at=entry.at)
        self._session = replace(self._session, model=model)
        self._append(entry)
        return entry

    async def open_attempt(self, session: str, parent: str, attempt: Attempt) -> Entry:
        """Store an open attempt."""
        entry = await self._log.open_attempt(session, parent, attempt)
        self._attempts[parent] = (*self._attempts.get(parent, ()), entry)
        self._changed(self._session)
        return entry

    def append_chunks(self, attempt: str, delta: Delta) -> None:
        """Buffer what arrived."""
        self._log.append_chunks(attempt, delta)

    async def fail_attempt(self, entry: Entry, attempt: Attempt) -> Entry:
        """Complete an attempt."""
        return self._replace_attempt(await self._log.fail_attempt(entry, attempt))

    async def finish_round(self, entry: Entry, message: Message) -> Entry:
        """Put a message in an attempt's place."""
        finished = await self._log.finish_round(entry, message)
        parent = entry.parent or ""
        left = tuple(attempt for attempt in self._attempts.pop(parent, ()) if attempt.id != entry.id)
        if left:
            self._attempts[parent] = left
        self._append(finished)
        return finished

    async def record_result(self, session: str, parent: str, result: ToolResultPart) -> Entry:
        """Store a tool's result."""
        entry = await self._log.record_result(session, parent, result)
        self._append(entry)
        return entry

    async def reschedule(self, entry: Entry, retry_at: datetime | None) -> Entry:
        """Move or clear the time a retry is due."""
        return self._replace_attempt(await self._log.reschedule(entry, retry_at))

    async def append(self, session: str, data: EntryData) -> Entry:
        """Store a model change or a notice."""
        entry = await self._log.append(session, data)
        if isinstance(data, ModelChange):
            self._session = replace(self._session, model=data.model)
        self._append(entry)
        return entry

    async def move_leaf(self, session: str, entry: str | None) -> None:
        """Stand elsewhere: on the branch it is cut there, off it the session is read again."""
        await self._log.move_leaf(session, entry)
        if entry is None or any(entry == kept.id for kept in self._branch):
            self._cut(entry)
            self._changed(replace(self._session, leaf=entry))
        else:
            await self._read()

    def _append(self, entry: Entry) -> None:
        self._cut(entry.parent)
        self._branch.append(entry)
        updated_at = entry.at if isinstance(entry.data, Message) else self._session.updated_at
        self._changed(replace(self._session, leaf=entry.id, updated_at=updated_at))

    def _cut(self, leaf: str | None) -> None:
        while self._branch and self._branch[-1].id != leaf:
            self._attempts.pop(self._branch.pop().id, None)

    def _replace_attempt(self, entry: Entry) -> Entry:
        parent = entry.parent or ""
        self._attempts[parent] = tuple(
            entry if attempt.id == entry.id else attempt for attempt in self._attempts.get(parent, ())
        )
        self._changed(self._session)
        return entry

    def _changed(self, session: Session) -> None:
        newest = self.newest_attempt()
        retry_at = newest.data.retry_at if newest is not None and isinstance(newest.data, Attempt) else None
        self._session = replace(session, pending=answered_entry(self._branch) is not None, retry_at=retry_at)
        self._history = None
        self._is_news = True


def pending_in(history: History, clock: Clock) -> PendingRetry | None:
    """What is pending in a session, derived from its log (behaviour B1, D8); None when nothing is.

    ``due_at`` is set when a retry is scheduled and not yet due: one whose time has passed is never fired unasked.
    """
    answers = answered_entry(history.branch)
    if answers is None or not isinstance(answers.data, Message):
        return None
    prompt = prompt_entry(history.branch)
    text = prompt.data.text if prompt is not None and isinstance(prompt.data, Message) else ""
    pending = PendingRetry(text, after_tools=answers.data.role is Role.TOOL)
    attempts = history.attempts.get(answers.id, ())
    if not attempts or not isinstance(attempt := attempts[-1].data, Attempt):
        return pending
    if attempt.state is not AttemptState.FAILED:
        return pending
    due_s = _seconds_until(attempt.retry_at, clock)
    return replace(
        pending,
        failure=attempt.failure,
        retry=attempt.retry,
        retries=attempt.retries,
        due_at=None if due_s is None else clock.now() + due_s,
        ask_s=_asked_s(attempt, clock),
    )


def _asked_s(attempt: Attempt, clock: Clock) -> float | None:
    """What is left of a wait over the cap that the provider asked for (behaviour D3)."""
    failure = attempt.failure
    if failure is None or failure.retryable or failure.kind not in RETRYABLE_KINDS:
        return None
    if failure.retry_after_s is None or attempt.ended_at is None:
        return None
    left_s = failure.retry_after_s - (clock.utc() - attempt.ended_at).total_seconds()
    return left_s if left_s > 0 else None


def _seconds_until(moment: datetime | None, clock: Clock) -> float | None:
    left_s = 0.0 if moment is None else (moment - clock.utc()).total_seconds()
    return left_s if left_s > 0 else None
