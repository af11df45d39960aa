"""The round-limit question inside the timeline: go on, stop, or always for this turn."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from reprise.domain.events import Answer
from reprise.ui.controls import Button, Glyph, Kind, Text
from reprise.ui.language import counted, tr
from reprise.ui.painting import box
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class QuestionCard(QWidget):
    """Asks whether a turn with many tool rounds may go on; Esc is Stop (behaviour D7, D15).

    Signals:
        answered(Answer).
    """

    answered = Signal(object)

    def __init__(self, look: Appearance, rounds: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("approvalCard")
        self._look = look
        title = counted(rounds, tr("Go on after 1 round of tools?"), tr("Go on after {n} rounds of tools?"))
        self.setAccessibleName(title)
        self._row = QHBoxLayout(self)
        self._icon = Glyph(look, "tool", "accent", 20, self)
        self._column = QVBoxLayout()
        self._title = Text(look, title, Type.BODY, weight=600, wrap=True, parent=self)
        self._advice = Text(
            look, tr("What the tools found so far is kept either way."), Type.UI, "muted", wrap=True, parent=self
        )
        self._buttons = QHBoxLayout()
        for name, text, answer, kind in (
            ("continueButton", tr("Continue"), Answer.CONTINUE, Kind.PRIMARY),
            ("stopButton", tr("Stop"), Answer.STOP, Kind.FRAMED),
            ("alwaysButton", tr("Always for this turn"), Answer.ALWAYS, Kind.FRAMED),
        ):
            button = Button(look, text, kind=kind, parent=self)
            button.setObjectName(name)
            button.clicked.connect(lambda _checked=False, a=answer: self.answered.emit(a))
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        self._column.addWidget(self._title)
        self._column.addWidget(self._advice)
        self._column.addLayout(self._buttons)
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addLayout(self._column, 1)
        look.changed.connect(self._restyle)
        self._restyle()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(10), theme.color("surface"), theme.color("border_strong"))
        painter.end()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._row.setContentsMargins(px(14), px(15), px(16), px(16))
        self._row.setSpacing(px(14))
        self._column.setSpacing(0)
        self._advice.setContentsMargins(0, px(3), 0, px(12))
        self._buttons.setSpacing(px(8))
