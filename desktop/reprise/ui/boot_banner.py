"""The notice bar under the header: trouble with the start or the settings, one sentence and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from reprise.ui.controls import Button, Glyph, Kind, Text
from reprise.ui.flow import FlowRow
from reprise.ui.language import tr
from reprise.ui.motion import appear
from reprise.ui.painting import box, rule
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

NARROW = 640


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
        self._middle = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._buttons = QWidget(self)
        self._flow = FlowRow(self._buttons)
        self._icon = Glyph(look, "warning", "warn", 16, self)
        self.sentence = Text(look, wrap=True, parent=self)
        self.sentence.setObjectName("bootBannerText")
        self._dismiss = Button(look, kind=Kind.ICON, icon="close", parent=self)
        self._dismiss.setObjectName("dismissBootBanner")
        self._dismiss.setAccessibleName(tr("Dismiss"))
        self._dismiss.clicked.connect(self._next)
        self._actions: list[Button] = []
        self._middle.addWidget(self.sentence, 1)
        self._middle.addWidget(self._buttons)
        top = Qt.AlignmentFlag.AlignTop
        self._beside = QVBoxLayout()
        self._beside.addWidget(self._icon, 0, top)
        self._row.addLayout(self._beside)
        self._row.addLayout(self._middle, 1)
        self._row.addWidget(self._dismiss, 0, top)
        look.changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def add(self, notice: Notice) -> None:
        """Show a notice, or keep it until those before it are gone. The same sentence is not said twice."""
        if all(notice.sentence != other.sentence for other in self._waiting):
            self._waiting.append(notice)
            if len(self._waiting) == 1:
                self._show()

    def withdraw(self, notice: Notice) -> None:
        """Take a notice back that is no longer true; nothing when it is gone already."""
        if notice in self._waiting:
            is_shown = self._waiting[0] is notice
            self._waiting.remove(notice)
            if is_shown:
                self._show()

    def height_for(self, width: int) -> int:
        """How high it has to be at `width` for the whole sentence, and for the buttons, below it where it is narrow."""
        is_narrow = width < self._look.theme.px(NARROW)
        direction = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._middle.setDirection(direction)
        across = QSizePolicy.Policy.Preferred if is_narrow else QSizePolicy.Policy.Fixed
        self._buttons.setSizePolicy(across, QSizePolicy.Policy.Minimum)
        self._row.invalidate()
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
            self._flow.removeWidget(button)
            button.hide()
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
            button = Button(self._look, text, parent=self._buttons)
            button.clicked.connect(partial(self._act, run, notice.passing))
            self._flow.addWidget(button)
            button.show()
            self._actions.append(button)
        self._buttons.setVisible(bool(self._actions))
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
        self._middle.setSpacing(px(8))
        self._flow.setSpacing(px(8))
        self._flow.setContentsMargins(0, 0, 0, 0)
        # One line stands level with the buttons beside it.
        line, icon = self._look.theme.line(Type.UI), self._icon.height()
        self.sentence.setContentsMargins(0, (px(28) - line) // 2, 0, (px(28) - line) // 2)
        self._beside.setContentsMargins(0, (px(28) - icon) // 2, 0, 0)
        self.update()
