"""A signal that comes before the event loop listens."""

from __future__ import annotations

import signal
from types import FrameType

# A closed terminal (SIGHUP, where there is such a thing) ends the program like the other two: it stops and saves.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StopRequest:
    """Remembers a signal that comes before the loop can hear it; neither ends the start half-way."""

    def __init__(self) -> None:
        self.asked = False
        for number in SIGNALS:
            signal.signal(number, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True
