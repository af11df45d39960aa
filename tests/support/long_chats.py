"""Long chats on disk, written faster than a person could."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reprise.domain.messages import Message, ReplyInfo, Role, TextPart, Usage, user_message
from reprise.storage.ids import Ids
from reprise.storage.rows import encode, stamp
from support import corpus
from support.storage import opened, raw
from support.window import SMALL


async def fill(folder: Path, *counts: int) -> None:
    """A data folder with one session of so many corpus messages each; its id and title are that number."""
    async with opened(folder):
        pass
    with raw(folder) as db:
        for count in counts:
            rows = list(_rows(str(count), count))
            first, last = rows[0], rows[-1]
            db.execute(
                "INSERT INTO session (id, title, created_at, updated_at, activity, provider, model)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (str(count), str(count), first[5], last[5], last[0], SMALL.provider, SMALL.model),
            )
            db.executemany(
                "INSERT INTO entry (id, session, parent, kind, role, at, data) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
            )
            db.execute("UPDATE session SET leaf = ? WHERE id = ?", (last[0], str(count)))


def _rows(session: str, count: int) -> Iterator[tuple[str | None, ...]]:
    ids, parent = Ids(), None
    for number in range(count):
        at = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=30 * number)
        text = corpus.message(number)
        if number % 2:
            message = Message(Role.ASSISTANT, (TextPart(text),), ReplyInfo(SMALL, "stop", Usage(10, 20), 0.5, 2.0))
        else:
            message = user_message(text)
        kind, data = encode(message)
        id_ = ids.next(at)
        yield id_, session, parent, kind, message.role.value, stamp(at), data
        parent = id_
