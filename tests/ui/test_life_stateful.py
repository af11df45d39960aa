"""The program in any interleaving: sessions, what is shown of them, the wire, the clock, the network, and its end."""

from __future__ import annotations

import asyncio
import gc
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

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
from PySide6.QtWidgets import QApplication

from reprise.bridge.message_queue import message_of
from reprise.domain.deltas import FinishDelta, TextDelta, ThinkingDelta, ToolCallDelta
from reprise.domain.events import Answer
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import ModelRef, Role
from support.engine import Network
from support.engine_world import DrivenProvider
from support.life import MODELS, TYPED, Screen, World, newest_prompt, overheard
from support.life_checks import check

FAST = Path("/dev/shm") if Path("/dev/shm").is_dir() else None  # noqa: S108
MOST = 3
"""Sessions of one example."""

FAILURES = {
    "server": Failure(FailureKind.SERVER, "down", True),
    "limits": Failure(FailureKind.RATE_LIMIT, "slow down", True, 3.0),
    "asks": Failure(FailureKind.RATE_LIMIT, "tomorrow", False, 600.0),
    "auth": Failure(FailureKind.AUTH, "wrong key", False),
}

CARD = ("retried", "retried", "waited", "kept", "continued", "model_wanted", "taken_back", "edited")
MESSAGE = ("regenerate", "regenerate", "step", "step", "go on", "model", "policy")
SESSIONS = (
    *("switch", "switch", "switch", "switch", "there and back", "there and back", "new chat"),
    *("trash", "restore", "retry", "retry", "retry all", "stop", "stop", "rename"),
)

_T = TypeVar("_T")
which = st.integers(0, 2)
ticks = st.none() | st.integers(0, 30)


def shown(condition: Callable[[World], Any]) -> Callable[[Any], bool]:
    """A rule's precondition on what is shown."""
    return lambda machine: bool(condition(machine.world))


def is_streaming(world: World) -> bool:
    return bool(world.wire.streaming())


def is_busy(world: World) -> bool:
    return world.shown.is_busy


def is_counting(world: World) -> bool:
    return world.shown.retry_manager.is_counting


def is_at_rest(world: World) -> bool:
    return world.shown.is_stored and not world.shown.is_busy


def has_card(world: World) -> bool:
    return world.life.card("pendingCard") is not None


def asks(world: World) -> bool:
    return world.shown.question_rounds is not None


def anything_runs(world: World) -> bool:
    return any(each.is_busy for each in map(world.conversation, world.books) if each is not None)


def has_own_text(world: World) -> bool:
    written = set(TYPED.findall(world.life.page.composer.text()))
    elsewhere = [book.sent() for book in world.books.values() if book is not world.book]
    return world.shown.is_stored and bool(written) and written.isdisjoint(set().union(*elsewhere))


def listed(world: World) -> list[str]:
    """The sessions of the list, in the order in which they were made."""
    there = {row.session.id for row in world.life.library.rows()}
    return [session for session in world.books if session in there]


def chosen(found: Sequence[_T], number: int) -> _T:
    return found[number % len(found)]


class LifeMachine(RuleBasedStateMachine):
    """Each rule is one thing that a person, a provider, the clock or the system does; then everything settles."""

    runner: ClassVar[asyncio.Runner]
    screen: ClassVar[Screen]
    troubles: ClassVar[list[str]]
    world: World

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=FAST))
        self.restarted_at = self.steps = 0

    @initialize(chats=st.integers(1, MOST), fails=st.booleans())
    def begin(self, chats: int, fails: bool) -> None:
        """Prompts are under way from the start; `fails`: the first has failed already."""
        self.troubles.clear()
        self.world = World(self.folder, self.screen, Network(), self.troubles)
        self.runner.run(self.world.open())
        for _ in range(chats):
            self.do(self.world.life.library.new_chat)
            self.send(None, "stop", 0)
        if fails:
            self.fail(0, "server", says=True, after=None)

    def teardown(self) -> None:
        try:
            self.runner.run(self.world.close())
        finally:
            shutil.rmtree(self.folder)
            gc.collect(0)

    def do(self, act: Callable[[], object], after: int | None = None, then: Callable[[], object] | None = None) -> None:
        """Do something, and something else when the loop went round so often; then let everything settle."""

        async def whole() -> None:
            act()
            if after is not None and then is not None:
                for _ in range(after):
                    await asyncio.sleep(0)
                then()
            await self.world.settle()

        self.steps += 1
        self.runner.run(whole())

    # -- the person writes

    @rule(after=ticks, then=st.sampled_from(["stop", "switch", "new chat", "again"]), which=which)
    def send(self, after: int | None, then: str, which: int) -> None:
        world = self.world
        if len(listed(world)) >= MOST and not world.shown.is_stored:
            self.do(lambda: self.open_session(which))
        here, composer = world.shown, world.life.page.composer
        next_: dict[str, Callable[[], object]] = {
            "stop": here.stop,
            "switch": lambda: self.open_session(which),
            "new chat": world.life.library.new_chat,
            "again": lambda: world.press(composer.submit, again=True),
        }
        self.do(lambda: (world.type(), world.press(composer.button.click)), after, next_[then])

    @rule(what=st.sampled_from(["follow up", "draft", "send it", "edit", "begin to edit", "give up", "take", "remove"]))
    def write(self, what: str) -> None:
        world, composer, tray = self.world, self.world.life.page.composer, self.world.life.page.tray
        assert tray is not None
        waiting = world.shown.queue.entries()
        match what:
            case "follow up" if world.shown.is_busy:
                self.do(lambda: (world.type(), world.press(composer.editor.submitted_later.emit)))
            case "send it" if has_own_text(world):
                self.do(lambda: world.press(composer.submit))
            case "edit" | "begin to edit" if world.shown.is_stored and not world.shown.is_busy:
                self.do(world.life.view.edit_last)
                if what == "edit" and composer.is_editing:
                    self.do(lambda: (world.type(), world.press(composer.button.click)))
            case "give up" if composer.is_editing:
                self.do(tray.edit_cancelled.emit)
            case "take" | "remove" if waiting:
                if what == "remove":
                    world.book.dropped |= set(TYPED.findall(message_of(waiting[-1]).text))
                self.do(lambda: (tray.removed if what == "remove" else tray.edit_wanted).emit(waiting[-1].id))
            case _:
                self.do(lambda: (world.type(), composer.flush_draft()))

    # -- the person and the turn

    @precondition(shown(is_busy))
    @rule(after=st.integers(0, 30), says=st.booleans(), by_button=st.booleans())
    def stop(self, after: int, says: bool, by_button: bool) -> None:
        world, composer = self.world, self.world.life.page.composer

        def speak() -> None:
            session = world.shown.session_id
            if says and session in world.wire.streaming():
                world.wire.of(session).finish(TextDelta(world.say(session)), FinishDelta("stop"))

        # Whatever is written makes the button one that sends.
        button = partial(world.press, composer.button.click)
        self.do(speak, after, button if by_button and composer.stops else world.shown.stop)

    @precondition(shown(is_counting))
    @rule(
        what=st.sampled_from(["now", "later", "cancel", "keep", "go_on", "retry_with"]), model=st.sampled_from(MODELS)
    )
    def wait_otherwise(self, what: str, model: ModelRef) -> None:
        if what in ("now", "later", "cancel"):
            self.do(getattr(self.world.life.page.banner, what).click)
        else:
            self.do(partial(getattr(self.world.shown, what), *((model,) if what == "retry_with" else ())))

    @precondition(shown(has_card))
    @rule(signal=st.sampled_from(CARD), model=st.sampled_from(MODELS))
    def press_the_card(self, signal: str, model: ModelRef) -> None:
        world, card, composer = self.world, self.world.life.card("pendingCard"), self.world.life.page.composer
        prompt = newest_prompt(world.shown)
        was_editing = composer.is_editing
        self.do(partial(getattr(card, signal).emit, *((model,) if signal == "model_wanted" else ())))
        if signal in ("retried", "model_wanted"):
            assert world.shown.is_busy, "Retry began nothing here"
        elif signal in ("taken_back", "edited") and not was_editing:
            assert composer.text().startswith(prompt), "another prompt was taken"

    @precondition(shown(asks))
    @rule(answer=st.sampled_from(Answer))
    def answer(self, answer: Answer) -> None:
        self.do(lambda: self.world.life.card("approvalCard").answered.emit(answer))

    @precondition(shown(is_at_rest))
    @rule(which=which, what=st.sampled_from(MESSAGE), model=st.sampled_from(MODELS))
    def press_a_message(self, which: int, what: str, model: ModelRef) -> None:
        conversation, timeline = self.world.shown, self.world.life.view.timeline
        items = [item for item in reversed(timeline.scroller.stack.items) if item.message.role is not Role.TOOL]
        versions = [item for item in items if item.place is not None]
        match what:
            case "regenerate" if items:
                self.do(lambda: timeline.action_wanted.emit(chosen(items, which).key, "regenerate"))
            case "step" if versions:
                self.do(lambda: timeline.branch_wanted.emit(chosen(versions, which).key, -1 if which else 1))
            case "model":
                self.do(lambda: conversation.choose_model(model))
            case "policy":
                self.do(lambda: conversation.set_policy(chosen((None, "off", "steady"), which)))
            case _:
                self.do(conversation.go_on)

    # -- the person and the sessions

    def open_session(self, which: int) -> None:
        if others := [key for key in listed(self.world) if key != self.world.shown.session_id]:
            self.world.life.sidebar.session_wanted.emit(chosen(others, which))

    @rule(what=st.sampled_from(SESSIONS), which=which, after=ticks)
    def use_the_sidebar(self, what: str, which: int, after: int | None) -> None:
        world, library, here = self.world, self.world.life.library, self.world.shown.session_id
        there, gone = listed(world), [book.session for book in world.books.values() if book.is_trashed]
        session = chosen(there, which) if there else here
        running = [each for each in map(library.conversation, there) if each is not None and each.is_busy]
        # Its queue is given back to a composer that is not shown.
        giving = [each for each in running if each is not world.shown and each.queue.entries()]
        match what:
            case "new chat":
                self.do(library.new_chat, after, lambda: self.open_session(which))
            case "trash" if there:
                world.books[session].is_trashed = True
                world.books[session].is_unread = False
                self.do(lambda: library.trash(session))
            case "restore" if gone:
                world.books[gone[-1]].is_trashed = False
                self.do(lambda: library.restore(gone[-1]))
            case "retry" if there:
                self.do(lambda: library.retry_pending([session]), after, lambda: self.open_session(which))
            case "retry all":
                self.do(library.retry_pending, after, lambda: self.open_session(which))
            case "stop" if running:
                self.do(chosen(giving or running, which).stop, after, lambda: self.open_session(which))
            case "rename" if there:
                self.do(lambda: library.rename(session, world.token("t")))
            case "there and back":
                self.do(lambda: self.open_session(which), after, lambda: library.open(here))
            case _:
                self.do(lambda: self.open_session(which))

    # -- the wire

    def speaker(self, which: int) -> tuple[str, DrivenProvider]:
        """A session whose request runs, shown or not."""
        session = chosen(self.world.wire.streaming(), which)
        return session, self.world.wire.of(session)

    @precondition(shown(is_streaming))
    @rule(which=which, thinks=st.booleans())
    def say(self, which: int, thinks: bool) -> None:
        session, wire = self.speaker(which)
        self.do(lambda: wire.say((ThinkingDelta if thinks else TextDelta)(self.world.say(session))))

    @precondition(shown(is_streaming))
    @rule(which=which, word=st.sampled_from(["stop", "stop", "length"]), after=ticks)
    def finish(self, which: int, word: str, after: int | None) -> None:
        session, wire = self.speaker(which)

        def act() -> None:
            wire.finish(TextDelta(self.world.say(session)), FinishDelta(word))

        self.do(act, after, lambda: self.open_session(which))

    @precondition(shown(is_streaming))
    @rule(which=which, tools=st.lists(st.sampled_from(["ping", "ping", "hang"]), min_size=1, max_size=2))
    def call(self, which: int, tools: list[str]) -> None:
        session, wire = self.speaker(which)
        made = [ToolCallDelta(slot, self.world.call(session), name, "{}") for slot, name in enumerate(tools)]
        self.do(lambda: wire.finish(*made, FinishDelta("tool_calls")))

    @precondition(shown(is_streaming))
    @rule(which=which, name=st.sampled_from(sorted(FAILURES)), says=st.booleans(), after=ticks)
    def fail(self, which: int, name: str, says: bool, after: int | None) -> None:
        session, wire = self.speaker(which)
        failure = replace(FAILURES[name], message=self.world.token("f"))

        def act() -> None:
            if says:
                wire.say(TextDelta(self.world.say(session)))
            wire.fail(failure)

        self.do(act, after, lambda: self.open_session(which))

    # -- time, the network, the program

    @precondition(shown(anything_runs))
    @rule(seconds=st.sampled_from([0.2, 1.0, 4.0, 12.0, 60.0]))
    def pass_time(self, seconds: float) -> None:
        self.runner.run(self.world.clock.advance(seconds))
        self.do(lambda: None)

    @precondition(shown(anything_runs))
    @rule(offline=st.sampled_from([False, False, True]))
    def go_offline(self, offline: bool) -> None:
        self.do(lambda: self.world.network.set_offline(offline))

    @precondition(lambda machine: machine.steps > machine.restarted_at + 5)
    @rule(crash=st.booleans(), opens=st.booleans(), which=which)
    def restart(self, crash: bool, opens: bool, which: int) -> None:
        self.restarted_at = self.steps
        self.runner.run(self.world.restart(crash=crash))
        self.do(lambda: self.open_session(which) if opens else None)

    # -- what must hold

    @invariant()
    def everything_holds(self) -> None:
        if hasattr(self, "world"):
            self.runner.run(check(self.world))


@pytest.mark.timeout(7200)
def test_whatever_happens_nothing_is_lost_and_what_is_shown_is_what_is(
    full: bool, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L1, L20, D5, D8, D11, D12, D20, B1, I6, N10: three sessions, of which one is shown, over several lives."""
    # So that going from one session to another reads it again from the disk.
    monkeypatch.setattr("reprise.bridge.library._KEPT_ALIVE", 1)
    troubles: list[str] = []
    screen = Screen()
    # What an example made goes at its end: in between, a collection would walk the objects of the whole suite.
    gc.disable()
    try:
        with asyncio.Runner() as runner, overheard(troubles):
            machine: Any = type("Machine", (LifeMachine,), {"runner": runner, "screen": screen, "troubles": troubles})
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=2000 if full else 35,
                    stateful_step_count=25,
                    deadline=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
    finally:
        gc.enable()
        screen.close()
