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
from pytest import MonkeyPatch

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
from reprise.domain.sessions import (
    Attempt,
    AttemptState,
    Delivery,
    Entry,
    EntryData,
    ModelChange,
    Notice,
    ParamsChange,
    Queued,
    answered_entry,
    branch,
    model_of,
)
from reprise.domain.tree import node_of
from reprise.storage import slices
from reprise.storage.rows import clean, decode, encode
from reprise.storage.store import Store
from support.clock import ManualClock
from support.storage import MODEL, OTHER, opened, pieced

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
maybe_text = st.none() | text
replies = st.none() | st.builds(
    ReplyInfo, models, maybe_text, usages, maybe_float, maybe_float, st.none() | models, maybe_text
)
messages = st.builds(Message, st.sampled_from(Role), parts, replies)
failures = st.builds(
    Failure,
    st.sampled_from(FailureKind),
    text,
    st.booleans(),
    maybe_float,
    st.none() | st.integers(100, 599),
    maybe_text,
    maybe_text,
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
    maybe_text,
)
params = st.dictionaries(text, maybe_text | st.booleans() | st.integers() | maybe_float, max_size=3)
values = (
    messages
    | attempts
    | st.builds(ModelChange, models, st.none() | models)
    | st.builds(ParamsChange, params)
    | st.builds(Notice, text)
    | st.builds(Queued, messages, st.sampled_from(Delivery))
)


@given(values)
@settings(max_examples=300, deadline=None)
def test_every_value_comes_back_as_it_was_stored(value: EntryData) -> None:
    """B7: what SQLite cannot store is replaced, and then nothing changes any more."""
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


OPERATIONS = (
    *("turn", "edit", "attempt", "chunk", "fail", "finish", "keep", "result", "append", "move"),
    *("queue", "requeue", "unqueue", "deliver", "fork", "trash", "restore", "reopen"),
)
operations = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.sampled_from(["a", "b"]), st.integers(0, 1_000_000)), max_size=30
)


@dataclass
class Model:
    """What the calls returned, kept as a window would keep it."""

    leaves: dict[str, str | None] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    attempts: dict[str, Entry] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    queued: dict[str, Entry] = field(default_factory=dict)
    answers: dict[str, ModelRef] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    trashed: set[str] = field(default_factory=set)

    def branch(self, session: str) -> tuple[Entry, ...]:
        return branch(self.entries, self.leaves.get(session))

    def add(self, entry: Entry) -> None:
        self.entries[entry.id] = entry
        self.leaves[entry.session] = entry.id

    def stand(self, session: str, leaf: str | None) -> None:
        self.leaves[session] = leaf
        self.answers[session] = model_of(self.branch(session)) or self.answers[session]

    def reply(self, entry: Entry) -> None:
        """A reply where the session did not stand takes it there, and with it the model."""
        moves = self.leaves[entry.session] != entry.parent
        self.add(entry)
        if moves:
            self.stand(entry.session, entry.id)

    def of(self, session: str, entries: dict[str, Entry]) -> list[Entry]:
        return [entry for entry in entries.values() if entry.session == session]

    def attempts_of(self, session: str, *, is_open: bool) -> list[Entry]:
        return [
            entry
            for entry in self.of(session, self.attempts)
            if isinstance(entry.data, Attempt) and (entry.data.state is AttemptState.OPEN) is is_open
        ]

    def behind(self, attempt: Entry, number: int) -> str | None:
        """A place for the reply: what the attempt answers, or one of the changes that follow it."""
        places: list[str | None] = [None, attempt.parent]
        for entry in self.of(attempt.session, self.entries):
            if entry.parent in places[1:] and not isinstance(entry.data, Message):
                places.append(entry.id)
        return places[number % len(places)]

    def crash(self) -> None:
        for id_, entry in self.attempts.items():
            if isinstance(entry.data, Attempt) and entry.data.state is AttemptState.OPEN:
                said = self.before[id_] + self.texts.get(id_, "")
                kept = (TextPart(said),) if said else ()
                interrupted = replace(entry.data, state=AttemptState.INTERRUPTED, parts=kept, retry_at=None)
                self.attempts[id_] = replace(entry, data=interrupted)


def picked(entries: list[Entry], number: int) -> Entry | None:
    return entries[number % len(entries)] if entries else None


async def apply(store: Store, model: Model, operation: str, session: str, number: int) -> None:
    log = store.log
    answering = OTHER if number % 3 else MODEL
    chosen = picked(model.of(session, model.entries), number)
    attempt = picked(model.attempts_of(session, is_open=True), number)
    ended = picked(model.attempts_of(session, is_open=False), number)
    waiting = picked(model.of(session, model.queued), number)
    said = Message(Role.ASSISTANT, (TextPart(f"reply {number}"),), ReplyInfo(answering, "stop"))
    match operation:
        case "turn":
            model.add(await log.open_turn(session, user_message(f"{number} \udcff"), answering))
            model.answers[session] = answering
        case "edit" if chosen and isinstance(chosen.data, Message) and chosen.data.role is Role.USER:
            edited = await log.open_turn(session, user_message(f"{number}"), answering, beside=chosen.id)
            assert edited.parent == chosen.parent
            model.add(edited)
            model.answers[session] = answering
        case "attempt" if chosen:
            before = "so far " if number % 2 else ""
            parts = (TextPart(before),) if before else ()
            opened_ = await log.open_attempt(session, chosen.id, Attempt(answering, number, parts=parts))
            model.attempts[opened_.id] = opened_
            model.before[opened_.id] = before
        case "chunk" if attempt:
            log.append_chunks(attempt.id, TextDelta(f"{number} "))
            model.texts[attempt.id] = model.texts.get(attempt.id, "") + f"{number} "
        case "fail" if attempt:
            failed = Attempt(MODEL, number, AttemptState.FAILED, (TextPart("half"),))
            model.attempts[attempt.id] = await log.fail_attempt(attempt, failed)
        case "finish" if attempt:
            model.reply(await log.finish_round(attempt, said, under=model.behind(attempt, number)))
            del model.attempts[attempt.id]
        case "keep" if ended:
            model.reply(await log.keep(ended, said, under=model.behind(ended, number)))
        case "result" if chosen:
            model.add(await log.record_result(session, chosen.id, ToolResultPart("c", "t", str(number))))
        case "append" if session in model.leaves:
            change = (Notice(str(number)), ModelChange(answering), ParamsChange({"n": number}))[number % 3]
            under = chosen.id if chosen and number % 2 else None
            leaf = model.leaves[session]
            entry = await log.append(session, change, under=under)
            if under in (None, leaf):
                model.add(entry)
                model.answers[session] = answering if isinstance(change, ModelChange) else model.answers[session]
            else:
                model.entries[entry.id] = entry
        case "move" if session in model.leaves:
            to = chosen.id if chosen and number % 5 else None
            await log.move_leaf(session, to)
            model.stand(session, to)
        case "queue" if session in model.leaves:
            entry = await log.queue(session, Queued(user_message(str(number))))
            model.queued[entry.id] = entry
        case "requeue" if waiting:
            model.queued[waiting.id] = await log.requeue(waiting, Queued(user_message("x"), Delivery.FOLLOW_UP))
        case "unqueue" if waiting:
            await log.unqueue(model.queued.pop(waiting.id))
        case "deliver" if waiting:
            model.add(await log.open_turn(session, user_message("sent"), answering, queued=waiting.id))
            model.answers[session] = answering
            del model.queued[waiting.id]
        case "fork" if session in model.leaves:
            await fork(store, model, session, chosen.id if chosen and number % 5 else None)
        case "trash" if session in model.leaves:
            await store.sessions.trash(session, datetime(2026, 1, 1, tzinfo=UTC))
            model.trashed.add(session)
        case "restore" if session in model.leaves:
            await store.sessions.trash(session, None)
            model.trashed.discard(session)


async def fork(store: Store, model: Model, session: str, point: str | None) -> None:
    made = await store.sessions.fork(session, point)
    assert (await store.sessions.fork(session, point)).id == made.id
    copied = (await store.sessions.load(made.id)).branch
    source = branch(model.entries, point)
    assert [entry.data for entry in copied] == [entry.data for entry in source]
    if made.id in model.leaves:
        return
    model.entries |= {entry.id: entry for entry in copied}
    model.leaves[made.id] = copied[-1].id if copied else None
    model.answers[made.id] = model_of(source) or model.answers[session]
    model.origins[made.id] = session


async def compare(store: Store, model: Model) -> None:
    listed = {session.id: session for session in await store.sessions.list()}
    assert listed.keys() == model.leaves.keys() - model.trashed
    for session in model.leaves:
        expected = model.branch(session)
        assert await store.log.branch(session) == expected
        history = await store.sessions.load(session)
        assert history.branch == expected
        assert await pieced(store, session) == history
        known = history.session
        assert known == listed.get(session, known)
        assert (known.leaf, known.forked_from) == (model.leaves[session], model.origins.get(session))
        assert known.model == model.answers[session]
        assert known.pending is (answered_entry(expected) is not None)
        on_branch = {entry.id for entry in expected}
        hanging = [entry for entry in model.of(session, model.attempts) if entry.parent in on_branch]
        found = [entry for entries in history.attempts.values() for entry in entries]
        assert sorted(found, key=lambda entry: entry.id) == sorted(hanging, key=lambda entry: entry.id)
        assert history.nodes == tuple(sorted(map(node_of, model.of(session, model.entries))))
        assert history.queue == tuple(sorted(model.of(session, model.queued), key=lambda entry: entry.id))


@given(operations)
@settings(max_examples=150, deadline=None)
def test_memory_equals_disk_after_any_operations(done: list[tuple[str, str, int]]) -> None:
    """F72, S13, D8: what the calls returned is what is read back, before and after a restart, whole and in pieces."""

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
        with MonkeyPatch.context() as patch:
            patch.setattr(slices, "ENTRIES", 2)
            patch.setattr(slices, "NODES", 3)
            asyncio.run(main(folder))
    finally:
        shutil.rmtree(folder)
