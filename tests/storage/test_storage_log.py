"""The log as the engine writes it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from reprise.domain.messages import (
    Message,
    ReplyInfo,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
    user_message,
)
from reprise.domain.ports import LogError
from reprise.domain.sessions import Attempt, AttemptState, ModelChange, Notice
from support.clock import ManualClock
from support.storage import MODEL, OTHER, SERVER_FAILURE, ask, exchange, opened, raw, reply


def test_the_first_prompt_makes_the_session_in_the_same_transaction(tmp_path: Path) -> None:
    """F73, L1: the session exists on disk from the first user message."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt = await store.log.open_turn("s", user_message("  Hello there\nand more"), MODEL)
            (session,) = await store.sessions.list()
            assert (session.id, session.title, session.leaf, session.model) == ("s", "Hello there", prompt.id, MODEL)
            assert session.pending
            assert await store.log.branch("s") == (prompt,)

    asyncio.run(main())


def test_an_unknown_session_has_an_empty_branch(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            assert await store.log.branch("nobody") == ()

    asyncio.run(main())


def test_a_finished_round_takes_the_attempts_place(tmp_path: Path) -> None:
    """Design section 4: the message is inserted, attempt and chunks are deleted, the leaf moves, at once."""

    async def main() -> None:
        message = Message(
            Role.ASSISTANT,
            (ThinkingPart("hm"), TextPart("Yes. \U0001f642\0"), ToolCallPart("c1", "look", '{"a": 1')),
            ReplyInfo(MODEL, "tool_calls", Usage(3, None), 0.25, 1.5),
        )
        async with opened(tmp_path) as store:
            prompt, attempt = await ask(store, "s", "Hi")
            done = await store.log.finish_round(attempt, message)
            assert (done.parent, done.data) == (prompt.id, message)
            result = await store.log.record_result("s", done.id, ToolResultPart("c1", "look", "error: no", True))
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            assert history.branch == (prompt, done, result)
            assert history.attempts == {}
            assert history.session.pending

    asyncio.run(main())


def test_a_failed_attempt_stays_in_the_log_and_not_on_the_branch(tmp_path: Path) -> None:
    """D5: the context holds the prompt, the log keeps the attempt with its parts, failure and retry."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            prompt, first = await ask(store, "s", "Hi")
            ended = Attempt(
                MODEL,
                1,
                AttemptState.FAILED,
                (TextPart("half"),),
                SERVER_FAILURE,
                clock.utc(),
                1,
                10,
                clock.utc() + timedelta(seconds=5),
            )
            failed = await store.log.fail_attempt(first, ended)
            assert failed == replace(first, data=ended)
            second = await store.log.open_attempt("s", prompt.id, Attempt(MODEL, 2))
            stopped = await store.log.fail_attempt(second, Attempt(MODEL, 2, AttemptState.STOPPED))
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            assert history.branch == (prompt,) == await store.log.branch("s")
            assert history.attempts == {prompt.id: (failed, stopped)}

    asyncio.run(main())


def test_a_scheduled_retry_can_be_moved_and_cleared(tmp_path: Path) -> None:
    """D8: the due time is kept, so a countdown goes on after a restart."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            prompt, attempt = await ask(store, "s", "Hi")
            failed = await store.log.fail_attempt(attempt, Attempt(MODEL, 1, AttemptState.FAILED, (), SERVER_FAILURE))
            due = clock.utc() + timedelta(hours=2)
            moved = await store.log.reschedule(failed, due)
            assert isinstance(moved.data, Attempt)
            assert moved.data.retry_at == due
            assert (await store.sessions.load("s")).attempts == {prompt.id: (moved,)}
            assert await store.log.reschedule(moved, None) == failed
            mine = await store.log.reschedule(failed, due, retry=3)
            assert isinstance(mine.data, Attempt)
            assert (mine.data.retry_at, mine.data.retry) == (due, 3)
            assert await store.log.reschedule(mine, None, retry=0) == failed

    asyncio.run(main())


def test_an_attempt_that_ended_cannot_end_again(tmp_path: Path) -> None:
    """Whoever comes second is told, and the first one's record stands."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            _, attempt = await ask(store, "s", "Hi")
            await store.log.finish_round(attempt, reply("Yes"))
            for late in (store.log.finish_round(attempt, reply("No")), store.log.fail_attempt(attempt, _stopped())):
                with pytest.raises(LogError, match="not open"):
                    await late
            assert [entry.data for entry in await store.log.branch("s")] == [user_message("Hi"), reply("Yes")]

    asyncio.run(main())


def test_the_leaf_moves_without_deleting_anything(tmp_path: Path) -> None:
    """B6: the log is append-only; the leaf is where the session stands; null is before the first."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            one, _ = await exchange(store, "s", "one")
            two, two_reply = await exchange(store, "s", "two")
            await store.log.move_leaf("s", one.id)
            again = await store.log.append("s", reply("another"))
            assert await store.log.branch("s") == (one, again)
            await store.log.move_leaf("s", two_reply.id)
            assert (await store.log.branch("s"))[2:] == (two, two_reply)
            await store.log.move_leaf("s", None)
            assert await store.log.branch("s") == ()
            fresh = await store.log.open_turn("s", user_message("fresh"), MODEL)
            assert fresh.parent is None

    asyncio.run(main())


def test_the_leaf_goes_only_to_entries_of_its_session(tmp_path: Path) -> None:
    """B6: an unknown id is an error; an attempt is never the leaf."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            _, attempt = await ask(store, "s", "Hi")
            foreign, _ = await exchange(store, "other", "Hi")
            for wrong in ("nothing", attempt.id, foreign.id):
                with pytest.raises(LogError, match="no entry"):
                    await store.log.move_leaf("s", wrong)
                with pytest.raises(LogError, match="no entry"):
                    await store.log.open_attempt("s", wrong, Attempt(MODEL))
                with pytest.raises(LogError, match="no entry"):
                    await store.log.record_result("s", wrong, ToolResultPart("c", "t", "x"))
            for session in ("nobody",):
                with pytest.raises(LogError, match="no chat"):
                    await store.log.move_leaf(session, None)
                with pytest.raises(LogError, match="no chat"):
                    await store.log.append(session, Notice("x"))

    asyncio.run(main())


def test_a_model_change_is_remembered_by_the_session(tmp_path: Path) -> None:
    """S5: the session remembers provider and model."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "Hi")
            change = await store.log.append("s", ModelChange(OTHER))
            assert (await store.log.branch("s"))[-1] == change
        async with opened(tmp_path) as store:
            assert (await store.sessions.list())[0].model == OTHER

    asyncio.run(main())


def test_ids_keep_their_order_when_the_clock_is_set_back(tmp_path: Path) -> None:
    """Order is the order of writing, whatever the clock says, also after a restart."""

    async def main() -> None:
        ids = []
        for hours in (0, -5):
            clock = ManualClock(utc=ManualClock().utc() + timedelta(hours=hours))
            async with opened(tmp_path, clock) as store:
                for text in ("a", "b"):
                    ids += [entry.id for entry in await exchange(store, "s", text)]
        assert ids == sorted(set(ids))

    asyncio.run(main())


def test_lone_surrogates_are_replaced_and_pairs_are_joined(tmp_path: Path) -> None:
    """SQLite takes no half characters: save, reopen and list all work, and what is returned is what is stored."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, attempt = await ask(store, "s\ud800"[:1], "cut \ud83d, pair \ud83d\ude00")
            assert prompt.data == user_message("cut \ufffd, pair \U0001f600")
            done = await store.log.finish_round(attempt, reply("\udc00"))
            assert done.data == reply("\ufffd")
        async with opened(tmp_path) as store:
            assert await store.log.branch("s") == (prompt, done)

    asyncio.run(main())


def test_a_write_that_fails_leaves_memory_and_disk_agreeing(tmp_path: Path) -> None:
    """F72, S13: a full disk is a sentence that names the file, and nothing is half done."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, attempt = await ask(store, "s", "Hi")
            pages = await store.database.read(lambda db: db.pragma("page_count"))
            await store.database.read(lambda db: db.pragma("max_page_count", pages))
            with pytest.raises(LogError, match=r"disk is full.*reprise\.db"):
                await store.log.finish_round(attempt, reply("long " * 10_000))
            assert await store.log.branch("s") == (prompt,)
            await store.database.read(lambda db: db.pragma("max_page_count", 1_000_000))
            done = await store.log.finish_round(attempt, reply("long " * 10_000))
            assert await store.log.branch("s") == (prompt, done)

    asyncio.run(main())


def test_a_file_removed_while_running_is_noticed_by_the_next_write(tmp_path: Path) -> None:
    """The system would take the writes without a word and keep none."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "Hi")
            (tmp_path / "reprise.db").unlink()
            with pytest.raises(LogError, match=r"reprise\.db is gone"):
                await store.log.open_turn("s", user_message("again"), MODEL)

    asyncio.run(main())


def test_an_open_attempt_is_told_from_a_finished_one_by_its_column(tmp_path: Path) -> None:
    """The recovery after a crash reads an index of the open ones only, however long the log is."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await ask(store, "s", "Hi")

    asyncio.run(main())
    with raw(tmp_path) as db:
        plan = db.execute("EXPLAIN QUERY PLAN SELECT id FROM entry WHERE state = 'open'").fetchall()
    assert "entry_open" in plan[0][3]


def test_misuse_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, attempt = await ask(store, "s", "Hi")
            with pytest.raises(ValueError, match="not open"):
                await store.log.fail_attempt(attempt, Attempt(MODEL))
            with pytest.raises(ValueError, match="never the leaf"):
                await store.log.append("s", Attempt(MODEL))
            with pytest.raises(LogError, match="not an attempt"):
                await store.log.reschedule(prompt, None)

    asyncio.run(main())


def _stopped() -> Attempt:
    return Attempt(MODEL, 1, AttemptState.STOPPED)
