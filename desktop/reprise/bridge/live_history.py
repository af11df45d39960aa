"""A session in memory, equal to what is on disk: it changes after each commit and in no other way."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from reprise.bridge.standing import kept_reply
from reprise.domain.deltas import Delta
from reprise.domain.messages import Message, ModelRef, ToolResultPart
from reprise.domain.ports import Clock, History, Log, Opening, Sessions, Slice
from reprise.domain.sessions import (
    Attempt,
    Entry,
    EntryData,
    ModelChange,
    ParamsChange,
    Queued,
    Session,
    answered_entry,
    model_of,
    params_of,
    prompt_entry,
    title_of,
)
from reprise.domain.tree import Node, Tree, node_of


def new_session(clock: Clock) -> Session:
    """A session that is not stored yet."""
    now = clock.utc()
    return Session(uuid.uuid4().hex, title_of(""), None, now, now)


class LiveHistory:
    """One session's `ports.Log`, as its turns write it: each write goes to the log, then into memory.

    The branch is answered from memory, so a request costs no read however long the chat is. Whoever writes several
    things in a row holds `writing` meanwhile.

    The end of the branch is read first and shown at once; the rest of it, and the shape of the other branches, come
    with `complete`, in pieces. What is there is equal to the disk all the time. A read tells what the disk was when
    every write that is in memory by then was done and no other, since both come back in the order they were done in.

    Attributes:
        extended: Called after each piece that was read of what is older.
    """

    def __init__(self, session: Session, log: Log, sessions: Sessions, *, is_stored: bool) -> None:
        self.writing = asyncio.Lock()
        self.extended: Callable[[], None] = lambda: None
        self._completing = asyncio.Lock()
        self._is_stored = is_stored
        self._is_loaded = not is_stored
        self._loading = asyncio.Lock()
        self._session = session
        self._log = log
        self._sessions = sessions
        self._branch: list[Entry] = []
        self._attempts: dict[str, tuple[Entry, ...]] = {}
        self._settings: list[Entry] = []
        self._nodes: list[Node] = []
        self._nodes_after: str | None = None
        self._tree = Tree()
        self._queue: tuple[Entry, ...] = ()
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
        """True once the end of the session is there; at once for a session that is not stored."""
        return self._is_loaded

    @property
    def is_whole(self) -> bool:
        """True once memory is all of what the disk is."""
        return self._is_loaded and self._reaches_root and self.knows_shape

    @property
    def knows_shape(self) -> bool:
        """True once all branches are known, and so the alternatives to everything."""
        return self._nodes_after is None

    @property
    def history(self) -> History:
        """The session, as much as is there of it; the same value until something changes."""
        if self._history is None:
            self._history = History(
                self._session, tuple(self._branch), dict(self._attempts), tuple(self._nodes), self._queue
            )
        return self._history

    @property
    def tree(self) -> Tree:
        """All branches of the session that are known."""
        return self._tree

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of its own that the branch has, of all of it from the beginning."""
        return params_of(self._settings)

    @property
    def queued(self) -> tuple[Entry, ...]:
        """What waits for its delivery, oldest first."""
        return self._queue

    def take_news(self) -> bool:
        """Whether something changed since this was last asked."""
        news, self._is_news = self._is_news, False
        return news

    async def load(self) -> None:
        """Read the end of the session, unless it is read already. Raises LogError; memory is what it was then."""
        async with self._loading:
            if not self._is_loaded:
                await self._read()

    async def complete(self) -> None:
        """Read all that is not read yet, piece by piece; the last one is news. Raises LogError; the others stay."""
        await self.load()
        async with self._completing:
            while not self.is_whole:
                below = None if self._reaches_root else self._branch[0]
                self._put_before(await self._sessions.older(self._session.id, below, self._nodes_after), below)
                self._history = None
                self.extended()
                self._is_news |= self.is_whole

    async def _read(self) -> None:
        """Read the end of the branch; what is known above it stays."""
        opening = await self._sessions.open(self._session.id)
        self._stand_at(opening)
        if not self._is_loaded:
            self._is_loaded = True
            self._learn(opening.newest)
        self._queue = opening.queue
        self._changed(opening.session)

    def retitle(self, title: str) -> None:
        """The session was given another title."""
        self._changed(replace(self._session, title=title))

    def newest_attempt(self) -> Entry | None:
        """The newest attempt under what waits for a reply."""
        answers = answered_entry(self._branch)
        attempts = () if answers is None else self._attempts.get(answers.id, ())
        return attempts[-1] if attempts else None

    def asked(self) -> ModelRef | None:
        """Whom the newest attempt under what waits for a reply asked."""
        attempt = self.newest_attempt()
        return attempt.data.model if attempt is not None and isinstance(attempt.data, Attempt) else None

    async def keep_partial(self, partial: Entry) -> None:
        """Make what an attempt under the pending prompt said the reply (behaviour D5)."""
        if isinstance(partial.data, Attempt):
            leaf = self._branch[-1].id
            under = None if leaf == partial.parent else leaf
            await self.keep(partial, kept_reply(partial.data, self._branch), under=under)

    # -- ports.Log

    async def branch(self, session: str) -> tuple[Entry, ...]:
        """The active branch, all of it."""
        await self.complete()
        return self.history.branch

    async def open_turn(
        self, session: str, message: Message, model: ModelRef, *, beside: str | None = None, queued: str | None = None
    ) -> Entry:
        """Store a prompt."""
        entry = await self._log.open_turn(session, message, model, beside=beside, queued=queued)
        if not self._is_stored:
            self._is_stored = True
            self._session = replace(self._session, title=title_of(message.text), created_at=entry.at)
        self._session = replace(self._session, model=model)
        self._queue = tuple(waiting for waiting in self._queue if waiting.id != queued)
        await self._append(entry)
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

    async def finish_round(self, entry: Entry, message: Message, *, under: str | None = None) -> Entry:
        """Put a message in an attempt's place."""
        finished = await self._log.finish_round(entry, message, under=under)
        parent = entry.parent or ""
        left = tuple(attempt for attempt in self._attempts.pop(parent, ()) if attempt.id != entry.id)
        if left:
            self._attempts[parent] = left
        await self._reply(finished)
        return finished

    async def keep(self, attempt: Entry, message: Message, *, under: str | None = None) -> Entry:
        """Make what an attempt said the reply."""
        kept = await self._log.keep(attempt, message, under=under)
        await self._reply(kept)
        return kept

    async def record_result(self, session: str, parent: str, result: ToolResultPart) -> Entry:
        """Store a tool's result."""
        entry = await self._log.record_result(session, parent, result)
        await self._append(entry)
        return entry

    async def reschedule(self, entry: Entry, retry_at: datetime | None, *, retry: int | None = None) -> Entry:
        """Move or clear the time a retry is due."""
        return self._replace_attempt(await self._log.reschedule(entry, retry_at, retry=retry))

    async def append(self, session: str, data: EntryData, *, under: str | None = None) -> Entry:
        """Store a change or a notice; beside the branch it is known, and no more."""
        entry = await self._log.append(session, data, under=under)
        if entry.parent != self._session.leaf:
            self._know(entry)
            self._changed(self._session)
            return entry
        if isinstance(data, ModelChange):
            self._session = replace(self._session, model=data.model)
        await self._append(entry)
        return entry

    async def move_leaf(self, session: str, entry: str | None) -> None:
        """Stand elsewhere: on the branch it is cut there, off it the session is read again."""
        await self._log.move_leaf(session, entry)
        is_known = self._is_on_branch(entry)
        if is_known:
            self._cut(entry)
        if is_known and self._says_where_it_stands():
            self._changed(replace(self._session, leaf=entry, model=model_of(self._branch) or self._session.model))
        else:
            await self._read()

    async def queue(self, session: str, queued: Queued) -> Entry:
        """Store a message for its delivery."""
        entry = await self._log.queue(session, queued)
        self._queue = (*self._queue, entry)
        self._changed(self._session)
        return entry

    async def requeue(self, entry: Entry, queued: Queued) -> Entry:
        """Store another text of a queued message."""
        changed = await self._log.requeue(entry, queued)
        self._queue = tuple(changed if waiting.id == changed.id else waiting for waiting in self._queue)
        self._changed(self._session)
        return changed

    async def unqueue(self, *entries: Entry) -> None:
        """Take messages off the queue."""
        await self._log.unqueue(*entries)
        gone = {entry.id for entry in entries}
        self._queue = tuple(waiting for waiting in self._queue if waiting.id not in gone)
        self._changed(self._session)

    # -- memory

    async def _append(self, entry: Entry) -> None:
        """Stand at a new entry: behind the branch, or where it leaves it."""
        self._know(entry)
        if not self._is_on_branch(entry.parent):
            await self._read()
            return
        self._cut(entry.parent)
        self._branch.append(entry)
        if isinstance(entry.data, ParamsChange):
            self._settings.append(entry)
        updated_at = entry.at if isinstance(entry.data, Message) else self._session.updated_at
        self._changed(replace(self._session, leaf=entry.id, updated_at=updated_at))

    async def _reply(self, entry: Entry) -> None:
        """The same for a reply: elsewhere than where the session stood, its model becomes that branch's (B8)."""
        moves = entry.parent != self._session.leaf
        await self._append(entry)
        if moves:
            self._changed(replace(self._session, model=model_of(self._branch) or self._session.model))

    @property
    def _reaches_root(self) -> bool:
        return not self._branch or self._branch[0].parent is None

    def _says_where_it_stands(self) -> bool:
        """Whether what is there of the branch is enough to see who answers at its end, and which prompt."""
        return self._reaches_root or None not in (prompt_entry(self._branch), model_of(self._branch))

    def _stand_at(self, opening: Opening) -> None:
        """Take over the end of a branch, behind what is known of it already."""
        entries, attempts = opening.newest.entries, dict(opening.newest.attempts)
        known = {entry.id: position for position, entry in enumerate(self._branch)}
        joint = entries[0].parent if entries else None
        before = self._branch[: known[joint] + 1] if joint in known else []
        if not before and entries and entries[0].id in known:
            before = self._branch[: known[entries[0].id]]
        for entry in before:
            if (hanging := self._attempts.get(entry.id)) is not None:
                attempts[entry.id] = hanging
        self._branch = [*before, *entries]
        self._attempts = attempts
        self._settings = [*opening.settings, *(each for each in entries if isinstance(each.data, ParamsChange))]

    def _put_before(self, older: Slice, below: Entry | None) -> None:
        self._learn(older)
        # Another branch may be stood on by now, and what came stands above none of it.
        if below is not None and self._branch and self._branch[0] is below:
            self._branch[:0] = older.entries
            self._attempts |= older.attempts

    def _learn(self, piece: Slice) -> None:
        self._nodes += piece.nodes
        for node in piece.nodes:
            self._tree.add(node)
        self._nodes_after = piece.nodes[-1].id if piece.more_nodes else None

    def _know(self, entry: Entry) -> None:
        if self._is_loaded and self.knows_shape:  # else it comes with the rest
            node = node_of(entry)
            self._nodes.append(node)
            self._tree.add(node)

    def _is_on_branch(self, id_: str | None) -> bool:
        return id_ is None or any(entry.id == id_ for entry in reversed(self._branch))

    def _cut(self, leaf: str | None) -> None:
        while self._branch and self._branch[-1].id != leaf:
            gone = self._branch.pop()
            self._attempts.pop(gone.id, None)
            if self._settings and self._settings[-1].id == gone.id:
                self._settings.pop()
        if leaf is None:
            self._settings.clear()

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
