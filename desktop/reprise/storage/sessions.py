"""Reading and listing sessions: `ports.Sessions` on SQLite."""

from __future__ import annotations

from datetime import datetime

from peewee import SqliteDatabase

from reprise.domain.lines import one_line
from reprise.domain.ports import Clock, History, LogError, Opening, Slice
from reprise.domain.sessions import Entry, Session
from reprise.storage import slices
from reprise.storage.branches import Branches, attempts, limits_met, nodes, queue, sessions
from reprise.storage.checks import require_entry, require_session
from reprise.storage.database import Database
from reprise.storage.forks import fork
from reprise.storage.ids import Ids
from reprise.storage.rows import stamp
from reprise.storage.tables import SessionRow
from reprise.storage.worker import Priority

TITLE_LIMIT = 64


class SqliteSessions:
    """Implements `ports.Sessions`."""

    def __init__(self, database: Database, clock: Clock, branches: Branches, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._branches = branches
        self._ids = ids

    async def list(self) -> tuple[Session, ...]:
        return await self._database.read(sessions)

    async def load(self, session: str) -> History:
        """One session, whole, in the trash or not: a few statements however long its branch is (behaviour F86)."""

        def read(db: SqliteDatabase) -> History:
            found = _one(db, session)
            branch = self._branches.read(db, session, found.leaf)
            return History(found, branch, attempts(db, session, branch), nodes(db, session), queue(db, session))

        return await self._database.read(read)

    async def limits_met(self, since: datetime) -> tuple[Entry, ...]:
        return await self._database.read(lambda db: tuple(limits_met(db, since)))

    async def open(self, session: str) -> Opening:
        """The end of one session, in the trash or not (behaviour F86). What is older costs a look along an index."""
        return await self._database.read(lambda db: slices.opening(db, _one(db, session)))

    async def older(self, session: str, below: Entry | None, nodes_after: str | None) -> Slice:
        return await self._database.read(lambda db: slices.older(db, session, below, nodes_after), Priority.BACKGROUND)

    async def rename(self, session: str, title: str) -> Session:
        """Give a session another title, control characters and line breaks made blanks (behaviour S4, F88)."""
        words = one_line(title)
        if not 1 <= len(words) <= TITLE_LIMIT:
            raise LogError(f"A chat's title has 1 to {TITLE_LIMIT} characters.")

        def write(db: SqliteDatabase) -> Session:
            SessionRow.update(title=words).where(SessionRow.id == session).execute(db)
            return _one(db, session)

        return await self._database.write(write)

    async def fork(self, session: str, entry: str | None) -> Session:
        now = self._clock.utc()

        def write(db: SqliteDatabase) -> Session:
            require_session(db, session)
            if entry is not None:
                require_entry(db, session, entry)
            return _one(db, fork(db, self._ids, session, entry, now))

        return await self._database.write(write)

    async def trash(self, session: str, moment: datetime | None) -> None:
        def write(db: SqliteDatabase) -> None:
            require_session(db, session)
            trashed_at = None if moment is None else stamp(moment)
            SessionRow.update(trashed_at=trashed_at).where(SessionRow.id == session).execute(db)

        await self._database.write(write)


def _one(db: SqliteDatabase, session: str) -> Session:
    for found in sessions(db, session):
        return found
    raise LogError(f"There is no chat {session} in the database.")
