"""One turn of a conversation as a task: from the first write to an end that is always told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from typing import Any

from reprise.bridge.live_history import LiveHistory, pending_in
from reprise.bridge.services import Services
from reprise.domain.deltas import Delta
from reprise.domain.events import Outcome, RetryScheduled, TurnEvent, TurnFinished, TurnStarted
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import Message, ModelRef, ReplyInfo, Role, TextPart, ThinkingPart, user_message
from reprise.domain.models import CompletionRequest
from reprise.domain.ports import CompletionProvider, HoldResult, LogError, Questions, RetryGate
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, AttemptState, Entry, ModelChange
from reprise.engine.turn import Turn

logger = logging.getLogger("reprise.conversation")

_BREATHE_AFTER_S = 0.008
"""A flood of deltas lets the window in this often: half a frame."""

KEPT = "stopped"
"""The finish reason of a partial that was kept as the reply (behaviour D5)."""


class NotSent(Exception):
    """The prompt is not on disk and nothing was sent; the text is still the composer's."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class TurnTask:
    """Runs one turn, in the task that awaits `send` or `resume`; `stop` and `close` end it from outside."""

    def __init__(
        self,
        live: LiveHistory,
        services: Services,
        gate: RetryGate,
        questions: Questions,
        tell: Callable[[TurnEvent], None],
    ) -> None:
        """`tell` has every event but the TurnFinished, which is what `send` and `resume` return."""
        self._live = live
        self._services = services
        self._gate = gate
        self._questions = questions
        self._tell = tell
        self._task: asyncio.Task[Any] | None = None
        self._turn: Turn | None = None
        self._is_new = False
        self._has_begun = False
        self._is_stopping = False
        self._is_closing = False

    async def send(self, text: str, model: ModelRef) -> TurnFinished:
        """A turn for a new prompt. Raises NotSent."""
        self._is_new = True
        finished = await self._see_through(self._send(text, model))
        return finished or TurnFinished(Outcome.STOPPED, self._pending())

    async def resume(
        self, model: ModelRef, waiting: PendingRetry | None = None, attempt: Entry | None = None, *, retry: int = 0
    ) -> TurnFinished | None:
        """Go on with the pending turn, once `waiting`, scheduled for `attempt`, has been waited for.

        `retry` is the one that it goes on with in its schedule; 0 begins with a full budget (behaviour R12). None when
        nothing is pending.
        """
        return await self._see_through(self._resume(model, waiting, attempt, retry))

    def stop(self) -> None:
        """The user stops the turn. A prompt on its way to the disk gets there first; then nothing is sent."""
        if not self._is_stopping:
            self._is_stopping = True
            if self._has_begun and self._task is not None:
                self._task.cancel()

    def close(self) -> None:
        """The program closes: an attempt is recorded as interrupted, a scheduled retry stays scheduled.

        A prompt on its way to the disk gets there first here, too.
        """
        self._is_closing = True
        if self._turn is not None:
            self._turn.closing = True
        if self._task is None or (self._is_new and not self._has_begun):
            self._is_stopping = True
        else:
            self._task.cancel()

    async def _see_through(self, play: Coroutine[Any, Any, TurnFinished | None]) -> TurnFinished | None:
        self._task = asyncio.current_task()
        try:
            return await play
        except asyncio.CancelledError:
            if self._is_closing or not self._is_stopping:
                raise
            return TurnFinished(Outcome.STOPPED, self._pending())
        except LogError as error:
            failure = Failure(FailureKind.STORAGE, str(error), retryable=False)
        except Exception as error:
            logger.exception("a turn of session %s ended with a bug", self._live.session.id)
            failure = Failure(FailureKind.BUG, f"{type(error).__name__}: {error}", retryable=False)
        if self._is_new and not self._has_begun:
            raise NotSent(failure)
        return TurnFinished(Outcome.FAILED, self._pending(), failure)

    async def _send(self, text: str, model: ModelRef) -> TurnFinished | None:
        live = self._live
        async with live.writing:
            await live.load()
            if self._services.keep_on_followup():
                await self._keep_stopped()
            await self._record(model)
            turn = self._new_turn(model)
            return await self._play(turn.run(live.session.id, user_message(text), model))

    async def _resume(
        self, model: ModelRef, waiting: PendingRetry | None, attempt: Entry | None, retry: int
    ) -> TurnFinished | None:
        async with self._live.writing:
            if self._is_closing:
                return None
            if waiting is not None and attempt is not None:
                self._tell(RetryScheduled(waiting, attempt))
                if await self._gate.hold(waiting) is HoldResult.CANCELLED:
                    await self._live.reschedule(attempt, None)
                    return TurnFinished(Outcome.STOPPED, waiting.waiting_until(None))
            await self._record(model)
            return await self._play(self._new_turn(model).resume(self._live.session.id, model, retry=retry))

    async def _play(self, events: AsyncGenerator[TurnEvent, None]) -> TurnFinished | None:
        loop = asyncio.get_running_loop()
        breathed_at = loop.time()
        async with aclosing(events):
            async for event in events:
                if isinstance(event, TurnFinished):
                    return event
                self._tell(event)
                if isinstance(event, TurnStarted):
                    self._has_begun = True
                    if self._is_stopping:
                        return TurnFinished(Outcome.STOPPED, self._pending())
                if loop.time() - breathed_at > _BREATHE_AFTER_S:
                    await asyncio.sleep(0)
                    breathed_at = loop.time()
        return None

    def _new_turn(self, model: ModelRef) -> Turn:
        services = self._services
        self._turn = Turn(
            self._provider(model),
            self._live,
            self._gate,
            services.clock,
            services.policy(),
            tools=services.tools,
            questions=services.questions or self._questions,
            parameters=services.parameters(model),
            rng=services.rng,
            max_rounds=services.max_rounds(),
            auto_continue=services.auto_continue(),
        )
        self._turn.closing = self._is_closing
        return self._turn

    def _provider(self, model: ModelRef) -> CompletionProvider:
        try:
            return self._services.catalog.provider(model)
        except CompletionError as error:
            # The prompt is kept all the same, and the turn is pending with the reason.
            return _Nobody(error)

    def _pending(self) -> PendingRetry | None:
        pending = pending_in(self._live.history, self._services.clock)
        return None if pending is None else pending.waiting_until(None)

    async def _record(self, model: ModelRef) -> None:
        """A model the stored session was not answered by so far is an entry of its log (behaviour P10)."""
        live = self._live
        if live.is_stored and live.session.model != model:
            await live.append(live.session.id, ModelChange(model))

    async def _keep_stopped(self) -> None:
        """Make a stopped partial the reply as a new message follows it (behaviour D6); the attempt stays logged."""
        stopped = self._live.newest_attempt()
        if stopped is None or not isinstance(attempt := stopped.data, Attempt) or stopped.parent is None:
            return
        parts = tuple(part for part in attempt.parts if isinstance(part, TextPart | ThinkingPart))
        if attempt.state is not AttemptState.STOPPED or not any(part.text.strip() for part in parts):
            return
        opened = await self._live.open_attempt(stopped.session, stopped.parent, Attempt(attempt.model))
        message = Message(Role.ASSISTANT, parts, ReplyInfo(attempt.model, KEPT))
        await self._live.finish_round(opened, message)


class _Nobody:
    """Stands in for a provider that there is not: every request fails with the reason."""

    def __init__(self, error: CompletionError) -> None:
        self._failure = error.failure

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Delta]:
        raise CompletionError(self._failure)
        yield  # makes this an iterator that fails when it is asked, as a provider does
