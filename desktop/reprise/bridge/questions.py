"""The question a turn asks its user: go on after this many tool rounds?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from reprise.domain.events import Answer


class RoundLimitQuestion:
    """Implements `ports.Questions`; whoever is told that it is asked calls `answer` (behaviour D15).

    It is gone once it is answered or its turn is cancelled.
    """

    def __init__(self, asked: Callable[[int], None], settled: Callable[[], None]) -> None:
        self._asked = asked
        self._settled = settled
        self._answer: asyncio.Future[Answer] | None = None
        self._rounds: int | None = None

    @property
    def rounds(self) -> int | None:
        """The rounds an open question is about; None when nothing is asked."""
        return self._rounds

    async def round_limit(self, rounds: int) -> Answer:
        """Ask, and wait for the answer as long as it takes."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answer, self._rounds = answer, rounds
        try:
            self._asked(rounds)
            return await answer
        finally:
            self._answer = self._rounds = None
            self._settled()

    def answer(self, answer: Answer) -> None:
        """Settle the open question; nothing when none is open, or it is answered already."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)
