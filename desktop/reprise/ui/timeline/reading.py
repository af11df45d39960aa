"""Reading long messages on: what is in view and not yet read to its end, a little whenever nothing else is to do."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from reprise.ui.timeline.scroller import Scroller

_SLICE_S = 0.008


class Reader(QObject):
    """Reads on; `changed` is called after each slice."""

    def __init__(self, scroller: Scroller, changed: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._scroller = scroller
        self._changed = changed
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.read)

    @property
    def is_idle(self) -> bool:
        """True when everything in view is read."""
        return not self._timer.isActive()

    def look(self) -> None:
        """Something else may be in view."""
        if any(placed.view.is_reading for placed in self._scroller.placed):
            self._timer.start(0)

    def read(self) -> None:
        """Read on for one slice."""
        until = time.perf_counter() + _SLICE_S
        stack = self._scroller.stack
        for message in sorted({placed.message for placed in self._scroller.placed if placed.view.is_reading}):
            view = stack.view(message)
            while view.read_on() and time.perf_counter() < until:
                pass
            stack.note_height(message)
        self._changed()
