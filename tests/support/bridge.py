"""A stage for conversations: the real store and engine on a manual clock, with a scripted wire."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.bridge.message_queue import message_of
from reprise.bridge.services import Services
from reprise.bridge.tasks import TaskScope
from reprise.domain.deltas import TextDelta
from reprise.domain.events import TurnFinished
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import Message, ModelRef
from reprise.domain.models import ModelInfo, Parameters, Route
from reprise.domain.ports import CompletionProvider, History
from reprise.domain.retry import RetryPolicy
from reprise.domain.sessions import Attempt, Delivery, messages
from reprise.engine.holds import Holds
from reprise.storage.store import Store
from reprise.storage.worker import Worker
from support.clock import ManualClock
from support.engine import Network, ScriptedProvider
from support.qt import Recorder

MODEL = ModelRef("test", "small")
OTHER = ModelRef("test", "large")


class FixedCatalog:
    """Providers by model; the first is the default, and any other model has none. `stands_in` is the fallback."""

    def __init__(self, providers: Mapping[ModelRef, CompletionProvider]) -> None:
        self.providers = dict(providers)
        self.stands_in: ModelRef | None = None
        self.routes: dict[ModelRef, Route] = {}

    def models(self) -> tuple[ModelInfo, ...]:
        return tuple(ModelInfo(ref, ref.model) for ref in self.providers)

    def default(self) -> ModelRef | None:
        return next(iter(self.providers), None)

    def fallback(self) -> ModelRef | None:
        return self.stands_in

    def route(self, ref: ModelRef) -> Route:
        return self.routes.get(ref, Route(ref.provider))

    def provider(self, ref: ModelRef) -> CompletionProvider:
        if ref not in self.providers:
            raise CompletionError(Failure(FailureKind.AUTH, f"There is no key for {ref.model}.", retryable=False))
        return self.providers[ref]


class BridgeStage:
    """One life of the program over the database in `folder`."""

    def __init__(
        self, store: Store, clock: ManualClock, *replies: Any, delays: tuple[float, ...], **options: Any
    ) -> None:
        self.store = store
        self.clock = clock
        self.provider = ScriptedProvider(*replies)
        self.catalog = FixedCatalog({MODEL: self.provider})
        self.network = Network()
        self.scope = TaskScope("test")
        self.scope.start(store.run(), name="flush")
        self.services = Services(
            log=options.pop("wrap", lambda log: log)(store.log),
            sessions=store.sessions,
            drafts=store.drafts,
            catalog=self.catalog,
            clock=clock,
            tools=options.pop("tools", None),
            questions=None,
            policy=options.pop("policy", lambda _model, _own: RetryPolicy(delays)),
            parameters=lambda _: Parameters(),
            rng=Random(7),
            auto_continue=options.pop("auto_continue", lambda: 0),
            max_rounds=options.pop("max_rounds", lambda: 1),
            holds=Holds(clock),
            reachability=self.network,
            **options,
        )

    @classmethod
    async def open(
        cls,
        folder: Path,
        *replies: Any,
        clock: ManualClock | None = None,
        delays: tuple[float, ...] = (5.0, 10.0, 15.0),
        **options: Any,
    ) -> BridgeStage:
        clock, worker = clock or ManualClock(), Worker()
        store = await Store.open(folder, clock, worker)
        clock.settle_with(worker.settled)
        return cls(store, clock, *replies, delays=delays, **options)

    async def close(self) -> None:
        await self.scope.close()
        assert await self.store.close()

    def chat(self) -> Conversation:
        """A new chat."""
        return Conversation(None, self.services, self.scope)

    async def reopened(self, session_id: str) -> Conversation:
        """A stored session, loaded."""
        history = await self.store.sessions.load(session_id)
        conversation = Conversation(history.session, self.services, self.scope)
        await conversation.load()
        await self.clock.drain()
        return conversation

    def library(self) -> Library:
        """A library over the same store."""
        return Library(self.services, self.scope)

    async def send(self, conversation: Conversation, text: str = "hello") -> None:
        """Send and let everything happen that takes no time."""
        assert conversation.send(text)
        await self.clock.drain()

    async def history(self, conversation: Conversation) -> History:
        """The session as it is on disk."""
        return await self.store.sessions.load(conversation.session_id)

    async def stored(self, conversation: Conversation) -> tuple[Message, ...]:
        """The messages on the active branch of the disk."""
        return messages((await self.history(conversation)).branch)

    async def attempts(self, conversation: Conversation) -> list[Attempt]:
        """The attempts on disk, oldest first."""
        history = await self.history(conversation)
        found = [each for entry in history.branch for each in history.attempts.get(entry.id, ())]
        return [each.data for each in found if isinstance(each.data, Attempt)]

    async def assert_memory_equals_disk(self, conversation: Conversation) -> None:
        """The rule behind every test here."""
        await self.clock.drain()
        assert conversation.history == await self.history(conversation)


def recorder(conversation: Conversation) -> Recorder:
    """Everything a conversation and its countdown say, but the deltas and the histories."""
    retries = conversation.retry_manager
    return Recorder(
        started=conversation.turn_started,
        attempt=conversation.attempt_started,
        failed=conversation.attempt_failed,
        scheduled=conversation.retry_scheduled,
        round=conversation.round_completed,
        finished=conversation.turn_finished,
        stored=conversation.prompt_stored,
        refused=conversation.send_refused,
        asked=conversation.question_asked,
        settled=conversation.question_settled,
        countdown=retries.countdown_started,
        seconds=retries.countdown_changed,
        retry=retries.retry_started,
        cancelled=retries.cancelled,
        exhausted=retries.exhausted,
    )


def end_of(heard: Recorder) -> TurnFinished:
    """The newest end of a turn."""
    ends = [entry[1] for entry in heard.seen if entry[0] == "finished"]
    assert ends, heard.names()
    assert isinstance(ends[-1], TurnFinished)
    return ends[-1]


def waiting(conversation: Conversation) -> list[str]:
    """The texts in a conversation's queue, in the order of delivery."""
    return [message_of(entry).text for entry in conversation.queue.entries()]


def said(conversation: Conversation) -> Recorder:
    """What a conversation says about commands and texts."""
    return Recorder(
        refused=conversation.refused,
        returned=conversation.text_returned,
        stored=conversation.prompt_stored,
        send_refused=conversation.send_refused,
        version_stored=conversation.version_stored,
        version_refused=conversation.version_refused,
        problem=conversation.problem,
    )


async def stopped(stage: BridgeStage, text: str = "hello") -> Conversation:
    """A chat whose only turn was stopped."""
    chat = stage.chat()
    await stage.send(chat, text)
    chat.stop()
    await stage.clock.drain()
    return chat


async def answered(stage: BridgeStage, text: str = "hello") -> Conversation:
    """A chat with one completed turn."""
    chat = stage.chat()
    await stage.send(chat, text)
    assert chat.pending is None
    return chat


def shown(conversation: Conversation) -> list[str]:
    """The texts of the active branch, in memory."""
    return [message.text for message in messages(conversation.history.branch)]


async def queue(
    stage: BridgeStage, conversation: Conversation, *texts: str, delivery: Delivery = Delivery.STEER
) -> None:
    """Send messages while a turn runs."""
    for text in texts:
        assert conversation.send(text, delivery)
        await stage.clock.drain()


def held(stage: BridgeStage, text: str) -> Callable[[], None]:
    """The next reply says `text` and waits; calling what is returned lets it end."""
    gate = asyncio.Event()
    stage.provider._replies.append([TextDelta(text), gate.wait])
    return gate.set


async def chats(stage: BridgeStage, library: Library, *prompts: str) -> list[Conversation]:
    """Each prompt sent in a chat of its own, a second apart; the last one is shown."""
    made = []
    for text in prompts:
        made.append(library.new_chat())
        await stage.send(library.current, text)
        await stage.clock.advance(1)
    return made


def titles(library: Library) -> list[str]:
    """The list."""
    return [row.session.title for row in library.rows()]


def lives(library: Library) -> Recorder:
    """What a library says about lives."""
    return Recorder(
        trashed=library.trashed,
        ended=library.turn_ended,
        asks=library.turn_asks,
        problem=library.problem,
        current=library.current_changed,
    )
