"""Turns of two sessions in any interleaving, restarts included: what must hold after each step, on the real log."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from reprise.domain.deltas import FinishDelta, TextDelta, ThinkingDelta, ToolCallDelta
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import Message, ReplyInfo, Role, user_message
from reprise.domain.ports import HoldResult
from reprise.domain.sessions import (
    Attempt,
    Delivery,
    Entry,
    Queued,
    answered_entry,
    newest_partial,
    prompt_entry,
    readable_parts,
)
from reprise.domain.tree import Tree
from support.engine_checks import check
from support.engine_world import FAST, Chat, World

FAILURES = {
    "server": Failure(FailureKind.SERVER, "down", True),
    "network": Failure(FailureKind.NETWORK, "unreachable", True),
    "limits": Failure(FailureKind.RATE_LIMIT, "slow down", True, 3.0),
    "asks": Failure(FailureKind.RATE_LIMIT, "tomorrow", False, 9000.0),
    "auth": Failure(FailureKind.AUTH, "wrong key", False),
}

which = st.integers(0, 1)


Condition = Callable[[Chat], bool]


def is_idle(chat: Chat) -> bool:
    return not chat.is_busy


def has_branch(chat: Chat) -> bool:
    return not chat.is_busy and bool(chat.sent)


def has_queue(chat: Chat) -> bool:
    return not chat.is_busy and bool(chat.queued)


def is_busy(chat: Chat) -> bool:
    return chat.is_busy and bool(chat.sent)


def is_streaming(chat: Chat) -> bool:
    return chat.is_streaming


def is_waiting(chat: Chat) -> bool:
    return chat.gate.pending is not None


def somewhere(condition: Condition) -> Callable[[Any], bool]:
    """A rule's precondition: it can be played in one of the sessions."""
    return lambda machine: any(condition(chat) for chat in machine.world.chats)


class TurnMachine(RuleBasedStateMachine):
    """Each rule does one thing to one session, if it can be done there now, and lets the loop settle."""

    runner: ClassVar[asyncio.Runner]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=FAST))
        self.number = self.restarted_at = 0

    @initialize(prefills=st.booleans())
    def begin(self, prefills: bool) -> None:
        self.world = World(self.folder, prefills=prefills)
        self.runner.run(self.world.open())

    def teardown(self) -> None:
        try:
            self.runner.run(self.world.close())
        finally:
            shutil.rmtree(self.folder)

    # -- prompts

    @precondition(somewhere(is_idle))
    @rule(which=which, stop_after=st.none() | st.integers(1, 30))
    def send(self, which: int, stop_after: int | None) -> None:
        async def play(chat: Chat) -> None:
            chat.send(self.token("p"))
            if stop_after is not None:
                await chat.stop(stop_after)

        self.do(which, is_idle, play)

    @precondition(somewhere(has_branch))
    @rule(which=which, back=st.integers(0, 2))
    def edit(self, which: int, back: int) -> None:
        async def play(chat: Chat) -> None:
            prompts = [entry for entry in (await chat.history()).branch if role_of(entry) is Role.USER]
            if prompts:
                chat.send(self.token("p"), beside=prompts[-1 - back % len(prompts)].id)

        self.do(which, has_branch, play)

    @precondition(somewhere(is_busy))
    @rule(which=which, delivery=st.sampled_from(Delivery))
    def queue(self, which: int, delivery: Delivery) -> None:
        async def play(chat: Chat) -> None:
            message = Queued(user_message(self.token("p")), delivery)
            chat.queued.append(await self.world.log.queue(chat.session, message))

        self.do(which, is_busy, play)

    @precondition(somewhere(has_queue))
    @rule(which=which)
    def deliver(self, which: int) -> None:
        async def play(chat: Chat) -> None:
            queued = chat.queued.pop(0)
            assert isinstance(queued.data, Queued)
            chat.send(queued.data.message.text, queued=queued.id)

        self.do(which, has_queue, play)

    @precondition(somewhere(has_branch))
    @rule(which=which)
    def take_back(self, which: int) -> None:
        async def play(chat: Chat) -> None:
            branch = (await chat.history()).branch
            if answered_entry(branch) is not None and (prompt := prompt_entry(branch)) is not None:
                await self.world.log.move_leaf(chat.session, prompt.parent)
                chat.ended = None

        self.do(which, has_branch, play)

    # -- what is made of a turn that ended

    @precondition(somewhere(has_branch))
    @rule(which=which, goes_on=st.booleans())
    def retry(self, which: int, goes_on: bool) -> None:
        async def play(chat: Chat) -> None:
            history = await chat.history()
            if (answers := answered_entry(history.branch)) is None:
                return
            attempts = history.attempts.get(answers.id, ())
            newest = attempts[-1].data if attempts else None
            assert newest is None or isinstance(newest, Attempt)
            retry = newest.retry if newest is not None and newest.retry_at is not None else 0
            if goes_on:
                chat.start("resume", goes_on_from=newest_partial(attempts))
            elif newest is not None and newest.goes_on_from is not None:
                chat.start("resume", retry=retry, goes_on_from=attempts[-1])
            else:
                chat.start("resume", retry=retry)

        self.do(which, has_branch, play)

    @precondition(somewhere(has_branch))
    @rule(which=which)
    def keep(self, which: int) -> None:
        async def play(chat: Chat) -> None:
            history = await chat.history()
            if (answers := answered_entry(history.branch)) is None:
                return
            partial = newest_partial(history.attempts.get(answers.id, ()))
            if partial is None or not isinstance(partial.data, Attempt):
                return
            if parts := readable_parts(partial.data.parts):
                message = Message(Role.ASSISTANT, parts, ReplyInfo(partial.data.model, "stopped"))
                await self.world.log.keep(partial, message, under=history.branch[-1].id)
                chat.ended = None

        self.do(which, has_branch, play)

    @precondition(somewhere(has_branch))
    @rule(which=which, method=st.sampled_from(["regenerate", "go_on"]), back=st.integers(0, 2))
    def beside(self, which: int, method: str, back: int) -> None:
        async def play(chat: Chat) -> None:
            branch = (await chat.history()).branch
            replies = [entry for entry in branch if role_of(entry) is Role.ASSISTANT]
            if replies:
                chat.start(method, replies[-1 - back % len(replies)])

        self.do(which, has_branch, play)

    @precondition(somewhere(has_branch))
    @rule(which=which, back=st.integers(0, 4), by=st.integers(0, 3))
    def step(self, which: int, back: int, by: int) -> None:
        async def play(chat: Chat) -> None:
            history = await chat.history()
            if history.branch:
                tree = Tree(history.nodes)
                siblings = tree.siblings(history.branch[-1 - back % len(history.branch)].id)
                await self.world.log.move_leaf(chat.session, tree.tip(siblings[by % len(siblings)]))
                chat.ended = None

        self.do(which, has_branch, play)

    # -- the wire

    @precondition(somewhere(is_streaming))
    @rule(which=which, thinks=st.booleans())
    def say(self, which: int, thinks: bool) -> None:
        async def play(chat: Chat) -> None:
            word = f"{self.token('w')}. "
            chat.provider.say(ThinkingDelta(word) if thinks else TextDelta(word))
            chat.is_fresh = chat.is_fresh and thinks

        self.do(which, is_streaming, play)

    @precondition(somewhere(is_streaming))
    @rule(which=which)
    def say_again(self, which: int) -> None:
        async def play(chat: Chat) -> None:
            if chat.is_fresh and chat.begins_with:
                chat.is_fresh = False
                for char in chat.begins_with:
                    chat.provider.say(TextDelta(char))

        self.do(which, is_streaming, play)

    @precondition(somewhere(is_streaming))
    @rule(which=which, word=st.sampled_from(["stop", "length"]), says=st.booleans())
    def finish(self, which: int, word: str, says: bool) -> None:
        async def play(chat: Chat) -> None:
            said = (TextDelta(f"{self.token('w')}. "),) if says else ()
            chat.provider.finish(*said, FinishDelta(word))

        self.do(which, is_streaming, play)

    @precondition(somewhere(is_streaming))
    @rule(which=which, tools=st.lists(st.sampled_from(["ping", "ping", "hang"]), min_size=1, max_size=2))
    def call(self, which: int, tools: list[str]) -> None:
        async def play(chat: Chat) -> None:
            made = [ToolCallDelta(slot, self.token("c"), name, "{}") for slot, name in enumerate(tools)]
            chat.provider.finish(*made, FinishDelta("tool_calls"))

        self.do(which, is_streaming, play)

    @precondition(somewhere(is_streaming))
    @rule(which=which, name=st.sampled_from(sorted(FAILURES)), says=st.booleans())
    def fail(self, which: int, name: str, says: bool) -> None:
        async def play(chat: Chat) -> None:
            if says:
                chat.provider.say(TextDelta(f"{self.token('w')}. "))
            chat.provider.fail(FAILURES[name])

        self.do(which, is_streaming, play)

    # -- the user, time, the network, the program

    @precondition(somewhere(is_busy))
    @rule(which=which, ticks=st.integers(0, 30), says=st.booleans())
    def stop(self, which: int, ticks: int, says: bool) -> None:
        async def play(chat: Chat) -> None:
            if says and chat.is_streaming:
                chat.provider.finish(TextDelta(f"{self.token('w')}. "), FinishDelta("stop"))
            await chat.stop(ticks)

        self.do(which, is_busy, play)

    @precondition(somewhere(is_waiting))
    @rule(which=which, how=st.sampled_from(HoldResult))
    def end_the_wait(self, which: int, how: HoldResult) -> None:
        async def play(chat: Chat) -> None:
            pending = chat.gate.pending
            assert pending is not None
            if how is not HoldResult.ELAPSED:
                chat.gate.decide(how)
            elif pending.due_at is not None:
                await self.world.clock.advance(max(0.0, pending.due_at - self.world.clock.now()))

        self.do(which, is_waiting, play)

    @precondition(somewhere(is_busy))
    @rule(offline=st.sampled_from([False, False, True]))
    def network(self, offline: bool) -> None:
        self.world.network.set_offline(offline)
        self.runner.run(self.world.clock.drain())

    @precondition(lambda machine: machine.number > machine.restarted_at + 4)
    @rule(crash=st.booleans())
    def restart(self, crash: bool) -> None:
        self.restarted_at = self.number
        self.runner.run(self.world.restart(crash=crash))

    # -- what must hold

    @invariant()
    def everything_holds(self) -> None:
        if hasattr(self, "world"):
            self.runner.run(self.check_all())

    async def check_all(self) -> None:
        for chat in self.world.chats:
            await check(chat)

    def do(self, which: int, condition: Condition, play: Callable[[Chat], Awaitable[None]]) -> None:
        """Play in one of the sessions where it can be played."""
        there = [chat for chat in self.world.chats if condition(chat)]

        async def whole() -> None:
            await play(there[which % len(there)])
            await self.world.clock.drain()

        self.runner.run(whole())

    def token(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.number}"


def role_of(entry: Entry) -> Role | None:
    return entry.data.role if isinstance(entry.data, Message) else None


@pytest.mark.timeout(3600)
def test_turns_in_any_interleaving_lose_nothing_and_send_nothing_twice(full: bool) -> None:
    """L1, D5, D8, D12, D20, B1, C13: two sessions, a wire, a clock, a network and a program that may die."""
    with asyncio.Runner() as runner:
        machine: Any = type("Machine", (TurnMachine,), {"runner": runner})
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=2000 if full else 200,
                stateful_step_count=40,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
