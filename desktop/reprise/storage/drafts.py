"""Unsent text: `ports.Drafts` on SQLite."""

from __future__ import annotations

from collections.abc import Mapping

from peewee import SqliteDatabase

from reprise.domain.ports import Draft
from reprise.storage.database import Database
from reprise.storage.rows import clean
from reprise.storage.tables import DraftRow


class SqliteDrafts:
    """Implements `ports.Drafts`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> Mapping[str, Draft]:
        def read(db: SqliteDatabase) -> Mapping[str, Draft]:
            query = DraftRow.select(DraftRow.session, DraftRow.text, DraftRow.cursor)
            return {session: Draft(text, cursor) for session, text, cursor in query.tuples().execute(db)}

        return await self._database.read(read)

    async def save(self, session: str, draft: Draft | None) -> None:
        def write(db: SqliteDatabase) -> None:
            if draft is None:
                DraftRow.delete().where(DraftRow.session == session).execute(db)
            else:
                values = {"session": session, "text": clean(draft.text), "cursor": draft.cursor}
                DraftRow.insert(**values).on_conflict_replace().execute(db)

        await self._database.write(write)
