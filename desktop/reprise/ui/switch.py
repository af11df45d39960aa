"""The switch of the settings: on or off at once."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from reprise.ui.focus import show_ring
from reprise.ui.painting import box
from reprise.ui.style import Appearance


class Switch(QAbstractButton):
    """On or off at once, 36 x 20."""

    def __init__(self, look: Appearance, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setCheckable(True)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(self._look.theme.px(36), self._look.theme.px(20))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        show_ring(self, self._look, event.reason())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        area = QRectF(0, 0, theme.px(36), theme.px(20))
        on = self.isChecked()
        fill = theme.color("accent") if on and self.isEnabled() else None
        edge = None if fill else theme.color("control_border" if self.isEnabled() else "border")
        box(painter, area, area.height() / 2, fill, edge)
        knob = theme.px(14 if on else 12)
        inset = (area.height() - knob) / 2
        x = area.width() - inset - knob if on else inset
        ink = "on_accent" if fill else "control_border" if self.isEnabled() else "faint"
        box(painter, QRectF(x, inset, knob, knob), knob / 2, theme.color(ink))
        painter.end()
