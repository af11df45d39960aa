"""Writes to the store as fast as a busy window would, and says on stdout what is on disk, until it is killed.

Reads lines ``FOLDER NAME`` from stdin; each is one life of a writer, a fork of this process, so that forty lives do
not cost forty times the imports. Says ``pid N``, then ``prompt ID SECONDS``, ``reply ID``, ``failed ID``, ``queued ID
SESSION`` and ``fork SESSION ENTRIES`` once the call returned, ``text ATTEMPT LENGTH TIME`` after a delta was buffered,
and ``dead CODE`` at the end.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from reprise.domain.deltas import TextDelta
from reprise.domain.messages import Message, ModelRef, ReplyInfo, Role, TextPart, user_message
from reprise.domain.ports import Draft
from reprise.domain.sessions import Attempt, AttemptState, Entry, Queued
from reprise.storage.store import Store
from reprise.storage.worker import Worker

MODEL = ModelRef("own", "small")
DELTAS = 200
FEW_DELTAS = 5


class RealClock:
    """The system's time."""

    def now(self) -> float:
        return time.monotonic()

    def utc(self) -> datetime:
        return datetime.now(UTC)

    async def sleep_until(self, due_at: float) -> None:
        await asyncio.sleep(max(0.0, due_at - time.monotonic()))


def say(*words: object) -> None:
    # One write a line: a line is in the pipe whole or not at all, whenever the process dies.
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


async def stream(store: Store, attempt: Entry, text: str, deltas: int) -> str:
    for number in range(len(text) // 5, len(text) // 5 + deltas):
        text += f"{number:04} "
        store.log.append_chunks(attempt.id, TextDelta(text[-5:]))
        say("text", attempt.id, len(text), time.monotonic())
        await asyncio.sleep(0.002)
    return text


async def talk(store: Store, session: str) -> None:
    waiting: Entry | None = None
    for turn in range(1_000_000):
        # The first turns stream little: most lives are short, and should get as far as what comes after.
        deltas = FEW_DELTAS if turn < 2 else DELTAS
        began_s = time.monotonic()
        message = user_message(f"{session} turn {turn}")
        prompt = await store.log.open_turn(session, message, MODEL, queued=waiting and waiting.id)
        say("prompt", prompt.id, time.monotonic() - began_s)
        await store.drafts.save(session, Draft(f"draft {turn}"))
        fork = await store.sessions.fork(session, prompt.id)
        say("fork", fork.id, len((await store.sessions.load(fork.id)).branch))
        attempt = await store.log.open_attempt(session, prompt.id, Attempt(MODEL))
        waiting = await store.log.queue(session, Queued(user_message(f"{session} turn {turn + 1}")))
        say("queued", waiting.id, session)
        text = await stream(store, attempt, "", deltas)
        if turn % 2:
            parts = (TextPart(text),)
            await store.log.fail_attempt(attempt, Attempt(MODEL, 1, AttemptState.STOPPED, parts))
            say("failed", attempt.id)
            begun = Attempt(MODEL, 2, parts=parts, goes_on_from=attempt.id)
            attempt = await store.log.open_attempt(session, prompt.id, begun)
            text = await stream(store, attempt, text, DELTAS)
        reply = Message(Role.ASSISTANT, (TextPart(text),), ReplyInfo(MODEL, "stop"))
        say("reply", (await store.log.finish_round(attempt, reply)).id)


async def write(folder: Path, name: str) -> None:
    store = await Store.open(folder, RealClock(), Worker())
    async with asyncio.TaskGroup() as group:
        group.create_task(store.run())
        for number in range(2):
            group.create_task(talk(store, f"{name}-{number}"))


def main() -> None:
    for line in sys.stdin:
        folder, name = line.split()
        child = os.fork()
        if not child:
            asyncio.run(write(Path(folder), name))
            os._exit(0)
        say("pid", child)
        _, status = os.waitpid(child, 0)
        say("dead", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
