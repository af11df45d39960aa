"""The two fixed rows of the sidebar: New chat at the top, Settings at the foot."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from reprise.ui.focus import show_ring
from reprise.ui.painting import box, label
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class SideRow(QPushButton):
    """Icon, text and a shortcut at the trailing edge, on the sidebar's own edges."""

    def __init__(
        self,
        look: Appearance,
        text: str,
        icon: str,
        *,
        aside: str = "",
        strong: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._look, self._icon, self._aside, self._strong = look, icon, aside, strong
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self._restyle)
        self._restyle()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        show_ring(self, self._look, event.reason())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._look.theme, self._look.theme.px
        painter = QPainter(self)
        if self.isDown() or self.underMouse():
            box(painter, self.rect(), px(6), theme.color("pressed" if self.isDown() else "hover"))
        side = px(16)
        token = "text" if self._strong or self.underMouse() else "muted"
        pixmap = self._look.icons.pixmap(self._icon, token, side, self.devicePixelRatioF())
        painter.drawPixmap(px(10), (self.height() - side) // 2, pixmap)
        area = self.rect().adjusted(px(34), 0, -px(12), 0)
        font = theme.font(Type.UI, weight=500 if self._strong else None)
        label(painter, area, self.text(), font, theme.color("text" if self._strong else "muted"))
        if self._aside:
            label(painter, area, self._aside, theme.font(Type.MICRO), theme.color("muted"), right=True)
        painter.end()

    def _restyle(self) -> None:
        self.setFixedHeight(self._look.theme.px(32))
        self.update()
