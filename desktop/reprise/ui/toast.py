"""One sentence that goes by itself, with one thing to do about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QEnterEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from reprise.ui.controls import Button, Kind, Text
from reprise.ui.motion import appear
from reprise.ui.painting import box
from reprise.ui.style import Appearance

SHOWN_MS = 10_000
"""With something to undo; it stays under the pointer."""


class Toast(QWidget):
    """Over the page; the newest sentence takes the place of the one before."""

    def __init__(self, look: Appearance, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self._look = look
        self._run: Callable[[], None] | None = None
        self._row = QHBoxLayout(self)
        self.sentence = Text(look, parent=self)
        self.sentence.setObjectName("toastText")
        self.button = Button(look, kind=Kind.LINK, parent=self)
        self.button.setObjectName("toastButton")
        self.button.clicked.connect(self._press)
        self._row.addWidget(self.sentence)
        self._row.addWidget(self.button)
        self._life = QTimer(self)  # how long it is shown; no wait of a turn hangs on it
        self._life.setSingleShot(True)
        self._life.setInterval(SHOWN_MS)
        self._life.timeout.connect(self.hide)
        look.changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def say(self, sentence: str, action: str, run: Callable[[], None]) -> None:
        """Show `sentence` with the button `action`."""
        self._run = run
        self.sentence.setText(sentence)
        self.button.setText(action)
        self.button.setAccessibleName(action)
        self.setAccessibleName(sentence)
        self.adjustSize()
        self.raise_()
        appear(self, self._look)
        self._life.start()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._life.stop()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._life.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(10), theme.color("raised"), theme.color("border_strong"))
        painter.end()

    def _press(self) -> None:
        run, self._run = self._run, None
        self._life.stop()
        self.hide()
        if run is not None:
            run()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._row.setContentsMargins(px(16), px(8), px(16), px(8))
        self._row.setSpacing(px(16))
        self.adjustSize()
        self.update()
