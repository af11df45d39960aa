"""What a list says is pending, and when its retry is due: read off the log."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from reprise.domain.messages import Message, Role, TextPart, ToolResultPart, user_message
from reprise.domain.sessions import Attempt, AttemptState, Entry, EntryData, ModelChange, Notice, answered_entry
from support.clock import ManualClock
from support.storage import MODEL, OTHER, ask, damage, exchange, opened, reply

_TOOL = Message(Role.TOOL, (ToolResultPart("c", "t", "x"),))


@pytest.mark.parametrize(
    ("tail", "pending"),
    [
        ([], True),
        ([reply("yes")], False),
        ([reply("yes"), _TOOL], True),
        ([reply("yes"), _TOOL, reply("done")], False),
        ([Notice("n")], True),
        ([Notice("n"), ModelChange(OTHER), Notice("n")], True),
        ([reply("yes"), Notice("n"), ModelChange(OTHER)], False),
        ([reply("yes"), user_message("more")], True),
        ([Message(Role.SYSTEM, (TextPart("s"),))], False),
    ],
)
def test_pending_is_read_off_the_log(tmp_path: Path, tail: list[EntryData], pending: bool) -> None:
    """B1, D8, L25: the last message, whatever notices and model changes follow it, is the user's or a tool's."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "other", "Hi")
            await store.log.open_turn("s", user_message("Hi"), MODEL)
            for data in tail:
                await store.log.append("s", data)
        async with opened(tmp_path) as store:
            listed = {session.id: session for session in await store.sessions.list()}
            history = await store.sessions.load("s")
            assert listed["s"].pending is pending
            assert history.session == listed["s"]
            assert (answered_entry(history.branch) is not None) is pending
            assert not listed["other"].pending

    asyncio.run(main())


def test_when_a_retry_is_due_is_read_off_the_newest_attempt_under_what_is_pending(tmp_path: Path) -> None:
    """D8: not off an older attempt, nor a damaged one, nor one under what was answered or left meanwhile."""

    async def main() -> None:
        clock = ManualClock()
        due = [clock.utc() + timedelta(seconds=seconds) for seconds in (5, 60, 90)]
        async with opened(tmp_path, clock) as store:

            async def due_at() -> datetime | None:
                (listed,) = await store.sessions.list()
                assert listed == (await store.sessions.load("s")).session
                return listed.retry_at

            async def fail(attempt: Entry, at: datetime | None) -> None:
                await store.log.fail_attempt(attempt, Attempt(MODEL, 1, AttemptState.FAILED, retry_at=at))

            prompt, attempt = await ask(store, "s", "one")
            assert await due_at() is None
            await fail(attempt, due[0])
            assert await due_at() == due[0]
            second = await store.log.open_attempt("s", prompt.id, Attempt(MODEL, 2))
            assert await due_at() is None
            await fail(second, due[1])
            await store.log.append("s", Notice("resumed"))
            assert await due_at() == due[1]
            third = await store.log.open_attempt("s", prompt.id, Attempt(MODEL, 3))
            await fail(third, due[2])
        damage(tmp_path, third.id, "data = '{'")
        async with opened(tmp_path, clock) as store:
            assert (await store.sessions.list())[0].retry_at == due[1]
            await store.log.move_leaf("s", None)
            assert (await store.sessions.list())[0].retry_at is None
            await store.log.move_leaf("s", prompt.id)
            await store.log.append("s", reply("yes"))
            (listed,) = await store.sessions.list()
            assert (listed.pending, listed.retry_at) == (False, None)

    asyncio.run(main())


def test_an_empty_position_is_not_pending(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            await store.log.open_turn("s", user_message("Hi"), MODEL)
            await store.log.move_leaf("s", None)
            assert not (await store.sessions.list())[0].pending

    asyncio.run(main())


@pytest.mark.parametrize("change", ["data = '{'", "kind = 'prophecy'", "at = 'yesterday'"])
def test_a_damaged_prompt_at_the_end_cannot_be_pending(tmp_path: Path, change: str) -> None:
    """D8: list and chat agree about what is pending, also over damage; a wrong date alone is none."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "one")
            prompt = await store.log.open_turn("s", user_message("two"), MODEL)
        damage(tmp_path, prompt.id, change)
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            (listed,) = await store.sessions.list()
            assert listed.pending is (answered_entry(history.branch) is not None) is change.startswith("at")

    asyncio.run(main())
