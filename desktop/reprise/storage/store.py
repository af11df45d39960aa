"""The database of a data folder, whole: opened, recovered, wired."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from peewee import SqliteDatabase

from reprise.domain.ports import Clock
from reprise.storage.branches import Branches
from reprise.storage.chunks import Chunks
from reprise.storage.database import Database
from reprise.storage.drafts import SqliteDrafts
from reprise.storage.ids import Ids
from reprise.storage.log import SqliteLog
from reprise.storage.migrations import MIGRATIONS, Migration
from reprise.storage.recovery import interrupt_open_attempts, interrupted_by_close, newest_id
from reprise.storage.sessions import SqliteSessions
from reprise.storage.worker import Worker

_CLOSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Store:
    """The drivers of the ports, around one database.

    Start `run` as a long-lived part, once; call `close` last. `database` is for further drivers of this package.
    `interrupted` names the sessions outside the trash in which the program's last life ended attempts: first those
    that the start completed after a crash, then those that a close ended, the newest activity first.
    """

    log: SqliteLog
    sessions: SqliteSessions
    drafts: SqliteDrafts
    worker: Worker
    database: Database
    interrupted: tuple[str, ...]
    _chunks: Chunks

    @classmethod
    async def open(cls, folder: Path, clock: Clock, worker: Worker, steps: Sequence[Migration] = MIGRATIONS) -> Store:
        """Open the data folder's database, making both when they are not there.

        Attempts a crash left open are completed as interrupted. Raises StorageProblem (a LogError) with one sentence
        for a person; nothing was changed then. The worker belongs to the store from here on and ends with it, also
        when opening fails.
        """

        def recover(db: SqliteDatabase) -> tuple[tuple[str, ...], Ids]:
            closed = interrupted_by_close(db)
            return tuple(dict.fromkeys((*interrupt_open_attempts(db), *closed))), Ids(newest_id(db))

        database = Database(folder, worker)
        try:
            await database.open(clock.utc(), steps)
            interrupted, ids = await database.write(recover)
        except BaseException:
            await database.close(_CLOSE_S)
            raise
        chunks = Chunks(database, clock)
        branches = Branches()
        return cls(
            SqliteLog(database, clock, chunks, branches, ids),
            SqliteSessions(database, clock, branches, ids),
            SqliteDrafts(database),
            worker,
            database,
            interrupted,
            chunks,
        )

    async def run(self) -> None:
        """Save what streams every 150 ms of the Clock, until cancelled."""
        await self._chunks.run()

    async def close(self, timeout_s: float = _CLOSE_S) -> bool:
        """Save what is buffered, finish what is queued, close; False when that took longer than `timeout_s`."""
        due_at = asyncio.get_running_loop().time() + timeout_s
        # Out of time means the write is queued all the same; the close below stands behind it.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(due_at):
                await self._chunks.flush()
        return await self.database.close(max(0.0, due_at - asyncio.get_running_loop().time()))
