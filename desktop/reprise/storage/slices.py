"""Reading a session piece by piece, the end of its branch first: what opening it costs does not grow with it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from peewee import SqliteDatabase

from reprise.domain.messages import Message, Role
from reprise.domain.ports import Opening, Slice
from reprise.domain.sessions import Entry, ParamsChange, Session
from reprise.storage.branches import Row, by_parent, ids_to, missing, nodes, queue, readable, readable_only
from reprise.storage.sql import sql

ENTRIES = 64
NODES = 512
"""How much one piece holds: some 2 ms of decoding, which the window's thread does not feel."""

_CHARACTERS = 400_000
"""Long messages make a piece shorter."""

# Ids fall from entry to parent, so whatever the rows say this ends; SQLite hands out a chain in its order.
_UPWARDS = """WITH RECURSIVE up (id, parent, kind, at, data) AS (
        SELECT id, parent, kind, at, data FROM entry
        WHERE id = ? AND session = ? AND kind NOT IN ('attempt', 'queued')
        UNION ALL
        SELECT above.id, above.parent, above.kind, above.at, above.data
        FROM up JOIN entry AS above ON above.id = up.parent
        WHERE above.session = ? AND above.kind NOT IN ('attempt', 'queued') AND above.id < up.id
    )
    SELECT id, parent, kind, at, data FROM up LIMIT ?"""

_ATTEMPTS = """SELECT id, parent, kind, at, data FROM entry INDEXED BY entry_parent
    WHERE parent IN (SELECT value FROM json_each(?)) AND session = ? AND kind = 'attempt' ORDER BY id"""

_SETTINGS = """SELECT id FROM entry INDEXED BY entry_tree
    WHERE session = ? AND id < ? AND kind = 'params_change' ORDER BY id"""

_ROWS = """SELECT id, parent, kind, at, data FROM entry WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"""


def opening(db: SqliteDatabase, session: Session) -> Opening:
    """The end of a session's branch, with all that the window asks of a session before the rest of it is there."""
    entries: tuple[Entry, ...] = ()
    leaf = session.leaf
    while leaf is not None:
        entries = _piece(db, session.id, leaf, entries[0] if entries else None) + entries
        leaf = None if any(map(_is_prompt, entries)) else entries[0].parent
    first = nodes(db, session.id, count=NODES)
    newest = Slice(entries, _attempts(db, session.id, entries), first, len(first) == NODES)
    return Opening(session, newest, _settings_above(db, session.id, entries), tuple(queue(db, session.id)))


def older(db: SqliteDatabase, session: str, below: Entry | None, nodes_after: str | None) -> Slice:
    """What stands above `below`, and the nodes behind `nodes_after`; nothing of what is None."""
    above = None if below is None else below.parent
    entries = () if above is None else _piece(db, session, above, below)
    found = () if nodes_after is None else nodes(db, session, nodes_after, NODES)
    return Slice(entries, _attempts(db, session, entries), found, len(found) == NODES)


def _piece(db: SqliteDatabase, session: str, leaf: str, below: Entry | None) -> tuple[Entry, ...]:
    """The branch that ends with `leaf`, as far as one piece goes; never empty."""
    path: list[Entry] = []
    above: str | None = leaf
    left = _CHARACTERS
    if below is None or leaf < below.id:
        for row in _rows(sql(db, _UPWARDS, leaf, session, session, ENTRIES)):
            path.append(readable(session, row))
            above = row.parent
            left -= len(row.data) if isinstance(row.data, str | bytes) else 0
            if left <= 0:
                break
    goes_on = left <= 0 or len(path) == ENTRIES
    if above is not None and not goes_on:
        path.append(missing(session, above, path[-1] if path else below))
    return tuple(reversed(path))


def _rows(values: Iterator[tuple[str, str | None, str, str, object]]) -> Iterator[Row]:
    return (Row(*each) for each in values)


def _attempts(db: SqliteDatabase, session: str, entries: tuple[Entry, ...]) -> dict[str, tuple[Entry, ...]]:
    if not entries:
        return {}
    ids = json.dumps([entry.id for entry in entries])
    return by_parent(readable_only(session, _rows(sql(db, _ATTEMPTS, ids, session))))


def _settings_above(db: SqliteDatabase, session: str, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The changes of settings on the branch above what was read of it; nearly always there is none at all."""
    if not entries or entries[0].parent is None:
        return ()
    found = {id_ for (id_,) in sql(db, _SETTINGS, session, entries[0].id)}
    if not found:
        return ()
    ids = [id_ for id_ in ids_to(db, session, entries[0].parent) if id_ in found]
    readable_ones = readable_only(session, _rows(sql(db, _ROWS, json.dumps(ids))))
    return tuple(entry for entry in readable_ones if isinstance(entry.data, ParamsChange))


def _is_prompt(entry: Entry) -> bool:
    return isinstance(entry.data, Message) and entry.data.role is Role.USER
