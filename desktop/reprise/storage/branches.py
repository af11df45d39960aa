"""Reading a session's entries: its active branch and the attempts beside it."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Container, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from peewee import SqliteDatabase

from reprise.domain.messages import ModelRef, Role
from reprise.domain.ports import LogError
from reprise.domain.sessions import Entry, Session, model_of, title_of
from reprise.domain.tree import Node
from reprise.storage.ids import first_id
from reprise.storage.rows import (
    ATTEMPT,
    BESIDE,
    MISSING_NOTICE,
    QUEUED,
    Unreadable,
    decode,
    moment_or_epoch,
    unreadable_notice,
)
from reprise.storage.sql import sql

_log = logging.getLogger("reprise.storage")

# Pending is read off the log at every list and kept nowhere, so it cannot disagree with it (behaviour D8). Nearly
# always the leaf itself decides; else one walks up over what is no message. UNION (not ALL) ends a loop. A prompt that
# cannot be read cannot be retried, so it is walked over like the notice it is shown as. When the retry is due is what
# the newest readable attempt under it says. MATERIALIZED, or SQLite would walk once more for every use of `answers`.
_SESSIONS = """WITH listed AS MATERIALIZED (
        SELECT session.*, CASE WHEN entry.role NOT IN ('user', 'tool') THEN NULL ELSE (
            WITH RECURSIVE tip (id, parent, role, decides) AS (
                SELECT entry.id, entry.parent, entry.role,
                    entry.kind = 'message' AND (entry.role NOT IN ('user', 'tool') OR json_valid(entry.data))
                UNION
                SELECT up.id, up.parent, up.role,
                    up.kind = 'message' AND (up.role NOT IN ('user', 'tool') OR json_valid(up.data))
                FROM tip JOIN entry AS up ON up.id = tip.parent WHERE NOT tip.decides
            )
            SELECT CASE WHEN role IN ('user', 'tool') THEN id END FROM tip WHERE decides
        ) END AS answers
        FROM session LEFT JOIN entry ON entry.id = session.leaf {where}
    )
    SELECT id, title, leaf, created_at, updated_at, provider, model, answers IS NOT NULL, (
        SELECT json_extract(attempt.data, '$.retry_at') FROM entry AS attempt
        WHERE attempt.parent = listed.answers AND attempt.kind = 'attempt' AND json_valid(attempt.data)
        ORDER BY attempt.id DESC LIMIT 1
    ), forked_from
    FROM listed ORDER BY activity DESC"""

# As plain SQL, since Peewee's text field raises on bytes: what is damaged has to come through to be reported.
_SELECT = "SELECT id, parent, kind, at, data FROM entry"

# The ids from an entry to the root or to where the chain breaks. UNION (not ALL) ends a loop.
_IDS_UPWARDS = """WITH RECURSIVE up (id, parent) AS (
        SELECT id, parent FROM entry WHERE id = ? AND session = ?
        UNION
        SELECT entry.id, entry.parent FROM up JOIN entry ON entry.id = up.parent WHERE entry.session = ?
    )
    SELECT id FROM up"""

# An entry older than its parent is damaged: it begins a branch of its own, so that no loop is handed on.
_NODES = """SELECT id, CASE WHEN parent < id THEN parent END, CASE kind WHEN 'message' THEN role END, goes_on_from
    FROM entry
    WHERE session = ? AND id > ? AND kind NOT IN ('attempt', 'queued') ORDER BY id LIMIT ?"""

# A range of ids is a range of time, so this reads the newest entries and no other, whatever session they are of.
_LIMITS_MET = """SELECT session, id, parent, kind, at, data FROM entry
    WHERE id >= ? AND kind = 'attempt' AND state = 'failed' AND json_valid(data)
        AND (json_extract(data, '$.failure.kind') = 'rate_limit'
            OR json_extract(data, '$.failure.retry_after_s') IS NOT NULL)
    ORDER BY id"""

_ROLES = {role.value: role for role in Role}

_EPOCH = datetime.fromtimestamp(0, UTC)
_KEPT_SESSIONS = 8
_FEW = 50
"""Beyond this many entries to look up one by one, reading the session whole is cheaper."""


class Row(NamedTuple):
    """An entry as it is stored."""

    id: str
    parent: str | None
    kind: str
    at: str
    data: object


def sessions(db: SqliteDatabase, only: str | None = None) -> tuple[Session, ...]:
    """Every session outside the trash, newest activity first, or only the one called `only`; one statement."""
    if only is None:
        cursor = sql(db, _SESSIONS.format(where="WHERE session.trashed_at IS NULL"))
    else:
        cursor = sql(db, _SESSIONS.format(where="WHERE session.id = ?"), only)
    return tuple(
        Session(
            id_,
            title if isinstance(title, str) and title else title_of(""),
            leaf,
            moment_or_epoch(created_at),
            moment_or_epoch(updated_at),
            None if provider is None or model is None else ModelRef(provider, model),
            bool(pending),
            None if retry_at is None else moment_or_epoch(retry_at),
            forked_from,
        )
        for id_, title, leaf, created_at, updated_at, provider, model, pending, retry_at, forked_from in cursor
    )


def entry_of(session: str, row: Row) -> Entry:
    """The entry a row stands for. Raises Unreadable."""
    return Entry(row.id, session, row.parent, moment_or_epoch(row.at), decode(row.kind, row.data))


class Branches:
    """Reads branches, and keeps those of the sessions read last.

    Entries of a branch never change, so a branch read again costs only what was appended since: the context of
    every request is one, however long the chat. Belongs to the storage thread.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[tuple[Entry, ...], dict[str | None, int]]] = OrderedDict()

    def read(self, db: SqliteDatabase, session: str, leaf: str | None) -> tuple[Entry, ...]:
        """The path root -> `leaf`, linear in its length, in at most two statements when it is not known.

        An entry that cannot be read is a Notice of the same id in the same place; so is one that is missing, or no
        older than the entry below it (as in a loop), and the branch begins there.
        """
        branch = self._continued(db, session, leaf)
        if branch is None:
            query = f"{_SELECT} WHERE session = ? AND kind NOT IN ('{ATTEMPT}', '{QUEUED}')"
            branch = _path(session, {values[0]: Row(*values) for values in sql(db, query, session)}, leaf)
        self._known[session] = branch, {None: -1, **{entry.id: position for position, entry in enumerate(branch)}}
        self._known.move_to_end(session)
        if len(self._known) > _KEPT_SESSIONS:
            self._known.popitem(last=False)
        return branch

    def _continued(self, db: SqliteDatabase, session: str, leaf: str | None) -> tuple[Entry, ...] | None:
        """The known branch up to where it leads to `leaf`, and what follows there; None when that is not near."""
        if session not in self._known:
            return None
        known, positions = self._known[session]
        added: list[Entry] = []
        while leaf not in positions:
            row = _row(db, session, leaf) if leaf is not None and len(added) < _FEW else None
            if row is None or row.kind in BESIDE:
                return None
            added.append(readable(session, row))
            leaf = row.parent
        return known[: positions[leaf] + 1] + tuple(reversed(added))


def attempts(db: SqliteDatabase, session: str, branch: Iterable[Entry]) -> dict[str, tuple[Entry, ...]]:
    """The attempts under each entry of `branch`, oldest first. One that cannot be read is left out."""
    return by_parent(_beside(db, session, ATTEMPT, {entry.id for entry in branch}))


def by_parent(entries: Iterable[Entry]) -> dict[str, tuple[Entry, ...]]:
    """Entries by what they hang under, in their order."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.parent is not None:
            found.setdefault(entry.parent, []).append(entry)
    return {parent: tuple(hanging) for parent, hanging in found.items()}


def queue(db: SqliteDatabase, session: str) -> tuple[Entry, ...]:
    """The messages that wait for their delivery, oldest first. One that cannot be read is left out."""
    return tuple(_beside(db, session, QUEUED))


def limits_met(db: SqliteDatabase, since: datetime) -> Iterator[Entry]:
    """The readable attempts of every session since then that failed with a 429 or a Retry-After, oldest first."""
    for session, *values in sql(db, _LIMITS_MET, first_id(since)):
        yield from readable_only(session, (Row(*values),))


def nodes(db: SqliteDatabase, session: str, after: str = "", count: int = -1) -> tuple[Node, ...]:
    """The shape of a session's branches, oldest first; read off an index alone. At most `count` (-1: all) of those
    behind the node `after`.
    """
    return tuple(
        Node(id_, parent, _ROLES.get(role), goes_on_from)
        for id_, parent, role, goes_on_from in sql(db, _NODES, session, after, count)
    )


def upwards(db: SqliteDatabase, session: str, leaf: str | None) -> Iterator[Row]:
    """The rows from `leaf` to the root or to where the chain breaks, read as far as they are asked for."""
    seen: set[str] = set()
    while leaf is not None and leaf not in seen and (row := _row(db, session, leaf)) is not None:
        yield row
        seen.add(leaf)
        leaf = row.parent


def ids_to(db: SqliteDatabase, session: str, leaf: str) -> list[str]:
    """The ids of the path root -> `leaf`, as far as it can be followed."""
    return [id_ for (id_,) in sql(db, _IDS_UPWARDS, leaf, session, session)][::-1]


def model_at(db: SqliteDatabase, session: str, leaf: str) -> ModelRef | None:
    """Who answers at `leaf`, as `model_of` decides, without reading the whole branch."""
    return next((model for row in upwards(db, session, leaf) if (model := model_of((readable(session, row),)))), None)


def stored_entry(db: SqliteDatabase, session: str, id_: str) -> Entry:
    """One entry. Raises LogError when it is not there, Unreadable when it is damaged."""
    row = _row(db, session, id_)
    if row is None:
        raise LogError(f"There is no entry {id_} in the chat {session}.")
    return entry_of(session, row)


def _beside(db: SqliteDatabase, session: str, kind: str, under: Container[str | None] | None = None) -> Iterator[Entry]:
    """The readable entries of a kind that hangs beside the branches, oldest first; only those `under` some others."""
    query = f"{_SELECT} INDEXED BY entry_{kind} WHERE session = ? AND kind = '{kind}' ORDER BY id"
    rows = (Row(*values) for values in sql(db, query, session))
    return readable_only(session, (row for row in rows if under is None or row.parent in under))


def readable_only(session: str, rows: Iterable[Row]) -> Iterator[Entry]:
    """The entries of rows without those that cannot be read."""
    for row in rows:
        try:
            yield entry_of(session, row)
        except Unreadable as error:
            _log.warning("session %s: %s %s cannot be read: %s", session, row.kind, row.id, error)


def _row(db: SqliteDatabase, session: str, id_: str) -> Row | None:
    for values in sql(db, f"{_SELECT} WHERE id = ? AND session = ?", id_, session):
        return Row(*values)
    return None


def _path(session: str, by_id: dict[str, Row], leaf: str | None) -> tuple[Entry, ...]:
    path: list[Entry] = []
    while leaf is not None:
        row = by_id.get(leaf)
        if row is None or (path and leaf >= path[-1].id):
            path.append(missing(session, leaf, path[-1] if path else None))
            break
        path.append(readable(session, row))
        leaf = row.parent
    path.reverse()
    return tuple(path)


def missing(session: str, id_: str, below: Entry | None) -> Entry:
    """What stands in the place of an entry that is not there, or no older than the one below it: a branch begins so."""
    _log.warning("session %s: entry %s is missing or its own ancestor", session, id_)
    return Entry(id_, session, None, _EPOCH if below is None else below.at, MISSING_NOTICE)


def readable(session: str, row: Row) -> Entry:
    """The entry a row stands for; a notice in its place when it cannot be read."""
    try:
        return entry_of(session, row)
    except Unreadable as error:
        _log.warning("session %s: entry %s cannot be read: %s", session, row.id, error)
        return Entry(row.id, session, row.parent, moment_or_epoch(row.at), unreadable_notice(row.kind))
