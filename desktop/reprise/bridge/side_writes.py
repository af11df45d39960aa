"""What a conversation stores beside its turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

from reprise.bridge.live_history import LiveHistory
from reprise.bridge.tasks import TaskScope
from reprise.domain.messages import ModelRef
from reprise.domain.ports import Clock, LogError
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import ModelChange


class SideWrites:
    """Commands that return at once; each ends with a call of `stored` or, when the disk refuses, of `refused`."""

    def __init__(
        self,
        live: LiveHistory,
        clock: Clock,
        scope: TaskScope,
        stored: Callable[[], None],
        refused: Callable[[str], None],
    ) -> None:
        self._live = live
        self._clock = clock
        self._scope = scope
        self._stored = stored
        self._refused = refused
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_writing(self) -> bool:
        """True while a write is on its way."""
        return bool(self._tasks)

    def record_model(self, model: ModelRef) -> None:
        """Store that `model` answers from here on, unless it does already (behaviour P10)."""
        self._start(self._record_model(model), "model")

    def move_retry(self, pending: PendingRetry) -> None:
        """Store when the running wait is due now, so that a restart counts down to the same time (behaviour D8)."""
        self._start(self._move_retry(pending), "retry time")

    def _start(self, write: Coroutine[Any, Any, None], name: str) -> None:
        task = self._scope.start(self._see_through(write), name=f"{self._live.session.id} {name}", writes=True)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _see_through(self, write: Coroutine[Any, Any, None]) -> None:
        try:
            await write
        except LogError as error:
            self._refused(str(error))
        else:
            self._stored()

    async def _record_model(self, model: ModelRef) -> None:
        live = self._live
        async with live.writing:
            await live.load()
            if live.session.model != model:
                await live.append(live.session.id, ModelChange(model))

    async def _move_retry(self, pending: PendingRetry) -> None:
        # Its turn waits and holds `writing`, but writes nothing until the wait has ended.
        attempt = self._live.newest_attempt()
        if attempt is not None and pending.due_at is not None:
            left = timedelta(seconds=pending.due_at - self._clock.now())
            await self._live.reschedule(attempt, self._clock.utc() + left)
