"""One round: a model request, and the attempts it takes until its reply is on disk or nothing is scheduled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count

from reprise.domain.deltas import RecastDelta, TextDelta, ThinkingDelta
from reprise.domain.events import (
    AttemptFailed,
    AttemptStarted,
    DeltaArrived,
    ModelSwitched,
    Outcome,
    RetryScheduled,
    RetryStarted,
    RoundCompleted,
    TurnEvent,
    TurnFinished,
)
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.messages import Part
from reprise.domain.models import CompletionRequest
from reprise.domain.ports import HoldResult
from reprise.domain.retry import Ask, GiveUp, GiveUpReason, PendingRetry, Wait, WaitReason
from reprise.domain.sessions import Attempt, AttemptState, Entry, ModelChange, messages, params_of, up_to
from reprise.domain.shortening import left_out
from reprise.engine.attempts import Attempts
from reprise.engine.context import context
from reprise.engine.faults import failure_of
from reprise.engine.place import Completed, Place
from reprise.engine.progress import Answerer, Progress, Setup
from reprise.engine.reply import Reply, SoFar, so_far
from reprise.engine.settle import cancels, hides_cancel, settle
from reprise.engine.stream import closing
from reprise.engine.usage import report
from reprise.engine.waits import hold, is_held_offline, is_over_ceiling, note_limits, obstacle

EMPTY_COMPLETION = Failure(
    FailureKind.PROTOCOL, "empty model completion (no text, reasoning, or tool calls)", retryable=True
)
"""A reply with nothing in it is a failure, not a silent success (behaviour L12, F54)."""


class Round:
    """One request under the entry it answers. After `run` either `completed` or `finished` is set.

    `failure` is the newest attempt's.
    """

    def __init__(self, setup: Setup, turn: Progress, number: int, place: Place) -> None:
        self.completed: Completed | None = None
        self.finished: TurnFinished | None = None
        self.failure: Failure | None = None
        self._setup = setup
        self._turn = turn
        self._number = number
        self._place = place
        self._under = place.under or place.answers.id
        self._failed_before = turn.failed if number == 1 else 0
        self._spent = self._failed_before
        self._left = turn.retry()
        self._goes_through = turn.at_once and number == 1
        self._fallback: Answerer | None = None
        self._attempts = Attempts(setup.log, setup.clock, place.answers)
        self._reply: Reply | None = None

    async def run(self) -> AsyncGenerator[TurnEvent, None]:
        """The round's events, from the first request to its reply or its end. Raises LogError."""
        for number in count(1):
            while not self._goes_through and (wait := self._obstacle(is_first=number == 1)) is not None:
                if is_over_ceiling(self._setup, self._turn, wait):
                    await self._give_up(wait)
                    return
                async for event in self._wait(wait, None):
                    yield event
                if self.finished is not None:
                    return
            request, before = await self._prepare()
            opened = await self._begin(self._failed_before + number, before)
            yield AttemptStarted(opened, self._number, number)
            for event in _opening(before):
                yield event
            cancelled_before = cancels()
            try:
                answerer = self._turn.answerer
                self._reply = reply = Reply(
                    answerer.model, self._setup.clock, before, prefilled=answerer.route.prefills
                )
                is_answered = False
                async with closing(answerer.provider.stream(request)) as stream:
                    async for arrived in stream:
                        if not is_answered:
                            is_answered = True
                            self._setup.holds.breaker.answered(answerer.route.limits)
                        for delta in reply.take(arrived):
                            self._setup.log.append_chunks(opened.id, delta)
                            yield DeltaArrived(delta)
                            if before is not None and before.text and isinstance(delta, RecastDelta):
                                # The text so far is none of what this one made reasoning.
                                yield DeltaArrived(TextDelta(before.text))
                for delta in reply.finish():
                    self._setup.log.append_chunks(opened.id, delta)
                    yield DeltaArrived(delta)
                completed = await self._complete(reply, request)
            except Exception as error:
                if hides_cancel(error, cancelled_before):
                    # It stays a stop (behaviour C11).
                    raise asyncio.CancelledError from error
                self.failure = failure = failure_of(error)
            else:
                yield RoundCompleted(completed.entry, runs_tools=bool(completed.calls))
                return
            failed, pending = await self._fail(failure)
            yield AttemptFailed(failed, failure)
            if self._fallback is not None:
                yield await self._switch(self._fallback)
            elif pending.due_at is None and pending.reason is not WaitReason.OFFLINE:
                self._finish(Outcome.FAILED, pending, failure)
                return
            else:
                async for event in self._wait(pending, failed):
                    yield event
                if self.finished is not None:
                    return

    async def stop(self, *, closing: bool) -> None:
        """Record that a cancel ended the round: what arrived is kept, and nothing stays scheduled.

        When the program closes, a scheduled retry of what is pending stays: it goes on counting down at the next start
        (behaviour D8).
        """
        if self._attempts.is_open:
            state = AttemptState.INTERRUPTED if closing else AttemptState.STOPPED
            await self._attempts.end(state, self._parts())
        elif not closing or not self._turn.is_waited_for:
            await self._attempts.unschedule()

    async def break_off(self, failure: Failure) -> None:
        """Record that the round ended with a bug of ours, if an attempt is still open (behaviour L23)."""
        if self._attempts.is_open:
            await self._attempts.end(AttemptState.FAILED, self._parts(), failure)

    def _obstacle(self, *, is_first: bool) -> PendingRetry | None:
        turn = self._turn
        # What the user or a tool's result asks for goes out at once; what follows its failure is a retry (N6).
        is_retry = not is_first or (turn.by_itself and self._number == 1)
        return obstacle(self._setup, turn, self._left, is_retry=is_retry)

    async def _prepare(self) -> tuple[CompletionRequest, SoFar | None]:
        """The request, and what its reply begins with."""
        setup, answerer, place = self._setup, self._turn.answerer, self._place
        path = await setup.log.branch(self._turn.session)
        self._under = place.under or path[-1].id
        prefilled = answerer.route.prefills
        before = place.before.trimmed() if place.before is not None and prefilled else place.before
        sent = context(
            up_to(path, place.answers),
            system_prompt=answerer.parameters.system_prompt,
            so_far="" if before is None else before.text,
            prefilled=prefilled,
            leave_out=left_out(messages(path), params_of(path)),
        )
        specs = () if setup.tools is None else setup.tools.specs()
        return CompletionRequest(answerer.model, sent, answerer.parameters, specs), before

    async def _begin(self, number: int, before: SoFar | None) -> Entry:
        self._reply = None
        self._goes_through = False
        attempt = Attempt(self._turn.answerer.model, number)
        if before is not None:
            attempt = replace(attempt, parts=before.parts, goes_on_from=before.origin)
        return await self._attempts.begin(attempt)

    async def _complete(self, reply: Reply, request: CompletionRequest) -> Completed:
        if reply.is_empty:
            raise CompletionError(EMPTY_COMPLETION)
        turn, place = self._turn, self._place
        message = reply.message(turn.fallback_from)
        self._setup.holds.breaker.answered(turn.answerer.route.limits)
        entry, cancel = await self._attempts.complete(message, self._under)
        is_cut = message.reply is not None and message.reply.is_cut
        calls = message.tool_calls if request.tools and not is_cut else ()
        usage = report(reply.usage, request.messages, reply.added())
        self.completed = Completed(entry, message, usage, calls, request.tools, place)
        if calls:
            turn.called(place.stands or self._under)
        else:
            turn.answered()
        if cancel is not None:
            raise cancel
        return self.completed

    async def _fail(self, failure: Failure) -> tuple[Entry, PendingRetry]:
        """Decide what follows, and store the failed attempt together with that decision."""
        setup, turn, policy = self._setup, self._turn, self._turn.answerer.policy
        pending = replace(turn.retry(failure), retry=self._spent, retries=policy.retries)
        retry_at = None
        if is_held_offline(setup, turn, failure):
            pending = replace(pending, reason=WaitReason.OFFLINE)
        else:
            decision = policy.decide(failure, self._spent + 1, turn.waited_s, setup.rng)
            # First, so that this turn's own wait is no shorter than the hold.
            note_limits(setup, turn, failure, decision)
            setup.holds.breaker.failed(turn.answerer.route.limits, turn.session, failure)
            match decision:
                case Wait(delay_s):
                    self._spent += 1
                    turn.step_s = delay_s
                    pending = replace(pending, retry=self._spent, due_at=setup.clock.now() + delay_s)
                    retry_at = setup.clock.utc() + timedelta(seconds=delay_s)
                case Ask(delay_s):
                    pending = replace(pending, ask_s=delay_s)
                case GiveUp(GiveUpReason.EXHAUSTED):
                    self._fallback = self._next_answerer()
        failed = await self._attempts.end(
            AttemptState.FAILED, self._parts(), failure, pending=pending, retry_at=retry_at
        )
        self._left = replace(pending, due_at=None, reason=WaitReason.RETRY)
        if self._place.before is not None:
            self._place = replace(self._place, before=so_far(failed) or self._place.before)
        return failed, pending

    def _next_answerer(self) -> Answerer | None:
        """Who answers now that the retries are used up (behaviour D13)."""
        fallback = None if self._setup.fallback is None else self._setup.fallback()
        return None if fallback is None or fallback.model in self._turn.asked else fallback

    async def _switch(self, answerer: Answerer) -> ModelSwitched:
        """From here on `answerer` is asked, with a full budget, and the log says so."""
        setup, turn, before = self._setup, self._turn, self._turn.answerer.model
        self._fallback = None
        change = ModelChange(answerer.model, fallback_from=before)
        entry, cancel = await settle(setup.log.append(turn.session, change, under=self._under))
        if self._place.under is not None:
            self._place = replace(self._place, under=entry.id)
        setup.holds.breaker.leave(turn.answerer.route.limits, turn.session)
        turn.switched(answerer, before)
        self._spent = 0
        if cancel is not None:
            raise cancel
        return ModelSwitched(entry, before, answerer.model)

    async def _wait(self, pending: PendingRetry, failed: Entry | None) -> AsyncGenerator[TurnEvent, None]:
        """Wait for the next request; `finished` is set when the user cancelled the wait."""
        yield RetryScheduled(pending, failed)
        held = await hold(self._setup, self._turn, pending)
        if held is HoldResult.CANCELLED:
            await self._attempts.unschedule()
            self._finish(Outcome.STOPPED, self._left)
            return
        if held is HoldResult.NOW:
            # Who asks for a retry now has seen what it was to wait for.
            self._goes_through = True
            if failed is not None:
                await self._attempts.bring_forward()
        yield RetryStarted(pending.retry)

    async def _give_up(self, wait: PendingRetry) -> None:
        """The provider is down for longer than the turn may wait (behaviour D4).

        The retry that was scheduled never went out and is not spent, as if it had not been: only one that the user
        cancelled is spent all the same.
        """
        left = replace(self._left, failure=wait.failure)
        if self._attempts.is_scheduled:
            left = replace(left, retry=left.retry - 1)
        await self._attempts.unschedule(retry=left.retry)
        self._finish(Outcome.FAILED, left, wait.failure)

    def _finish(self, outcome: Outcome, left: PendingRetry, failure: Failure | None = None) -> None:
        self.finished = TurnFinished(outcome, self._turn.pending(left), failure)

    def _parts(self) -> tuple[Part, ...] | None:
        return None if self._reply is None else self._reply.parts()


def _opening(before: SoFar | None) -> Sequence[DeltaArrived]:
    """What a reply begins with, for whoever shows deltas."""
    if before is None:
        return ()
    thinking = (DeltaArrived(ThinkingDelta(before.thinking)),) if before.thinking else ()
    return (*thinking, DeltaArrived(TextDelta(before.text))) if before.text else thinking
