"""Putting text on the clipboard; a long one is collected between other things, and never holds the window."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QClipboard, QGuiApplication

from reprise.ui.timeline.selecting import Selecting
from reprise.ui.timeline.transcript import Write

_AT_ONCE_S = 0.02
_SLICE_S = 0.008
_PRIMARY_MESSAGES = 200
_PRIMARY_LENGTH = 1_000_000


class Copier(QObject):
    """Collects the pieces of a text: at once where that is quick, else in slices.

    Args:
        lasts: Called with True when it will take a while, and then with False when that is over.
    """

    def __init__(self, lasts: Callable[[bool], None], parent: QObject) -> None:
        super().__init__(parent)
        self._lasts = lasts
        self._pieces: Iterator[str | None] | None = None
        self._found: list[str] = []
        self._done: Callable[[str], None] | None = None
        self._is_long = False
        self._slice = QTimer(self)
        self._slice.setSingleShot(True)
        self._slice.timeout.connect(lambda: self._collect(_SLICE_S))

    @property
    def is_busy(self) -> bool:
        """True while slices are to come."""
        return self._slice.isActive()

    def collect(self, pieces: Iterator[str | None], done: Callable[[str], None]) -> None:
        """Collect a text in place of the one before; `done` gets all of it."""
        self.cancel()
        self._pieces, self._done, self._found = pieces, done, []
        if not self._collect(_AT_ONCE_S):
            self._is_long = True
            self._lasts(True)

    def cancel(self) -> None:
        """Leave what is being collected."""
        self._slice.stop()
        self._end()

    def _end(self) -> None:
        self._pieces, self._done, self._found = None, None, []
        if self._is_long:
            self._is_long = False
            self._lasts(False)

    def _collect(self, seconds: float) -> bool:
        """Collect for a while; True when that was all."""
        pieces, done = self._pieces, self._done
        if pieces is None or done is None:
            return True
        until = time.perf_counter() + seconds
        for piece in pieces:
            if piece is not None:
                self._found.append(piece)
            elif time.perf_counter() >= until:
                self._slice.start(0)
                return False
        text = "".join(self._found)
        self._end()
        done(text)
        return True


class Clipboard(QObject):
    """What the timeline puts on the clipboard: plain text, never HTML.

    Args:
        copied: Called with what was put there: "code", "link", "message", "selection" or "table".
        lasts: As `Copier` calls it.
    """

    def __init__(
        self, selecting: Selecting, copied: Callable[[str], None], lasts: Callable[[bool], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._selecting = selecting
        self._copied = copied
        self.copier = Copier(lasts, self)

    def selection(self, write: Write) -> bool:
        """Put the selection there, written so; False without one."""
        if self._selecting.has_extent:
            self.copier.collect(self._selecting.told(write), lambda text: self.put(text, "selection"))
        return self._selecting.has_extent

    def table(self, key: str, write: Write) -> None:
        """Put there what is written of a message's table, or of the live reply's; nothing when it is gone."""
        self.copier.collect(self._selecting.told_of(key, write), lambda text: self.put(text, "table"))

    def put(self, text: str, what: str) -> None:
        """Put a text there; nothing for no text."""
        if text:
            self.copier.cancel()
            QGuiApplication.clipboard().setText(text)
            self._copied(what)


class Primary(QObject):
    """What X11 pastes with the middle button: the selection, set when selecting pauses.

    A selection of more than 200 messages or a million characters is not offered: nobody pastes it by the way, and
    collecting it again after each change would cost more than it is worth.
    """

    def __init__(self, selecting: Selecting, parent: QObject) -> None:
        super().__init__(parent)
        self._selecting = selecting
        self._copier = Copier(lambda _lasts: None, self)

    def forget(self) -> None:
        """The selection is another one now; what was offered stays until there is something to offer."""
        self._copier.cancel()

    def offer(self) -> None:
        """Offer what is selected."""
        selecting = self._selecting
        if not QGuiApplication.clipboard().supportsSelection() or not selecting.has_extent:
            return
        messages, length = selecting.size()
        if messages <= _PRIMARY_MESSAGES and length <= _PRIMARY_LENGTH:
            self._copier.collect(selecting.told(), _offer)


def _offer(text: str) -> None:
    if text:
        QGuiApplication.clipboard().setText(text, QClipboard.Mode.Selection)
