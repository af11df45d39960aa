"""The schema, as ordered named functions; `PRAGMA user_version` counts those that ran."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from peewee import SqliteDatabase

from reprise.storage.sql import connection, sql, transaction

APPLICATION_ID = 0x52505253
"""In the file's header, so that a database of another program is recognised."""

Migration = Callable[[SqliteDatabase], None]

_LOG_TABLES = (
    """CREATE TABLE IF NOT EXISTS session (
        id TEXT NOT NULL PRIMARY KEY,
        title TEXT NOT NULL,
        leaf TEXT REFERENCES entry (id),
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        activity TEXT NOT NULL,
        provider TEXT,
        model TEXT
    )""",
    """CREATE TABLE IF NOT EXISTS entry (
        id TEXT NOT NULL PRIMARY KEY,
        session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        parent TEXT REFERENCES entry (id),
        kind TEXT NOT NULL,
        role TEXT,
        state TEXT,
        at TEXT NOT NULL,
        data TEXT NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS chunk (
        entry TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (entry, seq)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS draft (
        session TEXT NOT NULL PRIMARY KEY,
        text TEXT NOT NULL,
        cursor INTEGER NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS session_activity ON session (activity)",
    "CREATE INDEX IF NOT EXISTS session_leaf ON session (leaf)",
    "CREATE INDEX IF NOT EXISTS entry_session ON entry (session, id)",
    "CREATE INDEX IF NOT EXISTS entry_parent ON entry (parent)",
    "CREATE INDEX IF NOT EXISTS entry_attempt ON entry (session, id) WHERE kind = 'attempt'",
    "CREATE INDEX IF NOT EXISTS entry_open ON entry (id) WHERE state = 'open'",
)

_BRANCH_INDEXES = (
    "DROP INDEX IF EXISTS entry_session",
    "CREATE INDEX IF NOT EXISTS entry_tree ON entry (session, id, parent, kind, role, goes_on_from)",
    "CREATE INDEX IF NOT EXISTS entry_queued ON entry (session, id) WHERE kind = 'queued'",
    "CREATE INDEX IF NOT EXISTS session_fork ON session (forked_from) WHERE forked_from IS NOT NULL",
)


def create_log(database: SqliteDatabase) -> None:
    """Version 1: sessions, entries, chunks and drafts."""
    for statement in _LOG_TABLES:
        sql(database, statement)


def add_branches(database: SqliteDatabase) -> None:
    """Version 2: sessions in the trash, forks, replies that go on from others, the queue.

    A covering index holds the shape of a session's branches, so that it is read without what the entries say.
    """
    _add_column(database, "session", "trashed_at TEXT")
    _add_column(database, "session", "forked_from TEXT REFERENCES session (id) ON DELETE SET NULL")
    _add_column(database, "session", "fork_point TEXT")
    _add_column(database, "entry", "goes_on_from TEXT")
    for statement in _BRANCH_INDEXES:
        sql(database, statement)


MIGRATIONS: tuple[Migration, ...] = (create_log, add_branches)


def migrate(database: SqliteDatabase, backups: Path, now: datetime, steps: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring `database` to the newest schema: a backup first, then one transaction per step.

    A new (empty) database needs no backup. When the backup fails nothing is migrated. A step that fails leaves the
    database at the version before it.
    """
    version = int(database.pragma("user_version"))
    if 0 < version < len(steps):
        back_up(database, backups / f"reprise-v{version}-{now:%Y%m%d-%H%M%S}.db")
    for number, step in enumerate(steps[version:], start=version + 1):
        with transaction(database):
            step(database)
            sql(database, f"PRAGMA application_id = {APPLICATION_ID}")
            sql(database, f"PRAGMA user_version = {number}")


def back_up(database: SqliteDatabase, target: Path) -> None:
    """Copy the open database to `target`, which appears only when it is complete; readable by its owner only."""
    target.parent.mkdir(mode=0o700, exist_ok=True)
    unfinished = target.with_name(target.name + ".part")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_WRONLY, 0o600))
    copy = sqlite3.connect(unfinished)
    try:
        connection(database).backup(copy)
        # The copy takes the journal mode along; a backup is one file.
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()
    unfinished.replace(target)


def _add_column(database: SqliteDatabase, table: str, definition: str) -> None:
    """Add a column unless it is there, as after a step that runs over its own work."""
    name = definition.split()[0]
    if name not in {row[1] for row in sql(database, f"PRAGMA table_info({table})")}:
        sql(database, f"ALTER TABLE {table} ADD COLUMN {definition}")
