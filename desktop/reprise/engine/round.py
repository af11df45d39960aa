"""One round: a model request, and the attempts it takes until its reply is on disk or nothing is scheduled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Protocol, runtime_checkable

from reprise.domain.deltas import Delta
from reprise.domain.events import (
    AttemptFailed,
    AttemptStarted,
    DeltaArrived,
    Outcome,
    RetryScheduled,
    RetryStarted,
    RoundCompleted,
    TurnEvent,
    TurnFinished,
    UsageReported,
)
from reprise.domain.failures import CompletionError, Failure, FailureKind, failure_from_exception
from reprise.domain.messages import Message, ToolCallPart
from reprise.domain.models import CompletionRequest, ToolSpec
from reprise.domain.ports import HoldResult, LogError
from reprise.domain.retry import Ask, PendingRetry, Wait
from reprise.domain.sessions import Attempt, AttemptState, Entry
from reprise.engine.context import context
from reprise.engine.progress import Progress, Setup
from reprise.engine.reply import Reply
from reprise.engine.settle import cancels, hides_cancel, settle
from reprise.engine.usage import report

logger = logging.getLogger("reprise.engine")

EMPTY_COMPLETION = Failure(
    FailureKind.PROTOCOL, "empty model completion (no text, reasoning, or tool calls)", retryable=True
)
"""A reply with nothing in it is a failure, not a silent success (behaviour L12, F54)."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A reply that is on disk as `entry`.

    `calls` are those to be run now: none when no tool was offered (behaviour D16) or the reply was cut (D9).
    """

    entry: Entry
    message: Message
    usage: UsageReported
    calls: tuple[ToolCallPart, ...]
    specs: tuple[ToolSpec, ...]

    @property
    def is_cut(self) -> bool:
        """The reply stopped at the output limit."""
        return self.message.reply is not None and self.message.reply.is_cut


class Round:
    """One request under the entry it answers. After `run` either `completed` or `finished` is set.

    `failure` is the newest attempt's.
    """

    def __init__(self, setup: Setup, turn: Progress, number: int, answers: Entry) -> None:
        """`answers` waits for this reply, or is a cut reply that goes on."""
        self.completed: Completed | None = None
        self.finished: TurnFinished | None = None
        self.failure: Failure | None = None
        self._setup = setup
        self._turn = turn
        self._number = number
        self._answers = answers
        self._continues = turn.waiting is None
        self._failed_before = turn.failed if number == 1 else 0
        self._attempt = 0
        self._incoming: Reply | None = None
        self._open: Entry | None = None
        self._scheduled: Entry | None = None

    async def run(self) -> AsyncGenerator[TurnEvent, None]:
        """The round's events, from the first request to its reply or its end. Raises LogError."""
        for number in count(1):
            self._attempt = self._failed_before + number
            request = await self._request()
            opened = await self._begin()
            yield AttemptStarted(opened, self._number, number)
            cancelled_before = cancels()
            try:
                self._incoming = reply = Reply(self._turn.model, self._setup.clock)
                async with _closing(self._setup.provider.stream(request)) as stream:
                    async for delta in stream:
                        reply.take(delta)
                        self._setup.log.append_chunks(opened.id, delta)
                        yield DeltaArrived(delta)
                completed = await self._complete(opened, reply, request)
            except Exception as error:
                if hides_cancel(error, cancelled_before):
                    # It stays a stop (behaviour C11).
                    raise asyncio.CancelledError from error
                self.failure = failure = _failure_of(error)
            else:
                yield RoundCompleted(completed.entry, runs_tools=bool(completed.calls))
                return
            failed, pending = await self._fail(opened, failure)
            yield AttemptFailed(failed, failure)
            if pending.due_at is None:
                self.finished = self._finish(Outcome.FAILED, pending, failure)
                return
            yield RetryScheduled(pending, failed)
            if not await self._hold(pending, failed):
                self.finished = self._finish(Outcome.STOPPED, pending.waiting_until(None))
                return
            yield RetryStarted(self._attempt)

    async def stop(self, *, closing: bool) -> None:
        """Record that a cancel ended the round: what arrived is kept, and nothing stays scheduled.

        When the program closes, a scheduled retry stays: it goes on counting down at the next start (behaviour D8).
        """
        if (opened := self._open) is not None:
            await self._end(opened, AttemptState.INTERRUPTED if closing else AttemptState.STOPPED)
        elif (scheduled := self._scheduled) is not None and not closing:
            await settle(self._setup.log.reschedule(scheduled, None))

    async def break_off(self, failure: Failure) -> None:
        """Record that the round ended with a bug of ours, if an attempt is still open (behaviour L23)."""
        if (opened := self._open) is not None:
            await self._end(opened, AttemptState.FAILED, failure)

    async def _request(self) -> CompletionRequest:
        setup, turn = self._setup, self._turn
        specs = () if setup.tools is None else setup.tools.specs()
        sent = context(
            await setup.log.branch(turn.session),
            system_prompt=setup.parameters.system_prompt,
            continues=self._continues,
        )
        return CompletionRequest(turn.model, sent, setup.parameters, specs)

    async def _begin(self) -> Entry:
        attempt = Attempt(self._turn.model, self._attempt)
        self._incoming = self._scheduled = None
        log, turn = self._setup.log, self._turn
        self._open, cancel = opened, _ = await settle(log.open_attempt(turn.session, self._answers.id, attempt))
        if cancel is not None:
            raise cancel
        return opened

    async def _complete(self, opened: Entry, reply: Reply, request: CompletionRequest) -> Completed:
        if reply.is_empty:
            raise CompletionError(EMPTY_COMPLETION)
        message = reply.message()
        entry, cancel = await settle(self._setup.log.finish_round(opened, message))
        # On disk: from here on a cancel no longer concerns this attempt (behaviour C2).
        self._open = None
        is_cut = message.reply is not None and message.reply.is_cut
        calls = message.tool_calls if request.tools and not is_cut else ()
        usage = report(reply.usage, request.messages, message)
        self.completed = Completed(entry, message, usage, calls, request.tools)
        if calls:
            self._turn.falls_back = True
        else:
            self._turn.waiting = None
        if cancel is not None:
            raise cancel
        return self.completed

    async def _fail(self, opened: Entry, failure: Failure) -> tuple[Entry, PendingRetry]:
        """Decide what follows, and store the failed attempt together with that decision."""
        setup, number = self._setup, self._attempt
        decision = setup.policy.decide(failure, number, self._turn.waited_s, setup.rng)
        pending = replace(self._turn.retry(failure), retry=number - 1, retries=setup.policy.retries)
        retry_at = None
        match decision:
            case Wait(delay_s):
                pending = replace(pending, retry=number, due_at=setup.clock.now() + delay_s)
                retry_at = setup.clock.utc() + timedelta(seconds=delay_s)
            case Ask(delay_s):
                pending = replace(pending, ask_s=delay_s)
        failed = await self._end(
            opened, AttemptState.FAILED, failure, retry=pending.retry, retries=pending.retries, retry_at=retry_at
        )
        return failed, pending

    def _finish(self, outcome: Outcome, pending: PendingRetry, failure: Failure | None = None) -> TurnFinished:
        return TurnFinished(outcome, None if self._turn.waiting is None else pending, failure)

    async def _end(
        self,
        opened: Entry,
        state: AttemptState,
        failure: Failure | None = None,
        *,
        retry: int = 0,
        retries: int = 0,
        retry_at: datetime | None = None,
    ) -> Entry:
        """Complete the open attempt; a cancel meanwhile is raised once it is on disk."""
        self._open = None
        attempt = Attempt(
            self._turn.model,
            self._attempt,
            state,
            () if self._incoming is None else self._incoming.parts(),
            failure,
            self._setup.clock.utc(),
            retry,
            retries,
            retry_at,
        )
        ended, cancel = await settle(self._setup.log.fail_attempt(opened, attempt))
        if retry_at is not None:
            self._scheduled = ended
        if cancel is not None:
            raise cancel
        return ended

    async def _hold(self, pending: PendingRetry, failed: Entry) -> bool:
        """Wait; True when the next attempt is due, False when the user cancelled the wait."""
        clock, began_at = self._setup.clock, self._setup.clock.now()
        scheduled_s = (pending.due_at or began_at) - began_at
        held = await self._setup.gate.hold(pending)
        # A computer that slept through the wait did not use up the turn's waiting.
        self._turn.waited_s += min(clock.now() - began_at, scheduled_s)
        if held is not HoldResult.CANCELLED:
            return True
        self._scheduled = None
        _, cancel = await settle(self._setup.log.reschedule(failed, None))
        if cancel is not None:
            raise cancel
        return False


def _failure_of(error: Exception) -> Failure:
    if isinstance(error, LogError):
        return storage_failure(error)
    failure = failure_from_exception(error)
    if failure.kind is FailureKind.BUG:
        logger.error("an attempt ended with a bug", exc_info=error)
    return failure


def storage_failure(error: LogError, behind: Failure | None = None) -> Failure:
    """Our own disk refused; `behind` is the provider's failure that was to be recorded (behaviour D19)."""
    detail = None if behind is None or behind.kind is FailureKind.STORAGE else behind.message
    return Failure(FailureKind.STORAGE, str(error), retryable=False, provider_detail=detail)


@runtime_checkable
class _Closable(Protocol):
    async def aclose(self) -> None: ...


@asynccontextmanager
async def _closing(stream: AsyncIterator[Delta]) -> AsyncIterator[AsyncIterator[Delta]]:
    """`stream`, closed on every way out (behaviour F53); what closing it raises changes no outcome."""
    try:
        yield stream
    finally:
        if isinstance(stream, _Closable):
            try:
                await stream.aclose()
            except Exception:
                logger.exception("closing a reply's stream failed")
