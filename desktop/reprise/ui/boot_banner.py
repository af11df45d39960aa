"""The notice bar under the header: trouble with the start or the settings, one sentence and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from reprise.ui.controls import Button, Glyph, Kind, Text
from reprise.ui.language import tr
from reprise.ui.motion import appear
from reprise.ui.painting import box, rule
from reprise.ui.style import Appearance


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence with the buttons under `actions` (text, what it does).

    `lasting` ones cannot be dismissed. `passing` ones tell, they are no trouble: quiet, and gone with any button.
    """

    sentence: str
    actions: tuple[tuple[str, Callable[[], None]], ...] = ()
    lasting: bool = False
    passing: bool = False


class BootBanner(QWidget):
    """Shows the oldest notice that was not dismissed; the next one follows."""

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bootBanner")
        self._look = look
        self._waiting: list[Notice] = []
        self._row = QHBoxLayout(self)
        self._icon = Glyph(look, "warning", "warn", 16, self)
        self.sentence = Text(look, wrap=True, parent=self)
        self.sentence.setObjectName("bootBannerText")
        self._dismiss = Button(look, kind=Kind.ICON, icon="close", parent=self)
        self._dismiss.setObjectName("dismissBootBanner")
        self._dismiss.setAccessibleName(tr("Dismiss"))
        self._dismiss.clicked.connect(self._next)
        self._actions: list[Button] = []
        self._row.addWidget(self._icon)
        self._row.addWidget(self.sentence, 1)
        self._row.addWidget(self._dismiss)
        look.changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def add(self, notice: Notice) -> None:
        """Show a notice, or keep it until those before it are gone. The same sentence is not said twice."""
        if all(notice.sentence != other.sentence for other in self._waiting):
            self._waiting.append(notice)
            if len(self._waiting) == 1:
                self._show()

    def height_for(self, width: int) -> int:
        """How high it has to be at `width` for the whole sentence."""
        return self._row.heightForWidth(width)

    def _next(self) -> None:
        del self._waiting[:1]
        self._show()

    def _act(self, run: Callable[[], None], ends: bool, *_: object) -> None:
        if ends:
            self._next()
        run()

    def _show(self) -> None:
        for button in self._actions:
            self._row.removeWidget(button)
            button.deleteLater()
        self._actions.clear()
        if not self._waiting:
            self.hide()
            return
        notice = self._waiting[0]
        self._icon.set_icon("info" if notice.passing else "warning", "muted" if notice.passing else "warn")
        self.sentence.setText(notice.sentence)
        self.setAccessibleName(notice.sentence)
        for text, run in notice.actions:
            button = Button(self._look, text, parent=self)
            button.clicked.connect(partial(self._act, run, notice.passing))
            self._row.insertWidget(self._row.count() - 1, button, 0, Qt.AlignmentFlag.AlignVCenter)
            self._actions.append(button)
        self._dismiss.setVisible(not notice.lasting)
        appear(self, self._look)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        quiet = bool(self._waiting) and self._waiting[0].passing
        box(painter, self.rect(), 0, theme.color("surface" if quiet else "warn_tint"))
        rule(painter, 0, self.width(), self.height() - 1, theme.color("border" if quiet else "warn_border"))
        painter.end()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._row.setContentsMargins(px(18), px(8), px(10), px(8))
        self._row.setSpacing(px(8))
        self.update()
