"""A new session with a copy of another one's branch (behaviour B11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from peewee import SqliteDatabase

from reprise.domain.messages import Message
from reprise.storage.branches import ids_to, model_at
from reprise.storage.ids import Ids
from reprise.storage.rows import MESSAGE, Unreadable, decode, encode, stamp
from reprise.storage.sql import sql, sql_many

# A fork's first `activity` is an id behind its copied entries: whatever is added comes after it, or becomes it.
_UNTOUCHED = """SELECT id FROM session
    WHERE forked_from = ? AND fork_point IS ? AND trashed_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.session = session.id AND entry.id >= session.activity)
    ORDER BY activity DESC"""

_SESSION = """INSERT INTO session
        (id, title, created_at, updated_at, activity, provider, model, forked_from, fork_point)
    SELECT ?, title, ?, ?, '', coalesce(?, provider), coalesce(?, model), id, ? FROM session WHERE id = ?"""

_ENTRY = """INSERT INTO entry (id, session, parent, kind, role, at, data, goes_on_from)
    SELECT ?, ?, ?, kind, role, at, data, goes_on_from FROM entry WHERE id = ?"""


def fork(db: SqliteDatabase, ids: Ids, session: str, entry: str | None, now: datetime) -> str:
    """The id of a session with the path root -> `entry` (None = nothing) of another one; both were checked.

    The rows are copied as they are stored, so that a damaged one comes along, in one chain whatever the source's
    was. A fork of the same point that nothing was added to is returned instead (F78).
    """
    for (untouched,) in sql(db, _UNTOUCHED, session, entry):
        return str(untouched)
    made = uuid4().hex
    model = None if entry is None else model_at(db, session, entry)
    names = (None, None) if model is None else (model.provider, model.model)
    sql(db, _SESSION, made, stamp(now), stamp(now), *names, entry, session)
    path = [] if entry is None else ids_to(db, session, entry)
    copies = [ids.next(now) for _ in path]
    sql_many(db, _ENTRY, zip(copies, [made] * len(path), [None, *copies], path, strict=False))
    _forget_origins(db, made)
    leaf = copies[-1] if copies else None
    sql(db, "UPDATE session SET leaf = ?, activity = ? WHERE id = ?", leaf, ids.next(now), made)
    return made


def _forget_origins(db: SqliteDatabase, made: str) -> None:
    """The replies that others were gone on from stay behind, so the copies no longer name them."""
    query = "SELECT id, data FROM entry WHERE session = ? AND goes_on_from IS NOT NULL"
    for id_, data in sql(db, query, made).fetchall():
        sql(db, "UPDATE entry SET goes_on_from = NULL, data = ? WHERE id = ?", _without_origin(data), id_)


def _without_origin(data: object) -> object:
    try:
        message = decode(MESSAGE, data)
    except Unreadable:
        return data
    if not isinstance(message, Message) or message.reply is None:
        return data
    return encode(replace(message, reply=replace(message.reply, goes_on_from=None)))[1]
