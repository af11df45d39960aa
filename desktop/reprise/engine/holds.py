"""Limits that were met, kept for all sessions together: one 429 holds every request to that provider and key."""

from __future__ import annotations

from reprise.domain.failures import Failure
from reprise.domain.ports import Clock
from reprise.domain.retry import STAGGER_S
from reprise.engine.breaker import OVER_S, Breaker


class Holds:
    """Until when requests to each provider and key (``Route.limits``) are held, and why (behaviour D3).

    `breaker` says who of those whose provider is down may try it (N6).
    """

    def __init__(self, clock: Clock) -> None:
        self.breaker = Breaker(clock)
        self._clock = clock
        self._held: dict[str, tuple[float, Failure]] = {}
        # The sessions that wait for each hold, in the order in which they begin.
        self._rows: dict[str, list[str]] = {}

    def note(self, limits: str, failure: Failure, delay_s: float) -> None:
        """`failure` holds `limits` for `delay_s` from now; a longer hold that runs already stays."""
        until = self._clock.now() + delay_s
        current = self.until(limits)
        if current is None or current < until:
            self._held[limits] = (until, failure)
            # Whoever waits for the hold before comes back, and gets a place behind this one.
            self._rows[limits] = []

    def slot(self, limits: str, session: str) -> float | None:
        """When a session's request may go that `limits` hold now, in seconds of the Clock; None when they are free.

        Each session has a place in a row: the first begins when the hold ends, the others 2 s apart (behaviour D3).
        It keeps its place for as long as this hold runs, used or not.
        """
        if (until := self.until(limits)) is None:
            return None
        row = self._rows[limits]
        if session not in row:
            row.append(session)
        return until + STAGGER_S * row.index(session)

    def until(self, limits: str) -> float | None:
        """When `limits` are free again, in seconds of the Clock; None when they are."""
        self._forget_passed(limits)
        held = self._held.get(limits)
        return None if held is None else held[0]

    def failure(self, limits: str) -> Failure | None:
        """What holds `limits`; None when they are free."""
        self._forget_passed(limits)
        held = self._held.get(limits)
        return None if held is None else held[1]

    def _forget_passed(self, limits: str) -> None:
        held = self._held.get(limits)
        if held is not None and held[0] - self._clock.now() < OVER_S:
            del self._held[limits], self._rows[limits]
