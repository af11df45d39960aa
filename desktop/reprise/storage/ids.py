"""Ids of entries: unique, and their text order is the order they were written in."""

from __future__ import annotations

import secrets
from datetime import datetime

_MICRO = 1_000_000


def first_id(moment: datetime) -> str:
    """Entries written since `moment` have ids from this one on; so may older ones, if the clock was set back."""
    return f"{int(moment.timestamp() * _MICRO):016x}"


class Ids:
    """Makes ids from the wall clock, never below the last one made, so that a clock set back changes no order."""

    def __init__(self, newest: str | None = None) -> None:
        try:
            self._last = int((newest or "0")[:16], 16)
        except ValueError:
            self._last = 0

    def next(self, now: datetime) -> str:
        """24 hex digits: 16 of microseconds, 8 at random, so that ids of two databases do not meet."""
        self._last = max(self._last + 1, int(first_id(now), 16))
        return f"{self._last:016x}{secrets.token_hex(4)}"
