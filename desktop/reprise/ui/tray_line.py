"""One line of what stands on the composer: an icon, some words, and what can be done."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from reprise.ui.controls import Button, Elided, Glyph, Kind
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

LINE = 32
"""The height of one line, in pixels at 100 %."""


class TrayLine(QWidget):
    """A line of `LINE` pixels; its words are cut where its buttons begin."""

    def __init__(self, look: Appearance, *buttons: str, parent: QWidget) -> None:
        """`buttons` are the icons of its buttons, in reading order."""
        super().__init__(parent)
        self._look = look
        self._row = QHBoxLayout(self)
        self._glyph = Glyph(look, "more", "muted", 16, self)
        self._text = Elided(look, Type.UI, "muted", self)
        self._text.setObjectName("trayText")
        self.buttons = [Button(look, kind=Kind.ICON, icon=icon, parent=self) for icon in buttons]
        self._row.addWidget(self._glyph)
        self._row.addWidget(self._text, 1)
        for button in self.buttons:
            self._row.addWidget(button)
        look.changed.connect(self._restyle)
        self._restyle()

    def say(self, icon: str, words: str) -> None:
        """Show other words. The buttons are about them, to a screen reader too."""
        self._glyph.set_icon(icon, "muted")
        if words != self._text.text():
            self._text.set_text(words)
            for button in self.buttons:
                button.setAccessibleDescription(words)

    def name_button(self, at: int, name: str, object_name: str) -> None:
        """What the button at a place is called."""
        self.buttons[at].setObjectName(object_name)
        self.buttons[at].setAccessibleName(name)
        self.buttons[at].setToolTip(name)

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._row.setContentsMargins(0, px(2), 0, px(2))
        self._row.setSpacing(px(6))
        self.setFixedHeight(px(LINE))
