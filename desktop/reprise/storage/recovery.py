"""What is made good at a start after the program died."""

from __future__ import annotations

from dataclasses import replace

from peewee import SqliteDatabase

from reprise.domain.sessions import Attempt, AttemptState
from reprise.storage.branches import stored_entry
from reprise.storage.chunks import delete_chunks, folded
from reprise.storage.rows import Unreadable, encode
from reprise.storage.sql import sql
from reprise.storage.tables import EntryRow

_OPEN = """SELECT entry.id, entry.session, session.trashed_at IS NOT NULL
    FROM entry JOIN session ON session.id = entry.session
    WHERE entry.state = 'open' ORDER BY session.activity DESC"""


_CLOSED = """SELECT entry.session FROM entry JOIN session ON session.id = entry.session
    WHERE entry.id IN (SELECT id FROM entry ORDER BY id DESC LIMIT 500)
        AND entry.state = 'interrupted' AND session.trashed_at IS NULL
        AND CASE WHEN json_valid(entry.data) THEN json_extract(entry.data, '$.ended_at') END
            >= (SELECT at FROM entry ORDER BY id DESC LIMIT 1)
    ORDER BY session.activity DESC"""
"""Among the newest entries only, so that a start costs the same however much there is."""


def newest_id(db: SqliteDatabase) -> str | None:
    """The newest id there is, where ids go on from: of an entry, or the one a fork without more activity has."""
    found = sql(db, "SELECT max(id) FROM entry UNION ALL SELECT max(activity) FROM session").fetchall()
    return max((id_ for (id_,) in found if id_ is not None), default=None)


def interrupt_open_attempts(db: SqliteDatabase) -> tuple[str, ...]:
    """Complete the attempts a crash left open, with what they began with and the text that was saved behind it.

    Returns their sessions outside the trash, newest activity first, each once. They are pending by that alone
    (behaviour D8). When the attempts ended is not known, so it is not claimed.
    """
    found = sql(db, _OPEN).fetchall()
    for id_, session, _ in found:
        _interrupt(db, session, id_)
    return tuple(dict.fromkeys(session for _, session, trashed in found if not trashed))


def interrupted_by_close(db: SqliteDatabase) -> tuple[str, ...]:
    """The sessions outside the trash whose attempts ended because the program closed, newest activity first.

    Only of its last life: once anything was said since, in whatever session, they were there to be seen.
    """
    return tuple(dict.fromkeys(session for (session,) in sql(db, _CLOSED).fetchall()))


def _interrupt(db: SqliteDatabase, session: str, id_: str) -> None:
    values = {"state": AttemptState.INTERRUPTED.value}
    try:
        data = stored_entry(db, session, id_).data
    except Unreadable:
        # Nobody can read it, before or after: only take it out of the open ones. Its chunks stay.
        data = None
    if isinstance(data, Attempt):
        parts = folded(db, id_, data.parts)
        _, values["data"] = encode(replace(data, state=AttemptState.INTERRUPTED, parts=parts, retry_at=None))
        delete_chunks(db, id_)
    EntryRow.update(**values).where(EntryRow.id == id_).execute(db)
