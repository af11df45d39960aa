"""Schemas move forward, whole, with a backup first."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from peewee import SqliteDatabase

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import (
    Message,
    ReplyInfo,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
    user_message,
)
from reprise.domain.ports import Draft, LogError
from reprise.domain.sessions import Attempt, AttemptState, ModelChange, Notice
from reprise.domain.tree import Tree
from reprise.storage import migrations
from reprise.storage.migrations import MIGRATIONS, Migration
from reprise.storage.tables import ChunkRow, DraftRow, EntryRow, SessionRow
from support.clock import ManualClock
from support.storage import MODEL, OTHER, exchange, opened, raw, reply

NOW = len(MIGRATIONS)
VERSION_1 = Path(__file__).parents[1] / "data" / "storage" / "version_1.sql"


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


def test_a_database_of_version_1_opens_whole(tmp_path: Path) -> None:
    """S2: what the first version wrote is all there, what a crash left open included, and goes on from there."""
    with raw(tmp_path) as db:
        db.executescript(VERSION_1.read_text("utf-8"))

    async def main() -> None:
        async with opened(tmp_path, ManualClock()) as store:
            listed = {session.id: session for session in await store.sessions.list()}
            assert list(listed) == ["streams", "waits", "branches", "tools"]
            assert [session.title for session in listed.values()] == ["Count to three.", "Busy?", "one", "The weather"]
            assert [session.pending for session in listed.values()] == [True, True, False, False]
            assert {session.forked_from for session in listed.values()} == {None}
            assert store.interrupted == ("streams",)
            loaded = {name: await store.sessions.load(name) for name in listed}
            assert {history.queue for history in loaded.values()} == {()}

            tools = [entry.data for entry in loaded["tools"].branch]
            assert tools == [
                user_message("What is it like outside?"),
                Message(
                    Role.ASSISTANT,
                    (
                        ThinkingPart("I should look."),
                        TextPart("Let me see."),
                        ToolCallPart("c1", "look", '{"where": "outside"}'),
                    ),
                    ReplyInfo(MODEL, "tool_calls", Usage(12, None), 0.25, 1.5),
                ),
                Message(Role.TOOL, (ToolResultPart("c1", "look", "error: dark", True),)),
                Message(
                    Role.ASSISTANT,
                    (TextPart("Dark, caf\u00e9 \U0001f642."),),
                    ReplyInfo(MODEL, "stop", Usage(20, 8), 0.5, 2.0),
                ),
                ModelChange(OTHER),
                Notice("Resumed."),
            ]
            assert listed["tools"].model == OTHER

            branches = loaded["branches"]
            roles = [node.role for node in branches.nodes]
            assert roles == [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.ASSISTANT]
            prompt, chosen = branches.branch
            first = Tree(branches.nodes).siblings(chosen.id)[0]
            await store.log.move_leaf("branches", Tree(branches.nodes).tip(first))
            assert [entry.data for entry in await store.log.branch("branches")] == [
                prompt.data,
                reply("ONE"),
                user_message("two"),
                reply("TWO"),
            ]

            stopped, failed = (entry.data for entry in loaded["waits"].attempts[loaded["waits"].branch[0].id])
            assert isinstance(stopped, Attempt)
            assert isinstance(failed, Attempt)
            assert (stopped.state, stopped.parts) == (AttemptState.STOPPED, (TextPart("No,"),))
            assert failed.failure == Failure(
                FailureKind.RATE_LIMIT, "slow down", True, 90.0, 429, "req-1", "limit reached"
            )
            assert listed["waits"].retry_at == failed.retry_at == datetime(2026, 1, 2, 12, 3, 31, tzinfo=UTC)

            (interrupted,) = loaded["streams"].attempts[loaded["streams"].branch[0].id]
            assert interrupted.data == Attempt(
                MODEL, 1, AttemptState.INTERRUPTED, (ThinkingPart("easy"), TextPart("One, two"))
            )
            assert await store.drafts.load() == {"": Draft("an unsent line", 3), "tools": Draft("and tomorrow?")}

            more, done = await exchange(store, "tools", "And now?")
            assert more.parent == loaded["tools"].branch[-1].id
            made = await store.sessions.fork("tools", done.id)
            assert (await store.sessions.load(made.id)).branch[-1].data == done.data

    asyncio.run(main())
    assert version(tmp_path) == NOW
    (backup,) = (tmp_path / "backups").iterdir()
    assert backup.name.startswith("reprise-v1-")
    with raw(tmp_path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        migrated = schema(db)
    fill(tmp_path / "new")
    with raw(tmp_path / "new") as db:
        assert schema(db) == migrated


def schema(db: sqlite3.Connection) -> dict[str, list[object]]:
    """The columns of every table and the statement of every index."""
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    columns = {name: db.execute(f"PRAGMA table_info({name})").fetchall() for name in tables}
    indexes = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name").fetchall()
    return {**columns, "indexes": indexes}


def test_a_backup_of_the_old_database_is_made_first(tmp_path: Path) -> None:
    """What a bad step spoils can be restored: whole, readable by its owner only, and the old schema."""
    fill(tmp_path)
    reopen(tmp_path, add_colour)
    assert "colour" in columns(tmp_path)
    assert version(tmp_path) == NOW + 1
    (backup,) = (tmp_path / "backups").iterdir()
    assert backup.name == f"reprise-v{NOW}-20260102-120000.db"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(sqlite3.connect(backup)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM entry").fetchone() == (2,)
        assert db.execute("PRAGMA user_version").fetchone() == (NOW,)
    reopen(tmp_path, add_colour)
    assert len(list((tmp_path / "backups").iterdir())) == 1


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    """One transaction each; the steps before stay, nothing is half done."""
    fill(tmp_path)
    with pytest.raises(LogError, match=r"reprise\.db"):
        reopen(tmp_path, add_colour, fail)
    assert version(tmp_path) == NOW + 1
    assert "colour" in columns(tmp_path)
    assert "shape" not in columns(tmp_path)
    reopen(tmp_path, add_colour)


def test_without_a_backup_nothing_is_migrated(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "backups").write_text("a file in the folder's place")
    with pytest.raises(LogError, match="backups"):
        reopen(tmp_path, add_colour)
    assert version(tmp_path) == NOW
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


@pytest.mark.parametrize("behind", range(len(MIGRATIONS)))
def test_columns_ahead_of_the_version_are_no_obstacle(tmp_path: Path, behind: int) -> None:
    """S2: every step can run over its own work, as after a kill or a restored backup."""
    fill(tmp_path)
    with raw(tmp_path) as db:
        db.execute(f"PRAGMA user_version = {behind}")
    reopen(tmp_path)
    assert version(tmp_path) == NOW
