"""What must hold in the database before something is written; each raises LogError and changes nothing."""

from __future__ import annotations

from peewee import SqliteDatabase

from reprise.domain.messages import Role
from reprise.domain.ports import LogError
from reprise.domain.sessions import AttemptState, Entry
from reprise.storage.branches import upwards
from reprise.storage.rows import ATTEMPT, BESIDE, MESSAGE, QUEUED
from reprise.storage.tables import EntryRow, SessionRow


def session_or_none(db: SqliteDatabase, session: str) -> SessionRow | None:
    """A session's row with its id and leaf."""
    query = SessionRow.select(SessionRow.id, SessionRow.leaf).where(SessionRow.id == session)
    return next(iter(query.execute(db)), None)


def require_session(db: SqliteDatabase, session: str) -> SessionRow:
    """The row of a session that is there."""
    found = session_or_none(db, session)
    if found is None:
        raise LogError(f"There is no chat {session} in the database.")
    return found


def require_entry(db: SqliteDatabase, session: str, entry: str) -> None:
    """An entry that can be a parent or the leaf: of this session, and none that hangs beside the branches."""
    found = _found(db, session, entry)
    if found is None or found.kind in BESIDE:
        raise LogError(f"There is no entry {entry} in the chat {session}.")


def require_prompt(db: SqliteDatabase, session: str, entry: str) -> str | None:
    """The parent of a prompt of this session."""
    found = _found(db, session, entry)
    if found is None or found.kind != MESSAGE or found.role != Role.USER.value:
        raise LogError(f"There is no prompt {entry} in the chat {session}.")
    return found.parent


def require_open(db: SqliteDatabase, attempt: Entry) -> str | None:
    """The parent of an attempt that is still open."""
    found = _found(db, attempt.session, attempt.id)
    if found is None or found.state != AttemptState.OPEN.value:
        raise LogError(f"The attempt {attempt.id} is not open any more.")
    return found.parent


def require_ended(db: SqliteDatabase, attempt: Entry) -> str | None:
    """The parent of an attempt that is not open any more."""
    found = _found(db, attempt.session, attempt.id)
    if found is None or found.kind != ATTEMPT:
        raise LogError(f"There is no attempt {attempt.id} in the chat {attempt.session}.")
    if found.state == AttemptState.OPEN.value:
        raise LogError(f"The attempt {attempt.id} is still open.")
    return found.parent


def require_queued(db: SqliteDatabase, session: str, queued: str) -> None:
    """A message that still waits: it leaves the queue once, so that nothing is sent twice."""
    found = _found(db, session, queued)
    if found is None or found.kind != QUEUED:
        raise LogError(f"The message {queued} is not in the queue of the chat {session} any more.")


def require_behind(db: SqliteDatabase, session: str, answered: str | None, under: str) -> None:
    """`under` is what an attempt answers, or stands behind it with no message in between."""
    require_entry(db, session, under)
    for row in upwards(db, session, under):
        if row.id == answered:
            return
        if row.kind == MESSAGE:
            break
    raise LogError(f"The entry {under} does not follow {answered} directly.")


def _found(db: SqliteDatabase, session: str, entry: str) -> EntryRow | None:
    columns = (EntryRow.parent, EntryRow.kind, EntryRow.role, EntryRow.state)
    query = EntryRow.select(*columns).where((EntryRow.id == entry) & (EntryRow.session == session))
    return next(iter(query.execute(db)), None)
