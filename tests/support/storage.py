"""A store in a folder, for tests that read and write the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import Message, ModelRef, ReplyInfo, Role, TextPart, user_message
from reprise.domain.ports import History
from reprise.domain.sessions import Attempt, AttemptState, Entry
from reprise.storage.migrations import MIGRATIONS, Migration
from reprise.storage.store import Store
from reprise.storage.worker import Worker
from support.clock import ManualClock

MODEL = ModelRef("own", "small")
OTHER = ModelRef("own", "large")
SERVER_FAILURE = Failure(FailureKind.SERVER, "busy", True, status=503)


@asynccontextmanager
async def opened(
    folder: Path, clock: ManualClock | None = None, steps: Sequence[Migration] = MIGRATIONS
) -> AsyncIterator[Store]:
    """The store of `folder`, closed at the end whatever happens; nothing flushes unless the test runs `run`."""
    store = await Store.open(folder, clock or ManualClock(), Worker(), steps)
    try:
        yield store
    finally:
        assert await store.close(10)


@contextmanager
def raw(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database file itself, while no store has it open; committed at the end."""
    with closing(sqlite3.connect(folder / "reprise.db")) as connection, connection:
        yield connection


@contextmanager
def watched(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database file read-only, while the program writes it."""
    with closing(sqlite3.connect(f"{(folder / 'reprise.db').as_uri()}?mode=ro", uri=True)) as connection:
        yield connection


def damage(folder: Path, entry: str, change: str) -> None:
    """Change an entry's row as no store would: `change` is the SET clause."""
    with raw(folder) as db:
        db.execute(f"UPDATE entry SET {change} WHERE id = ?", (entry,))  # noqa: S608 - the tests' own words


def reply(text: str, model: ModelRef = MODEL, *, goes_on_from: str | None = None) -> Message:
    """A whole reply."""
    return Message(Role.ASSISTANT, (TextPart(text),), ReplyInfo(model, "stop", goes_on_from=goes_on_from))


async def fail(store: Store, attempt: Entry, text: str = "") -> Entry:
    """An attempt, failed after `text`."""
    parts = (TextPart(text),) if text else ()
    return await store.log.fail_attempt(attempt, Attempt(MODEL, 1, AttemptState.FAILED, parts, SERVER_FAILURE))


async def ask(store: Store, session: str, text: str) -> tuple[Entry, Entry]:
    """A prompt and its open attempt."""
    prompt = await store.log.open_turn(session, user_message(text), MODEL)
    return prompt, await store.log.open_attempt(session, prompt.id, Attempt(MODEL))


async def exchange(store: Store, session: str, text: str) -> tuple[Entry, Entry]:
    """A prompt and its reply."""
    prompt, attempt = await ask(store, session, text)
    return prompt, await store.log.finish_round(attempt, reply(text.upper()))


async def pieced(store: Store, session: str) -> History:
    """A session as it is once it was read piece by piece, from its end to its root."""
    opening = await store.sessions.open(session)
    newest = opening.newest
    branch, attempts, nodes = newest.entries, dict(newest.attempts), newest.nodes
    more = newest.more_nodes
    while more or (branch and branch[0].parent is not None):
        below = branch[0] if branch and branch[0].parent is not None else None
        older = await store.sessions.older(session, below, nodes[-1].id if more else None)
        branch, nodes = older.entries + branch, nodes + older.nodes
        attempts |= older.attempts
        more = older.more_nodes
    return History(opening.session, branch, attempts, nodes, opening.queue)
