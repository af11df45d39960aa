"""The gate where a conversation's scheduled retry waits: its countdown, Retry now and Cancel."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from reprise.bridge.tasks import TaskScope
from reprise.domain.failures import Failure
from reprise.domain.ports import Clock, HoldResult
from reprise.domain.retry import PendingRetry, WaitReason

_EPSILON_S = 1e-6
"""Less than this is no time left: sums of floats land a hair before or after the second they mean."""


class RetryManager(QObject):
    """One per conversation; implements `ports.RetryGate`. It holds no policy and measures time by the Clock only.

    The wait is decided once, by whoever comes first: the due time (or what it waits for), `retry_now`, or `cancel`.
    What a listener raises changes no outcome (behaviour R10, D19): Qt hands it to `sys.excepthook` and goes on.

    Signals:
        countdown_started(PendingRetry): a wait began; ``due_at`` is set, unless it waits for the network (D14) or
            for another session's retry (N6).
        countdown_changed(int): seconds left, rounded up, whenever the shown second changes.
        extended(PendingRetry): `extend` moved the due time; ``due_at`` is the new one.
        retry_started(int): the wait ended and retry n begins, by itself or by `retry_now`.
        cancelled(): the user ended the wait; the turn stays pending.
        exhausted(Failure): no retry is scheduled any more (budget, ceiling, not retryable, or the provider asks for
            too long a wait).
        pending_changed(PendingRetry | None): what can be retried changed.
    """

    countdown_started = Signal(object)
    countdown_changed = Signal(int)
    extended = Signal(object)
    retry_started = Signal(int)
    cancelled = Signal()
    exhausted = Signal(object)
    pending_changed = Signal(object)

    def __init__(self, clock: Clock, scope: TaskScope, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._scope = scope
        self._pending: PendingRetry | None = None
        self._decision: asyncio.Future[HoldResult] | None = None
        self._due_at: float | None = None
        self._shown: int | None = None
        self._ticker: asyncio.Task[None] | None = None

    @property
    def pending(self) -> PendingRetry | None:
        """What can be retried now; its ``due_at`` is set only while a countdown runs."""
        return self._pending

    @property
    def is_counting(self) -> bool:
        """True while a wait runs and nobody decided."""
        return self._decision is not None and not self._decision.done()

    @property
    def is_cancelling(self) -> bool:
        """True from `cancel` until the wait has ended and was told of."""
        decision = self._decision
        if decision is None or not decision.done() or decision.cancelled():
            return False
        return decision.result() is HoldResult.CANCELLED

    @property
    def seconds_left(self) -> int | None:
        """Seconds of the wait that are left, rounded up; None when nothing waits or no time is set."""
        return self._left() if self.is_counting and self._due_at is not None else None

    async def hold(self, pending: PendingRetry, ready: Coroutine[Any, Any, None] | None = None) -> HoldResult:
        """Wait until ``pending.due_at`` (as moved by `extend`), or until `ready` ends, or until somebody decides.

        Raises RuntimeError while another wait runs and ValueError for one that has no end. Cancelling the task ends
        the wait without a signal; what is pending then is for the conversation to say.
        """
        if self._decision is not None or (pending.due_at is None and ready is None):
            if ready is not None:
                ready.close()
            if self._decision is not None:
                raise RuntimeError("a retry of this conversation waits already")
            raise ValueError("a wait needs a due time, or something to wait for")
        decision: asyncio.Future[HoldResult] = asyncio.get_running_loop().create_future()
        self._decision = decision
        self._due_at = pending.due_at
        try:
            self.set_pending(pending)
            self.countdown_started.emit(pending)
            self._count(ready)
            result = await decision
        finally:
            self._decision = None
            self._due_at = self._shown = None
            self._stop_ticking()
        if result is HoldResult.CANCELLED:
            self.set_pending(replace(pending, due_at=None, reason=WaitReason.RETRY))
            self.cancelled.emit()
        else:
            self.set_pending(None)
            self.retry_started.emit(pending.retry)
        return result

    @Slot()
    def retry_now(self) -> None:
        """End the wait and retry; nothing happens when nothing waits or it is already decided."""
        self._decide(HoldResult.NOW)

    @Slot()
    def cancel(self) -> None:
        """End the wait, no retry; nothing happens when nothing waits or it is already decided."""
        self._decide(HoldResult.CANCELLED)

    @Slot(float)
    def extend(self, seconds: float) -> None:
        """Move the due time of the running wait by `seconds` (negative = earlier); nothing when it has none."""
        if not self.is_counting or self._pending is None or self._due_at is None:
            return
        self._due_at += seconds
        self.set_pending(self._pending.waiting_until(self._due_at))
        self.extended.emit(self._pending)
        self._count()

    def set_pending(self, pending: PendingRetry | None) -> None:
        """What can be retried, as the conversation says; emits `pending_changed` when it differs."""
        if pending != self._pending:
            self._pending = pending
            self.pending_changed.emit(pending)

    def report_exhausted(self, failure: Failure) -> None:
        """Emit `exhausted`."""
        self.exhausted.emit(failure)

    def _decide(self, result: HoldResult) -> None:
        if self._decision is not None and not self._decision.done():
            self._decision.set_result(result)

    def _left(self) -> int:
        due_at = self._clock.now() if self._due_at is None else self._due_at
        return max(0, math.ceil(due_at - self._clock.now() - _EPSILON_S))

    def _count(self, ready: Coroutine[Any, Any, None] | None = None) -> None:
        """Count from here, or wait for `ready`: a listener may have decided or closed meanwhile."""
        self._stop_ticking()
        if not self.is_counting or self._scope.is_closed:
            if ready is not None:
                ready.close()
        elif ready is None:
            self._ticker = self._scope.start(self._tick(), name="countdown")
        else:
            self._ticker = self._scope.start(ready, name="wait")
            self._ticker.add_done_callback(self._became_ready)

    def _became_ready(self, waited: asyncio.Task[None]) -> None:
        # Of a wait that is over, it is the end of another one's.
        if waited is self._ticker and not waited.cancelled() and waited.exception() is None:
            self._decide(HoldResult.ELAPSED)

    async def _tick(self) -> None:
        # A computer that slept wakes in the middle of a sleep of at most 0.5 s, finds no time left and goes on.
        while self._due_at is not None and (left := self._left()) > 0:
            if left != self._shown:
                self._shown = left
                self.countdown_changed.emit(left)
            await self._clock.sleep_until(self._due_at - (left - 1))
        self._decide(HoldResult.ELAPSED)

    def _stop_ticking(self) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None
