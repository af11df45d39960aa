"""A chat that goes on in a chat of its own, and chats in the trash."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from reprise.domain.messages import user_message
from reprise.domain.ports import LogError
from reprise.domain.sessions import Attempt, ModelChange, Notice, ParamsChange, Queued
from reprise.storage.store import Store
from support.clock import ManualClock
from support.storage import MODEL, OTHER, ask, damage, exchange, fail, opened, raw, reply


async def contents(store: Store, session: str) -> list[object]:
    return [entry.data for entry in await store.log.branch(session)]


def test_a_fork_is_a_copy_of_the_branch_up_to_a_point(tmp_path: Path) -> None:
    """B11, F77: messages and changes under ids of their own; attempts, the queue and other branches stay behind."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            _, first_reply = await exchange(store, "s", "one")
            await store.log.append("s", ModelChange(OTHER))
            await store.log.append("s", ParamsChange({"retry.policy": "off"}))
            notice = await store.log.append("s", Notice("n"))
            prompt, attempt = await ask(store, "s", "two")
            await fail(store, attempt, "half")
            await store.log.queue("s", Queued(user_message("later")))
            await store.sessions.rename("s", "Mine")
            source = await store.sessions.load("s")
            await exchange(store, "other", "Hi")
            await clock.advance(60)
            made = await store.sessions.fork("s", notice.id)
            assert (made.title, made.forked_from, made.model, made.pending) == ("Mine", "s", OTHER, False)
            assert made.created_at == made.updated_at == clock.utc()
            assert await contents(store, made.id) == [entry.data for entry in source.branch[:5]]
            assert await store.sessions.load("s") == source
            pending = await store.sessions.fork("s", prompt.id)
            assert pending.pending
            earlier = await store.sessions.fork("s", first_reply.id)
            assert earlier.model == MODEL
            assert [session.id for session in await store.sessions.list()] == [
                earlier.id,
                pending.id,
                made.id,
                "other",
                "s",
            ]
        async with opened(tmp_path, clock) as store:
            history = await store.sessions.load(made.id)
            assert history.session == made
            assert (history.attempts, history.queue) == ({}, ())
            assert [entry.at for entry in history.branch] == [entry.at for entry in source.branch[:5]]
            assert {entry.session for entry in history.branch} == {made.id}
            ids = [entry.id for entry in history.branch]
            assert ids == sorted(set(ids) - {entry.id for entry in source.branch})
            assert [entry.parent for entry in history.branch] == [None, *ids[:-1]]
            assert [node.id for node in history.nodes] == ids
            more, _ = await exchange(store, made.id, "on")
            assert more.parent == ids[-1]
            assert await store.sessions.load("s") == source

    asyncio.run(main())


def test_the_same_point_forks_once_until_something_was_added(tmp_path: Path) -> None:
    """F78: asked twice it is the same chat, over a restart too; another point is another chat."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            first, first_reply = await exchange(store, "s", "one")
            made = await store.sessions.fork("s", first.id)
            await store.sessions.rename(made.id, "Renamed")
            await store.log.move_leaf(made.id, None)
            assert (await store.sessions.fork("s", first.id)).id == made.id
            other = await store.sessions.fork("s", first_reply.id)
            empty = await store.sessions.fork("s", None)
            assert len({made.id, other.id, empty.id, "s"}) == 4
            assert (await store.sessions.fork("s", None)).id == empty.id
        back = ManualClock(utc=clock.utc() - timedelta(days=1))
        async with opened(tmp_path, back) as store:
            assert (await store.sessions.fork("s", first.id)).id == made.id
            for fork, point, add in (
                (made, first.id, lambda id_: store.log.append(id_, Notice("n"))),
                (other, first_reply.id, lambda id_: store.log.queue(id_, Queued(user_message("later")))),
                (empty, None, lambda id_: store.log.open_turn(id_, user_message("Hi"), MODEL)),
            ):
                await add(fork.id)
                again = await store.sessions.fork("s", point)
                assert again.id != fork.id
                assert (await store.sessions.fork("s", point)).id == again.id
                await store.sessions.trash(again.id, back.utc())
                assert (await store.sessions.fork("s", point)).id not in (again.id, fork.id)

    asyncio.run(main())


def test_what_is_added_to_a_fork_comes_after_it_when_the_clock_is_set_back(tmp_path: Path) -> None:
    """F78, F94: whatever the clock says, also when nothing was written between the fork and a restart."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            _, last = await exchange(store, "s", "one")
            made = await store.sessions.fork("s", last.id)
        with raw(tmp_path) as db:
            (activity,) = db.execute("SELECT activity FROM session WHERE id = ?", (made.id,)).fetchone()
        async with opened(tmp_path, ManualClock(utc=clock.utc() - timedelta(days=1))) as store:
            added = await store.log.append(made.id, Notice("n"))
            assert added.id[:16] > activity[:16] > last.id[:16]

    asyncio.run(main())


def test_a_fork_of_nothing_is_an_empty_chat(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "one")
            made = await store.sessions.fork("s", None)
            assert (made.leaf, made.model, made.pending) == (None, MODEL, False)
            history = await store.sessions.load(made.id)
            assert (history.branch, history.nodes) == ((), ())
            prompt = await store.log.open_turn(made.id, user_message("Hi"), MODEL)
            assert prompt.parent is None
            assert [session.id for session in await store.sessions.list()] == [made.id, "s"]

    asyncio.run(main())


def test_a_copied_reply_no_longer_names_what_it_went_on_from(tmp_path: Path) -> None:
    """F97: ids in the log are those of entries that are there."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, cut = await exchange(store, "s", "one")
            attempt = await store.log.open_attempt("s", prompt.id, Attempt(MODEL, goes_on_from=cut.id))
            whole = await store.log.finish_round(attempt, reply("One and more", goes_on_from=cut.id))
            _, last = await exchange(store, "s", "two")
            made = await store.sessions.fork("s", last.id)
            assert (await contents(store, made.id))[1] == reply("One and more")
            history = await store.sessions.load(made.id)
            assert [node.goes_on_from for node in history.nodes] == [None] * 4
        damage(tmp_path, whole.id, "data = '{'")
        async with opened(tmp_path) as store:
            again = await store.sessions.fork("s", whole.id)
            branch = await store.log.branch(again.id)
            assert isinstance(branch[1].data, Notice)
            assert branch[0].data == prompt.data

    asyncio.run(main())


@pytest.mark.parametrize("parent", ["missing", "itself", "a loop"])
def test_a_damaged_chat_forks_as_far_as_it_can_be_read(tmp_path: Path, parent: str) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            first, second = await exchange(store, "s", "one")
            third, fourth = await exchange(store, "s", "two")
        with raw(tmp_path) as db:
            values = {"missing": "missing", "itself": second.id, "a loop": fourth.id}
            db.execute("UPDATE entry SET parent = ? WHERE id = ?", (values[parent], second.id))
            db.execute("UPDATE entry SET data = x'ff' WHERE id = ?", (third.id,))
        async with opened(tmp_path) as store:
            made = await store.sessions.fork("s", fourth.id)
            branch = await store.log.branch(made.id)
            assert [entry.data for entry in branch if entry.id != branch[1].id] == [second.data, fourth.data]
            assert isinstance(branch[1].data, Notice)
            assert branch[0].parent is None
            assert first.id not in {entry.id for entry in branch}

    asyncio.run(main())


def test_a_fork_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """F74: atomic."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            _, last = await exchange(store, "s", "long " * 10_000)
            pages = await store.database.read(lambda db: db.pragma("page_count"))
            await store.database.read(lambda db: db.pragma("max_page_count", pages + 1))
            with pytest.raises(LogError, match="disk is full"):
                await store.sessions.fork("s", last.id)
            await store.database.read(lambda db: db.pragma("max_page_count", 1_000_000))
            assert [session.id for session in await store.sessions.list()] == ["s"]
        with raw(tmp_path) as db:
            assert db.execute("SELECT count(*) FROM entry").fetchone() == (2,)

    asyncio.run(main())


def test_only_an_entry_of_the_chat_can_be_forked_at(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            _, attempt = await ask(store, "s", "Hi")
            waiting = await store.log.queue("s", Queued(user_message("later")))
            foreign, _ = await exchange(store, "other", "Hi")
            for wrong in (attempt.id, waiting.id, foreign.id, "nothing"):
                with pytest.raises(LogError, match="no entry"):
                    await store.sessions.fork("s", wrong)
            with pytest.raises(LogError, match="no chat nobody"):
                await store.sessions.fork("nobody", None)
            assert len(await store.sessions.list()) == 2

    asyncio.run(main())


def test_a_chat_in_the_trash_is_not_listed_and_comes_back_as_it_was(tmp_path: Path) -> None:
    """Nothing of it is deleted; its fork stays, and what still ends in it is stored."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            prompt, attempt = await ask(store, "s", "one")
            await exchange(store, "other", "Hi")
            made = await store.sessions.fork("s", prompt.id)
            before = await store.sessions.list()
            for _ in range(2):
                await store.sessions.trash("s", clock.utc())
                assert [session.id for session in await store.sessions.list()] == [made.id, "other"]
            await fail(store, attempt, "half")
            history = await store.sessions.load("s")
        async with opened(tmp_path, clock) as store:
            assert len(await store.sessions.list()) == 2
            assert await store.sessions.load("s") == history
            for _ in range(2):
                await store.sessions.trash("s", None)
                assert await store.sessions.list() == before
            with pytest.raises(LogError, match="no chat nobody"):
                await store.sessions.trash("nobody", clock.utc())

    asyncio.run(main())
