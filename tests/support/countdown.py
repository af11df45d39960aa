"""A stage for waits: a retry manager on a manual clock."""

from __future__ import annotations

import asyncio

from reprise.bridge.retry_manager import RetryManager
from reprise.bridge.tasks import TaskScope
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.ports import HoldResult
from reprise.domain.retry import PendingRetry
from support.clock import ManualClock
from support.qt import Recorder

FAILURE = Failure(FailureKind.RATE_LIMIT, "slow down", True)


class Stage:
    """A retry manager with its clock, a wait that may run, and everything it said."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.scope = TaskScope("test")
        self.manager = RetryManager(self.clock, self.scope)
        manager = self.manager
        self.heard = Recorder(
            started=manager.countdown_started,
            changed=manager.countdown_changed,
            retry=manager.retry_started,
            cancelled=manager.cancelled,
            exhausted=manager.exhausted,
            pending=manager.pending_changed,
        )

    def pending(self, delay_s: float, retry: int = 1) -> PendingRetry:
        return PendingRetry("hello", FAILURE, retry, 3, self.clock.now() + delay_s)

    async def hold(self, delay_s: float, retry: int = 1) -> asyncio.Task[HoldResult]:
        """A wait that has begun to count."""
        task = self.scope.start(self.manager.hold(self.pending(delay_s, retry)), name="wait")
        await self.clock.drain()
        return task

    def seconds(self) -> list[int]:
        return [entry[1] for entry in self.heard.seen if entry[0] == "changed"]
