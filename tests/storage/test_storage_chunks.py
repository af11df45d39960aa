"""What streams reaches the disk in time, and no more often than that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from reprise.domain.deltas import FinishDelta, RecastDelta, TextDelta, ThinkingDelta, ToolCallDelta
from reprise.domain.messages import TextPart, ThinkingPart
from reprise.domain.sessions import Attempt, AttemptState
from reprise.storage.store import Store
from support.clock import ManualClock
from support.storage import MODEL, ask, exchange, opened, raw, reply


@asynccontextmanager
async def flushing(folder: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with opened(folder, clock) as store:
        clock.settle_with(store.worker.settled)
        task = asyncio.get_running_loop().create_task(store.run())
        try:
            yield store
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def chunks(store: Store) -> asyncio.Future[list[tuple[object, ...]]]:
    query = "SELECT entry, seq, kind, text FROM chunk ORDER BY entry, seq"
    return asyncio.ensure_future(store.database.read(lambda db: db.execute_sql(query).fetchall()))


def test_neighbours_of_one_kind_are_one_row_a_flush(tmp_path: Path) -> None:
    """Design section 4: chunk rows every 150 ms of the Clock; tool calls are not chunked."""

    async def main() -> None:
        clock = ManualClock()
        async with flushing(tmp_path, clock) as store:
            _, a = await ask(store, "a", "Hi")
            _, b = await ask(store, "b", "Hi")
            for delta in (ThinkingDelta("h"), ThinkingDelta("m"), TextDelta("Y"), ToolCallDelta(0, "c", "t")):
                store.log.append_chunks(a.id, delta)
            store.log.append_chunks(a.id, TextDelta("es"))
            store.log.append_chunks(b.id, TextDelta("No"))
            store.log.append_chunks(b.id, FinishDelta("stop"))
            await clock.advance(0.149)
            assert await chunks(store) == []
            await clock.advance(0.001)
            assert await chunks(store) == [
                (a.id, 0, "thinking", "hm"),
                (a.id, 1, "text", "Yes"),
                (b.id, 0, "text", "No"),
            ]
            store.log.append_chunks(a.id, TextDelta("!"))
            await clock.advance(0.2)
            assert (await chunks(store))[2] == (a.id, 2, "text", "!")

    asyncio.run(main())


def test_what_streams_is_synced_like_everything_else(tmp_path: Path) -> None:
    """F100, design rule 9: a power cut costs no more than a killed process does."""

    async def main() -> None:
        clock = ManualClock()
        statements: list[str] = []
        async with flushing(tmp_path, clock) as store:
            _, attempt = await ask(store, "s", "Hi")
            await store.database.read(lambda db: db.connection().set_trace_callback(statements.append))
            store.log.append_chunks(attempt.id, TextDelta("x"))
            await clock.advance(0.2)
            assert "COMMIT" in statements
            assert not any("PRAGMA" in statement for statement in statements)
            assert await store.database.write(lambda db: db.pragma("synchronous")) == 2

    asyncio.run(main())


def test_nothing_wakes_up_while_nothing_streams(tmp_path: Path) -> None:
    """Idle means no sleeper at all, so an open window costs no battery."""

    async def main() -> None:
        clock = ManualClock()
        async with flushing(tmp_path, clock) as store:
            _, attempt = await ask(store, "s", "Hi")
            await clock.advance(10)
            assert clock.sleepers == ()
            store.log.append_chunks(attempt.id, TextDelta("x"))
            await clock.drain()
            assert len(clock.sleepers) == 1
            await clock.advance(1)
            assert clock.sleepers == ()

    asyncio.run(main())


def test_all_sessions_share_one_transaction_a_flush(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Design section 3: one flusher commits all streaming sessions."""

    async def main() -> None:
        clock = ManualClock()
        async with flushing(tmp_path, clock) as store:
            attempts = [(await ask(store, name, "Hi"))[1] for name in "abcd"]
            for attempt in attempts:
                store.log.append_chunks(attempt.id, TextDelta("x"))
            caplog.clear()
            with caplog.at_level("DEBUG", "peewee"):
                await clock.advance(0.15)
            statements = [str(record.msg[0]) if isinstance(record.msg, tuple) else "" for record in caplog.records]
            assert len([sql for sql in statements if sql.startswith("INSERT INTO chunk")]) == 4
            assert len([sql for sql in statements if sql.startswith("BEGIN")]) <= 1
            assert len(await chunks(store)) == 4

    asyncio.run(main())


def test_text_that_comes_after_the_end_of_its_attempt_leaves_nothing(tmp_path: Path) -> None:
    """F68: streaming scratch is never kept."""

    async def main() -> None:
        clock = ManualClock()
        async with flushing(tmp_path, clock) as store:
            _, done = await ask(store, "a", "Hi")
            _, failed = await ask(store, "b", "Hi")
            for attempt in (done, failed):
                store.log.append_chunks(attempt.id, TextDelta("x"))
            await clock.advance(0.15)
            for attempt in (done, failed):
                store.log.append_chunks(attempt.id, TextDelta("y"))
            await store.log.finish_round(done, reply("xy"))
            await store.log.fail_attempt(failed, Attempt(MODEL, 1, AttemptState.STOPPED, (TextPart("xy"),)))
            for attempt in (done, failed):
                store.log.append_chunks(attempt.id, TextDelta("late"))
            await clock.advance(1)
            assert await chunks(store) == []

    asyncio.run(main())


def test_an_attempt_left_open_by_a_crash_keeps_its_text(tmp_path: Path) -> None:
    """D8, N11: at the next start it is interrupted, thinking first, and its turn is pending."""

    async def main() -> None:
        clock = ManualClock()
        async with flushing(tmp_path, clock) as store:
            prompt, attempt = await ask(store, "s", "Hi")
            await exchange(store, "done", "Hi")
            for delta in (ThinkingDelta("hm"), TextDelta("Half "), ThinkingDelta("…"), TextDelta("a reply")):
                store.log.append_chunks(attempt.id, delta)
        async with opened(tmp_path, clock) as store:
            assert await chunks(store) == []
            history = await store.sessions.load("s")
            (entry,) = history.attempts[prompt.id]
            assert entry.data == Attempt(
                MODEL, 1, AttemptState.INTERRUPTED, (ThinkingPart("hm…"), TextPart("Half a reply"))
            )
            assert {session.id: session.pending for session in await store.sessions.list()} == {
                "s": True,
                "done": False,
            }

    asyncio.run(main())


@pytest.mark.parametrize("flushed_before", [False, True])
def test_text_that_turned_out_to_be_reasoning_is_reasoning_after_a_crash(tmp_path: Path, flushed_before: bool) -> None:
    """D8, F61: the end mark a template's reasoning has is on disk as well, whichever flush it came with."""

    async def main() -> None:
        clock = ManualClock()
        async with flushing(tmp_path, clock) as store:
            prompt, attempt = await ask(store, "s", "Hi")
            store.log.append_chunks(attempt.id, TextDelta("let me "))
            store.log.append_chunks(attempt.id, TextDelta("see"))
            if flushed_before:
                await clock.advance(0.15)
            for delta in (RecastDelta(), TextDelta("Half "), TextDelta("a reply")):
                store.log.append_chunks(attempt.id, delta)
            await clock.advance(0.15)
            assert [row[1:] for row in await chunks(store)] == [
                (0, "text", "let me see"),
                (1, "recast", ""),
                (2, "text", "Half a reply"),
            ]
        async with opened(tmp_path, clock) as store:
            history = await store.sessions.load("s")
            (entry,) = history.attempts[prompt.id]
            assert entry.data == Attempt(
                MODEL, 1, AttemptState.INTERRUPTED, (ThinkingPart("let me see"), TextPart("Half a reply"))
            )

    asyncio.run(main())


def test_a_flush_the_disk_refuses_goes_with_the_next_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A full disk: nothing crashes, the stream goes on, the save is tried again."""

    async def main() -> None:
        clock = ManualClock()
        async with flushing(tmp_path, clock) as store:
            _, attempt = await ask(store, "s", "Hi")
            pages = await store.database.read(lambda db: db.pragma("page_count"))
            await store.database.read(lambda db: db.pragma("max_page_count", pages))
            store.log.append_chunks(attempt.id, TextDelta("a" * 50_000))
            await clock.advance(0.15)
            assert "not saved yet" in caplog.text
            assert clock.sleepers == ()
            await store.database.read(lambda db: db.pragma("max_page_count", 1_000_000))
            store.log.append_chunks(attempt.id, TextDelta("b"))
            await clock.advance(0.15)
            assert "".join(str(row[3]) for row in await chunks(store)) == "a" * 50_000 + "b"

    asyncio.run(main())


def test_closing_saves_what_is_buffered(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            _, attempt = await ask(store, "s", "Hi")
            store.log.append_chunks(attempt.id, TextDelta("kept"))

    asyncio.run(main())
    with raw(tmp_path) as db:
        assert db.execute("SELECT text FROM chunk").fetchall() == [("kept",)]
