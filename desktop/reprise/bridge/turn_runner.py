"""The one turn of a conversation that runs at a time, as a task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from reprise.bridge.tasks import TaskScope
from reprise.bridge.turn_task import NotSent, TurnTask
from reprise.domain.events import TurnFinished
from reprise.domain.failures import Failure

_CLOSE_S = 1.0

Play = Callable[[TurnTask], Coroutine[Any, Any, TurnFinished | None]]
"""Which of a TurnTask's coroutines is run."""


class TurnRunner:
    """Whoever begins a turn has made sure that none runs; each ends with `ended` or, nothing sent, with `refused`."""

    def __init__(
        self,
        name: str,
        scope: TaskScope,
        ended: Callable[[TurnFinished | None], None],
        refused: Callable[[Failure], None],
    ) -> None:
        """`name` is that of the session. `ended` has None when there was nothing to be done."""
        self._name = name
        self._scope = scope
        self._ended = ended
        self._refused = refused
        self._turn: TurnTask | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """True from `begin` until the turn is over and before that is told."""
        return self._task is not None

    def begin(self, turn: TurnTask, play: Play) -> None:
        """Run `play` of `turn`."""
        self._turn = turn
        self._task = self._scope.start(self._see_through(turn, play), name=self._name)

    def stop(self) -> None:
        """The user stops the turn."""
        if self._turn is not None:
            self._turn.stop()

    async def close(self) -> None:
        """The program closes: wait for the turn's end, within 1 s."""
        if self._turn is not None:
            self._turn.close()
        await self.wait()

    async def wait(self) -> None:
        """Wait for the turn's end, within 1 s."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_CLOSE_S)

    async def _see_through(self, turn: TurnTask, play: Play) -> None:
        try:
            finished = await play(turn)
        except NotSent as refusal:
            self._turn = self._task = None
            self._refused(refusal.failure)
            return
        except asyncio.CancelledError:
            # The program closes: nobody is told, and nothing runs any more.
            self._turn = self._task = None
            raise
        # Whoever hears of the end may begin another at once.
        self._turn = self._task = None
        self._ended(finished)
