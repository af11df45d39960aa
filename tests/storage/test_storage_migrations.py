"""Schemas move forward, whole, with a backup first."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from peewee import SqliteDatabase

from reprise.domain.ports import LogError
from reprise.storage import migrations
from reprise.storage.migrations import MIGRATIONS, Migration
from reprise.storage.tables import ChunkRow, DraftRow, EntryRow, SessionRow
from support.storage import exchange, opened, raw


def add_colour(database: SqliteDatabase) -> None:
    database.execute_sql("ALTER TABLE session ADD COLUMN colour TEXT")


def fail(database: SqliteDatabase) -> None:
    database.execute_sql("ALTER TABLE session ADD COLUMN shape TEXT")
    database.execute_sql("INSERT INTO nowhere VALUES (1)")


def columns(folder: Path) -> set[str]:
    with raw(folder) as db:
        return {row[1] for row in db.execute("PRAGMA table_info(session)")}


def version(folder: Path) -> int:
    with raw(folder) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def fill(folder: Path) -> None:
    async def main() -> None:
        async with opened(folder) as store:
            await exchange(store, "s", "Hi")

    asyncio.run(main())


def reopen(folder: Path, *steps: Migration) -> None:
    async def main() -> None:
        async with opened(folder, steps=(*MIGRATIONS, *steps)) as store:
            assert [session.title for session in await store.sessions.list()] == ["Hi"]

    asyncio.run(main())


def test_a_new_database_has_the_newest_schema_and_no_backup(tmp_path: Path) -> None:
    fill(tmp_path)
    assert version(tmp_path) == len(MIGRATIONS)
    assert not (tmp_path / "backups").exists()


def test_the_models_name_the_columns_there_are(tmp_path: Path) -> None:
    """Schema and models are written apart: one is history, the other is now."""
    fill(tmp_path)
    with raw(tmp_path) as db:
        for table in (SessionRow, EntryRow, ChunkRow, DraftRow):
            found = {row[1] for row in db.execute(f"PRAGMA table_info({table._meta.table_name})")}
            assert found == set(table._meta.columns)


def test_a_backup_of_the_old_database_is_made_first(tmp_path: Path) -> None:
    """What a bad step spoils can be restored: whole, readable by its owner only, and the old schema."""
    fill(tmp_path)
    reopen(tmp_path, add_colour)
    assert "colour" in columns(tmp_path)
    assert version(tmp_path) == 2
    (backup,) = (tmp_path / "backups").iterdir()
    assert backup.name == "reprise-v1-20260102-120000.db"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(sqlite3.connect(backup)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM entry").fetchone() == (2,)
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    reopen(tmp_path, add_colour)
    assert len(list((tmp_path / "backups").iterdir())) == 1


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    """One transaction each; the steps before stay, nothing is half done."""
    fill(tmp_path)
    with pytest.raises(LogError, match=r"reprise\.db"):
        reopen(tmp_path, add_colour, fail)
    assert version(tmp_path) == 2
    assert "colour" in columns(tmp_path)
    assert "shape" not in columns(tmp_path)
    reopen(tmp_path, add_colour)


def test_without_a_backup_nothing_is_migrated(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "backups").write_text("a file in the folder's place")
    with pytest.raises(LogError, match="backups"):
        reopen(tmp_path, add_colour)
    assert version(tmp_path) == 1
    assert "colour" not in columns(tmp_path)


def test_a_backup_cut_short_is_not_taken_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets its name only when it is complete."""
    fill(tmp_path)

    class Killed(BaseException):
        pass

    real: Callable[[SqliteDatabase], sqlite3.Connection] = migrations.connection

    def kill(database: SqliteDatabase) -> sqlite3.Connection:
        real(database)
        raise Killed

    monkeypatch.setattr(migrations, "connection", kill)
    with raw(tmp_path):
        pass
    database = SqliteDatabase(str(tmp_path / "reprise.db"))
    with database.connection_context(), pytest.raises(Killed):
        migrations.back_up(database, tmp_path / "backups" / "b.db")
    assert [path.name for path in (tmp_path / "backups").iterdir()] == ["b.db.part"]


def test_columns_ahead_of_the_version_are_no_obstacle(tmp_path: Path) -> None:
    """The first step can run over its own work, as after a kill or a restored backup."""
    fill(tmp_path)
    with raw(tmp_path) as db:
        db.execute("PRAGMA user_version = 0")
    reopen(tmp_path)
    assert version(tmp_path) == 1
