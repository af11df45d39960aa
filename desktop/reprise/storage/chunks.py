"""What streams: buffered in memory, on disk every 150 ms of the Clock."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from peewee import SqliteDatabase

from reprise.domain.deltas import Delta, Partial, RecastDelta, TextDelta, ThinkingDelta
from reprise.domain.messages import Part
from reprise.domain.ports import Clock, LogError
from reprise.storage.database import Database
from reprise.storage.rows import clean
from reprise.storage.sql import sql
from reprise.storage.tables import ChunkRow

FLUSH_INTERVAL_S = 0.15

_TEXT = "text"
_THINKING = "thinking"
_RECAST = "recast"

# Only under an attempt that is still open: one that ended while this was queued has its parts already.
_INSERT = """INSERT INTO chunk (entry, seq, kind, text)
    SELECT id, (SELECT coalesce(max(seq), -1) + 1 FROM chunk WHERE entry = entry.id), ?, ?
    FROM entry WHERE id = ? AND state = 'open'"""

_log = logging.getLogger("reprise.storage")

Pieces = list[tuple[str, list[str]]]


class Chunks:
    """The buffer in front of the chunk table, for all attempts together."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._buffers: dict[str, Pieces] = {}
        self._buffered = asyncio.Event()
        self._since = 0.0

    def append(self, attempt: str, delta: Delta) -> None:
        """Buffer a delta that says something; neighbours of one kind become one row. Other deltas are not kept.

        A recast is a row without text: what it turns into reasoning may be on disk already, and stays as it is there.
        """
        match delta:
            case TextDelta(text):
                kind = _TEXT
            case ThinkingDelta(text):
                kind = _THINKING
            case RecastDelta():
                kind, text = _RECAST, ""
            case _:
                return
        pieces = self._buffers.setdefault(attempt, [])
        if pieces and pieces[-1][0] == kind:
            pieces[-1][1].append(text)
        else:
            pieces.append((kind, [text]))
        if not self._buffered.is_set():
            # Counted from here, so that a slow commit of what came before does not make this wait longer.
            self._since = self._clock.now()
            self._buffered.set()

    def forget(self, attempt: str) -> None:
        """Drop what is buffered for an attempt whose end is on disk."""
        self._buffers.pop(attempt, None)

    async def run(self) -> None:
        """Flush every 150 ms while something streams; wait without a wakeup while nothing does."""
        while True:
            await self._buffered.wait()
            await self._clock.sleep_until(self._since + FLUSH_INTERVAL_S)
            await self.flush()

    async def flush(self) -> None:
        """Write what is buffered, in one transaction.

        When that fails the text stays buffered and goes with the next flush: the reply itself is in memory, and the
        call that stores it is the one that reports the disk.
        """
        self._buffered.clear()
        buffers, self._buffers = self._buffers, {}
        if not buffers:
            return

        def insert(db: SqliteDatabase) -> None:
            for attempt, pieces in buffers.items():
                for kind, texts in pieces:
                    sql(db, _INSERT, kind, clean("".join(texts)), attempt)

        try:
            await self._database.write(insert)
        except LogError as error:
            _log.warning("streamed text was not saved yet: %s", error)
            for attempt, pieces in buffers.items():
                self._buffers[attempt] = pieces + self._buffers.get(attempt, [])


def folded(db: SqliteDatabase, attempt: str, before: Iterable[Part]) -> tuple[Part, ...]:
    """An attempt's chunks as the parts of a reply that begins with `before`."""
    partial = Partial(before)
    for kind, text in sql(db, "SELECT kind, text FROM chunk WHERE entry = ? ORDER BY seq", attempt):
        partial.append(_delta(kind, text if isinstance(text, str) else bytes(text).decode(errors="replace")))
    return partial.parts()


def _delta(kind: str, text: str) -> Delta:
    if kind == _RECAST:
        return RecastDelta()
    return ThinkingDelta(text) if kind == _THINKING else TextDelta(text)


def delete_chunks(db: SqliteDatabase, attempt: str) -> None:
    """Delete an attempt's chunks."""
    ChunkRow.delete().where(ChunkRow.entry == attempt).execute(db)
