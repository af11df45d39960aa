"""The window's first paint, before anything else is imported or running.

asyncio and its loop take a third as long to import as a bare Qt window takes to appear; so the window is painted by
Qt's own loop first, which ends before the program's loop begins and before there is any task it could starve.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

_AT_MOST_MS = 1000
"""A window that starts minimised or covered is not painted."""


class FirstPaint(QObject):
    """Tells of a window's first paint, once it is over."""

    seen = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self.seen.emit)
        return False


def show_painted(window: QWidget) -> None:
    """Show `window` and return when it has painted itself."""
    painted = FirstPaint(window)
    loop = QEventLoop()
    painted.seen.connect(loop.quit)
    QTimer.singleShot(_AT_MOST_MS, loop.quit)
    window.show()
    loop.exec()
