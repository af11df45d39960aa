"""A few choices side by side of which one holds, and a number with steps: the two controls only Settings needs."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QPushButton, QSizePolicy, QSpinBox, QWidget

from reprise.ui.flow import FlowRow
from reprise.ui.focus import show_ring
from reprise.ui.painting import baseline, box
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class Segmented(QWidget):
    """One of a few, in more than one line where there is no room; the arrow keys move.

    Signals:
        chosen(str): another one was chosen by the person.
    """

    chosen = Signal(str)

    def __init__(
        self, look: Appearance, name: str, choices: list[tuple[str, str]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        self._row = FlowRow(self)
        self._row.setContentsMargins(2, 2, 2, 2)
        self._row.setSpacing(0)
        self._segments: dict[str, _Segment] = {}
        for value, text in choices:
            segment = _Segment(look, text, self)
            segment.setObjectName(value)
            segment.setAccessibleName(f"{name}: {text}")
            segment.clicked.connect(lambda _checked=False, v=value: self._choose(v))
            self._row.addWidget(segment)
            self._segments[value] = segment
        look.changed.connect(self.updateGeometry)

    @property
    def value(self) -> str:
        """What holds."""
        return next((value for value, segment in self._segments.items() if segment.isChecked()), "")

    def set_value(self, value: str) -> None:
        """Show what holds."""
        for key, segment in self._segments.items():
            segment.setChecked(key == value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() in steps:
            keys = list(self._segments)
            place = max(0, keys.index(self.value) if self.value in keys else 0) + steps[Qt.Key(event.key())]
            value = keys[min(max(place, 0), len(keys) - 1)]
            self._segments[value].setFocus(Qt.FocusReason.TabFocusReason)
            self._choose(value)
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(6), theme.color("sunken"), theme.color("border"))
        painter.end()

    def _choose(self, value: str) -> None:
        before = self.value
        changed = any(segment.isChecked() and key != value for key, segment in self._segments.items())
        self.set_value(value)
        if changed or before != value:
            self.chosen.emit(value)


class _Segment(QPushButton):
    def __init__(self, look: Appearance, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._look = look
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        theme = self._look.theme
        width = QFontMetricsF(theme.font(Type.UI, weight=500)).horizontalAdvance(self.text())
        return QSize(round(width) + theme.px(32), theme.px(28))

    def nextCheckState(self) -> None:
        """What is checked is settled by the group."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        show_ring(self, self._look, event.reason())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            event.ignore()  # the group moves
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        on = self.isChecked()
        if on:
            box(painter, self.rect(), theme.px(5), theme.color("surface"), theme.color("border_strong"))
        font = theme.font(Type.UI, weight=500 if on else None)
        painter.setFont(font)
        painter.setPen(theme.color("text" if on or self.underMouse() else "muted"))
        width = QFontMetricsF(font).horizontalAdvance(self.text())
        painter.drawText(QPointF(round((self.width() - width) / 2), baseline(font, self.height() / 2)), self.text())
        painter.end()


class Stepper(QSpinBox):
    """A number in a field with a chevron pair at its end."""

    def __init__(
        self, look: Appearance, name: str, low: int, high: int, suffix: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self.setAccessibleName(name)
        self.setRange(low, high)
        self.setSuffix(suffix)
        self.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.setKeyboardTracking(False)
        self.setFrame(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        look.changed.connect(self._restyle)
        self._restyle()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self._inset()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._inset()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._inset()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        side = theme.px(14)
        invalid, focused = bool(self.property("invalid")), self.hasFocus()
        edge = "danger" if invalid else "focus" if focused else "control_border" if self.isEnabled() else "border"
        token = "muted" if self.isEnabled() else "faint"
        pixmap = self._look.icons.pixmap("chevrons-up-down", token, side, self.devicePixelRatioF())
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(6), theme.color("surface"), theme.color(edge))
        if invalid or focused:
            box(painter, self.rect().adjusted(1, 1, -1, -1), theme.px(5), None, theme.color(edge))
        painter.drawPixmap(self._steps().left(), (self.height() - side) // 2, pixmap)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._steps().adjusted(-6, 0, 6, 0).contains(event.position().toPoint()):
            self.stepBy(1 if event.position().y() < self.height() / 2 else -1)
            return
        super().mousePressEvent(event)

    def _inset(self) -> None:
        # The frame and the chevrons are painted here and not the style's: the text keeps clear of them.
        px = self._look.theme.px
        self.lineEdit().setGeometry(self.rect().adjusted(px(10), 2, -px(28), -2))

    def _steps(self) -> QRect:
        side = self._look.theme.px(14)
        return QRect(self.width() - self._look.theme.px(10) - side, 0, side, self.height())

    def _restyle(self) -> None:
        px = self._look.theme.px
        self.setFont(self._look.theme.font(Type.UI, tabular=True))
        self.lineEdit().setFont(self.font())
        self.setFixedSize(px(104), px(32))
        self._inset()
