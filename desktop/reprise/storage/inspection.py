"""Looking at a data folder and a database file before the real connection opens, without changing either."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from reprise.storage.migrations import APPLICATION_ID
from reprise.storage.problems import STORAGE_ERRORS, StorageProblem, sentence_for

_MAGIC = b"SQLite format 3\x00"


def prepare_folder(folder: Path) -> None:
    """Make the data folder (mode 0700) or check the one that is there. Raises StorageProblem."""
    if folder.exists() and not folder.is_dir():
        raise StorageProblem(f"{folder} is a file; the data folder has to be a folder.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = folder.stat()
    except OSError as error:
        raise StorageProblem(f"The data folder {folder} cannot be made: {error.strerror}.") from error
    if hasattr(os, "geteuid") and info.st_uid != os.geteuid():
        raise StorageProblem(f"The data folder {folder} belongs to another user.")
    effective = os.access in os.supports_effective_ids
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=effective):
        raise StorageProblem(f"The data folder {folder} cannot be written.")


def prepare_file(path: Path) -> None:
    """Make an empty database file that only its owner can read, or tighten the one there. Raises StorageProblem."""
    if path.exists() and not path.is_file():
        raise StorageProblem(f"{path} is not a file.")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise StorageProblem(f"{path} cannot be opened: {error.strerror}.") from error


def inspect(path: Path, newest: int, backups: Path) -> None:
    """Refuse a file that is not ours, is damaged, or was written by a newer version (above `newest`).

    The look is a read-only connection that is closed again, since a writable one would fold the write-ahead log into
    a file that must stay as it is. Raises StorageProblem.
    """
    try:
        if not path.stat().st_size:
            return
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
        if magic != _MAGIC:
            raise StorageProblem(f"{path} is not a Reprise database; it was left as it is.")
        connection = sqlite3.connect(_read_only(path), uri=True, isolation_level=None)
        try:
            _look(connection, path, newest, backups)
        finally:
            connection.close()
    except STORAGE_ERRORS as error:
        raise StorageProblem(_with_backups(sentence_for(error, path), backups)) from error


def _read_only(path: Path) -> str:
    log = path.with_name(path.name + "-wal")
    # Without a log to replay `immutable` keeps SQLite from making one beside a file it only looks at.
    immutable = "" if log.exists() and log.stat().st_size else "&immutable=1"
    return f"{path.absolute().as_uri()}?mode=ro{immutable}"


def _look(connection: sqlite3.Connection, path: Path, newest: int, backups: Path) -> None:
    def pragma(name: str) -> object:
        row = connection.execute(f"PRAGMA {name}").fetchone()
        return row[0] if row else None

    version = pragma("user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and pragma("application_id") != APPLICATION_ID:
        raise StorageProblem(f"{path} is the database of another program; it was left as it is.")
    if isinstance(version, int) and version > newest:
        raise StorageProblem(
            f"{path} was written by a newer version of Reprise (schema {version}, this one knows {newest}); "
            "it was left as it is."
        )
    verdict = pragma("quick_check(1)")
    if verdict != "ok":
        raise StorageProblem(_with_backups(f"{path} is damaged ({verdict}); it was left as it is.", backups))


def _with_backups(sentence: str, backups: Path) -> str:
    return f"{sentence} Backups are in {backups}." if backups.is_dir() and any(backups.iterdir()) else sentence
