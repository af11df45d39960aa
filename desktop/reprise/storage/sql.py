"""Typed doors to what Peewee leaves untyped: plain statements, the connection, and one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from peewee import SqliteDatabase


def sql(db: SqliteDatabase, statement: str, *parameters: object) -> sqlite3.Cursor:
    """Execute one statement."""
    return cast(sqlite3.Cursor, cast(Any, db).execute_sql(statement, parameters))


def sql_many(db: SqliteDatabase, statement: str, rows: Iterable[Sequence[object]]) -> None:
    """Execute one statement for each row of parameters; a fraction of the time of as many calls of `sql`."""
    connection(db).executemany(statement, rows)


def connection(db: SqliteDatabase) -> sqlite3.Connection:
    """This thread's connection."""
    return cast(sqlite3.Connection, cast(Any, db).connection())


@contextmanager
def transaction(db: SqliteDatabase) -> Iterator[None]:
    """All or nothing, and whatever was raised goes on.

    Not Peewee's `atomic`: on a full disk SQLite rolls back by itself, and rolling back once more would hide that
    behind an error about there being no transaction.
    """
    sql(db, "BEGIN IMMEDIATE")
    try:
        yield
        sql(db, "COMMIT")
    except BaseException:
        if connection(db).in_transaction:
            sql(db, "ROLLBACK")
        raise
