"""Reading a session's entries: its active branch and the attempts beside it."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from peewee import SqliteDatabase

from reprise.domain.messages import ModelRef
from reprise.domain.ports import LogError
from reprise.domain.sessions import Entry, Session, title_of
from reprise.storage.rows import ATTEMPT, MISSING_NOTICE, Unreadable, decode, moment_or_epoch, unreadable_notice
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
    )
    FROM listed ORDER BY activity DESC"""

# As plain SQL, since Peewee's text field raises on bytes: what is damaged has to come through to be reported.
_SELECT = "SELECT id, parent, kind, at, data FROM entry"

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
    """Every session, or only the one called `only`, newest activity first; one statement."""
    if only is None:
        cursor = sql(db, _SESSIONS.format(where=""))
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
        )
        for id_, title, leaf, created_at, updated_at, provider, model, pending, retry_at in cursor
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

        An entry that cannot be read is a Notice of the same id in the same place; so is one that is missing, or that
        is its own ancestor, and the branch begins there.
        """
        branch = self._continued(db, session, leaf)
        if branch is None:
            query = f"{_SELECT} WHERE session = ? AND kind <> '{ATTEMPT}'"
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
            if row is None:
                return None
            added.append(_readable(session, row))
            leaf = row.parent
        return known[: positions[leaf] + 1] + tuple(reversed(added))


def attempts(db: SqliteDatabase, session: str, branch: Iterable[Entry]) -> dict[str, tuple[Entry, ...]]:
    """The attempts under each entry of `branch`, oldest first. One that cannot be read is left out."""
    found: dict[str, list[Entry]] = {entry.id: [] for entry in branch}
    for values in sql(db, f"{_SELECT} WHERE session = ? AND kind = '{ATTEMPT}' ORDER BY id", session):
        row = Row(*values)
        if row.parent not in found:
            continue
        try:
            found[row.parent].append(entry_of(session, row))
        except Unreadable as error:
            _log.warning("session %s: attempt %s cannot be read: %s", session, row.id, error)
    return {parent: tuple(hanging) for parent, hanging in found.items() if hanging}


def stored_entry(db: SqliteDatabase, session: str, id_: str) -> Entry:
    """One entry. Raises LogError when it is not there, Unreadable when it is damaged."""
    row = _row(db, session, id_)
    if row is None:
        raise LogError(f"There is no entry {id_} in the chat {session}.")
    return entry_of(session, row)


def _row(db: SqliteDatabase, session: str, id_: str) -> Row | None:
    for values in sql(db, f"{_SELECT} WHERE id = ? AND session = ?", id_, session):
        return Row(*values)
    return None


def _path(session: str, by_id: dict[str, Row], leaf: str | None) -> tuple[Entry, ...]:
    path: list[Entry] = []
    seen: set[str] = set()
    while leaf is not None:
        row = by_id.get(leaf)
        if row is None or leaf in seen:
            _log.warning("session %s: entry %s is missing or its own ancestor", session, leaf)
            path.append(Entry(leaf, session, None, path[-1].at if path else _EPOCH, MISSING_NOTICE))
            break
        seen.add(leaf)
        path.append(_readable(session, row))
        leaf = row.parent
    path.reverse()
    return tuple(path)


def _readable(session: str, row: Row) -> Entry:
    try:
        return entry_of(session, row)
    except Unreadable as error:
        _log.warning("session %s: entry %s cannot be read: %s", session, row.id, error)
        return Entry(row.id, session, row.parent, moment_or_epoch(row.at), unreadable_notice(row.kind))
