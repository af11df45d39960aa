"""Rows of a settings page: label, control and explanation in three columns, or one under another where it is narrow."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QSpacerItem, QVBoxLayout, QWidget

from reprise.ui.controls import Glyph, Text
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

NARROW, TIGHT = 520, 260


class FormPage(QWidget):
    """A title, a paragraph, and rows."""

    def __init__(self, look: Appearance, title: str, lead: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.title = title
        self.setAccessibleName(title)
        self.column = QVBoxLayout(self)
        self._lead = Text(look, lead, Type.UI, "muted", wrap=True, parent=self)
        self.column.addWidget(self._lead)
        self.rows: list[FormRow] = []
        self._gaps: list[tuple[QSpacerItem, int]] = []
        look.changed.connect(self._restyle)
        self._restyle()

    def add_row(
        self, label: str, control: QWidget, explanation: str = "", *, wide: bool = False, behind: FormRow | None = None
    ) -> FormRow:
        """One setting, `behind` another one or last.

        A `wide` control takes the explanation's column too, which then stands below it.
        """
        row = FormRow(self._look, label, control, explanation, wide, self)
        row.set_narrow(self._is_narrow)
        if behind is None:
            self.column.addWidget(row)
            self.rows.append(row)
        else:
            self.column.insertWidget(self.column.indexOf(behind) + 1, row)
            self.rows.insert(self.rows.index(behind) + 1, row)
        return row

    def remove_row(self, row: FormRow) -> None:
        """Take a row away, with its control."""
        self.rows.remove(row)
        self.column.removeWidget(row)
        row.hide()
        row.deleteLater()

    def add_gap(self, size: int) -> None:
        """More room below the last row, `size` pixels at 100 %."""
        gap = QSpacerItem(0, self._look.theme.px(size))
        self.column.addSpacerItem(gap)
        self._gaps.append((gap, size))

    def minimumSizeHint(self) -> QSize:
        # The scroll area asks for the height at its width; a least height of its own would bring the bar too soon.
        return QSize(self._look.theme.px(180), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for row in self.rows:
            row.set_narrow(self._is_narrow)

    @property
    def _is_narrow(self) -> bool:
        return self.width() < self._look.theme.px(NARROW)

    def _restyle(self) -> None:
        px = self._look.theme.px
        self.column.setContentsMargins(0, 0, px(12), px(8))
        self.column.setSpacing(px(8))
        self._lead.setContentsMargins(0, 0, 0, px(12))
        for gap, size in self._gaps:
            gap.changeSize(0, px(size))


class FormRow(QWidget):
    """Label, control, explanation, and a sentence below when the value is refused."""

    def __init__(
        self, look: Appearance, label: str, control: QWidget, explanation: str, wide: bool, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._look, self._wide = look, wide
        self.control = control
        self.label = Text(look, label, Type.UI, weight=500, parent=self)
        self.label.setBuddy(control)
        self.explanation = Text(look, explanation, Type.SMALL, "muted", wrap=True, tabular=True, parent=self)
        self._problem = QWidget(self)
        self._sentence = Text(look, "", Type.SMALL, "danger", wrap=True, parent=self._problem)
        problem = QHBoxLayout(self._problem)
        problem.setContentsMargins(0, 0, 0, 0)
        problem.addWidget(Glyph(look, "error", "danger", 14, self._problem), 0, Qt.AlignmentFlag.AlignTop)
        problem.addWidget(self._sentence, 1)
        self._problem.hide()
        self._outer = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self._right = QVBoxLayout()
        self._right.setContentsMargins(0, 0, 0, 0)
        if wide:
            control.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            self._right.addWidget(control)
            if explanation:
                self._right.addWidget(self.explanation)
            else:
                self.explanation.hide()
        else:
            self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
            self._cell = QWidget(self)
            cell = QHBoxLayout(self._cell)
            cell.setContentsMargins(0, 0, 0, 0)
            cell.addWidget(control)
            cell.addStretch(1)
            self._line.addWidget(self._cell)
            if explanation:
                self._line.addWidget(self.explanation, 1)
            else:
                self.explanation.hide()
                self._line.addStretch(1)
            self._right.addLayout(self._line)
        self._right.addWidget(self._problem)
        self._outer.addWidget(self.label, 0, Qt.AlignmentFlag.AlignTop)
        self._outer.addLayout(self._right, 1)
        look.changed.connect(self._restyle)
        self._restyle()

    def set_narrow(self, narrow: bool) -> None:
        """One under another, or side by side."""
        wanted = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._outer.direction() != wanted:
            self._outer.setDirection(wanted)
            self._restyle()

    def say(self, sentence: str) -> None:
        """Say why the value was refused; "" takes it away."""
        self._sentence.setText(sentence)
        self._problem.setVisible(bool(sentence))
        self.control.setProperty("invalid", bool(sentence))
        self.control.style().unpolish(self.control)
        self.control.style().polish(self.control)

    @property
    def problem(self) -> str:
        """What is said about a refused value."""
        return self._sentence.text() if not self._problem.isHidden() else ""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._wide:
            # Where there is hardly room for words beside the control they stand below it.
            tight = self.width() < self._look.theme.px(TIGHT)
            down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
            self._line.setDirection(down if tight else across)
            self._line.setSpacing(self._look.theme.px(4 if tight else 12))

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width(), max(hint.height(), self._look.theme.px(32)))

    def _restyle(self) -> None:
        px = self._look.theme.px
        narrow = self._outer.direction() == QBoxLayout.Direction.TopToBottom
        self.label.setFixedHeight(px(24 if narrow else 32))
        self.label.setMinimumWidth(0 if narrow else px(200))
        self._outer.setSpacing(0)
        self._right.setSpacing(px(4))
        if not self._wide:
            self._line.setSpacing(px(12))
            self._cell.setMinimumSize(px(104), px(32))
