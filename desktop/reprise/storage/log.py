"""The append-only log (behaviour B6) as the engine writes it: `ports.Log` on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from peewee import SqliteDatabase

from reprise.domain.deltas import Delta
from reprise.domain.messages import Message, ModelRef, Role, ToolResultPart
from reprise.domain.ports import Clock, LogError
from reprise.domain.sessions import Attempt, AttemptState, Entry, EntryData, ModelChange, Queued, title_of
from reprise.domain.tree import node_of
from reprise.storage.branches import Branches, Row, entry_of, model_at, stored_entry
from reprise.storage.checks import (
    require_behind,
    require_ended,
    require_entry,
    require_open,
    require_prompt,
    require_queued,
    require_session,
    session_or_none,
)
from reprise.storage.chunks import Chunks, delete_chunks
from reprise.storage.database import Database
from reprise.storage.ids import Ids
from reprise.storage.rows import QUEUED, clean, decode, encode, stamp
from reprise.storage.tables import EntryRow, SessionRow

_AT_ONCE = 500  # rows in one statement: some builds of SQLite take no more than 999 variables


class SqliteLog:
    """Implements `ports.Log`.

    Every call reads the leaf it builds on and returns what it wrote as it will be read again, so memory cannot run
    ahead of the disk (behaviour F72, S13).
    """

    def __init__(self, database: Database, clock: Clock, chunks: Chunks, branches: Branches, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._chunks = chunks
        self._branches = branches
        self._ids = ids

    async def branch(self, session: str) -> tuple[Entry, ...]:
        def read(db: SqliteDatabase) -> tuple[Entry, ...]:
            found = session_or_none(db, session)
            return () if found is None else self._branches.read(db, session, found.leaf)

        return await self._database.read(read)

    async def open_turn(
        self, session: str, message: Message, model: ModelRef, *, beside: str | None = None, queued: str | None = None
    ) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            found = session_or_none(db, session)
            parent = None if found is None else found.leaf
            if beside is not None:
                parent = require_prompt(db, session, beside)
            if queued is not None:
                require_queued(db, session, queued)
                _delete_queued(db, [queued])
            if found is None:
                SessionRow.insert(
                    id=session,
                    title=title_of(message.text),
                    created_at=stamp(now),
                    updated_at=stamp(now),
                    activity="",
                ).execute(db)
            entry = self._append(db, session, parent, message, now)
            _set_model(db, session, model)
            return entry

        return await self._database.write(write)

    async def open_attempt(self, session: str, parent: str, attempt: Attempt) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            require_entry(db, session, parent)
            return self._insert(db, session, parent, replace(attempt, state=AttemptState.OPEN), now)

        return await self._database.write(write)

    def append_chunks(self, attempt: str, delta: Delta) -> None:
        self._chunks.append(attempt, delta)

    async def fail_attempt(self, entry: Entry, attempt: Attempt) -> Entry:
        if attempt.state is AttemptState.OPEN:
            raise ValueError("an attempt that ended is not open")

        def write(db: SqliteDatabase) -> Entry:
            require_open(db, entry)
            delete_chunks(db, entry.id)
            return _rewrite(db, entry, attempt)

        completed = await self._database.write(write)
        self._chunks.forget(entry.id)
        return completed

    async def finish_round(self, entry: Entry, message: Message, *, under: str | None = None) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            answered = require_open(db, entry)
            finished = self._reply(db, entry.session, answered, under, message, now)
            EntryRow.delete().where(EntryRow.id == entry.id).execute(db)  # its chunks go with it
            return finished

        finished = await self._database.write(write)
        self._chunks.forget(entry.id)
        return finished

    async def keep(self, attempt: Entry, message: Message, *, under: str | None = None) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            answered = require_ended(db, attempt)
            return self._reply(db, attempt.session, answered, under, message, now)

        return await self._database.write(write)

    async def record_result(self, session: str, parent: str, result: ToolResultPart) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            require_entry(db, session, parent)
            return self._append(db, session, parent, Message(Role.TOOL, (result,)), now)

        return await self._database.write(write)

    async def reschedule(self, entry: Entry, retry_at: datetime | None, *, retry: int | None = None) -> Entry:
        def write(db: SqliteDatabase) -> Entry:
            stored = stored_entry(db, entry.session, entry.id).data
            if not isinstance(stored, Attempt):
                raise LogError(f"Entry {entry.id} is not an attempt.")
            number = stored.retry if retry is None else retry
            return _rewrite(db, entry, replace(stored, retry_at=retry_at, retry=number))

        return await self._database.write(write)

    async def append(self, session: str, data: EntryData, *, under: str | None = None) -> Entry:
        if isinstance(data, Attempt | Queued):
            raise ValueError("an attempt or a queued message is never the leaf: use open_attempt or queue")
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            leaf = require_session(db, session).leaf
            if under is not None and under != leaf:
                require_entry(db, session, under)
                return self._insert(db, session, under, data, now)
            entry = self._append(db, session, leaf, data, now)
            if isinstance(data, ModelChange):
                _set_model(db, session, data.model)
            return entry

        return await self._database.write(write)

    async def move_leaf(self, session: str, entry: str | None) -> None:
        def write(db: SqliteDatabase) -> None:
            require_session(db, session)
            if entry is not None:
                require_entry(db, session, entry)
                _follow_model(db, session, entry)
            SessionRow.update(leaf=entry).where(SessionRow.id == session).execute(db)

        await self._database.write(write)

    async def queue(self, session: str, queued: Queued) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            return self._insert(db, session, require_session(db, session).leaf, queued, now)

        return await self._database.write(write)

    async def requeue(self, entry: Entry, queued: Queued) -> Entry:
        def write(db: SqliteDatabase) -> Entry:
            require_queued(db, entry.session, entry.id)
            return _rewrite(db, entry, queued)

        return await self._database.write(write)

    async def unqueue(self, *entries: Entry) -> None:
        def write(db: SqliteDatabase) -> None:
            ids = [entry.id for entry in entries]
            for start in range(0, len(ids), _AT_ONCE):
                _delete_queued(db, ids[start : start + _AT_ONCE])

        await self._database.write(write)

    def _reply(
        self,
        db: SqliteDatabase,
        session: str,
        answered: str | None,
        under: str | None,
        message: Message,
        now: datetime,
    ) -> Entry:
        """Append a reply to `answered`, or behind what follows it directly, and make it the leaf.

        Where the session stood there already, its model stays: somebody may have chosen the next one meanwhile.
        """
        if under is not None:
            require_behind(db, session, answered, under)
        parent = answered if under is None else under
        moves = require_session(db, session).leaf != parent
        entry = self._append(db, session, parent, message, now)
        if moves:
            _follow_model(db, session, entry.id)
        return entry

    def _append(self, db: SqliteDatabase, session: str, parent: str | None, data: EntryData, now: datetime) -> Entry:
        """Insert under `parent` and make it the leaf; a message counts as activity (behaviour F80, F94)."""
        entry = self._insert(db, session, parent, data, now)
        values: dict[str, str] = {"leaf": entry.id}
        if isinstance(data, Message):
            values |= {"updated_at": stamp(now), "activity": entry.id}
        SessionRow.update(**values).where(SessionRow.id == session).execute(db)
        return entry

    def _insert(self, db: SqliteDatabase, session: str, parent: str | None, data: EntryData, now: datetime) -> Entry:
        kind, text = encode(data)
        entry = entry_of(session, Row(self._ids.next(now), parent, kind, stamp(now), text))
        EntryRow.insert(
            id=entry.id,
            session=session,
            parent=parent,
            kind=kind,
            role=data.role.value if isinstance(data, Message) else None,
            goes_on_from=node_of(entry).goes_on_from,
            state=data.state.value if isinstance(data, Attempt) else None,
            at=stamp(now),
            data=text,
        ).execute(db)
        return entry


def _rewrite(db: SqliteDatabase, entry: Entry, data: Attempt | Queued) -> Entry:
    kind, text = encode(data)
    state = data.state.value if isinstance(data, Attempt) else None
    EntryRow.update(state=state, data=text).where(EntryRow.id == entry.id).execute(db)
    return replace(entry, data=decode(kind, text))


def _delete_queued(db: SqliteDatabase, ids: Sequence[str]) -> None:
    EntryRow.delete().where(EntryRow.id.in_(ids) & (EntryRow.kind == QUEUED)).execute(db)


def _set_model(db: SqliteDatabase, session: str, model: ModelRef) -> None:
    values = {"provider": clean(model.provider), "model": clean(model.model)}
    SessionRow.update(**values).where(SessionRow.id == session).execute(db)


def _follow_model(db: SqliteDatabase, session: str, leaf: str) -> None:
    """The session's model becomes that of the branch it stands on now; one that nobody answers keeps it."""
    if (model := model_at(db, session, leaf)) is not None:
        _set_model(db, session, model)
