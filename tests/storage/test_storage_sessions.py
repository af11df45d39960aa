"""Listing, opening and naming sessions."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from reprise.domain.messages import user_message
from reprise.domain.ports import Draft, LogError
from reprise.domain.sessions import Attempt, AttemptState, ModelChange, Notice
from reprise.domain.tree import node_of
from support.clock import ManualClock
from support.storage import MODEL, OTHER, ask, damage, exchange, opened, raw, reply


def test_the_newest_activity_comes_first_and_a_new_title_is_no_activity(tmp_path: Path) -> None:
    """F80, F94: recency follows messages, not renames, notices or model changes."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            for name in "abc":
                await exchange(store, name, name)
                await clock.advance(60)
            before = {session.id: session.updated_at for session in await store.sessions.list()}
            await store.sessions.rename("a", "Renamed")
            await store.log.append("a", Notice("resumed"))
            await store.log.append("a", ModelChange(OTHER))
            await store.log.move_leaf("a", None)
            listed = await store.sessions.list()
            assert [session.id for session in listed] == ["c", "b", "a"]
            assert {session.id: session.updated_at for session in listed} == before
            now = clock.utc()
            await store.log.open_turn("b", user_message("more"), MODEL)
            listed = await store.sessions.list()
            assert [session.id for session in listed] == ["b", "c", "a"]
            assert listed[0].updated_at == now

    asyncio.run(main())


def test_recency_survives_a_clock_set_back(tmp_path: Path) -> None:

    async def main() -> None:
        for name, hours in (("first", 0), ("second", -3)):
            async with opened(tmp_path, ManualClock(utc=ManualClock().utc() + timedelta(hours=hours))) as store:
                await exchange(store, name, name)
        async with opened(tmp_path) as store:
            assert [session.id for session in await store.sessions.list()] == ["second", "first"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("title", "stored"),
    [("  Plans  ", "Plans"), ("two\nlines\tand\x00more", "two lines and more"), ("x" * 64, "x" * 64)],
)
def test_a_title_is_trimmed_and_made_one_line(tmp_path: Path, title: str, stored: str) -> None:
    """S4, F88."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "Hi")
            renamed = await store.sessions.rename("s", title)
            assert renamed.title == stored
            assert await store.sessions.list() == (renamed,)

    asyncio.run(main())


@pytest.mark.parametrize("title", ["", " \n ", "x" * 65])
def test_a_title_without_words_or_too_long_is_refused(tmp_path: Path, title: str) -> None:
    """S4: 1 to 64 characters."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "Hi")
            with pytest.raises(LogError, match="1 to 64"):
                await store.sessions.rename("s", title)
            assert (await store.sessions.list())[0].title == "Hi"

    asyncio.run(main())


def test_an_unknown_session_is_a_sentence(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            with pytest.raises(LogError, match="no chat nobody"):
                await store.sessions.load("nobody")
            with pytest.raises(LogError, match="no chat nobody"):
                await store.sessions.rename("nobody", "x")

    asyncio.run(main())


def test_ten_thousand_entries_open_with_five_statements(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """F86: a deep branch is not quadratic, neither in statements nor in steps."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await store.log.open_turn("s", user_message("Hi"), MODEL)
        _grow(tmp_path, 10_000)
        async with opened(tmp_path) as store:
            caplog.clear()
            with caplog.at_level("DEBUG", "peewee"):
                history = await store.sessions.load("s")
                assert len(_statements(caplog)) == 5
            assert len(history.branch) == 10_001
            assert history.nodes == tuple(map(node_of, history.branch))
            assert [entry.parent for entry in history.branch[1:]] == [entry.id for entry in history.branch[:-1]]

    asyncio.run(main())


def test_the_context_of_a_request_costs_what_was_added_since(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """F86: a long chat is not read again for every round, wherever its leaf moved."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await store.log.open_turn("s", user_message("Hi"), MODEL)
        _grow(tmp_path, 1000)
        async with opened(tmp_path) as store:
            before = (await store.sessions.load("s")).branch
            added = await exchange(store, "s", "more")
            await store.log.move_leaf("s", before[500].id)
            sibling = await store.log.append("s", reply("other"))
            for leaf, expected in (
                (added[1].id, (*before, *added)),
                (before[400].id, before[:401]),
                (None, ()),
                (sibling.id, (*before[:501], sibling)),
                (added[1].id, (*before, *added)),
                (before[-1].id, before),
            ):
                await store.log.move_leaf("s", leaf)
                caplog.clear()
                with caplog.at_level("DEBUG", "peewee"):
                    assert await store.log.branch("s") == expected
                assert len(_statements(caplog)) <= 55
            for number in range(10):
                await exchange(store, f"s{number}", "Hi")
                await store.sessions.load(f"s{number}")
            assert await store.log.branch("s") == before

    asyncio.run(main())


def test_ten_thousand_sessions_are_listed_with_one_statement(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """F86: long lists open at once, pending included."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await store.log.open_turn("s", user_message("Hi"), MODEL)
        with raw(tmp_path) as db:
            at, data, leaf = db.execute("SELECT at, data, id FROM entry").fetchone()
            names = [f"{number:05}" for number in range(10_000)]
            db.executemany(
                "INSERT INTO session (id, title, created_at, updated_at, activity) VALUES (?, 'T', ?, ?, ?)",
                [(name, at, at, f"{leaf}{name}") for name in names],
            )
            db.executemany(
                "INSERT INTO entry (id, session, kind, role, at, data) VALUES (?, ?, 'message', 'user', ?, ?)",
                [(f"{leaf}{name}", name, at, data) for name in names],
            )
            db.execute("UPDATE session SET leaf = activity")
        async with opened(tmp_path) as store:
            caplog.clear()
            with caplog.at_level("DEBUG", "peewee"):
                listed = await store.sessions.list()
            assert len(_statements(caplog)) == 1
            assert len(listed) == 10_001
            assert all(session.pending for session in listed)
            assert [session.id for session in listed[:2]] == ["09999", "09998"]

    asyncio.run(main())


@pytest.mark.parametrize(
    "change",
    [
        "data = '{\"role\": '",
        "data = '[]'",
        "data = '{}'",
        "data = ''",
        "data = x'fffe00'",
        'data = \'{"role":"wizard","parts":[]}\'',
        'data = \'{"role":"user","parts":[{"type":"hologram"}]}\'',
        'data = \'{"role":"user","parts":[{"type":"text","text":null}]}\'',
        'data = \'{"role":"user","parts":7}\'',
        "data = '" + "[" * 5000 + "'",
        "kind = 'prophecy'",
    ],
)
def test_a_damaged_entry_is_left_out_and_said(tmp_path: Path, change: str) -> None:
    """One bad row never prevents a chat from opening."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            first, second = await exchange(store, "s", "one")
            third, fourth = await exchange(store, "s", "two")
        damage(tmp_path, third.id, change)
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            assert [entry.id for entry in history.branch] == [first.id, second.id, third.id, fourth.id]
            notice = history.branch[2].data
            assert isinstance(notice, Notice)
            assert "could not be read" in notice.text
            assert [entry.data for entry in history.branch if entry.id != third.id] == [
                first.data,
                second.data,
                fourth.data,
            ]
            assert await store.log.branch("s") == history.branch
            more, _ = await exchange(store, "s", "three")
            assert more.parent == fourth.id
        with raw(tmp_path) as db:
            assert db.execute("SELECT count(*) FROM entry WHERE id = ?", (third.id,)).fetchone() == (1,)

    asyncio.run(main())


def test_invalid_utf_8_costs_characters_and_not_the_chat(tmp_path: Path) -> None:

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, _ = await exchange(store, "s", "one")
        with raw(tmp_path) as db:
            text = b'{"role":"user","parts":[{"type":"text","text":"a\xffb"}]}'
            db.execute("UPDATE entry SET data = CAST(? AS TEXT) WHERE id = ?", (text, prompt.id))
            db.execute("UPDATE session SET title = CAST(x'41ff' AS TEXT)")
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            assert history.branch[0].data == user_message("a\ufffdb")
            assert history.session.title == "A\ufffd"

    asyncio.run(main())


def test_unknown_fields_and_parts_of_later_versions_are_ignored(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, _ = await exchange(store, "s", "one")
        data = {"role": "user", "mood": 1, "parts": [{"type": "image"}, {"type": "text", "text": "one", "bold": True}]}
        with raw(tmp_path) as db:
            db.execute("UPDATE entry SET data = ? WHERE id = ?", (json.dumps(data), prompt.id))
        async with opened(tmp_path) as store:
            assert (await store.sessions.load("s")).branch[0] == prompt

    asyncio.run(main())


def test_a_damaged_attempt_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, bad = await ask(store, "s", "one")
            good = await store.log.open_attempt("s", prompt.id, Attempt(MODEL, 2))
        damage(tmp_path, bad.id, "data = '{'")
        async with opened(tmp_path) as store:
            (entry,) = (await store.sessions.load("s")).attempts[prompt.id]
            assert entry.id == good.id
            assert isinstance(entry.data, Attempt)
            assert entry.data.state is AttemptState.INTERRUPTED
        assert "cannot be read" in caplog.text

    asyncio.run(main())


@pytest.mark.parametrize("parent", ["missing", "itself"])
def test_a_broken_chain_begins_with_a_notice(tmp_path: Path, parent: str) -> None:
    """What can still be read is shown; a loop ends."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            first, second = await exchange(store, "s", "one")
            _, fourth = await exchange(store, "s", "two")
        with raw(tmp_path) as db:
            value = fourth.id if parent == "itself" else "missing"
            db.execute("UPDATE entry SET parent = ? WHERE id = ?", (value, second.id))
        async with opened(tmp_path) as store:
            branch = (await store.sessions.load("s")).branch
            assert len(branch) == 4
            assert isinstance(branch[0].data, Notice)
            assert branch[0].id != first.id
            assert len(await store.sessions.list()) == 1

    asyncio.run(main())


def test_drafts_are_kept_per_session(tmp_path: Path) -> None:
    """N11: the key "" is the new chat."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            assert await store.drafts.load() == {}
            await store.drafts.save("", Draft("new\x00 \ud800", 3))
            await store.drafts.save("s", Draft("old"))
            await store.drafts.save("s", Draft("newer", 5))
            await store.drafts.save("gone", Draft("x"))
            await store.drafts.save("gone", None)
            await store.drafts.save("never", None)
        async with opened(tmp_path) as store:
            assert await store.drafts.load() == {"": Draft("new\x00 \ufffd", 3), "s": Draft("newer", 5)}

    asyncio.run(main())


def _grow(folder: Path, count: int) -> None:
    with raw(folder) as db:
        parent, at, data = db.execute("SELECT id, at, data FROM entry").fetchone()
        rows = []
        for number in range(count):
            id_ = f"{int(parent[:16], 16) + 1:016x}{number:08x}"
            rows.append((id_, "s", parent, "message", "user", at, data))
            parent = id_
        db.executemany("INSERT INTO entry (id, session, parent, kind, role, at, data) VALUES (?,?,?,?,?,?,?)", rows)
        db.execute("UPDATE session SET leaf = ?", (parent,))


def _statements(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "peewee"]
