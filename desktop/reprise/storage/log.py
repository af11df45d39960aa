"""The append-only log (behaviour B6) as the engine writes it: `ports.Log` on SQLite."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from peewee import SqliteDatabase, fn

from reprise.domain.deltas import Delta
from reprise.domain.messages import Message, ModelRef, Role, ToolResultPart
from reprise.domain.ports import Clock, LogError
from reprise.domain.sessions import Attempt, AttemptState, Entry, EntryData, ModelChange, title_of
from reprise.storage.branches import Branches, Row, entry_of, stored_entry
from reprise.storage.chunks import Chunks, delete_chunks, folded
from reprise.storage.database import Database
from reprise.storage.ids import Ids
from reprise.storage.rows import ATTEMPT, Unreadable, clean, decode, encode, stamp
from reprise.storage.tables import EntryRow, SessionRow


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
            found = _session(db, session)
            return () if found is None else self._branches.read(db, session, found.leaf)

        return await self._database.read(read)

    async def open_turn(self, session: str, message: Message, model: ModelRef) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            found = _session(db, session)
            if found is None:
                SessionRow.insert(
                    id=session,
                    title=title_of(message.text),
                    created_at=stamp(now),
                    updated_at=stamp(now),
                    activity="",
                ).execute(db)
            entry = self._append(db, session, None if found is None else found.leaf, message, now)
            _set_model(db, session, model)
            return entry

        return await self._database.write(write)

    async def open_attempt(self, session: str, parent: str, attempt: Attempt) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            _known(db, session, parent)
            return self._insert(db, session, parent, replace(attempt, state=AttemptState.OPEN), now)

        return await self._database.write(write)

    def append_chunks(self, attempt: str, delta: Delta) -> None:
        self._chunks.append(attempt, delta)

    async def fail_attempt(self, entry: Entry, attempt: Attempt) -> Entry:
        if attempt.state is AttemptState.OPEN:
            raise ValueError("an attempt that ended is not open")

        def write(db: SqliteDatabase) -> Entry:
            _open(db, entry)
            delete_chunks(db, entry.id)
            return _rewrite(db, entry, attempt)

        completed = await self._database.write(write)
        self._chunks.forget(entry.id)
        return completed

    async def finish_round(self, entry: Entry, message: Message) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            _open(db, entry)
            EntryRow.delete().where(EntryRow.id == entry.id).execute(db)  # its chunks go with it
            return self._append(db, entry.session, entry.parent, message, now)

        finished = await self._database.write(write)
        self._chunks.forget(entry.id)
        return finished

    async def record_result(self, session: str, parent: str, result: ToolResultPart) -> Entry:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            _known(db, session, parent)
            return self._append(db, session, parent, Message(Role.TOOL, (result,)), now)

        return await self._database.write(write)

    async def reschedule(self, entry: Entry, retry_at: datetime | None) -> Entry:
        def write(db: SqliteDatabase) -> Entry:
            stored = stored_entry(db, entry.session, entry.id).data
            if not isinstance(stored, Attempt):
                raise LogError(f"Entry {entry.id} is not an attempt.")
            return _rewrite(db, entry, replace(stored, retry_at=retry_at))

        return await self._database.write(write)

    async def append(self, session: str, data: EntryData) -> Entry:
        if isinstance(data, Attempt):
            raise ValueError("an attempt is never the leaf: use open_attempt")
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Entry:
            entry = self._append(db, session, _require(db, session).leaf, data, now)
            if isinstance(data, ModelChange):
                _set_model(db, session, data.model)
            return entry

        return await self._database.write(write)

    async def move_leaf(self, session: str, entry: str | None) -> None:
        def write(db: SqliteDatabase) -> None:
            _require(db, session)
            if entry is not None:
                _known(db, session, entry)
            SessionRow.update(leaf=entry).where(SessionRow.id == session).execute(db)

        await self._database.write(write)

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
            state=data.state.value if isinstance(data, Attempt) else None,
            at=stamp(now),
            data=text,
        ).execute(db)
        return entry


def newest_id(db: SqliteDatabase) -> str | None:
    """The newest entry's id, where ids go on from."""
    return EntryRow.select(fn.max(EntryRow.id)).tuples().execute(db)[0][0]  # type: ignore[no-any-return]


def interrupt_open_attempts(db: SqliteDatabase) -> int:
    """Complete the attempts a crash left open with the text that was saved; how many there were.

    Their sessions are pending by that alone (behaviour D8). When they ended is not known, so it is not claimed.
    """
    state = AttemptState.INTERRUPTED
    query = EntryRow.select(EntryRow.id, EntryRow.session).where(EntryRow.state == AttemptState.OPEN.value)
    found = list(query.tuples().execute(db))
    for id_, session in found:
        try:
            entry = stored_entry(db, session, id_)
        except Unreadable:
            # Nobody can read it, before or after: only take it out of the open ones.
            EntryRow.update(state=state.value).where(EntryRow.id == id_).execute(db)
            continue
        if isinstance(entry.data, Attempt):
            parts = folded(db, id_) or entry.data.parts
            _rewrite(db, entry, replace(entry.data, state=state, parts=parts, retry_at=None))
            delete_chunks(db, id_)
    return len(found)


def _session(db: SqliteDatabase, session: str) -> SessionRow | None:
    return next(
        iter(SessionRow.select(SessionRow.id, SessionRow.leaf).where(SessionRow.id == session).execute(db)), None
    )


def _require(db: SqliteDatabase, session: str) -> SessionRow:
    found = _session(db, session)
    if found is None:
        raise LogError(f"There is no chat {session} in the database.")
    return found


def _known(db: SqliteDatabase, session: str, entry: str) -> None:
    """An entry that can be a parent or the leaf: of this session, and no attempt."""
    query = EntryRow.select(EntryRow.kind).where((EntryRow.id == entry) & (EntryRow.session == session))
    kinds = [kind for (kind,) in query.tuples().execute(db)]
    if not kinds or kinds == [ATTEMPT]:
        raise LogError(f"There is no entry {entry} in the chat {session}.")


def _open(db: SqliteDatabase, entry: Entry) -> None:
    query = EntryRow.select(EntryRow.id).where((EntryRow.id == entry.id) & (EntryRow.state == AttemptState.OPEN.value))
    if not list(query.tuples().execute(db)):
        raise LogError(f"The attempt {entry.id} is not open any more.")


def _rewrite(db: SqliteDatabase, entry: Entry, attempt: Attempt) -> Entry:
    kind, text = encode(attempt)
    EntryRow.update(state=attempt.state.value, data=text).where(EntryRow.id == entry.id).execute(db)
    return replace(entry, data=decode(kind, text))


def _set_model(db: SqliteDatabase, session: str, model: ModelRef) -> None:
    values = {"provider": clean(model.provider), "model": clean(model.model)}
    SessionRow.update(**values).where(SessionRow.id == session).execute(db)
