"""A turn: one prompt and everything until its reply is final."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from random import Random

from reprise.domain.events import Outcome, TurnEvent, TurnFinished, TurnStarted
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import Message
from reprise.domain.ports import Clock, Log, LogError, Questions, Queue, Reachability, RetryGate, ToolRunner
from reprise.domain.sessions import Entry, answered_entry, prompt_entry, stands_in_for, up_to
from reprise.engine.faults import storage_failure
from reprise.engine.holds import Holds
from reprise.engine.place import Place
from reprise.engine.progress import Answerer, Progress, Setup, retry_of
from reprise.engine.reply import so_far
from reprise.engine.rounds import Rounds
from reprise.engine.settle import cancels, hides_cancel, settle

logger = logging.getLogger("reprise.engine")


class Turn:
    """Runs turns of a session, one at a time; nothing is kept from one to the next.

    Cancelling the task (or closing the generator) stops the turn: the attempt is recorded with what arrived, then the
    cancel goes on; no TurnFinished is yielded. Set `closing` before it when the program closes: the attempt is then
    recorded as interrupted, and a scheduled retry stays scheduled.
    """

    def __init__(
        self,
        answerer: Answerer,
        log: Log,
        gate: RetryGate,
        clock: Clock,
        *,
        rng: Random,
        tools: ToolRunner | None = None,
        questions: Questions | None = None,
        max_rounds: int = 32,
        auto_continue: int = 0,
        fallback: Callable[[], Answerer | None] | None = None,
        holds: Holds | None = None,
        reachability: Reachability | None = None,
        queue: Queue | None = None,
    ) -> None:
        """What the options mean is said at `Setup`; without `holds` the turn has its own."""
        self.closing = False
        self._answerer = answerer
        self._setup = Setup(
            log=log,
            gate=gate,
            clock=clock,
            rng=rng,
            tools=tools,
            questions=questions,
            max_rounds=max_rounds,
            auto_continue=auto_continue,
            fallback=fallback,
            holds=holds or Holds(clock),
            reachability=reachability,
            queue=queue,
        )

    async def run(
        self, session: str, message: Message, *, beside: str | None = None, queued: str | None = None
    ) -> AsyncGenerator[TurnEvent, None]:
        """A turn for a new prompt: behind the leaf, or `beside` an earlier prompt (behaviour B9).

        `queued` is the entry of the queue that it was. LogError when the prompt cannot be stored: then nothing was
        sent (L1).
        """
        prompt, cancel = await settle(
            self._setup.log.open_turn(session, message, self._answerer.model, beside=beside, queued=queued)
        )
        if cancel is not None:
            raise cancel
        async with aclosing(self._play(self._progress(prompt, prompt), Place(prompt), resumed=False)) as events:
            async for event in events:
                yield event

    async def resume(
        self,
        session: str,
        *,
        retry: int = 0,
        waited_s: float = 0.0,
        goes_on_from: Entry | None = None,
        at_once: bool = False,
    ) -> AsyncGenerator[TurnEvent, None]:
        """Go on with the pending turn; nothing when nothing is pending (behaviour B1).

        It has a full budget (R12), unless it goes on as `retry` n of a schedule that another life of the program
        began (D8): then n attempts of its round have failed, and the turn has waited `waited_s` already (D4). Its reply
        begins with what the ended attempt `goes_on_from` said. `at_once` is the user's own Retry: neither another
        session's limits or retries nor a network that is said to be away hold its first request. Raises LogError when
        the branch cannot be read.
        """
        path = await self._setup.log.branch(session)
        answers = answered_entry(path)
        if answers is None:
            return
        turn = self._progress(prompt_entry(path) or answers, answers, failed=retry)
        turn.at_once, turn.by_itself = at_once, not at_once
        turn.waited_s = waited_s
        turn.fallback_from = stands_in_for(path, self._answerer.model)
        place = Place(answers, before=None if goes_on_from is None else so_far(goes_on_from))
        async with aclosing(self._play(turn, place)) as events:
            async for event in events:
                yield event

    async def regenerate(self, session: str, reply: Entry) -> AsyncGenerator[TurnEvent, None]:
        """Another reply beside `reply`, which stands until there is one (behaviour D20, B14).

        Nothing when `reply` is not on the branch. Raises LogError when that cannot be read.
        """
        path = await self._setup.log.branch(session)
        if (answers := _answered_by(path, reply)) is None:
            return
        async with aclosing(self._beside(path, reply, Place(answers, answers.id))) as events:
            async for event in events:
                yield event

    async def go_on(self, session: str, reply: Entry) -> AsyncGenerator[TurnEvent, None]:
        """The rest of `reply`, which stands until it is there: one reply that begins with it (behaviour D5, D9).

        Nothing when `reply` is not on the branch or says nothing. Raises LogError when the branch cannot be read.
        """
        path = await self._setup.log.branch(session)
        answers, before = _answered_by(path, reply), so_far(reply)
        if answers is None or before is None:
            return
        async with aclosing(self._beside(path, reply, Place(answers, reply.parent, before=before))) as events:
            async for event in events:
                yield event

    async def _beside(self, path: Sequence[Entry], reply: Entry, place: Place) -> AsyncGenerator[TurnEvent, None]:
        turn = self._progress(prompt_entry(up_to(path, place.answers)) or place.answers, place.answers)
        turn.beside = reply
        turn.leaf = path[-1].id
        if (waiting := answered_entry(path)) is not None:
            turn.pending_beside = retry_of(prompt_entry(path) or waiting, waiting)
        async with aclosing(self._play(turn, place)) as events:
            async for event in events:
                yield event

    def _progress(self, prompt: Entry, waiting: Entry, failed: int = 0) -> Progress:
        answerer = self._answerer
        return Progress(prompt.session, answerer, prompt, waiting, asked={answerer.model}, failed=failed)

    async def _play(self, turn: Progress, place: Place, *, resumed: bool = True) -> AsyncGenerator[TurnEvent, None]:
        yield TurnStarted(turn.prompt, resumed, turn.beside)
        async with aclosing(self._guarded(turn, place)) as events:
            async for event in events:
                yield event

    async def _guarded(self, turn: Progress, place: Place) -> AsyncGenerator[TurnEvent, None]:
        """The rounds; a stop is recorded on its way out, and an error ends the turn as failed (behaviour L23)."""
        cancelled_before = cancels()
        rounds = Rounds(self._setup, turn)
        try:
            async with aclosing(rounds.run(place)) as events:
                async for event in events:
                    yield event
            return
        except (asyncio.CancelledError, GeneratorExit):
            await self._record_stop(rounds)
            raise
        except Exception as error:
            if hides_cancel(error, cancelled_before):
                await self._record_stop(rounds)
                raise asyncio.CancelledError from error
            failure = _failure_of(error, rounds.failure)
        try:
            await rounds.break_off(failure)
        except LogError:
            logger.exception("a failed turn could not be recorded")
        yield TurnFinished(Outcome.FAILED, turn.pending(turn.retry(failure)), failure)

    async def _record_stop(self, rounds: Rounds) -> None:
        try:
            await rounds.stop(closing=self.closing)
        except LogError:
            # The stop stands; what is still open in the log becomes interrupted at the next start (behaviour L16).
            logger.exception("a stopped turn could not be recorded")


def _failure_of(error: Exception, behind: Failure | None) -> Failure:
    """Why a turn ended with `error`; `behind` is the newest failure of its own."""
    if isinstance(error, LogError):
        return storage_failure(error, behind)
    logger.error("a turn ended with a bug", exc_info=error)
    return Failure(FailureKind.BUG, f"{type(error).__name__}: {error}", retryable=False)


def _answered_by(path: Sequence[Entry], reply: Entry) -> Entry | None:
    """What `reply`, a message on the branch, answers."""
    if all(entry.id != reply.id for entry in path):
        return None
    return answered_entry(up_to(path, reply)[:-1])
