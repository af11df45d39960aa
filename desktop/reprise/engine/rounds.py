"""The rounds of one turn: requests, their calls, and what joins in between, until the reply is final."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import count

from reprise.domain.events import (
    Answer,
    Outcome,
    RoundLimitAnswered,
    RoundLimitAsked,
    Steered,
    ToolCallStarted,
    ToolResultRecorded,
    Truncated,
    TurnEvent,
    TurnFinished,
)
from reprise.domain.failures import Failure
from reprise.domain.ports import ToolRunner
from reprise.domain.sessions import Queued
from reprise.engine.place import Completed, Place
from reprise.engine.progress import Progress, Setup
from reprise.engine.round import Round
from reprise.engine.settle import settle
from reprise.engine.toolloop import Batch


class Rounds:
    """Runs the rounds of a turn. Whoever ends `run` early says with `stop` or `break_off` how."""

    def __init__(self, setup: Setup, turn: Progress) -> None:
        self._setup = setup
        self._turn = turn
        self._round: Round | None = None
        self._tool_rounds = 0
        self._allowed: float = setup.max_rounds

    @property
    def failure(self) -> Failure | None:
        """Why the newest attempt failed, if it did."""
        return None if self._round is None else self._round.failure

    async def run(self, place: Place) -> AsyncGenerator[TurnEvent, None]:
        """The events from the first request, whose reply goes to `place`, to the end of the turn. Raises LogError."""
        turn, continued = self._turn, 0
        for number in count(1):
            self._round = current = Round(self._setup, turn, number, place)
            try:
                async with aclosing(current.run()) as events:
                    async for event in events:
                        yield event
            finally:
                # However it ended: what it was to try, the next session tries (behaviour N6).
                self._setup.holds.breaker.leave(turn.answerer.route.limits, turn.session)
            if (done := current.completed) is None:
                await self._return()
                if current.finished is not None:
                    yield current.finished
                return
            rest = done.rest() if done.is_cut and continued < self._setup.auto_continue else None
            if done.is_cut:
                yield Truncated(len(done.message.text), continued=rest is not None)
            yield done.usage
            if rest is not None:
                continued += 1
                place = rest
                continue
            if (tools := self._setup.tools) is None or not done.calls:
                yield TurnFinished(Outcome.COMPLETED)
                return
            async with aclosing(self._between(tools, done)) as events:
                async for event in events:
                    yield event
                    if isinstance(event, TurnFinished):
                        return
            place = Place(turn.waiting or place.answers)

    async def stop(self, *, closing: bool) -> None:
        """Record that a cancel ended the turn. Raises LogError."""
        try:
            if self._round is not None:
                await self._round.stop(closing=closing)
        finally:
            await self._return()

    async def break_off(self, failure: Failure) -> None:
        """Record that an error ended the turn. Raises LogError."""
        try:
            if self._round is not None:
                await self._round.break_off(failure)
        finally:
            await self._return()

    async def _between(self, tools: ToolRunner, done: Completed) -> AsyncGenerator[TurnEvent, None]:
        """What happens before the next request; a TurnFinished says that there is none."""
        for call in done.calls:
            yield ToolCallStarted(call)
        for result in await Batch(self._setup.log, tools, self._turn, done).run():
            yield ToolResultRecorded(result)
        self._tool_rounds += 1
        if self._tool_rounds >= self._allowed:
            yield RoundLimitAsked(self._tool_rounds)
            answer = await self._ask()
            yield RoundLimitAnswered(self._tool_rounds, answer)
            if answer is Answer.STOP:
                await self._return()
                yield TurnFinished(Outcome.STOPPED, self._turn.pending(self._turn.retry()))
                return
            self._allowed = math.inf if answer is Answer.ALWAYS else self._allowed + self._setup.max_rounds
        for waiting in () if self._setup.queue is None else self._setup.queue.steers():
            if isinstance(waiting.data, Queued):
                yield await self._steer(waiting.id, waiting.data)

    async def _steer(self, id_: str, queued: Queued) -> Steered:
        """Let what the user sent meanwhile join the turn (behaviour I4)."""
        turn = self._turn
        prompt, cancel = await settle(
            self._setup.log.open_turn(turn.session, queued.message, turn.answerer.model, queued=id_)
        )
        turn.steered(prompt)
        if cancel is not None:
            raise cancel
        return Steered(prompt)

    async def _ask(self) -> Answer:
        questions = self._setup.questions
        return Answer.STOP if questions is None else await questions.round_limit(self._tool_rounds)

    async def _return(self) -> None:
        """Take what came to nothing off the branch: calls without a result, half of another reply (behaviour L15)."""
        turn = self._turn
        if turn.returns_to is not None:
            leaf, turn.returns_to = turn.returns_to, None
            _, cancel = await settle(self._setup.log.move_leaf(turn.session, leaf))
            if cancel is not None:
                raise cancel
