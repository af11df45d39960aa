"""One turn of a conversation as a task: from the first write to an end that is always told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Any

from reprise.bridge.choices import Choices
from reprise.bridge.former_life import waited_s
from reprise.bridge.live_history import LiveHistory
from reprise.bridge.message_queue import MessageQueue, message_of
from reprise.bridge.services import Services
from reprise.bridge.standing import keepable, pending_in
from reprise.domain.deltas import Delta
from reprise.domain.events import Outcome, RetryScheduled, TurnEvent, TurnFinished, TurnStarted
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import ModelRef, user_message
from reprise.domain.models import CompletionRequest
from reprise.domain.ports import CompletionProvider, HoldResult, LogError, Questions, RetryGate
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, AttemptState, Entry
from reprise.engine.progress import Answerer
from reprise.engine.turn import Turn

logger = logging.getLogger("reprise.conversation")

_BREATHE_AFTER_S = 0.008
"""A flood of deltas lets the window in this often: half a frame."""


class NotSent(Exception):
    """The prompt is not on disk and nothing was sent; the text is still where it was."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class TurnTask:
    """Runs one turn, in the task that awaits one of its coroutines; `stop` and `close` end it from outside."""

    def __init__(
        self,
        live: LiveHistory,
        services: Services,
        choices: Choices,
        gate: RetryGate,
        questions: Questions,
        queue: MessageQueue,
        model: ModelRef,
        tell: Callable[[TurnEvent], None],
    ) -> None:
        """`model` answers. `tell` has every event but the TurnFinished, which is what the coroutines return."""
        self._live = live
        self._services = services
        self._choices = choices
        self._gate = gate
        self._questions = questions
        self._queue = queue
        self._model = model
        self._tell = tell
        self._task: asyncio.Task[Any] | None = None
        self._turn: Turn | None = None
        self._is_new = False
        self._has_begun = False
        self._is_stopping = False
        self._is_closing = False

    async def send(self, text: str, *, beside: str | None = None) -> TurnFinished | None:
        """A turn for a new prompt, or (`beside`) for one in the place of that prompt. Raises NotSent."""
        self._is_new = True
        return await self._see_through(self._send(text, beside))

    async def deliver(self, waiting: Sequence[Entry]) -> TurnFinished | None:
        """A turn for queued messages. Raises NotSent when one stays queued because it cannot be stored."""
        self._is_new = True
        return await self._see_through(self._deliver(waiting))

    async def resume(self, *, goes_on_from: Entry | None = None, at_once: bool = True) -> TurnFinished | None:
        """Go on with the pending turn, with a full budget (behaviour R12); None when nothing is pending.

        With `goes_on_from` the reply begins with what that attempt said. `at_once` is the user's own Retry: what holds
        other requests does not hold this one (D3).
        """
        return await self._see_through(self._resume(goes_on_from, at_once))

    async def wait(
        self, waiting: PendingRetry, attempt: Entry | None, *, is_stored: bool, goes_on_from: Entry | None = None
    ) -> TurnFinished | None:
        """Go on with the pending turn once `waiting` has been waited for.

        It is scheduled for `attempt`, which says so already (`is_stored`) when another life of the program began the
        wait: then a retry n of its schedule goes on in that (behaviour D8), and what was waited before counts (D4).
        Retry 0 is of no schedule: the user began the wait, and it ends with a full budget (R12), before and after a
        restart. With `goes_on_from` the reply then begins with what that attempt said.
        """
        return await self._see_through(self._wait(waiting, attempt, is_stored, goes_on_from))

    async def regenerate(self, reply: Entry) -> TurnFinished | None:
        """A turn for another reply beside `reply`."""
        return await self._see_through(self._answer(lambda turn: turn.regenerate(self._live.session.id, reply)))

    async def go_on(self, reply: Entry) -> TurnFinished | None:
        """A turn that goes on from a reply that stops short."""
        return await self._see_through(self._answer(lambda turn: turn.go_on(self._live.session.id, reply)))

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
            return self._stopped()
        except LogError as error:
            failure = Failure(FailureKind.STORAGE, str(error), retryable=False)
        except Exception as error:
            logger.exception("a turn of session %s ended with a bug", self._live.session.id)
            failure = Failure(FailureKind.BUG, f"{type(error).__name__}: {error}", retryable=False)
        if self._is_new and not self._has_begun:
            raise NotSent(failure)
        return TurnFinished(Outcome.FAILED, self._pending(), failure)

    async def _send(self, text: str, beside: str | None) -> TurnFinished | None:
        live = self._live
        async with live.writing:
            await live.load()
            if beside is None:
                if self._services.keep_on_followup():
                    await self._keep_stopped()
                await self._choices.record(self._model)
            message = user_message(text)
            return await self._play(self._new_turn().run(live.session.id, message, beside=beside))

    async def _deliver(self, waiting: Sequence[Entry]) -> TurnFinished | None:
        live = self._live
        async with live.writing:
            await self._choices.record(self._model)
            *first, last = waiting
            for entry in first:
                await live.open_turn(live.session.id, message_of(entry), self._model, queued=entry.id)
                if self._is_stopping:
                    return self._stopped()
            return await self._play(self._new_turn().run(live.session.id, message_of(last), queued=last.id))

    async def _resume(self, goes_on_from: Entry | None, at_once: bool) -> TurnFinished | None:
        async with self._live.writing:
            return await self._go_on_with(0, goes_on_from, at_once=at_once)

    async def _wait(
        self, waiting: PendingRetry, attempt: Entry | None, is_stored: bool, goes_on_from: Entry | None
    ) -> TurnFinished | None:
        live, clock = self._live, self._services.clock
        async with live.writing:
            if self._is_closing:
                return None
            before = attempt.data.retry if attempt is not None and isinstance(attempt.data, Attempt) else 0
            if attempt is not None and not is_stored and waiting.due_at is not None:
                due = clock.utc() + timedelta(seconds=waiting.due_at - clock.now())
                attempt = await live.reschedule(attempt, due, retry=waiting.retry)
            self._tell(RetryScheduled(waiting, attempt))
            held = HoldResult.CANCELLED if self._is_stopping else await self._gate.hold(waiting)
            if held is HoldResult.CANCELLED:
                if attempt is not None:
                    await live.reschedule(attempt, None, retry=before)
                return self._stopped()
            if held is HoldResult.NOW and attempt is not None:
                # It counts down no more, should the branch go back to it.
                attempt = await live.reschedule(attempt, clock.utc())
            retry = 0
            if waiting.retry and attempt is not None and isinstance(attempt.data, Attempt):
                retry, goes_on_from = waiting.retry, attempt if attempt.data.goes_on_from else None
            return await self._go_on_with(retry, goes_on_from, at_once=held is HoldResult.NOW)

    async def _go_on_with(
        self, retry: int, goes_on_from: Entry | None, *, at_once: bool = False
    ) -> TurnFinished | None:
        if self._is_closing:
            return None
        await self._choices.record(self._model)
        live, policy = self._live, self._services.policy(self._model, self._choices.params)
        waited = waited_s(live.history, policy, self._services.clock.utc()) if retry else 0.0
        events = self._new_turn().resume(
            live.session.id, retry=retry, waited_s=waited, goes_on_from=goes_on_from, at_once=at_once
        )
        return await self._play(events)

    async def _answer(self, begin: Callable[[Turn], AsyncGenerator[TurnEvent, None]]) -> TurnFinished | None:
        async with self._live.writing:
            if self._is_closing:
                return None
            await self._choices.record(self._model)
            return await self._play(begin(self._new_turn()))

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
                        return self._stopped()
                if loop.time() - breathed_at > _BREATHE_AFTER_S:
                    await asyncio.sleep(0)
                    breathed_at = loop.time()
        return None

    def _new_turn(self) -> Turn:
        services = self._services
        self._turn = Turn(
            self._answerer(self._model),
            self._live,
            self._gate,
            services.clock,
            rng=services.rng,
            tools=services.tools,
            questions=services.questions or self._questions,
            max_rounds=services.max_rounds(),
            auto_continue=services.auto_continue(),
            fallback=self._fallback,
            holds=services.holds,
            reachability=services.reachability if services.hold_offline() else None,
            queue=self._queue,
        )
        self._turn.closing = self._is_closing
        return self._turn

    def _answerer(self, model: ModelRef, provider: CompletionProvider | None = None) -> Answerer:
        services = self._services
        if provider is None:
            try:
                provider = services.catalog.provider(model)
            except CompletionError as error:
                # The prompt is kept all the same, and the turn is pending with the reason.
                provider = _Nobody(error)
        policy = services.policy(model, self._choices.params)
        return Answerer(model, provider, services.parameters(model), services.catalog.route(model), policy)

    def _fallback(self) -> Answerer | None:
        """Who stands in; nobody when it cannot be used: then the failure is the first model's (behaviour R28)."""
        catalog = self._services.catalog
        if (model := catalog.fallback()) is None:
            return None
        try:
            return self._answerer(model, catalog.provider(model))
        except CompletionError:
            return None

    def _stopped(self) -> TurnFinished:
        return TurnFinished(Outcome.STOPPED, self._pending())

    def _pending(self) -> PendingRetry | None:
        pending = pending_in(self._live.history, self._services.clock)
        return None if pending is None else pending.waiting_until(None)

    async def _keep_stopped(self) -> None:
        """Make a stopped partial the reply as a new message follows it (behaviour D6)."""
        partial = keepable(self._live.history)
        if partial is None or partial is not self._live.newest_attempt() or not isinstance(partial.data, Attempt):
            return
        if partial.data.state is AttemptState.STOPPED:
            await self._live.keep_partial(partial)


class _Nobody:
    """Stands in for a provider that there is not: every request fails with the reason."""

    def __init__(self, error: CompletionError) -> None:
        self._failure = error.failure

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Delta]:
        raise CompletionError(self._failure)
        yield  # makes this an iterator that fails when it is asked, as a provider does
