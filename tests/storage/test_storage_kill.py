"""Kill -9 in the middle of writing, many times over: what was acknowledged is there."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reprise.domain.messages import Role, TextPart
from reprise.domain.sessions import Attempt, AttemptState, Queued, messages
from reprise.storage.store import Store
from support.storage import opened, raw

WRITER = Path(__file__).with_name("kill_writer.py")
MOST_LOST_S = 0.25


@pytest.mark.timeout(3600)
def test_what_was_acknowledged_survives_kill_nine(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """L1, F73, F74, F100, N11: every prompt, reply, fork and queued message is there once, but for 250 ms of text."""
    rounds = 1000 if request.config.getoption("--full", default=False) else 40
    rng = random.Random(20)
    prompts = 0
    with _writers() as writers:
        for number in range(rounds):
            # Most die among the commits of a turn's beginning; some stream long enough to lose text if it came late.
            after_s = rng.uniform(0.3, 0.6) if number % 5 == 0 else rng.uniform(0.0, 0.1)
            lines = _write_and_kill(writers, tmp_path, f"r{number}", after_s)
            prompts += asyncio.run(_check(tmp_path, f"r{number}", lines))
    with raw(tmp_path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("SELECT count(*) FROM chunk").fetchone() == (0,)
        stored = db.execute("SELECT count(*) FROM entry WHERE role = 'user'").fetchone()[0]
        continued = "kind = 'attempt' AND json_extract(data, '$.goes_on_from') IS NOT NULL"
        for reached in (continued, "kind = 'queued'", "role = 'assistant'"):
            assert db.execute(f"SELECT count(*) FROM entry WHERE {reached}").fetchone()[0]  # noqa: S608 - our words
    assert stored >= prompts >= rounds


@contextmanager
def _writers() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(WRITER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as writers:
        yield writers


def _write_and_kill(writers: subprocess.Popen[str], folder: Path, name: str, after_s: float) -> list[list[str]]:
    """What a writer said before it was killed `after_s` seconds after its first acknowledgement."""
    assert writers.stdin is not None
    assert writers.stdout is not None
    writers.stdin.write(f"{folder} {name}\n")
    lines: list[list[str]] = []
    pid, timer = 0, None
    for line in writers.stdout:
        match line.split():
            case ["pid", number]:
                pid = int(number)
            case ["dead", code]:
                assert code == "-9"
                break
            case words:
                lines.append(words)
        if pid and lines and timer is None:
            timer = threading.Timer(after_s, os.kill, (pid, signal.SIGKILL))
            timer.start()
    assert timer is not None
    timer.join()
    return lines


async def _check(folder: Path, name: str, lines: list[list[str]]) -> int:
    """Compare what is stored with what was acknowledged; how many prompts that were."""
    said = {word: {line[1] for line in lines if line[0] == word} for word in ("prompt", "reply", "failed", "text")}
    async with opened(folder) as store:
        found: dict[str, object] = {}
        for number in range(2):
            queued = [line[1] for line in lines if line[0] == "queued" and line[2] == f"{name}-{number}"]
            await _gather(store, f"{name}-{number}", found, len(queued))
        for fork, entries in [line[1:] for line in lines if line[0] == "fork"]:
            assert len((await store.sessions.load(fork)).branch) == int(entries)
        await _check_forks(store, name)
    assert said["prompt"] | said["reply"] | said["failed"] <= found.keys()
    _check_text(lines, said, found)
    return len(said["prompt"])


def _check_text(lines: list[list[str]], said: dict[str, set[str]], found: dict[str, object]) -> None:
    # The writer's own last word is the time of its death as it saw it: a busy machine cannot be taken for a loss.
    texts = [(line[1], int(line[2]), float(line[3])) for line in lines if line[0] == "text"]
    last_s = max((at_s for _, _, at_s in texts), default=0.0)
    # The statement is about a disk that commits in milliseconds; what a busy one takes longer is not ours.
    most_lost_s = MOST_LOST_S + max((float(line[2]) - 0.02 for line in lines if line[0] == "prompt"), default=0.0)
    for attempt in said["text"] & found.keys():
        due = [length for id_, length, at_s in texts if id_ == attempt and at_s <= last_s - most_lost_s]
        data = found[attempt]
        assert isinstance(data, Attempt)
        text = _text(data)
        assert text == "".join(f"{position:04} " for position in range(len(text) // 5))
        assert len(text) >= max(due, default=0)
        if data.goes_on_from in found:
            assert text.startswith(_text(found[data.goes_on_from]))
        assert data.state is (AttemptState.STOPPED if attempt in said["failed"] else data.state)
        assert data.state is not AttemptState.OPEN


def _text(attempt: object) -> str:
    assert isinstance(attempt, Attempt)
    return "".join(part.text for part in attempt.parts if isinstance(part, TextPart))


async def _check_forks(store: Store, name: str) -> None:
    """Every fork there is, acknowledged or not, is a whole one."""
    for known in await store.sessions.list():
        if known.forked_from is not None and known.forked_from.startswith(f"{name}-"):
            texts = [message.text for message in messages((await store.sessions.load(known.id)).branch)]
            assert texts[0] == f"{known.forked_from} turn 0"
            assert texts[-1] == f"{known.forked_from} turn {len(texts) // 2}"


async def _gather(store: Store, session: str, found: dict[str, object], queued: int) -> None:
    listed = {known.id: known for known in await store.sessions.list()}
    if session not in listed:
        return
    history = await store.sessions.load(session)
    found.update({entry.id: entry.data for entry in history.branch})
    found.update({entry.id: entry.data for attempts in history.attempts.values() for entry in attempts})
    assert listed[session].pending is (messages(history.branch)[-1].role is Role.USER)
    asked = [message.text for message in messages(history.branch) if message.role is Role.USER]
    later = [entry.data.message.text for entry in history.queue if isinstance(entry.data, Queued)]
    # A message leaves the queue by becoming a prompt: it is in one of the two places, and in one only.
    assert [*asked, *later] == [f"{session} turn {number}" for number in range(len(asked) + len(later))]
    assert len(asked) + len(later) > queued
