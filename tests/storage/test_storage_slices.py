"""Reading a session piece by piece, from the end of its branch."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reprise.domain.messages import user_message
from reprise.domain.ports import LogError, Opening
from reprise.domain.sessions import Attempt, Entry, ParamsChange, params_of
from reprise.storage import slices
from support.storage import MODEL, damage, exchange, fail, opened, pieced, raw, reply


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of four entries and three nodes."""
    monkeypatch.setattr(slices, "ENTRIES", 4)
    monkeypatch.setattr(slices, "NODES", 3)


def _grow(folder: Path, exchanges: int) -> None:
    """A session of so many prompts with their replies."""

    async def main() -> None:
        async with opened(folder) as store:
            await exchange(store, "s", "one")
        with raw(folder) as db:
            rows = db.execute("SELECT id, kind, role, at, data FROM entry ORDER BY id").fetchall()
            leaf = rows[-1][0]
            for number in range(1, exchanges):
                for id_, *rest in rows:
                    fresh = f"{id_}{number:06}"
                    db.execute(
                        "INSERT INTO entry (id, session, parent, kind, role, at, data) VALUES (?, 's', ?, ?, ?, ?, ?)",
                        (f"z{number:06}{fresh}", leaf, *rest),
                    )
                    leaf = f"z{number:06}{fresh}"
            db.execute("UPDATE session SET leaf = ?, activity = ?", (leaf, leaf))

    asyncio.run(main())


async def _open(folder: Path) -> tuple[Opening, int]:
    """A session as it opens, and how many steps that took SQLite."""
    ticks = 0

    def tick() -> int:
        nonlocal ticks
        ticks += 1
        return 0

    async with opened(folder) as store:
        await store.sessions._database.read(lambda db: db.connection().set_progress_handler(tick, 10))
        return await store.sessions.open("s"), 10 * ticks


def test_a_session_opens_with_its_end_however_long_it_is(tmp_path: Path) -> None:
    """F86: what is older costs no more than a look along an index, for settings."""
    steps = {}
    for exchanges in (400, 4000):
        folder = tmp_path / str(exchanges)
        folder.mkdir()
        _grow(folder, exchanges)
        opening, steps[exchanges] = asyncio.run(_open(folder))
        newest = opening.newest
        assert (len(newest.entries), len(newest.nodes)) == (slices.ENTRIES, slices.NODES)
        assert newest.entries[-1].id == opening.session.leaf
        assert newest.more_nodes
    assert (steps[4000] - steps[400]) / 7200 <= 5


def test_the_pieces_put_together_are_the_session(tmp_path: Path, small: None) -> None:
    """B6, F86: branch, attempts, shape and queue, with other branches beside it."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompts = []
            for number in range(6):
                prompt = await store.log.open_turn("s", user_message(str(number)), MODEL)
                for _ in range(number % 3):
                    await fail(store, await store.log.open_attempt("s", prompt.id, Attempt(MODEL)), "half")
                await store.log.append("s", reply("whole"), under=prompt.id)
                prompts.append(prompt)
            await store.log.open_turn("s", user_message("edited"), MODEL, beside=prompts[3].id)
            for _ in range(5):
                await exchange(store, "s", "more")
            assert await pieced(store, "s") == await store.sessions.load("s")

    asyncio.run(main())


def test_the_first_piece_goes_back_to_a_prompt(tmp_path: Path, small: None) -> None:
    """B1: what is pending, and for which prompt, is known at once, however many notices are behind it."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "one")
            prompt = await store.log.open_turn("s", user_message("two"), MODEL)
            for number in range(11):
                await store.log.append("s", ParamsChange({"n": number}))
            entries = (await store.sessions.open("s")).newest.entries
            assert prompt in entries
            assert len(entries) < 14

    asyncio.run(main())


def test_the_settings_of_what_is_not_read_come_along(tmp_path: Path, small: None) -> None:
    """B8: those of other branches do not."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            first, _ = await exchange(store, "s", "one")
            await store.log.append("s", ParamsChange({"a": 1, "b": 1}))
            await store.log.append("s", ParamsChange({"b": 2}))
            for _ in range(4):
                await exchange(store, "s", "more")
            opening = await store.sessions.open("s")
            assert params_of(opening.settings) == {"a": 1, "b": 2}
            await store.log.open_turn("s", user_message("other"), MODEL, beside=first.id)
            for _ in range(4):
                await exchange(store, "s", "more")
            assert (await store.sessions.open("s")).settings == ()

    asyncio.run(main())


def test_long_messages_make_a_piece_shorter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoding one never holds the window for long."""
    monkeypatch.setattr(slices, "_CHARACTERS", 3000)

    async def main() -> None:
        async with opened(tmp_path) as store:
            for _ in range(10):
                await exchange(store, "s", "x" * 1000)
            entries = (await store.sessions.open("s")).newest.entries
            assert len(entries) == 3
            assert await pieced(store, "s") == await store.sessions.load("s")

    asyncio.run(main())


@pytest.mark.parametrize(
    "change",
    ["parent = 'missing'", "parent = '~'", "parent = id", "kind = 'prophecy'", "data = '{}'", "kind = 'attempt'"],
)
def test_a_damaged_entry_reads_in_pieces_as_it_reads_whole(tmp_path: Path, small: None, change: str) -> None:
    """One bad row never prevents a chat from opening, and every walk ends."""

    async def main() -> None:
        entries: list[Entry] = []
        async with opened(tmp_path) as store:
            for _ in range(6):
                entries += await exchange(store, "s", "one")
        for at in (11, 7, 4, 0):
            damage(tmp_path, entries[at].id, change)
            async with opened(tmp_path) as store:
                assert await pieced(store, "s") == await store.sessions.load("s")

    asyncio.run(main())


def test_a_session_without_entries_opens_empty_and_an_unknown_one_is_a_sentence(tmp_path: Path) -> None:
    """N3."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            await exchange(store, "s", "one")
            await store.log.move_leaf("s", None)
            opening = await store.sessions.open("s")
            assert (opening.newest.entries, len(opening.newest.nodes), opening.queue) == ((), 2, ())
            with pytest.raises(LogError, match="no chat nobody"):
                await store.sessions.open("nobody")

    asyncio.run(main())
