"""A stage for turns: a scripted wire, a gate on the manual clock, a real store in a folder of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reprise.domain.deltas import Delta, FinishDelta, Partial, TextDelta, ToolCallDelta
from reprise.domain.events import (
    Answer,
    AttemptStarted,
    DeltaArrived,
    Outcome,
    RetryScheduled,
    TurnEvent,
    TurnFinished,
)
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import Message, ModelRef, Role, ToolCallPart, ToolResultPart, user_message
from reprise.domain.models import CompletionRequest, Parameters, Route, ToolSpec
from reprise.domain.ports import CompletionProvider, History, HoldResult, Log, LogError
from reprise.domain.retry import PendingRetry, RetryPolicy
from reprise.domain.sessions import Attempt, Entry, messages
from reprise.domain.turns import Idle, TurnState, advance
from reprise.engine.progress import Answerer
from reprise.engine.turn import Turn
from reprise.storage.store import Store
from reprise.storage.worker import Worker
from support.clock import ManualClock

MODEL = ModelRef("test", "m")
OTHER = ModelRef("spare", "n")
SESSION = "s"


class Hang:
    """A step of a reply that never ends by itself."""


HANG = Hang()

Step = Delta | Exception | Hang | Callable[[], Awaitable[None]]
Reply = Sequence[Step]


def says(*pieces: str, finish: str = "stop") -> Reply:
    """A reply of plain text."""
    return [*(TextDelta(piece) for piece in pieces), FinishDelta(finish)]


def calls(*names: str, arguments: str = "{}", finish: str = "tool_calls") -> Reply:
    """A reply that calls tools."""
    made = [ToolCallDelta(slot, f"call-{slot}-{name}", name, arguments) for slot, name in enumerate(names)]
    return [*made, FinishDelta(finish)]


def lost(words: str = "connection lost") -> Reply:
    """A request that fails with an exception that no provider typed."""
    return [RuntimeError(words)]


def fails(
    kind: FailureKind = FailureKind.SERVER,
    *before: Delta,
    retryable: bool = True,
    retry_after_s: float | None = None,
    words: str = "the provider is down",
) -> Reply:
    """A reply that breaks off with a typed failure after the deltas `before`."""
    return [*before, CompletionError(Failure(kind, words, retryable, retry_after_s))]


class ScriptedProvider:
    """The wire's side of the port: one reply per request, in order."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[CompletionRequest] = []
        self.closed = 0
        self.hanging = asyncio.Event()

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Delta, None]:
        self.requests.append(request)
        try:
            for step in self._replies.pop(0):
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, Hang):
                    self.hanging.set()
                    await asyncio.Event().wait()
                elif callable(step):
                    await step()
                else:
                    yield step
        finally:
            self.closed += 1


def answerer(
    provider: CompletionProvider,
    model: ModelRef = MODEL,
    parameters: Parameters | None = None,
    route: Route | None = None,
    policy: RetryPolicy | None = None,
) -> Answerer:
    """Who answers; by itself each provider of a model has limits of its own, and one retry."""
    return Answerer(
        model, provider, parameters or Parameters(), route or Route(model.provider), policy or RetryPolicy((5.0,))
    )


class ScriptedGate:
    """Holds a retry until the manual clock is there, moving it itself; `answers` decide some waits otherwise."""

    def __init__(self, clock: ManualClock, *answers: HoldResult) -> None:
        self._clock = clock
        self._answers = list(answers)
        self.held: list[PendingRetry] = []
        self.waits: list[float] = []

    async def hold(self, pending: PendingRetry, ready: Coroutine[Any, Any, None] | None = None) -> HoldResult:
        assert (pending.due_at is None) is (ready is not None)
        self.held.append(pending)
        answer = self._answers.pop(0) if self._answers else HoldResult.ELAPSED
        if pending.due_at is not None:
            self.waits.append(pending.due_at - self._clock.now())
            if answer is HoldResult.ELAPSED:
                await self._clock.advance(self.waits[-1])
        elif ready is not None:
            await until_ready(ready, answer)
        return answer


async def until_ready(ready: Coroutine[Any, Any, None], answer: HoldResult = HoldResult.ELAPSED) -> None:
    """Wait for `ready` as a gate does; not at all when the wait was decided otherwise."""
    if answer is HoldResult.ELAPSED:
        await ready
    else:
        ready.close()


class SleepingGate:
    """Holds a retry on the clock and leaves moving it to the test."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.waiting = asyncio.Event()

    async def hold(self, pending: PendingRetry, ready: Coroutine[Any, Any, None] | None = None) -> HoldResult:
        self.waiting.set()
        if pending.due_at is not None:
            await self._clock.sleep_until(pending.due_at)
        elif ready is not None:
            await until_ready(ready)
        return HoldResult.ELAPSED


class Network:
    """`ports.Reachability` as a test says."""

    def __init__(self, *, offline: bool = False) -> None:
        self._online = asyncio.Event()
        self.set_offline(offline)

    @property
    def is_offline(self) -> bool:
        return not self._online.is_set()

    async def back_online(self) -> None:
        await self._online.wait()

    def set_offline(self, offline: bool) -> None:
        if offline:
            self._online.clear()
        else:
            self._online.set()


class FakeQueue:
    """`ports.Queue`: hands out each batch once, as the queue of a conversation does."""

    def __init__(self, *batches: Sequence[Entry]) -> None:
        self._batches = list(batches)

    def steers(self) -> Sequence[Entry]:
        return self._batches.pop(0) if self._batches else ()


class FakeTools:
    """The tools of a turn: each a coroutine function from arguments to text; `ran` is what ran, in order."""

    def __init__(self, **tools: Callable[[ToolCallPart], Awaitable[str]]) -> None:
        self._tools = tools
        self.schema: dict[str, Any] = {"type": "object"}
        self.ran: list[str] = []

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name, f"{name} for tests", self.schema) for name in self._tools)

    async def run(self, call: ToolCallPart) -> ToolResultPart:
        self.ran.append(call.name)
        return ToolResultPart(call.id, call.name, await self._tools[call.name](call))


async def pong(call: ToolCallPart) -> str:
    """A tool that answers at once."""
    return "pong"


class ScriptedQuestions:
    """Answers the engine's questions; Stop once the script has ended."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[int] = []

    async def round_limit(self, rounds: int) -> Answer:
        self.asked.append(rounds)
        return self._answers.pop(0) if self._answers else Answer.STOP


class FaultyLog:
    """The real log, with faults on cue: calls named in `refuse` fail, those in `hold` wait for `release` first.

    `calls` has the names of all of them, in order.
    """

    def __init__(self, log: Log, *, refuse: Collection[str] = (), hold: Collection[str] = ()) -> None:
        self._log = log
        self._refuse = refuse
        self._hold = hold
        self.calls: list[str] = []
        self.entered = asyncio.Event()
        self.release = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._log, name)
        self.calls.append(name)

        async def refused(*_: object, **__: object) -> None:
            raise LogError("The disk is full.")

        async def held(*arguments: Any, **options: Any) -> Any:
            self.entered.set()
            await self.release.wait()
            return await method(*arguments, **options)

        if name in self._refuse:
            return refused
        return held if name in self._hold else method


class EngineStage:
    """Turns on a real store. Every event is folded into `state`, so an illegal one fails the test that saw it."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.gate = ScriptedGate(clock)
        self.state: TurnState = Idle()
        self.events: list[TurnEvent] = []

    @classmethod
    async def open(cls, folder: Path) -> EngineStage:
        clock, worker = ManualClock(), Worker()
        store = await Store.open(folder, clock, worker)
        clock.settle_with(worker.settled)
        return cls(store, clock)

    async def close(self) -> None:
        assert await self.store.close()

    def turn(
        self, provider: ScriptedProvider, *delays: float, policy: RetryPolicy | None = None, **options: Any
    ) -> Turn:
        """A turn with this schedule of waits; `options` are Turn's own, and `answerer`'s."""
        asked = {name: options.pop(name) for name in ("model", "parameters", "route") if name in options}
        return Turn(
            answerer(provider, policy=policy or RetryPolicy(delays), **asked),
            options.pop("log", self.store.log),
            options.pop("gate", self.gate),
            self.clock,
            rng=Random(7),
            **options,
        )

    async def follow(self, events: AsyncIterator[TurnEvent]) -> list[TurnEvent]:
        """Take every event of a turn; those of this call."""
        taken: list[TurnEvent] = []
        assert isinstance(events, AsyncGenerator)
        try:
            async with aclosing(events) as source:
                async for event in source:
                    self.state = advance(self.state, event)
                    self.events.append(event)
                    taken.append(event)
        except asyncio.CancelledError:
            # A stopped turn says nothing more: who stopped it knows that it is over.
            self.state = advance(self.state, TurnFinished(Outcome.STOPPED))
            raise
        return taken

    async def send(self, turn: Turn, text: str = "hello") -> list[TurnEvent]:
        """One prompt, followed to its end."""
        return await self.follow(turn.run(SESSION, user_message(text)))

    async def retry(self, turn: Turn) -> list[TurnEvent]:
        """The pending turn, followed to its end."""
        return await self.follow(turn.resume(SESSION))

    async def regenerate(self, turn: Turn) -> list[TurnEvent]:
        """Another reply beside the newest one, followed to its end."""
        return await self.follow(turn.regenerate(SESSION, await self.newest_reply()))

    async def go_on(self, turn: Turn) -> list[TurnEvent]:
        """The rest of the newest reply, followed to its end."""
        return await self.follow(turn.go_on(SESSION, await self.newest_reply()))

    async def newest_reply(self) -> Entry:
        """The last reply on the branch."""
        (*_, reply) = [entry for entry in (await self.history()).branch if _is_reply(entry)]
        return reply

    async def stopped(self, turn: Turn, provider: ScriptedProvider, text: str = "hello") -> None:
        """One prompt whose task is cancelled once its request hangs."""
        task = asyncio.create_task(self.send(turn, text))
        await provider.hanging.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def history(self) -> History:
        """The session as it is on disk."""
        return await self.store.sessions.load(SESSION)

    async def stored(self) -> tuple[Message, ...]:
        """The messages on the active branch."""
        return messages((await self.history()).branch)

    async def attempts(self) -> list[Attempt]:
        """Every attempt under the branch, oldest first."""
        return [entry.data for entry in await self.attempt_entries() if isinstance(entry.data, Attempt)]

    async def attempt_entries(self) -> list[Entry]:
        """The same as entries."""
        history = await self.history()
        found = [attempt for entry in history.branch for attempt in history.attempts.get(entry.id, ())]
        return sorted(found, key=_id)


def _id(entry: Entry) -> str:
    return entry.id


def _is_reply(entry: Entry) -> bool:
    return isinstance(entry.data, Message) and entry.data.role is Role.ASSISTANT


def texts(stored: Sequence[Message]) -> list[tuple[str, str]]:
    """Messages as (role, text)."""
    return [(message.role.value, message.text) for message in stored]


def shown(events: Sequence[TurnEvent]) -> str:
    """The text of the newest attempt, as whoever shows its deltas has it."""
    partial = Partial()
    for event in events:
        if isinstance(event, AttemptStarted):
            partial = Partial()
        elif isinstance(event, DeltaArrived):
            partial.append(event.delta)
    return partial.text


def ending(events: Sequence[TurnEvent]) -> TurnFinished:
    """How a turn ended."""
    assert isinstance(events[-1], TurnFinished)
    return events[-1]


def shown_retries(events: Sequence[TurnEvent]) -> list[str]:
    """Every countdown as the banner shows it: "n/N"."""
    scheduled = [event.pending for event in events if isinstance(event, RetryScheduled)]
    return [f"{pending.retry}/{pending.retries}" for pending in scheduled]
