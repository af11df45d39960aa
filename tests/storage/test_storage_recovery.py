"""What a start makes of attempts the program died under."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reprise.domain.deltas import RecastDelta, TextDelta, ThinkingDelta
from reprise.domain.messages import Part, TextPart, ThinkingPart
from reprise.domain.sessions import Attempt, AttemptState
from support.clock import ManualClock
from support.storage import MODEL, ask, damage, exchange, opened, raw

BEFORE = (ThinkingPart("Hm."), TextPart("One, "), TextPart("two"))


@pytest.mark.parametrize(
    ("deltas", "parts"),
    [
        ((), (ThinkingPart("Hm."), TextPart("One, two"))),
        ((TextDelta(", three"),), (ThinkingPart("Hm."), TextPart("One, two, three"))),
        ((ThinkingDelta(" Go."), TextDelta(", three")), (ThinkingPart("Hm. Go."), TextPart("One, two, three"))),
        ((TextDelta("so "), RecastDelta(), TextDelta("!")), (ThinkingPart("Hm.so "), TextPart("One, two!"))),
    ],
)
def test_what_an_attempt_went_on_from_stays_before_what_arrived(
    tmp_path: Path, deltas: tuple[TextDelta | ThinkingDelta | RecastDelta, ...], parts: tuple[Part, ...]
) -> None:
    """D5, D8: a crash in the middle of Continue costs neither the text so far nor what came since."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, cut = await exchange(store, "s", "Count")
            open_ = Attempt(MODEL, 2, parts=BEFORE, goes_on_from=cut.id)
            attempt = await store.log.open_attempt("s", prompt.id, open_)
            assert attempt.data == open_
            for delta in deltas:
                store.log.append_chunks(attempt.id, delta)
        async with opened(tmp_path) as store:
            history = await store.sessions.load("s")
            (entry,) = history.attempts[prompt.id]
            assert entry.data == Attempt(MODEL, 2, AttemptState.INTERRUPTED, parts, goes_on_from=cut.id)
            assert history.branch[-1] == cut
            assert not history.session.pending
            assert store.interrupted == ("s",)
        async with opened(tmp_path) as store:
            assert await store.sessions.load("s") == history
            assert store.interrupted == ()

    asyncio.run(main())


def test_interrupted_sessions_are_named_newest_first(tmp_path: Path) -> None:
    """N11: each once, with what ended in time left out, and what is in the trash."""

    async def main() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as store:
            assert store.interrupted == ()
            for name in ("c", "trashed", "a", "b"):
                prompt, _ = await ask(store, name, "Hi")
                await store.log.open_attempt(name, prompt.id, Attempt(MODEL, 2))
            await exchange(store, "done", "Hi")
            await store.sessions.trash("trashed", clock.utc())
        async with opened(tmp_path, clock) as store:
            assert store.interrupted == ("b", "a", "c")
            (first, second) = next(iter((await store.sessions.load("trashed")).attempts.values()))
            for entry in (first, second):
                assert isinstance(entry.data, Attempt)
                assert entry.data.state is AttemptState.INTERRUPTED
        with raw(tmp_path) as db:
            assert db.execute("SELECT count(*) FROM entry WHERE state = 'open'").fetchone() == (0,)

    asyncio.run(main())


@pytest.mark.parametrize("column", ["text = x'41ff'", "kind = x'00'", "text = CAST(x'41ff' AS TEXT)"])
def test_damaged_chunks_do_not_keep_the_program_from_starting(tmp_path: Path, column: str) -> None:
    async def main() -> None:
        async with opened(tmp_path) as store:
            prompt, attempt = await ask(store, "s", "Hi")
            store.log.append_chunks(attempt.id, TextDelta("B"))
        with raw(tmp_path) as db:
            db.execute(f"UPDATE chunk SET {column}")  # noqa: S608 - the tests' own words
        async with opened(tmp_path) as store:
            (entry,) = (await store.sessions.load("s")).attempts[prompt.id]
            assert isinstance(entry.data, Attempt)
            assert entry.data.parts == (TextPart("B" if column.startswith("kind") else "A\ufffd"),)

    asyncio.run(main())


def test_a_damaged_open_attempt_is_open_no_more(tmp_path: Path) -> None:
    """It is left as it is but for its state, so that it is not looked at again at every start."""

    async def main() -> None:
        async with opened(tmp_path) as store:
            _, attempt = await ask(store, "s", "Hi")
            store.log.append_chunks(attempt.id, TextDelta("kept"))
        damage(tmp_path, attempt.id, "data = '{'")
        async with opened(tmp_path) as store:
            assert (await store.sessions.list())[0].pending
        with raw(tmp_path) as db:
            assert db.execute("SELECT state, data FROM entry WHERE id = ?", (attempt.id,)).fetchone() == (
                "interrupted",
                "{",
            )
            assert db.execute("SELECT text FROM chunk").fetchall() == [("kept",)]

    asyncio.run(main())


def test_what_a_close_ended_is_named_at_the_next_start_until_something_is_said(tmp_path: Path) -> None:
    """D8: each session once, not what was stopped, nor what is in the trash, nor what cannot be read."""

    async def main() -> None:
        clock = ManualClock()

        async with opened(tmp_path, clock) as store:
            for session in ("old", "stopped", "trashed", "damaged", "new"):
                await ask(store, session, "go")
            await store.sessions.trash("trashed", clock.utc())
        async with opened(tmp_path, clock) as store:
            assert store.interrupted == ("new", "damaged", "stopped", "old")
            made = [
                (session, await ask(store, session, "on"))
                for session in ("old", "stopped", "trashed", "damaged", "new")
            ]
            await clock.advance(1)
            for session, (_, attempt) in made:
                state = AttemptState.STOPPED if session == "stopped" else AttemptState.INTERRUPTED
                ended = Attempt(MODEL, 1, state, (TextPart("half"),), None, clock.utc())
                await store.log.fail_attempt(attempt, ended)
        damage(tmp_path, dict(made)["damaged"][1].id, "data = '{'")
        async with opened(tmp_path, clock) as store:
            assert store.interrupted == ("new", "old")
        async with opened(tmp_path, clock) as store:
            assert store.interrupted == ("new", "old")
            await clock.advance(1)
            await ask(store, "later", "hi")
        async with opened(tmp_path, clock) as store:
            assert store.interrupted == ("later",)

    asyncio.run(main())
