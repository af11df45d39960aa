"""Several sessions that share a provider and key, and a wire that a test answers request by request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from random import Random
from typing import Any

from reprise.domain.deltas import Delta, FinishDelta, TextDelta
from reprise.domain.events import RetryScheduled, TurnEvent, TurnFinished
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import user_message
from reprise.domain.models import CompletionRequest
from reprise.domain.ports import HoldResult
from reprise.domain.retry import PendingRetry, RetryPolicy
from reprise.domain.turns import Idle, TurnState, advance
from reprise.engine.holds import Holds
from reprise.engine.turn import Turn
from reprise.storage.store import Store
from support.clock import ManualClock
from support.engine import Network, answerer
from support.engine_world import DecidedGate

DOWN = Failure(FailureKind.SERVER, "down", True)

Answer = Failure | str
"""What a request comes to: a failure, or a reply's text."""


class Member:
    """A session: its provider's wire, its gate, and the turn that runs."""

    def __init__(self, crowd: Crowd, name: str, policy: RetryPolicy) -> None:
        self.gate = DecidedGate(crowd.clock)
        self.end: TurnFinished | None = None
        self.waits: list[PendingRetry] = []
        self.is_asked_for = False
        self._crowd = crowd
        self._name = name
        self.policy = policy
        self._state: TurnState = Idle()
        self._reply: asyncio.Future[Answer] | None = None
        self._task: asyncio.Task[None] | None = None
        self._turn: Turn | None = None

    @property
    def is_busy(self) -> bool:
        return self._task is not None

    @property
    def is_asking(self) -> bool:
        """Whether a request of it is on the wire."""
        return self._reply is not None

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Delta, None]:
        """`ports.CompletionProvider`."""
        self._crowd.note_request(self._name)
        self._reply = asyncio.get_running_loop().create_future()
        try:
            answer = self._crowd.answers or await self._reply
            if isinstance(answer, Failure):
                raise CompletionError(answer)
            yield TextDelta(answer)
            yield FinishDelta("stop")
        finally:
            self._reply = None

    async def answer(self, answer: Answer) -> None:
        """End the request that is on the wire."""
        assert self._reply is not None
        self._reply.set_result(answer)
        await self._crowd.clock.drain()

    async def send(self, text: str = "hello") -> None:
        """A new prompt."""
        self.is_asked_for = True
        await self._start(self._made().run(self._name, user_message(text)))

    async def retry(self, *, at_once: bool = True, **options: Any) -> None:
        """Go on with what is pending: by the user's own Retry, or by itself."""
        self.is_asked_for = at_once
        await self._start(self._made().resume(self._name, at_once=at_once, **options))

    async def decide(self, result: HoldResult) -> None:
        """Retry now, or Cancel."""
        self.is_asked_for = result is HoldResult.NOW
        self.gate.decide(result)
        await self._crowd.clock.drain()

    def cancel(self, *, closing: bool = False) -> None:
        """The user stops the turn, or deletes the session; or the program closes."""
        if self._task is not None and self._turn is not None:
            self._turn.closing = closing
            self._task.cancel()

    async def stop(self) -> None:
        """The same, to its end."""
        self.cancel()
        await self._crowd.clock.drain()

    def _made(self) -> Turn:
        crowd = self._crowd
        self.end = None
        self._turn = Turn(
            answerer(self, policy=self.policy),
            crowd.store.log,
            self.gate,
            crowd.clock,
            rng=crowd.rng,
            holds=crowd.holds,
            reachability=crowd.network,
        )
        return self._turn

    async def _start(self, events: AsyncIterator[TurnEvent]) -> None:
        self._task = asyncio.create_task(self._follow(events), name=self._name)
        await self._crowd.clock.drain()

    async def _follow(self, events: AsyncIterator[TurnEvent]) -> None:
        assert isinstance(events, AsyncGenerator)
        self._state = Idle()
        try:
            async with aclosing(events) as source:
                async for event in source:
                    self._state = advance(self._state, event)
                    if isinstance(event, RetryScheduled):
                        self.waits.append(event.pending)
                    elif isinstance(event, TurnFinished):
                        self.end = event
        except asyncio.CancelledError:
            return
        finally:
            self._task = None


class Crowd:
    """Sessions a, b, c ... on one store. `sent` is every request: when (seconds from the start) and whose."""

    def __init__(self, store: Store, clock: ManualClock, size: int = 3, policy: RetryPolicy | None = None) -> None:
        self.store = store
        self.clock = clock
        self.rng = Random(7)
        self.network = Network()
        self.holds = Holds(clock)
        self.answers: Answer | None = None
        self.sent: list[tuple[float, str]] = []
        self._began_at = clock.now()
        self.members = {
            name: Member(self, name, policy or RetryPolicy((5.0, 10.0, 20.0))) for name in "abcdefgh"[:size]
        }

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    def note_request(self, name: str) -> None:
        """Whose request goes out now."""
        self.sent.append((self.clock.now() - self._began_at, name))

    async def fall(self, *names: str) -> None:
        """Each sends a prompt that fails, a second apart."""
        for name in names or self.members:
            await self[name].send()
            await self[name].answer(DOWN)
            await self.clock.advance(1.0)

    async def restart(self) -> None:
        """The program closes and starts again; what was known of limits is forgotten."""
        for member in self.members.values():
            member.cancel(closing=True)
        await self.clock.drain()
        self.holds = Holds(self.clock)

    async def close(self) -> None:
        for member in self.members.values():
            await member.stop()
