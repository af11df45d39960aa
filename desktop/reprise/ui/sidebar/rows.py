"""The two fixed rows of the sidebar: New chat at the top, Settings at the foot."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from reprise.ui.painting import label
from reprise.ui.row_button import RowButton
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class SideRow(RowButton):
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
        super().__init__(look, text, icon, parent)
        self._aside, self._strong = aside, strong
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._look.theme, self._look.theme.px
        painter = QPainter(self)
        fill = "pressed" if self.isDown() else "hover" if self.underMouse() else None
        room = self.paint_row(painter, fill, "text" if self._strong or self.underMouse() else "muted", px(10))
        area = room.adjusted(0, 0, -px(12), 0)
        font = theme.font(Type.UI, weight=500 if self._strong else None)
        label(painter, area, self.text(), font, theme.color("text" if self._strong else "muted"))
        if self._aside:
            label(painter, area, self._aside, theme.font(Type.MICRO), theme.color("muted"), right=True)
        painter.end()
