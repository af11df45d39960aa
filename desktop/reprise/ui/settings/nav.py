"""An entry of the settings' navigation."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from reprise.ui.focus import show_ring
from reprise.ui.painting import box, label
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class NavButton(QPushButton):
    """Icon and name; the icon alone where it is narrow."""

    def __init__(self, look: Appearance, text: str, icon: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._look, self._icon, self._narrow = look, icon, False
        self.setCheckable(True)
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        look.changed.connect(self._restyle)
        self._restyle()

    def set_narrow(self, narrow: bool) -> None:
        """Show the icon alone."""
        self._narrow = narrow
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        show_ring(self, self._look, event.reason())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._look.theme, self._look.theme.px
        painter = QPainter(self)
        if self.isChecked() or self.underMouse():
            box(painter, self.rect(), px(6), theme.color("selected" if self.isChecked() else "hover"))
        side = px(16)
        token = "text" if self.isChecked() else "muted"
        pixmap = self._look.icons.pixmap(self._icon, token, side, self.devicePixelRatioF())
        left = (self.width() - side) // 2 if self._narrow else px(12)
        painter.drawPixmap(left, (self.height() - side) // 2, pixmap)
        if not self._narrow:
            area = self.rect().adjusted(px(36), 0, -px(8), 0)
            font = theme.font(Type.UI, weight=500 if self.isChecked() else None)
            label(painter, area, self.text(), font, theme.color("text"))
        painter.end()

    def _restyle(self) -> None:
        self.setFixedHeight(self._look.theme.px(32))
        self.update()
