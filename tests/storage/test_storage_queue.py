"""Messages that wait for their delivery."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reprise.domain.messages import user_message
from reprise.domain.ports import LogError
from reprise.domain.sessions import Delivery, Notice, Queued
from support.storage import MODEL, OTHER, ask, damage, exchange, opened, reply


def queued(text: str, delivery: Delivery = Delivery.STEER) -> Queued:
    return Queued(user_message(text), delivery)


def test_a_queued_message_is_on_no_branch(tmp_path: Path) -> None:
    """D11, I4: listed oldest first, before and after a restart; not the leaf, not pending, no sibling, no activity."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, done = await exchange(store, "s", "one")
            await exchange(store, "newer", "Hi")
            first = await store.log.queue("s", queued("also"))
            second = await store.log.queue("s", queued("then", Delivery.FOLLOW_UP))
            assert (first.parent, first.data) == (done.id, queued("also"))
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            assert history.queue == (first, second)
            assert history.branch == (prompt, done) == await store.log.branch("s")
            assert {node.id for node in history.nodes} == {prompt.id, done.id}
            assert history.attempts == {}
            assert [session.id for session in await store.sessions.list()] == ["newer", "s"]
            assert (history.session.leaf, history.session.pending) == (done.id, False)
            assert (await store.sessions.load("newer")).queue == ()
            with pytest.raises(LogError, match="no chat"):
                await store.log.queue("nobody", queued("x"))
            with pytest.raises(LogError, match="no entry"):
                await store.log.move_leaf("s", first.id)
            with pytest.raises(ValueError, match="never the leaf"):
                await store.log.append("s", queued("x"))

    asyncio.run(main())


def test_a_delivered_message_leaves_the_queue_in_the_same_transaction(tmp_path: Path) -> None:
    """I4: exactly one user entry for one message, whatever comes twice."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            _, attempt = await ask(store, "s", "one")
            first = await store.log.queue("s", queued("also"))
            second = await store.log.queue("s", queued("then"))
            done = await store.log.finish_round(attempt, reply("One"))
            delivered = await store.log.open_turn("s", user_message("also"), MODEL, queued=first.id)
            assert delivered.parent == done.id
            assert (await store.sessions.load("s")).queue == (second,)
            before = await store.sessions.load("s")
            foreign, _ = await exchange(store, "other", "Hi")
            for wrong in (first.id, delivered.id, foreign.id, "nothing"):
                with pytest.raises(LogError, match="not in the queue"):
                    await store.log.open_turn("s", user_message("also"), MODEL, queued=wrong)
            with pytest.raises(LogError, match="not in the queue"):
                await store.log.open_turn("new", user_message("also"), MODEL, queued=second.id)
            assert await store.sessions.load("s") == before
            assert {session.id for session in await store.sessions.list()} == {"s", "other"}

    asyncio.run(main())


def test_a_queued_message_can_be_changed_and_taken_off(tmp_path: Path) -> None:
    """I5: in its place; taking off what is delivered already changes nothing, changing it is refused."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "one")
            entries = [await store.log.queue("s", queued(text)) for text in ("a", "b", "c")]
            changed = await store.log.requeue(entries[0], queued("a \ud800", Delivery.FOLLOW_UP))
            assert changed.data == queued("a \ufffd", Delivery.FOLLOW_UP)
            assert (await store.sessions.load("s")).queue == (changed, *entries[1:])
            await store.log.unqueue(entries[1])
            await store.log.unqueue(entries[1])
            assert (await store.sessions.load("s")).queue == (changed, entries[2])
            prompt = await store.log.open_turn("s", user_message("c"), MODEL, queued=entries[2].id)
            await store.log.unqueue(entries[2])
            await store.log.unqueue(prompt)
            for gone in (*entries[1:], prompt):
                with pytest.raises(LogError, match="not in the queue"):
                    await store.log.requeue(gone, queued("x"))
            history = await store.sessions.load("s")
            assert history.branch[-1] == prompt
            assert history.queue == (changed,)

    asyncio.run(main())


def test_more_messages_than_a_statement_takes_leave_at_once(tmp_path: Path) -> None:
    """D11: those of another chat and one that is delivered already stay."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "one")
            await exchange(store, "other", "one")
            entries = [await store.log.queue("s", queued(str(number))) for number in range(1002)]
            foreign = await store.log.queue("other", queued("a"))
            prompt = await store.log.open_turn("s", user_message("0"), MODEL, queued=entries[0].id)
            await store.log.unqueue(*entries[:-1], prompt)
            history = await store.sessions.load("s")
            assert (history.branch[-1], history.queue) == (prompt, (entries[-1],))
            assert (await store.sessions.load("other")).queue == (foreign,)

    asyncio.run(main())


def test_a_queued_message_stays_wherever_the_leaf_goes(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, done = await exchange(store, "s", "one")
            waiting = await store.log.queue("s", queued("also"))
            for leaf in (None, prompt.id, done.id, None):
                await store.log.move_leaf("s", leaf)
                assert (await store.sessions.load("s")).queue == (waiting,)
            at_root = await store.log.queue("s", queued("more"))
            assert at_root.parent is None
            delivered = await store.log.open_turn("s", user_message("also"), OTHER, queued=waiting.id)
            assert delivered.parent is None
            beside = await store.log.open_turn("s", user_message("more"), OTHER, beside=prompt.id, queued=at_root.id)
            assert beside.parent is None
            assert (await store.sessions.load("s")).queue == ()

    asyncio.run(main())


def test_a_damaged_queued_message_costs_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It stays in the database, and the log file says so; an unknown delivery is the patient one."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "one")
            bad, later, good = [await store.log.queue("s", queued(text)) for text in ("a", "b", "c")]
            await store.log.append("s", Notice("n"))
        damage(tmp_path, bad.id, "data = '{\"message\": 7}'")
        damage(tmp_path, later.id, "data = replace(data, 'steer', 'by_pigeon')")
        async with opened(tmp_path) as store:
            queue = (await store.sessions.load("s")).queue
            assert [(entry.id, entry.data) for entry in queue] == [
                (later.id, queued("b", Delivery.FOLLOW_UP)),
                (good.id, queued("c")),
            ]
            assert f"queued {bad.id} cannot be read" in caplog.text
            await store.log.unqueue(bad)

    asyncio.run(main())
