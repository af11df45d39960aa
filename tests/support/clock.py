"""A clock that only moves when a test says so."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

ROUNDS = 20
MAX_PASSES = 200

Settler = Callable[[], Awaitable[bool]]


class ManualClock:
    """`domain.ports.Clock` without time: `advance` wakes sleepers in due order and drains the loop after each.

    A settler is an awaitable check for work that the loop cannot see (a storage thread's queue): it waits for that
    work and says whether there was any; draining goes on until nobody had any.
    """

    def __init__(self, now: float = 1000.0, utc: datetime = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)) -> None:
        self._now = now
        self._utc = utc
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._settlers: list[Settler] = []

    def now(self) -> float:
        return self._now

    def utc(self) -> datetime:
        return self._utc

    async def sleep_until(self, due_at: float) -> None:
        if due_at <= self._now:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (due_at, next(self._order), future))
        await future

    @property
    def sleepers(self) -> tuple[float, ...]:
        """When each sleeper is due, in order; empty when nobody sleeps."""
        return tuple(due_at for due_at, _, future in sorted(self._sleepers) if not future.done())

    def settle_with(self, settler: Settler) -> None:
        """Wait for this work too while draining."""
        self._settlers.append(settler)

    async def advance(self, seconds: float = 0.0) -> None:
        """Let `seconds` pass: every sleeper due by then wakes at its own time, in due order."""
        await self.drain()
        end = self._now + seconds
        while (due := self._next_due()) is not None and due <= end:
            self._set(max(self._now, due))
            self._wake_one()
            await self.drain()
        self._set(end)
        await self.drain()

    async def jump(self, seconds: float) -> None:
        """The clock stands `seconds` later at once, as after the computer slept; what is due then wakes."""
        self._set(self._now + seconds)
        while (due := self._next_due()) is not None and due <= self._now:
            self._wake_one()
            await self.drain()
        await self.drain()

    async def drain(self) -> None:
        """Run what is ready, and what that makes ready, without letting time pass."""
        for _ in range(MAX_PASSES):
            for _ in range(ROUNDS):
                await asyncio.sleep(0)
            if not any([await settler() for settler in self._settlers]):
                return
        raise AssertionError(f"the loop is still busy after {MAX_PASSES} passes")

    def _set(self, now: float) -> None:
        self._utc += timedelta(seconds=now - self._now)
        self._now = now

    def _next_due(self) -> float | None:
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def _wake_one(self) -> None:
        heapq.heappop(self._sleepers)[2].set_result(None)
