"""Whatever is done in whatever order, memory equals disk."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.domain.deltas import TextDelta
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import (
    Message,
    ModelRef,
    ReplyInfo,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
    user_message,
)
from reprise.domain.sessions import Attempt, AttemptState, Entry, EntryData, ModelChange, Notice, answered_entry, branch
from reprise.storage.rows import clean, decode, encode
from reprise.storage.store import Store
from support.clock import ManualClock
from support.storage import MODEL, opened

# The disk is not the point here, and 4 ms a commit would be most of the time.
FAST = Path("/dev/shm") if Path("/dev/shm").is_dir() else None  # noqa: S108

text = st.text(st.characters(exclude_categories=()), max_size=20)
maybe_float = st.none() | st.floats(allow_nan=False, allow_infinity=False)
models = st.builds(ModelRef, text, text)
parts = st.lists(
    st.builds(TextPart, text)
    | st.builds(ThinkingPart, text)
    | st.builds(ToolCallPart, text, text, text)
    | st.builds(ToolResultPart, text, text, text, st.booleans()),
    max_size=3,
).map(tuple)
usages = st.none() | st.builds(Usage, st.none() | st.integers(), st.none() | st.integers())
replies = st.none() | st.builds(ReplyInfo, models, st.none() | text, usages, maybe_float, maybe_float)
messages = st.builds(Message, st.sampled_from(Role), parts, replies)
failures = st.builds(
    Failure,
    st.sampled_from(FailureKind),
    text,
    st.booleans(),
    maybe_float,
    st.none() | st.integers(100, 599),
    st.none() | text,
    st.none() | text,
)
# Years from 2 on: a zone's offset must not lead out of the calendar.
times = st.none() | st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
attempts = st.builds(
    Attempt,
    models,
    st.integers(1, 99),
    st.sampled_from(AttemptState),
    parts,
    st.none() | failures,
    times,
    st.integers(0, 99),
    st.integers(0, 99),
    times,
)
values = messages | attempts | st.builds(ModelChange, models) | st.builds(Notice, text)


@given(values)
@settings(max_examples=300, deadline=None)
def test_every_value_comes_back_as_it_was_stored(value: EntryData) -> None:
    """What SQLite cannot store is replaced, and then nothing changes any more."""
    kind, data = encode(value)
    data.encode()
    once = decode(kind, data)
    assert encode(once) == (kind, data)
    if repr(value).isascii() and "\\ud" not in repr(value):
        assert once == value


@given(text)
def test_cleaned_text_can_be_stored_and_stays_as_it_is(value: str) -> None:
    """Half characters come from JSON escapes; SQLite refuses text with one."""
    cleaned = clean(value)
    cleaned.encode()
    assert clean(cleaned) == cleaned


operations = st.lists(
    st.tuples(
        st.sampled_from(["turn", "attempt", "chunk", "fail", "finish", "result", "append", "move", "reopen"]),
        st.sampled_from(["a", "b"]),
        st.integers(0, 1_000_000),
    ),
    max_size=25,
)


@dataclass
class Model:
    """What the calls returned, kept as a window would keep it."""

    leaves: dict[str, str | None] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    attempts: dict[str, Entry] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def branch(self, session: str) -> tuple[Entry, ...]:
        return branch(self.entries, self.leaves.get(session))

    def add(self, entry: Entry) -> None:
        self.entries[entry.id] = entry
        self.leaves[entry.session] = entry.id

    def open_attempts(self, session: str) -> list[Entry]:
        return [
            entry
            for entry in self.attempts.values()
            if entry.session == session and isinstance(entry.data, Attempt) and entry.data.state is AttemptState.OPEN
        ]

    def crash(self) -> None:
        for id_, entry in self.attempts.items():
            if isinstance(entry.data, Attempt) and entry.data.state is AttemptState.OPEN:
                kept = (TextPart(self.texts[id_]),) if self.texts.get(id_) else ()
                interrupted = replace(entry.data, state=AttemptState.INTERRUPTED, parts=kept, retry_at=None)
                self.attempts[id_] = replace(entry, data=interrupted)


async def apply(store: Store, model: Model, operation: str, session: str, number: int) -> None:
    log = store.log
    known = [entry for entry in model.entries.values() if entry.session == session]
    chosen = known[number % len(known)] if known else None
    running = model.open_attempts(session)
    attempt = running[number % len(running)] if running else None
    match operation:
        case "turn":
            model.add(await log.open_turn(session, user_message(f"{number} \udcff"), MODEL))
        case "attempt" if chosen:
            opened_ = await log.open_attempt(session, chosen.id, Attempt(MODEL, number))
            model.attempts[opened_.id] = opened_
        case "chunk" if attempt:
            log.append_chunks(attempt.id, TextDelta(f"{number} "))
            model.texts[attempt.id] = model.texts.get(attempt.id, "") + f"{number} "
        case "fail" if attempt:
            ended = Attempt(MODEL, number, AttemptState.FAILED, (TextPart("half"),))
            model.attempts[attempt.id] = await log.fail_attempt(attempt, ended)
        case "finish" if attempt:
            message = Message(Role.ASSISTANT, (TextPart(f"reply {number}"),), ReplyInfo(MODEL, "stop"))
            model.add(await log.finish_round(attempt, message))
            del model.attempts[attempt.id]
        case "result" if chosen:
            model.add(await log.record_result(session, chosen.id, ToolResultPart("c", "t", str(number))))
        case "append" if session in model.leaves:
            model.add(await log.append(session, Notice(str(number)) if number % 2 else ModelChange(MODEL)))
        case "move" if session in model.leaves:
            leaf = chosen.id if chosen and number % 5 else None
            await log.move_leaf(session, leaf)
            model.leaves[session] = leaf


async def compare(store: Store, model: Model) -> None:
    listed = {session.id: session for session in await store.sessions.list()}
    assert listed.keys() == model.leaves.keys()
    for session in model.leaves:
        expected = model.branch(session)
        assert await store.log.branch(session) == expected
        history = await store.sessions.load(session)
        assert history.branch == expected
        assert history.session == listed[session]
        assert listed[session].leaf == model.leaves[session]
        assert listed[session].pending is (answered_entry(expected) is not None)
        on_branch = {entry.id for entry in expected}
        hanging = [entry for entry in model.attempts.values() if entry.session == session and entry.parent in on_branch]
        found = [entry for entries in history.attempts.values() for entry in entries]
        assert sorted(found, key=lambda entry: entry.id) == sorted(hanging, key=lambda entry: entry.id)


@given(operations)
@settings(max_examples=100, deadline=None)
def test_memory_equals_disk_after_any_operations(done: list[tuple[str, str, int]]) -> None:
    """F72, S13, D8: what the calls returned is what is read back, before and after a restart."""

    async def main(folder: Path) -> None:
        clock, model = ManualClock(), Model()
        sections: list[list[tuple[str, str, int]]] = [[]]
        for operation in done:
            if operation[0] == "reopen":
                sections.append([])
            else:
                sections[-1].append(operation)
        for section in sections:
            async with opened(folder, clock) as store:
                await compare(store, model)
                for operation in section:
                    await apply(store, model, *operation)
                await compare(store, model)
            model.crash()
        async with opened(folder, clock) as store:
            await compare(store, model)

    folder = Path(tempfile.mkdtemp(dir=FAST))
    try:
        asyncio.run(main(folder))
    finally:
        shutil.rmtree(folder)
