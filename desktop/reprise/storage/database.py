"""The one connection, and transactions on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from peewee import SqliteDatabase

from reprise.domain.ports import LogError
from reprise.storage.inspection import inspect, prepare_file, prepare_folder
from reprise.storage.migrations import MIGRATIONS, Migration, migrate
from reprise.storage.problems import STORAGE_ERRORS, StorageProblem, sentence_for
from reprise.storage.sql import connection, sql, transaction
from reprise.storage.worker import Priority, Worker

T = TypeVar("T")
Job = Callable[[SqliteDatabase], T]

FILE_NAME = "reprise.db"
BACKUPS = "backups"

_UNDECODABLE = "Could not decode to UTF-8"

# FULL: a commit survives a power cut, 4 ms each on this thread; WAL: readers of the file never block it.
_PRAGMAS = {"busy_timeout": 5000, "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


class Database:
    """`reprise.db` of a data folder. Exactly one connection exists and only the storage thread touches it: SQLite
    before 3.51.3 can corrupt a write-ahead log written through two.
    """

    def __init__(self, folder: Path, worker: Worker) -> None:
        self.path = folder / FILE_NAME
        self._folder = folder
        self._worker = worker
        # Peewee keeps its connection per thread and sqlite3 refuses other threads, so a slip is loud.
        self._peewee = SqliteDatabase(str(self.path), autoconnect=False)
        self._inode = 0

    async def open(self, now: datetime, steps: Sequence[Migration] = MIGRATIONS) -> None:
        """Open or make the file, checked and migrated; `now` (UTC) names the backup before a migration.

        Raises StorageProblem, with one sentence that names the path, when the folder or the file cannot be used;
        the file is then as it was.
        """
        await self._worker.run(Priority.READ, partial(self._connect, now, steps))

    async def write(self, job: Job[T]) -> T:
        """Run `job` in one transaction, before every read that waits. Raises LogError."""
        return await self._worker.run(Priority.WRITE, partial(self._transact, job))

    async def read(self, job: Job[T], priority: Priority = Priority.READ) -> T:
        """Run a job that only reads; nothing is written while it runs. Raises LogError."""
        return await self._worker.run(priority, partial(self._read, job))

    async def close(self, timeout_s: float) -> bool:
        """Finish what is queued and close, whether or not it opened; False when that took longer than `timeout_s`."""
        return await self._worker.close(timeout_s, self._disconnect)

    def _connect(self, now: datetime, steps: Sequence[Migration]) -> None:
        backups = self._folder / BACKUPS
        prepare_folder(self._folder)
        if self.path.is_file():
            inspect(self.path, len(steps), backups)
        prepare_file(self.path)
        try:
            self._peewee.connect()
            for name, value in _PRAGMAS.items():
                sql(self._peewee, f"PRAGMA {name} = {value}")
            migrate(self._peewee, backups, now, steps)
            self._inode = self.path.stat().st_ino
        except STORAGE_ERRORS as error:
            raise StorageProblem(sentence_for(error, self.path)) from error

    def _transact(self, job: Job[T]) -> T:
        self._check_there()

        def whole(db: SqliteDatabase) -> T:
            with transaction(db):
                return job(db)

        return self._read(whole)

    def _read(self, job: Job[T]) -> T:
        try:
            try:
                return job(self._peewee)
            except STORAGE_ERRORS as error:
                if _UNDECODABLE not in str(error):
                    raise
                # One damaged text must not cost its row, let alone the query. Decoding with care makes reading slower
                # by a third, so it begins with the first damage, and the job is done again.
                connection(self._peewee).text_factory = _decode_text
                return job(self._peewee)
        except STORAGE_ERRORS as error:
            raise LogError(sentence_for(error, self.path)) from error

    def _check_there(self) -> None:
        # A file deleted under us takes writes without a word and keeps none of them.
        try:
            inode = self.path.stat().st_ino
        except OSError as error:
            raise LogError(f"{self.path} is gone: it was removed while Reprise was running.") from error
        if inode != self._inode:
            raise LogError(f"{self.path} was replaced by another file while Reprise was running.")

    def _disconnect(self) -> None:
        if not self._peewee.is_closed():
            self._peewee.close()


def _decode_text(raw: bytes) -> str:
    return raw.decode(errors="replace")
