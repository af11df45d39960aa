"""A turn: one prompt and everything until its reply is final."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import count
from random import Random

from reprise.domain.events import (
    Answer,
    Outcome,
    RoundLimitAnswered,
    RoundLimitAsked,
    ToolCallStarted,
    ToolResultRecorded,
    Truncated,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import Message, ModelRef
from reprise.domain.models import Parameters
from reprise.domain.ports import Clock, CompletionProvider, Log, LogError, Questions, RetryGate, ToolRunner
from reprise.domain.retry import RetryPolicy
from reprise.domain.sessions import answered_entry, prompt_entry
from reprise.engine.progress import Progress, Setup
from reprise.engine.round import Round, storage_failure
from reprise.engine.settle import cancels, hides_cancel, settle
from reprise.engine.toolloop import Batch

logger = logging.getLogger("reprise.engine")


class Turn:
    """Runs turns of a session, one at a time; nothing is kept from one to the next.

    Cancelling the task (or closing the generator) stops the turn: the attempt is recorded with what arrived, then the
    cancel goes on; no TurnFinished is yielded. Set `closing` before it when the program closes: the attempt is then
    recorded as interrupted, and a scheduled retry stays scheduled.
    """

    def __init__(
        self,
        provider: CompletionProvider,
        log: Log,
        gate: RetryGate,
        clock: Clock,
        policy: RetryPolicy,
        *,
        parameters: Parameters,
        rng: Random,
        tools: ToolRunner | None = None,
        questions: Questions | None = None,
        max_rounds: int = 32,
        auto_continue: int = 0,
    ) -> None:
        """`max_rounds` tool rounds run before the turn asks (behaviour D15); without `questions` the answer is Stop.

        `auto_continue` is how often a reply cut at the output limit goes on by itself (D9).
        """
        self.closing = False
        self._setup = Setup(provider, log, gate, clock, policy, parameters, rng, tools)
        self._questions = questions
        self._max_rounds = max_rounds
        self._auto_continue = auto_continue
        self._round: Round | None = None

    async def run(self, session: str, message: Message, model: ModelRef) -> AsyncGenerator[TurnEvent, None]:
        """A turn for a new prompt. LogError when the prompt cannot be stored: then nothing was sent (behaviour L1)."""
        prompt, cancel = await settle(self._setup.log.open_turn(session, message, model))
        if cancel is not None:
            raise cancel
        yield TurnStarted(prompt)
        async with aclosing(self._guarded(Progress(session, model, prompt, prompt))) as events:
            async for event in events:
                yield event

    async def resume(self, session: str, model: ModelRef, *, retry: int = 0) -> AsyncGenerator[TurnEvent, None]:
        """Go on with the pending turn; nothing when nothing is pending (behaviour B1).

        It has a full budget (R12), unless it goes on as `retry` n of a schedule that another life of the program
        began (D8): then n attempts of its round have failed. Raises LogError when the branch cannot be read.
        """
        path = await self._setup.log.branch(session)
        answers = answered_entry(path)
        if answers is None:
            return
        prompt = prompt_entry(path) or answers
        yield TurnStarted(prompt, resumed=True)
        async with aclosing(self._guarded(Progress(session, model, prompt, answers, failed=retry))) as events:
            async for event in events:
                yield event

    async def _guarded(self, turn: Progress) -> AsyncGenerator[TurnEvent, None]:
        """The rounds; a stop is recorded on its way out, and an error ends the turn as failed (behaviour L23)."""
        cancelled_before = cancels()
        self._round = None
        try:
            async with aclosing(self._rounds(turn)) as events:
                async for event in events:
                    yield event
            return
        except (asyncio.CancelledError, GeneratorExit):
            await self._record_stop(turn)
            raise
        except Exception as error:
            if hides_cancel(error, cancelled_before):
                await self._record_stop(turn)
                raise asyncio.CancelledError from error
            failure = self._failure_of(error)
        await self._record_failure(turn, failure)
        yield TurnFinished(Outcome.FAILED, turn.pending(failure), failure)

    async def _rounds(self, turn: Progress) -> AsyncGenerator[TurnEvent, None]:
        answers = turn.waiting or turn.prompt
        tool_rounds = continued = 0
        allowed: float = self._max_rounds
        for number in count(1):
            self._round = current = Round(self._setup, turn, number, answers)
            async with aclosing(current.run()) as events:
                async for event in events:
                    yield event
            if (done := current.completed) is None:
                if current.finished is not None:
                    yield current.finished
                return
            goes_on = done.is_cut and continued < self._auto_continue
            if done.is_cut:
                yield Truncated(len(done.message.text), continued=goes_on)
            yield done.usage
            if goes_on:
                continued += 1
                answers = done.entry
                continue
            if (tools := self._setup.tools) is None or not done.calls:
                yield TurnFinished(Outcome.COMPLETED)
                return
            for call in done.calls:
                yield ToolCallStarted(call)
            for result in await Batch(self._setup.log, tools, turn, done).run():
                yield ToolResultRecorded(result)
            answers = turn.waiting or answers
            tool_rounds += 1
            if tool_rounds >= allowed:
                yield RoundLimitAsked(tool_rounds)
                answer = await self._ask(tool_rounds)
                yield RoundLimitAnswered(tool_rounds, answer)
                if answer is Answer.STOP:
                    yield TurnFinished(Outcome.STOPPED, turn.pending())
                    return
                allowed = math.inf if answer is Answer.ALWAYS else allowed + self._max_rounds

    async def _ask(self, rounds: int) -> Answer:
        return Answer.STOP if self._questions is None else await self._questions.round_limit(rounds)

    async def _record_stop(self, turn: Progress) -> None:
        try:
            if self._round is not None:
                await self._round.stop(closing=self.closing)
            await self._fall_back(turn)
        except LogError:
            # The stop stands; what is still open in the log becomes interrupted at the next start (behaviour L16).
            logger.exception("a stopped turn could not be recorded")

    async def _record_failure(self, turn: Progress, failure: Failure) -> None:
        try:
            if self._round is not None:
                await self._round.break_off(failure)
            await self._fall_back(turn)
        except LogError:
            logger.exception("a failed turn could not be recorded")

    async def _fall_back(self, turn: Progress) -> None:
        """Take a reply whose calls brought no result off the branch: what it answers is pending again (L15)."""
        if turn.falls_back and turn.waiting is not None:
            turn.falls_back = False
            _, cancel = await settle(self._setup.log.move_leaf(turn.session, turn.waiting.id))
            if cancel is not None:
                raise cancel

    def _failure_of(self, error: Exception) -> Failure:
        if isinstance(error, LogError):
            return storage_failure(error, None if self._round is None else self._round.failure)
        logger.error("a turn ended with a bug", exc_info=error)
        return Failure(FailureKind.BUG, f"{type(error).__name__}: {error}", retryable=False)
