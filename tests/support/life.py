"""The whole program over as many lives as a test asks for: real store, bridge and page, driven step by step."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any
from weakref import WeakSet

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget

from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.domain.deltas import Delta, TextDelta, ThinkingDelta
from reprise.domain.events import TurnFinished
from reprise.domain.messages import Message, Role, ToolCallPart
from reprise.domain.models import CompletionRequest
from reprise.domain.retry import RetryPolicy
from reprise.domain.sessions import Attempt, AttemptState, messages, prompt_entry
from reprise.storage.store import Store
from reprise.ui.conversation_view import ConversationView
from reprise.ui.page import Page
from reprise.ui.sidebar import Sidebar
from reprise.ui.style import Appearance
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window_state import WindowState
from support.bridge import BridgeStage
from support.clock import ManualClock
from support.engine import MODEL, OTHER, FakeTools, Network, pong
from support.engine_world import TOKEN, DrivenProvider, InlineWorker, Mortal
from support.window import RESOURCES

MODELS = (MODEL, OTHER)
TYPED = re.compile(r"p\d+")
_SIDE, _WIDTH, _HEIGHT = 260, 1000, 700


class Screen:
    """The one window of all lives: a new page in it costs a fifth of what a window would."""

    def __init__(self) -> None:
        self.window = QWidget()
        self.window.resize(_WIDTH, _HEIGHT)
        theme = load_theme(RESOURCES, Scheme.LIGHT)
        self.look = Appearance(RESOURCES, theme, WindowState(None), self.window)
        self.window.show()
        # What is painted is no matter here, and it would be most of the time.
        self.window.setUpdatesEnabled(False)

    def clear(self) -> None:
        """The widgets of a life are gone: nobody asks for the look any more."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self.look.changed.disconnect()

    def close(self) -> None:
        self.window.close()
        self.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@dataclass
class Book:
    """What is known of a session without asking the program: what was typed in it, and what became of that."""

    session: str
    typed: set[str] = field(default_factory=set)
    said: set[str] = field(default_factory=set)
    heard: set[str] = field(default_factory=set)
    pressed: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    dropped: set[str] = field(default_factory=set)
    is_unread: bool = False
    is_trashed: bool = False

    def sent(self) -> set[str]:
        """The words of the prompts and queued messages."""
        return set(TYPED.findall(" ".join(self.accepted)))

    def owns(self, token: str) -> bool:
        return token in self.typed or token in self.said


class Life:
    """One life of the program, from its start to its end or its death."""

    def __init__(self, world: World, stage: BridgeStage) -> None:
        self.world = world
        self.stage = stage
        services = stage.services
        self._mortals = [Mortal(driver) for driver in (services.log, services.sessions, services.drafts)]
        log, sessions, drafts = self._mortals
        stage.catalog.providers = {model: world.wire for model in MODELS}
        stage.catalog.stands_in = OTHER
        stage.network = world.network
        self.library = Library(
            replace(services, log=log, sessions=sessions, drafts=drafts, reachability=world.network), stage.scope
        )

    @classmethod
    async def begin(cls, world: World) -> Life:
        worker = InlineWorker()
        store = await Store.open(world.folder, world.clock, worker)
        world.clock.settle_with(worker.settled)
        tools = FakeTools(ping=pong, hang=world.hang)
        stage = BridgeStage(
            store,
            world.clock,
            delays=(),
            tools=tools,
            policy=lambda _model, own: RetryPolicy(() if own.get("retry.policy") == "off" else (5.0, 10.0)),
            max_rounds=lambda: 2,
            auto_continue=lambda: 1,
        )
        life = cls(world, stage)
        await life.library.load()
        life._show(world.screen)
        return life

    def _show(self, screen: Screen) -> None:
        library, clock = self.library, self.world.clock
        self.page = Page(screen.look, screen.window)
        self.page.setGeometry(_SIDE, 0, _WIDTH - _SIDE, _HEIGHT)
        self.page.add_banner()
        self.page.add_first_run()
        self.view = ConversationView(screen.look, self.page, library, self.stage.catalog, clock)
        self.sidebar = Sidebar(screen.look, screen.window)
        self.sidebar.setGeometry(0, 0, _SIDE, _HEIGHT)
        self.sidebar.attach(library, lambda: clock.utc().date())
        self.sidebar.session_wanted.connect(library.open)
        self.page.show()
        self.sidebar.show()

    async def end(self, *, crash: bool) -> None:
        """Close as the window does, or die: from then on nothing is written."""
        for mortal in self._mortals:
            mortal.is_dead = crash
        if not crash:
            self.page.composer.flush_draft()
        self.page.composer.let_go()
        await self.library.close()
        await self.stage.close()
        self.page.deleteLater()
        self.sidebar.deleteLater()
        self.world.screen.clear()

    def card(self, name: str) -> Any:
        """The one card of this name on the timeline; None when there is none."""
        found = [each for each in self.view.timeline.viewport().findChildren(QWidget, name) if not each.isHidden()]
        assert len(found) <= 1, f"{len(found)} cards at once"
        return found[0] if found else None


class Wire:
    """The providers' end: knows by its prompts which session a request is of, and does what it is told."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._streams: dict[str, DrivenProvider] = {}

    def stream(self, request: CompletionRequest) -> AsyncGenerator[Delta, None]:
        asked = " ".join(message.text for message in request.messages if message.role is Role.USER)
        session = self._world.owner(TYPED.findall(asked)[-1])
        driven = self.of(session)
        assert driven.inbox is None, "two requests of one session at a time"
        return driven.stream(request)

    def of(self, session: str) -> DrivenProvider:
        """A session's end."""
        return self._streams.setdefault(session, DrivenProvider(partial(self._world.may_be_sent, session)))

    def streaming(self) -> list[str]:
        """The sessions whose request runs."""
        return [session for session, driven in self._streams.items() if driven.inbox is not None]


class World:
    """The folder, the clock, the network and the person; `life` is the program."""

    life: Life

    def __init__(self, folder: Path, screen: Screen, network: Network, troubles: list[str]) -> None:
        self.folder = folder
        self.screen = screen
        self.network = network
        self.clock = ManualClock()
        self.wire = Wire(self)
        self.books: dict[str, Book] = {}
        self.hanging: dict[str, str] = {}
        self.troubles = troubles
        self._calls: dict[str, str] = {}
        self._known: WeakSet[Conversation] = WeakSet()
        self._number = 0

    async def open(self) -> None:
        self.life = await Life.begin(self)
        library = self.life.library
        library.problem.connect(self.troubles.append)
        library.turn_ended.connect(self._ended)
        library.current_changed.connect(self.know)
        self.know(library.current)

    async def restart(self, *, crash: bool) -> None:
        """The program ends, or dies, and begins anew."""
        await self.life.end(crash=crash)
        if crash:
            self.troubles.clear()
        unsent = [book.session for book in self.books.values() if not book.accepted]
        for session in unsent:
            del self.books[session]
        for book in self.books.values():
            book.is_unread = False
        await self.open()
        # What was written in a chat that never was, or as an edit, turns up in the new one.
        self.book.typed |= set(TYPED.findall(self.life.page.composer.text()))

    async def close(self) -> None:
        await self.life.end(crash=False)

    # -- what is where

    @property
    def shown(self) -> Conversation:
        """The conversation that is shown."""
        return self.life.library.current

    @property
    def book(self) -> Book:
        """That of the session that is shown."""
        return self.books[self.shown.session_id]

    def owner(self, token: str) -> str:
        """The session in which a text was sent."""
        (session,) = [book.session for book in self.books.values() if token in book.sent()]
        return session

    def conversation(self, session: str) -> Conversation | None:
        return self.life.library.conversation(session)

    def written(self, session: str) -> str:
        """What is in the composer of a session, unsent."""
        draft = self.life.library.draft(session)
        shown = self.life.page.composer.text() if session == self.shown.session_id else ""
        return f"{draft.text if draft else ''} {shown}"

    async def may_be_sent(self, session: str) -> frozenset[str]:
        """The tokens of the branch up to what the open attempt answers, and of what its reply begins with."""
        history = await self.life.stage.store.sessions.load(session)
        (attempt,) = [
            entry
            for under in history.attempts.values()
            for entry in under
            if isinstance(entry.data, Attempt) and entry.data.state is AttemptState.OPEN
        ]
        ids = [entry.id for entry in history.branch]
        said = messages(history.branch[: ids.index(attempt.parent or "") + 1])
        assert isinstance(attempt.data, Attempt)
        parts = [message.parts for message in said] + [attempt.data.parts]
        texts = [part.text for each in parts for part in each if hasattr(part, "text")]
        return frozenset(TOKEN.findall(" ".join(texts)))

    # -- what happens

    def token(self, letter: str) -> str:
        """A word that there is only once."""
        self._number += 1
        return f"{letter}{self._number}"

    def type(self) -> str:
        """A text that is typed in the shown session, in place of what is there."""
        composer, token = self.life.page.composer, self.token("p")
        self.book.typed.add(token)
        self.book.dropped |= set(TYPED.findall(composer.text()))
        composer.set_text(token)
        return token

    def press(self, key: Callable[[], object], *, again: bool = False) -> None:
        """Send what is written, if it can be; the same text `again`, before the first was stored, is one send."""
        pressed, text = self.book.pressed, self.life.page.composer.text()
        if not again or text not in pressed:
            pressed[text] += 1
        key()

    def say(self, session: str) -> str:
        """A word that a model says in a session."""
        token = self.token("w")
        self.books[session].said.add(token)
        return f"{token}. "

    def call(self, session: str) -> str:
        """The id of a tool's call in a session."""
        token = self.token("c")
        self._calls[token] = session
        return token

    async def hang(self, call: ToolCallPart) -> str:
        """A tool that never answers."""
        self.hanging[call.id] = self._calls[call.id]
        try:
            await asyncio.Event().wait()
        finally:
            del self.hanging[call.id]
        return "never"

    def know(self, conversation: Conversation) -> None:
        """A conversation is shown: from here on it can be sent to."""
        session = conversation.session_id
        if session not in self.books:
            # The text of a chat that never was is in the next one.
            unsent = [book.typed for book in self.books.values() if not book.accepted]
            self.books[session] = Book(session, set().union(*unsent))
        book = self.books[session]
        book.is_unread = False
        self._listen(book, conversation)

    def _listen(self, book: Book, conversation: Conversation) -> None:
        def hear(delta: Delta) -> None:
            if isinstance(delta, TextDelta | ThinkingDelta):
                book.heard |= set(TOKEN.findall(delta.text))

        if conversation not in self._known:
            self._known.add(conversation)
            conversation.prompt_stored.connect(lambda text: book.accepted.update([text]))
            conversation.version_stored.connect(lambda _: book.accepted.update([newest_prompt(conversation)]))
            conversation.queue.edited.connect(lambda _, text: book.accepted.update([text]))
            conversation.delta_arrived.connect(hear)

    def _ended(self, session: str, _: TurnFinished) -> None:
        self.books[session].is_unread = session != self.shown.session_id

    async def settle(self) -> None:
        """Let everything happen that takes no time, Qt's own events included."""
        await self.clock.drain()
        QCoreApplication.sendPostedEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        await self.clock.drain()
        for book in self.books.values():
            if (conversation := self.conversation(book.session)) is not None:
                self._listen(book, conversation)


def newest_prompt(conversation: Conversation) -> str:
    """The text of the prompt that a conversation's last turn is about."""
    prompt = prompt_entry(conversation.history.branch)
    assert prompt is not None
    assert isinstance(prompt.data, Message)
    return prompt.data.text


class _Errors(logging.Handler):
    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        self._found.append(self.format(record))


@contextmanager
def overheard(found: list[str]) -> Iterator[None]:
    """Whatever goes wrong within, in a slot or in a task, is in `found` as a text."""

    def hook(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        found.append(f"{kind.__name__}: {error}")

    before, sys.excepthook = sys.excepthook, hook
    handler, logger = _Errors(found), logging.getLogger("reprise")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        sys.excepthook = before
