"""Which attempts met a limit, read off the log of every session."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.sessions import Attempt, AttemptState, Entry
from reprise.storage.store import Store
from support.clock import ManualClock
from support.storage import MODEL, ask, damage, opened, raw

LIMITED = Failure(FailureKind.RATE_LIMIT, "slow down", True)
BUSY = Failure(FailureKind.OVERLOADED, "busy", True, 20.0)
DOWN = Failure(FailureKind.SERVER, "down", True)


async def meet(store: Store, session: str, failure: Failure) -> Entry:
    """A prompt whose first attempt fails."""
    _, attempt = await ask(store, session, session)
    return await store.log.fail_attempt(attempt, Attempt(MODEL, 1, AttemptState.FAILED, (), failure))


def test_a_429_and_a_retry_after_are_found_in_every_session(tmp_path: Path) -> None:
    """D3: since a moment, oldest first; not a failure that names no limit, nor what cannot be read."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            await meet(store, "older", LIMITED)
            await clock.advance(60)
            since = clock.utc()
            found = [await meet(store, "a", LIMITED), await meet(store, "b", BUSY)]
            await meet(store, "c", DOWN)
            damaged = [await meet(store, "d", LIMITED), await meet(store, "e", LIMITED)]
            await ask(store, "f", "still open")
            assert await store.sessions.limits_met(since + timedelta(seconds=1)) == ()
        for entry, data in zip(damaged, ("'{'", "json_remove(data, '$.failure.message')"), strict=True):
            damage(tmp_path, entry.id, f"data = {data}")
        async with opened(tmp_path, clock) as store:
            assert await store.sessions.limits_met(since) == tuple(found)

    asyncio.run(main())


def test_only_the_newest_entries_are_read_for_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """D3, F86: a start looks at a day, not at the whole log."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            with caplog.at_level("DEBUG", "peewee"):
                await store.sessions.limits_met(ManualClock().utc())

    asyncio.run(main())
    statements = [record.msg[0] for record in caplog.records if isinstance(record.msg, tuple)]
    (statement,) = [statement for statement in statements if "retry_after_s" in statement]
    with raw(tmp_path) as db:
        plan = db.execute(f"EXPLAIN QUERY PLAN {statement}", ("0",)).fetchall()
    (step,) = [row[3] for row in plan]
    assert step.startswith("SEARCH entry USING")
    assert step.endswith("(id>?)")
