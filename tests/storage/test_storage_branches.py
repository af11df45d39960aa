"""Branches of one session: where replies and prompts go, what moves, what answers there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reprise.domain.messages import Message, ReplyInfo, Role, TextPart, user_message
from reprise.domain.ports import LogError
from reprise.domain.sessions import Attempt, ModelChange, Notice, ParamsChange, Queued, params_of
from reprise.domain.tree import Node, Tree, node_of
from reprise.storage.store import Store
from support.storage import MODEL, OTHER, ask, damage, exchange, fail, opened, raw, reply


async def ids(store: Store, session: str = "s") -> list[str]:
    return [entry.id for entry in await store.log.branch(session)]


def test_another_reply_stands_beside_the_first_one(tmp_path: Path) -> None:
    """B14, D20: while it is made the old one stays the leaf; then the new one is, and nothing is deleted."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, first = await exchange(store, "s", "one")
            attempt = await store.log.open_attempt("s", prompt.id, Attempt(MODEL))
            assert await ids(store) == [prompt.id, first.id]
            failed = await fail(store, attempt, "half")
            (listed,) = await store.sessions.list()
            assert (listed.leaf, listed.pending) == (first.id, False)
            again = await store.log.open_attempt("s", prompt.id, Attempt(MODEL, 2))
            second = await store.log.finish_round(again, reply("Second"), under=prompt.id)
            assert await ids(store) == [prompt.id, second.id]
            history = await store.sessions.load("s")
            assert Tree(history.nodes).siblings(second.id) == (first.id, second.id)
            assert history.attempts == {prompt.id: (failed,)}

    asyncio.run(main())


def test_a_reply_goes_behind_what_was_recorded_since_its_prompt(tmp_path: Path) -> None:
    """B8: a model chosen while the reply was made stays on the branch, and stays chosen."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, attempt = await ask(store, "s", "one")
            change = await store.log.append("s", ModelChange(OTHER))
            notice = await store.log.append("s", Notice("noted"))
            done = await store.log.finish_round(attempt, reply("One"), under=notice.id)
            assert await ids(store) == [prompt.id, change.id, notice.id, done.id]
            assert (await store.sessions.list())[0].model == OTHER

    asyncio.run(main())


def test_a_reply_never_goes_anywhere_else(tmp_path: Path) -> None:
    """`under` stands behind what is answered with no message between; else nothing is written, not even half."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            first, first_reply = await exchange(store, "s", "one")
            prompt, attempt = await ask(store, "s", "two")
            waiting = await store.log.queue("s", Queued(user_message("later")))
            beside = await store.log.append("s", Notice("another branch"), under=first_reply.id)
            foreign, _ = await exchange(store, "other", "Hi")
            kept = await store.log.open_attempt("s", prompt.id, Attempt(MODEL, 2))
            failed = await fail(store, kept, "half")
            before = await store.sessions.load("s")
            for wrong in (first.id, first_reply.id, beside.id, foreign.id, waiting.id, attempt.id, "nothing"):
                with pytest.raises(LogError, match=r"no entry|does not follow"):
                    await store.log.finish_round(attempt, reply("Two"), under=wrong)
                with pytest.raises(LogError, match=r"no entry|does not follow"):
                    await store.log.keep(failed, reply("half"), under=wrong)
            assert await store.sessions.load("s") == before
            done = await store.log.finish_round(attempt, reply("Two"))
            assert done.parent == prompt.id

    asyncio.run(main())


def test_a_second_reply_never_goes_behind_the_first(tmp_path: Path) -> None:
    """D20: a notice below the old reply is on the old reply's branch, though it stands behind the prompt too."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, first = await exchange(store, "s", "one")
            notice = await store.log.append("s", Notice("noted"))
            attempt = await store.log.open_attempt("s", prompt.id, Attempt(MODEL))
            for wrong in (first.id, notice.id):
                with pytest.raises(LogError, match="does not follow"):
                    await store.log.finish_round(attempt, reply("Second"), under=wrong)
            assert await ids(store) == [prompt.id, first.id, notice.id]

    asyncio.run(main())


def test_what_an_ended_attempt_said_becomes_the_reply(tmp_path: Path) -> None:
    """D5: Keep. The attempt stays in the log, nothing is pending, and the session goes on from there."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, attempt = await ask(store, "s", "one")
            with pytest.raises(LogError, match="still open"):
                await store.log.keep(attempt, reply("half"))
            failed = await fail(store, attempt, "half")
            notice = await store.log.append("s", Notice("noted"))
            message = Message(Role.ASSISTANT, (TextPart("half"),), ReplyInfo(MODEL, "stopped", goes_on_from=failed.id))
            kept = await store.log.keep(failed, message, under=notice.id)
            assert (kept.parent, kept.data) == (notice.id, message)
            for wrong in (prompt, kept):
                with pytest.raises(LogError, match="no attempt"):
                    await store.log.keep(wrong, message)
            more, _ = await exchange(store, "s", "two")
            assert more.parent == kept.id
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            assert [entry.id for entry in history.branch[:3]] == [prompt.id, notice.id, kept.id]
            assert history.attempts == {prompt.id: (failed,)}
            assert not history.session.pending

    asyncio.run(main())


def test_an_edited_prompt_is_a_sibling_of_the_first(tmp_path: Path) -> None:
    """B9: it hangs where the first one hangs, at the root too, and the old branch stays."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            first, first_reply = await exchange(store, "s", "one")
            change = await store.log.append("s", ModelChange(OTHER))
            second, _ = await exchange(store, "s", "two")
            edited = await store.log.open_turn("s", user_message("two, better"), OTHER, beside=second.id)
            assert edited.parent == second.parent == change.id
            assert await ids(store) == [first.id, first_reply.id, change.id, edited.id]
            root = await store.log.open_turn("s", user_message("one, better"), MODEL, beside=first.id)
            assert root.parent is None
            (listed,) = await store.sessions.list()
            assert (listed.leaf, listed.pending, listed.model, listed.title) == (root.id, True, MODEL, "one")
            tree = Tree((await store.sessions.load("s")).nodes)
            assert tree.siblings(second.id) == (second.id, edited.id)
            assert tree.siblings(root.id) == (first.id, root.id)
            foreign, _ = await exchange(store, "other", "Hi")
            for wrong in (first_reply.id, change.id, foreign.id, "nothing"):
                with pytest.raises(LogError, match="no prompt"):
                    await store.log.open_turn("s", user_message("x"), MODEL, beside=wrong)
            with pytest.raises(LogError, match="no prompt"):
                await store.log.open_turn("new", user_message("x"), MODEL, beside=first.id)
            assert {session.id for session in await store.sessions.list()} == {"s", "other"}

    asyncio.run(main())


def test_a_change_elsewhere_moves_nothing(tmp_path: Path) -> None:
    """D13, D20: a switch during Regenerate is recorded where the new reply will stand, not where the session stands."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, first = await exchange(store, "s", "one")
            attempt = await store.log.open_attempt("s", prompt.id, Attempt(MODEL))
            change = await store.log.append("s", ModelChange(OTHER, fallback_from=MODEL), under=prompt.id)
            assert change.parent == prompt.id
            (listed,) = await store.sessions.list()
            assert (listed.leaf, listed.model) == (first.id, MODEL)
            second = await store.log.finish_round(attempt, reply("Second", OTHER), under=change.id)
            assert await ids(store) == [prompt.id, change.id, second.id]
            assert (await store.sessions.list())[0].model == OTHER
            at_leaf = await store.log.append("s", ModelChange(MODEL), under=second.id)
            (listed,) = await store.sessions.list()
            assert (listed.leaf, listed.model) == (at_leaf.id, MODEL)
            waiting = await store.log.queue("s", Queued(user_message("later")))
            for wrong in (attempt.id, waiting.id, "nothing"):
                with pytest.raises(LogError, match="no entry"):
                    await store.log.append("s", Notice("x"), under=wrong)

    asyncio.run(main())


def test_the_model_follows_the_leaf(tmp_path: Path) -> None:
    """B8: model and settings are those of the branch; where nobody answered yet the last one stays."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            first, first_reply = await exchange(store, "s", "one")
            params = await store.log.append("s", ParamsChange({"retry.policy": "off", "retry.max_retries": None}))
            change = await store.log.append("s", ModelChange(OTHER))
            for leaf, model in (
                (first_reply.id, MODEL),
                (change.id, OTHER),
                (params.id, MODEL),
                (change.id, OTHER),
                (first.id, OTHER),
                (None, OTHER),
                (first_reply.id, MODEL),
            ):
                await store.log.move_leaf("s", leaf)
                (listed,) = await store.sessions.list()
                assert (listed.leaf, listed.model) == (leaf, model)
            await store.log.move_leaf("s", change.id)
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            assert params_of(history.branch) == {"retry.policy": "off"}
            assert history.branch[2].data == ParamsChange({"retry.policy": "off", "retry.max_retries": None})
        damage(tmp_path, change.id, "data = '{'")
        async with opened(tmp_path) as store:
            await store.log.move_leaf("s", change.id)
            assert (await store.sessions.list())[0].model == MODEL

    asyncio.run(main())


def test_the_nodes_are_the_shape_of_all_branches(tmp_path: Path) -> None:
    """N1: everything but what hangs beside them, oldest first, with what each reply went on from."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, cut = await exchange(store, "s", "one")
            attempt = await store.log.open_attempt("s", prompt.id, Attempt(MODEL, goes_on_from=cut.id))
            whole = await store.log.finish_round(attempt, reply("One and more", goes_on_from=cut.id))
            await store.log.queue("s", Queued(user_message("later")))
            await store.log.move_leaf("s", cut.id)
            notice = await store.log.append("s", Notice("n"))
            change = await store.log.append("s", ParamsChange({}))
            await exchange(store, "other", "Hi")
            written = (prompt, cut, whole, notice, change)
            nodes = (await store.sessions.load("s")).nodes
            assert nodes == tuple(map(node_of, written))
            assert nodes[2] == Node(whole.id, prompt.id, Role.ASSISTANT, cut.id)
            assert Tree(nodes).siblings(whole.id) == (whole.id,)
            await store.log.move_leaf("s", None)
            empty = await store.sessions.load("s")
            assert (empty.branch, empty.nodes) == ((), nodes)

    asyncio.run(main())


def test_damaged_entries_spoil_no_shape(tmp_path: Path) -> None:
    """A loop, an unknown role, a missing parent: the rest stands where it stood, and every walk ends."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            first, second = await exchange(store, "s", "one")
            third, fourth = await exchange(store, "s", "two")
        with raw(tmp_path) as db:
            db.execute("UPDATE entry SET parent = ? WHERE id = ?", (second.id, first.id))
            db.execute("UPDATE entry SET role = 'wizard' WHERE id = ?", (second.id,))
            db.execute("UPDATE entry SET parent = 'missing' WHERE id = ?", (third.id,))
            db.execute("UPDATE entry SET parent = id, kind = 'prophecy' WHERE id = ?", (fourth.id,))
        async with opened(tmp_path) as store:
            nodes = (await store.sessions.load("s")).nodes
            assert nodes == (
                Node(first.id, None, Role.USER),
                Node(second.id, first.id, None),
                Node(third.id, "missing" if third.id > "missing" else None, Role.USER),
                Node(fourth.id, None, None),
            )
            tree = Tree(nodes)
            assert tree.tip(first.id) == second.id
            assert tree.tip(fourth.id) == fourth.id

    asyncio.run(main())


def test_the_shape_is_read_off_an_index(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """F86: what ten thousand entries say is not read for it."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "one")
            with caplog.at_level("DEBUG", "peewee"):
                await store.sessions.load("s")

    asyncio.run(main())
    statements = [record.msg[0] for record in caplog.records if isinstance(record.msg, tuple)]
    (statement,) = [statement for statement in statements if "goes_on_from" in statement]
    with raw(tmp_path) as db:
        plan = db.execute(f"EXPLAIN QUERY PLAN {statement}", ("s", "", -1)).fetchall()
    (step,) = [row[3] for row in plan]
    assert step.startswith("SEARCH entry USING COVERING INDEX entry_tree")


def test_going_back_and_forth_between_branches_reads_what_is_there(tmp_path: Path) -> None:
    """B6: the branch that is kept in memory is never that of another leaf."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            first, first_reply = await exchange(store, "s", "one")
            left = [entry for number in range(27) for entry in await exchange(store, "s", f"left {number}")]
            await store.log.move_leaf("s", first_reply.id)
            right = [entry for number in range(27) for entry in await exchange(store, "s", f"right {number}")]
            start = [first, first_reply]
            edited = await store.log.open_turn("s", user_message("edited"), MODEL, beside=left[2].id)
            branches = [
                [*start, *left],
                [*start, *right],
                [*start, *left[:2], edited],
                [*start, *right[:7]],
                [first],
                [],
            ]
            for number in range(30):
                branch = branches[(number * 5 + number // 7) % len(branches)]
                await store.log.move_leaf("s", branch[-1].id if branch else None)
                assert await store.log.branch("s") == tuple(branch)
                assert (await store.sessions.load("s")).branch == tuple(branch)

    asyncio.run(main())


@pytest.mark.parametrize("is_known", [False, True])
def test_a_damaged_leaf_beside_the_branches_reads_the_same_in_memory(tmp_path: Path, is_known: bool) -> None:
    """What hangs beside a branch is on none, whether the branch was read before or not."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            _, attempt = await ask(store, "s", "Hi")
            waiting = await store.log.queue("s", Queued(user_message("later")))
            if is_known:
                await store.log.branch("s")
            for leaf in (attempt.id, waiting.id):
                await store.database.write(lambda db, leaf=leaf: db.execute_sql("UPDATE session SET leaf = ?", (leaf,)))
                (entry,) = await store.log.branch("s")
                assert (entry.id, entry.parent) == (leaf, None)
                assert isinstance(entry.data, Notice)

    asyncio.run(main())


def test_a_branch_that_was_not_written_is_not_remembered(tmp_path: Path) -> None:
    """F72: what a failed write would have appended is on no branch."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, attempt = await ask(store, "s", "Hi")
            sibling = await store.log.open_turn("s", user_message("Hi!"), MODEL, beside=prompt.id)
            pages = await store.database.read(lambda db: db.pragma("page_count"))
            await store.database.read(lambda db: db.pragma("max_page_count", pages))
            with pytest.raises(LogError, match="disk is full"):
                await store.log.finish_round(attempt, reply("long " * 10_000))
            assert await ids(store) == [sibling.id]
            assert (await store.sessions.list())[0].leaf == sibling.id
            await store.database.read(lambda db: db.pragma("max_page_count", 1_000_000))
            done = await store.log.finish_round(attempt, reply("long " * 10_000))
            assert await ids(store) == [prompt.id, done.id]

    asyncio.run(main())
