"""What cannot be opened is refused with one sentence that names the path, and is left as it is."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprise.storage.inspection import prepare_folder
from reprise.storage.migrations import MIGRATIONS
from reprise.storage.problems import StorageProblem
from support.storage import exchange, opened, raw


def refusal(folder: Path) -> str:
    async def main() -> str:
        with pytest.raises(StorageProblem) as caught:
            async with opened(folder):
                pass
        return str(caught.value)

    return asyncio.run(main())


def filled(folder: Path) -> Path:
    async def main() -> None:
        async with opened(folder) as store:
            for number in range(50):
                await exchange(store, f"s{number % 3}", f"text {number} " * 20)

    asyncio.run(main())
    return folder / "reprise.db"


def test_the_folder_and_the_file_are_their_owners_alone(tmp_path: Path) -> None:
    """Design section 6: mode 0700 and 0600, the log beside the file included."""

    async def main() -> None:
        async with opened(tmp_path / "a" / "data") as store:
            await exchange(store, "s", "Hi")
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a" / "data").iterdir()}
            assert modes == dict.fromkeys(("reprise.db", "reprise.db-wal", "reprise.db-shm"), 0o600)
            assert stat.S_IMODE((tmp_path / "a" / "data").stat().st_mode) == 0o700

    asyncio.run(main())


def test_commits_are_durable_and_references_checked(tmp_path: Path) -> None:
    """Design rule 9: WAL, foreign keys, synchronous=FULL."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            values = await store.database.read(lambda db: [db.pragma(name) for name in names])
            assert values == ["wal", 2, 1, 5000]

    asyncio.run(main())


def test_a_data_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.write_text("mine")
    assert refusal(folder) == f"{folder} is a file; the data folder has to be a folder."
    assert folder.read_text() == "mine"
    assert str(folder / "below") in refusal(folder / "below")


def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "reprise.db").mkdir()
    assert refusal(tmp_path) == f"{tmp_path / 'reprise.db'} is not a file."


@pytest.fixture
def public_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_somebody_else_or_without_write_permission_is_refused(public_folder: Path) -> None:
    """Said before the window opens, and not with the first message that cannot be saved."""
    os.chown(public_folder, 65534, -1)
    assert refusal(public_folder) == f"The data folder {public_folder} belongs to another user."
    public_folder.chmod(0o555)
    os.seteuid(65534)
    try:
        with pytest.raises(StorageProblem, match=f"{public_folder} cannot be written"):
            prepare_folder(public_folder)
        with pytest.raises(StorageProblem, match="cannot be made: Permission denied"):
            prepare_folder(public_folder / "below")
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 2\x00" + bytes(5000), b"\x00" * 8192])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    """F75, S10: never overwritten."""
    path = tmp_path / "reprise.db"
    path.write_bytes(content)
    assert refusal(tmp_path) == f"{path} is not a Reprise database; it was left as it is."
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reprise.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (id)")
    db.close()
    before = path.read_bytes()
    assert "another program" in refusal(tmp_path)
    assert path.read_bytes() == before


def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "reprise.db").touch(0o644)
    path = filled(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_damaged_database_is_refused_and_the_backups_are_named(tmp_path: Path) -> None:
    """S10: report it, leave the file untouched, never rebuild it unasked."""
    path = filled(tmp_path)
    content = bytearray(path.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 100] = bytes([0xAB]) * 100
    path.write_bytes(content)
    sentence = refusal(tmp_path)
    assert str(path) in sentence
    assert "damaged" in sentence
    assert path.read_bytes() == content
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "old.db").touch()
    assert str(tmp_path / "backups") in refusal(tmp_path)


def test_a_database_cut_short_is_refused(tmp_path: Path) -> None:
    path = filled(tmp_path)
    content = path.read_bytes()[:10_000]
    path.write_bytes(content)
    assert "damaged" in refusal(tmp_path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("in_the_log", [False, True])
def test_a_newer_schema_is_refused_and_not_touched(tmp_path: Path, in_the_log: bool) -> None:
    """An older program would spoil it; also when the newer version died before its last words reached the file."""
    path = filled(tmp_path)
    if in_the_log:
        # A copy of file and log while the connection is open is what a kill leaves behind.
        with raw(tmp_path) as db:
            db.execute("PRAGMA user_version = 999")
            db.commit()
            copy = tmp_path / "killed"
            copy.mkdir()
            for name in ("reprise.db", "reprise.db-wal"):
                shutil.copy(tmp_path / name, copy / name)
        assert (copy / "reprise.db-wal").stat().st_size
        path = copy / "reprise.db"
    else:
        with raw(tmp_path) as db:
            db.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    sentence = refusal(path.parent)
    assert sentence.startswith(
        f"{path} was written by a newer version of Reprise (schema 999, this one knows {len(MIGRATIONS)})"
    )
    assert path.read_bytes() == before


def test_a_killed_programs_log_is_replayed(tmp_path: Path) -> None:
    """The write-ahead log is part of the database."""

    async def main() -> None:
        killed = tmp_path / "killed"
        killed.mkdir()
        async with opened(tmp_path / "live") as store:
            prompt, done = await exchange(store, "s", "Hi")
            for name in ("reprise.db", "reprise.db-wal"):
                shutil.copy(tmp_path / "live" / name, killed / name)
        async with opened(killed) as store:
            assert await store.log.branch("s") == (prompt, done)

    asyncio.run(main())
