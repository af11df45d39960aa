"""A button that is a row of a list: it paints itself."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFocusEvent, QPainter
from PySide6.QtWidgets import QPushButton, QWidget

from reprise.ui.focus import show_ring
from reprise.ui.painting import box
from reprise.ui.style import Appearance


class RowButton(QPushButton):
    """A row of 32 px with an icon; what stands beside the icon is a subclass's own."""

    def __init__(self, look: Appearance, text: str, icon: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setText(text)
        self._look, self._icon = look, icon
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        look.changed.connect(self._restyle)
        self._restyle()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        show_ring(self, self._look, event.reason())

    def paint_row(self, painter: QPainter, fill: str | None, token: str, left: int | None) -> QRect:
        """Paint the row's fill and the icon in a colour of the theme; returns the room behind the icon.

        The icon is `left` px from the edge, in the middle for None.
        """
        px = self._look.theme.px
        if fill is not None:
            box(painter, self.rect(), px(6), self._look.theme.color(fill))
        side = px(16)
        x = (self.width() - side) // 2 if left is None else left
        pixmap = self._look.icons.pixmap(self._icon, token, side, self.devicePixelRatioF())
        painter.drawPixmap(x, (self.height() - side) // 2, pixmap)
        return self.rect().adjusted(x + side + px(8), 0, 0, 0)

    def _restyle(self) -> None:
        self.setFixedHeight(self._look.theme.px(32))
        self.update()
