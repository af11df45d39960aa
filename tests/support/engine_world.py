"""Two sessions on one store whose turns a test drives step by step, restarts of the program included."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from peewee import SqliteDatabase

from reprise.domain.deltas import Delta, TextDelta
from reprise.domain.events import (
    AttemptStarted,
    DeltaArrived,
    Outcome,
    RoundCompleted,
    Steered,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)
from reprise.domain.failures import CompletionError, Failure
from reprise.domain.messages import Message, Role, ToolCallPart, user_message
from reprise.domain.models import CompletionRequest, Route
from reprise.domain.ports import History, HoldResult, LogError
from reprise.domain.retry import PendingRetry, RetryPolicy
from reprise.domain.sessions import Attempt, Delivery, Entry, Queued, messages
from reprise.domain.turns import Idle, TurnState, advance, is_busy
from reprise.engine.holds import Holds
from reprise.engine.turn import Turn
from reprise.storage.branches import Row, entry_of
from reprise.storage.sql import sql
from reprise.storage.store import Store
from reprise.storage.worker import Priority, Worker
from support.clock import ManualClock
from support.engine import OTHER, FakeTools, Network, answerer, pong

FAST = Path("/dev/shm") if Path("/dev/shm").is_dir() else None  # noqa: S108
"""Where a database that dies with its test is quick."""

TOKEN = re.compile(r"[pw]\d+")
"""Every prompt and every piece of a reply is one of these, and no two are alike."""

_POLICY = RetryPolicy((5.0, 10.0))


class InlineWorker(Worker):
    """Does each job on the loop, one pass later, so that the same steps are the same each time."""

    def _submit(self, priority: Priority, job: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        self._waiting += 1
        asyncio.get_running_loop().call_soon(self._do, job, future)

    def _do(self, job: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        result, error = None, None
        try:
            result = job()
        except Exception as raised:  # noqa: BLE001 - every error belongs to the awaiting caller
            error = raised
        self._deliver(future, result, error)


class DrivenProvider:
    """Says what it is told to say; keeps every request with the tokens that it may hold."""

    def __init__(self, may_hold: Callable[[], Awaitable[frozenset[str]]]) -> None:
        self.inbox: asyncio.Queue[Delta | Exception | None] | None = None
        self.requests: list[tuple[CompletionRequest, frozenset[str]]] = []
        self._may_hold = may_hold

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Delta, None]:
        self.requests.append((request, await self._may_hold()))
        self.inbox = inbox = asyncio.Queue()
        try:
            while (step := await inbox.get()) is not None:
                if isinstance(step, Exception):
                    raise step
                yield step
        finally:
            self.inbox = None

    def say(self, *steps: Delta) -> None:
        assert self.inbox is not None
        for step in steps:
            self.inbox.put_nowait(step)

    def finish(self, *steps: Delta) -> None:
        self.say(*steps)
        assert self.inbox is not None
        self.inbox.put_nowait(None)

    def fail(self, failure: Failure) -> None:
        assert self.inbox is not None
        self.inbox.put_nowait(CompletionError(failure))


class DecidedGate:
    """Waits on the clock, for the network, or until the test decides."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._decision: asyncio.Future[HoldResult] | None = None
        self.pending: PendingRetry | None = None

    async def hold(self, pending: PendingRetry, ready: Coroutine[Any, Any, None] | None = None) -> HoldResult:
        self.pending = pending
        self._decision = decision = asyncio.get_running_loop().create_future()
        elapsed = asyncio.ensure_future(ready or self._clock.sleep_until(pending.due_at or 0.0))
        try:
            await asyncio.wait({decision, elapsed}, return_when=asyncio.FIRST_COMPLETED)
            return decision.result() if decision.done() else HoldResult.ELAPSED
        finally:
            elapsed.cancel()
            self.pending = None

    def decide(self, result: HoldResult) -> None:
        assert self._decision is not None
        self._decision.set_result(result)


class Mortal:
    """A driver of the store until the program dies: then nothing can be written any more."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.is_dead = False

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._driver, name)
        if not self.is_dead or name == "append_chunks":
            return method

        async def dead(*_: object, **__: object) -> None:
            raise LogError("The program has died.")

        return dead


@dataclass
class Beside:
    """The reply that stands while another is made: where its branch ends, pending or not; the newest entry of then."""

    leaf: str | None
    is_pending: bool
    newest: str


class Chat:
    """A session and the turn that runs in it, as its window would know them."""

    def __init__(self, world: World, session: str) -> None:
        self._world = world
        self.session = session
        self.sent: Counter[str] = Counter()
        self.said: set[str] = set()
        self.begin_anew()

    def begin_anew(self) -> None:
        """The program starts."""
        self.provider = DrivenProvider(self._may_be_sent)
        self.gate = DecidedGate(self._world.clock)
        self.state: TurnState = Idle()
        self.ended: TurnFinished | None = None
        self.beside: Beside | None = None
        self.is_fresh = False
        self.begins_with = ""
        self.queued: list[Entry] = []
        self._turn: Turn | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        return self._task is not None

    @property
    def is_streaming(self) -> bool:
        return self.provider.inbox is not None

    def steers(self) -> Sequence[Entry]:
        """`ports.Queue`."""
        return [entry for entry in self.queued if _is_steer(entry)]

    async def is_stored(self) -> bool:
        return bool(await self.entries())

    async def history(self) -> History:
        return await self._world.store.sessions.load(self.session)

    async def entries(self) -> dict[str, Entry]:
        """Every entry of the session on disk, on whatever branch."""

        def read(db: SqliteDatabase) -> dict[str, Entry]:
            columns = "SELECT id, parent, kind, at, data FROM entry WHERE session = ?"
            rows = sql(db, columns, self.session).fetchall()
            return {id_: entry_of(self.session, Row(id_, *rest)) for id_, *rest in rows}

        return await self._world.store.database.read(read)

    async def _may_be_sent(self) -> frozenset[str]:
        """The tokens of the branch, and of what the reply under way begins with."""
        said = messages((await self.history()).branch)
        return frozenset(TOKEN.findall(" ".join([*(message.text for message in said), self.begins_with])))

    def start(self, method: str, *arguments: Any, **options: Any) -> None:
        """Begin a turn."""
        world = self._world
        self.ended = self.beside = None
        self._turn = Turn(
            answerer(self.provider, route=Route("test", prefills=world.prefills), policy=_POLICY),
            world.log,
            self.gate,
            world.clock,
            rng=Random(7),
            tools=FakeTools(ping=pong, hang=_hang),
            max_rounds=2,
            auto_continue=1,
            fallback=lambda: answerer(self.provider, OTHER, policy=_POLICY),
            holds=world.holds,
            reachability=world.network,
            queue=self,
        )
        events = getattr(self._turn, method)(self.session, *arguments, **options)
        self._task = asyncio.create_task(self._follow(events), name=self.session)

    def send(self, text: str, **options: Any) -> None:
        """A turn for a new prompt."""
        self.sent[text] += 1
        self.start("run", user_message(text), **options)

    async def stop(self, ticks: int) -> None:
        """Esc, after the loop went round so often."""
        for _ in range(ticks):
            await asyncio.sleep(0)
        if self._task is not None:
            self._task.cancel()
            self._task.cancel()

    async def die(self, *, closing: bool) -> None:
        """The program closes, or dies."""
        if self._turn is not None:
            self._turn.closing = closing
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _follow(self, events: AsyncGenerator[TurnEvent, None]) -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    await self._take(event)
        except asyncio.CancelledError:
            if is_busy(self.state):
                self._end(TurnFinished(Outcome.STOPPED))
        finally:
            self._task = None

    async def _take(self, event: TurnEvent) -> None:
        self.state = advance(self.state, event)
        match event:
            case TurnStarted(beside=beside):
                if beside is not None:
                    session = (await self.history()).session
                    self.beside = Beside(session.leaf, session.pending, max(await self.entries()))
            case AttemptStarted(entry):
                assert isinstance(entry.data, Attempt)
                self.is_fresh = True
                self.begins_with = Message(Role.ASSISTANT, entry.data.parts).text
            case DeltaArrived(TextDelta(text)):
                self.said |= set(TOKEN.findall(text))
            case Steered(entry):
                self.beside = None
                assert isinstance(entry.data, Message)
                self.sent[entry.data.text] += 1
                (delivered, *_) = self.steers()
                self.queued.remove(delivered)
            case RoundCompleted(runs_tools=False):
                self.beside = None
            case TurnFinished():
                self._end(event, folded=True)

    def _end(self, finished: TurnFinished, *, folded: bool = False) -> None:
        if not folded:
            self.state = advance(self.state, finished)
        self.ended = finished


def _is_steer(entry: Entry) -> bool:
    return isinstance(entry.data, Queued) and entry.data.delivery is Delivery.STEER


async def _hang(call: ToolCallPart) -> str:
    await asyncio.Event().wait()
    return "never"


class World:
    """The program: a store in a folder, two sessions, a clock, a network."""

    def __init__(self, folder: Path, *, prefills: bool) -> None:
        self._folder = folder
        self.prefills = prefills
        self.clock = ManualClock()
        self.network = Network()
        self.holds = Holds(self.clock)
        self.store: Store
        self.log: Any
        self.chats: tuple[Chat, ...] = ()

    async def open(self) -> None:
        worker = InlineWorker()
        self.store = await Store.open(self._folder, self.clock, worker)
        self.log = Mortal(self.store.log)
        self.clock.settle_with(worker.settled)
        self.chats = self.chats or (Chat(self, "a"), Chat(self, "b"))

    async def close(self) -> None:
        for chat in self.chats:
            await chat.die(closing=True)
        assert await self.store.close(10.0)

    async def restart(self, *, crash: bool) -> None:
        self.log.is_dead = crash
        await self.close()
        self.holds = Holds(self.clock)
        await self.open()
        for chat in self.chats:
            chat.begin_anew()
            if await self.log.branch(chat.session):
                chat.queued = list((await chat.history()).queue)
