"""An entry of the settings' navigation."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from reprise.ui.painting import label
from reprise.ui.row_button import RowButton
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class NavButton(RowButton):
    """Icon and name; the icon alone where it is narrow."""

    def __init__(self, look: Appearance, text: str, icon: str, parent: QWidget) -> None:
        super().__init__(look, text, icon, parent)
        self._narrow = False
        self.setCheckable(True)
        self.setToolTip(text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_narrow(self, narrow: bool) -> None:
        """Show the icon alone."""
        self._narrow = narrow
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._look.theme, self._look.theme.px
        chosen = self.isChecked()
        painter = QPainter(self)
        fill = "selected" if chosen else "hover" if self.underMouse() else None
        room = self.paint_row(painter, fill, "text" if chosen else "muted", None if self._narrow else px(12))
        if not self._narrow:
            font = theme.font(Type.UI, weight=500 if chosen else None)
            label(painter, room.adjusted(0, 0, -px(8), 0), self.text(), font, theme.color("text"))
        painter.end()
