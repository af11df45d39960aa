"""About: what this is, its version, and what it runs on."""

from __future__ import annotations

import platform

from PySide6.QtCore import QRect, Qt, qVersion
from PySide6.QtWidgets import QVBoxLayout, QWidget

from reprise import __version__
from reprise.ui.controls import Button, Glyph, Kind, Text
from reprise.ui.language import tr
from reprise.ui.overlay import Sheet
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class AboutSheet(Sheet):
    """A few lines and a button."""

    def __init__(self, look: Appearance, window: QWidget) -> None:
        super().__init__(look, window, "aboutSheet")
        self.setAccessibleName(tr("About Reprise"))
        self._column = QVBoxLayout(self)
        self._column.addWidget(Glyph(look, "reprise", "accent", 34, self))
        self._column.addWidget(Text(look, tr("Reprise {version}").format(version=__version__), Type.H2, parent=self))
        said = tr("A chat window for language models in which no turn is ever lost.")
        self._column.addWidget(Text(look, said, wrap=True, parent=self))
        made = tr("Qt {qt}, Python {python}. MIT licence.").format(qt=qVersion(), python=platform.python_version())
        versions = Text(look, made, Type.SMALL, "muted", wrap=True, parent=self)
        versions.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._column.addWidget(versions)
        self._column.addStretch(1)
        self._close = Button(look, tr("Close"), kind=Kind.PRIMARY, parent=self)
        self._close.clicked.connect(self.close_sheet)
        self._column.addWidget(self._close)
        look.changed.connect(self._restyle)
        self._restyle()

    def first_focus(self) -> QWidget:
        return self._close

    def wanted(self, area: QRect) -> QRect:
        px = self._look.theme.px
        width = min(px(400), area.width() - 2 * px(16))
        height = min(max(px(240), self._column.heightForWidth(width)), area.height() - 2 * px(16))
        return QRect((area.width() - width) // 2, (area.height() - height) // 2, width, height)

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._column.setContentsMargins(px(28), px(28), px(28), px(20))
        self._column.setSpacing(px(8))
