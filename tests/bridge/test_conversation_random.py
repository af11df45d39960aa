"""Whatever is done in whatever order, no text is lost or sent twice, and what is shown is what is on disk."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.bridge.conversation import Conversation
from reprise.bridge.standing import pending_in
from reprise.domain.deltas import Delta, FinishDelta, TextDelta
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import Role
from reprise.domain.models import CompletionRequest
from reprise.domain.sessions import Delivery
from reprise.storage import slices
from support.bridge import MODEL, OTHER, BridgeStage
from support.storage import raw

# The disk is not the point here, and 4 ms a commit would be most of the time.
FAST = Path("/dev/shm") if Path("/dev/shm").is_dir() else None  # noqa: S108

COMMANDS = (
    *("send", "follow up", "stop", "retry", "retry after", "retry with", "keep", "go on", "take back", "regenerate"),
    *("resend", "step back", "step on", "choose", "policy", "edit", "remove", "network", "wait", "restart"),
    *("reply", "fail", "hang", "cut", "release"),
    # What makes room for the others comes more often.
    *("send", "send", "stop", "stop", "stop", "wait", "wait", "release", "release", "fail", "hang", "reply"),
)


class Mood:
    """Answers as it was last told to: whole, cut, broken off, or hanging until `release`."""

    def __init__(self) -> None:
        self.mood = "reply"
        self.released = asyncio.Event()
        self.requests: list[CompletionRequest] = []

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Delta]:
        self.requests.append(request)
        number = len(self.requests)
        yield TextDelta(f"said {number}. ")
        if self.mood == "hang":
            await self.released.wait()
        if self.mood == "fail":
            raise CompletionError(Failure(FailureKind.SERVER, "down", retryable=True))
        yield TextDelta("And more.")
        yield FinishDelta("length" if self.mood == "cut" else "stop")


class Run:
    """One chat over as many lives as the commands ask for, and what became of each text."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self.mood = Mood()
        self.accepted: set[str] = set()
        self.returned: Counter[str] = Counter()
        self.problems: list[str] = []

    async def open(self, session: str | None = None) -> None:
        clock = None if session is None else self.stage.clock
        self.stage = await BridgeStage.open(self._folder, clock=clock, delays=(5.0, 10.0))
        self.stage.catalog.providers = {MODEL: self.mood, OTHER: self.mood}
        self.stage.catalog.stands_in = OTHER
        if session is None:
            self.chat = self.stage.chat()
        else:
            stored = (await self.stage.store.sessions.load(session)).session
            self.chat = Conversation(stored, self.stage.services, self.stage.scope)
        self.chat.text_returned.connect(self._take_back)
        self.chat.problem.connect(self.problems.append)
        await self.chat.load()

    def _take_back(self, text: str) -> None:
        self.returned.update(text.split("\n\n"))

    async def close(self) -> None:
        await self.chat.close()
        await self.stage.close()

    def text(self) -> str:
        """A text that there is only once."""
        self._number += 1
        return f"text {self._number}"

    async def do(self, command: str, pick: int) -> None:
        """One command, as a person gives it, and everything that takes no time after it."""
        chat, branch, queue = self.chat, self.chat.history.branch, self.chat.queue.entries()
        chosen = branch[pick % len(branch)].id if branch else ""
        match command:
            case "send" | "follow up":
                text = self.text()
                if chat.send(text, Delivery.STEER if command == "send" else Delivery.FOLLOW_UP):
                    self.accepted.add(text)
            case "resend":
                text = self.text()
                if chat.resend(chosen, text):
                    self.accepted.add(text)
            case "edit" if queue:
                entry, text = queue[pick % len(queue)], self.text()
                chat.queue.edit(entry.id, text)
                self.accepted.discard(entry.data.message.text)  # type: ignore[union-attr]
                self.accepted.add(text)
            case "remove" if queue:
                entry = queue[pick % len(queue)]
                chat.queue.remove(entry.id)
                self.accepted.discard(entry.data.message.text)  # type: ignore[union-attr]
            case "stop" | "retry" | "keep" | "go on" | "take back" | "regenerate":
                getattr(chat, command.replace(" ", "_"))()
            case "retry after":
                chat.retry_after(2.0 * pick)
            case "retry with":
                chat.retry_with((MODEL, OTHER)[pick % 2])
            case "choose":
                chat.choose_model((MODEL, OTHER)[pick % 2])
            case "policy":
                chat.set_policy((None, "off", "steady")[pick % 3])
            case "step back" | "step on":
                forks = [entry.id for entry in branch if len(chat.siblings(entry.id)) > 1] or [chosen]
                chat.step_branch(forks[pick % len(forks)], -1 if command == "step back" else 1)
            case "network":
                self.stage.network.set_offline(pick == 0)
            case "wait":
                await self.stage.clock.advance(4.0 * (pick + 1))
            case "restart" if chat.is_stored:
                await self.close()
                await self.open(chat.session_id)
            case "reply" | "fail" | "hang" | "cut":
                self.mood.mood = command
            case "release":
                self.mood.released.set()
                self.mood.released = asyncio.Event()
        await self.stage.clock.drain()

    async def check(self) -> None:
        """What holds between any two commands."""
        chat = self.chat
        assert self.problems == []
        if not chat.is_stored:
            return
        assert chat.history == await self.stage.history(chat)
        if not chat.is_busy:
            pending = pending_in(chat.history, self.stage.clock)
            assert (chat.pending is None) is (pending is None)
            assert pending is not None or chat.queue.entries() == ()
            assert (chat.partial, chat.waiting_since, chat.beside) == (None, None, None)
        for request in self.mood.requests:
            roles = [message.role for message in request.messages]
            assert all(message.text.strip() for message in request.messages)
            assert all(one is not other for one, other in pairwise(roles))

    def check_disk(self) -> None:
        """Every text that was taken is a prompt, in the queue, or the composer's again, and a prompt at most once."""
        prompts: Counter[str] = Counter()
        queued: set[str] = set()
        with raw(self._folder) as db:
            for kind, role, data in db.execute("SELECT kind, role, data FROM entry"):
                if kind == "message" and role == Role.USER.value:
                    prompts[_text(json.loads(data))] += 1
                elif kind == "queued":
                    queued.add(_text(json.loads(data)["message"]))
        assert max(prompts.values(), default=0) <= 1
        assert self.accepted <= set(prompts) | queued | set(self.returned)


def _text(message: dict[str, list[dict[str, str]]]) -> str:
    return "".join(part["text"] for part in message["parts"])


def test_no_order_of_commands_loses_a_text(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """L1, L20, S13, D11, D20, I6: every command a person has, in random orders, over several lives."""
    examples = 1000 if pytestconfig.getoption("--full") else 60
    # So that a restart reads the chat in pieces, and the next command comes between two of them.
    monkeypatch.setattr(slices, "ENTRIES", 2)
    monkeypatch.setattr(slices, "NODES", 3)

    @settings(max_examples=examples, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(COMMANDS), st.integers(0, 3)), min_size=5, max_size=30))
    def run(commands: list[tuple[str, int]]) -> None:
        async def scene() -> None:
            with tempfile.TemporaryDirectory(dir=FAST) as folder:
                made = Run(Path(folder))
                await made.open()
                try:
                    for command, pick in commands:
                        await made.do(command, pick)
                        await made.check()
                finally:
                    await made.close()
                made.check_disk()

        asyncio.run(scene())

    run()
