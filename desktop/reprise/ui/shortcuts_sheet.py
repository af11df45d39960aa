"""The cheat sheet: every shortcut there is, by menu."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from reprise.ui.commands import Commands, Menu, menu_title, plain
from reprise.ui.controls import Button, Kind, Text
from reprise.ui.keycaps import KeyCaps
from reprise.ui.language import tr
from reprise.ui.overlay import Sheet
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class ShortcutsSheet(Sheet):
    """Made anew each time it opens, so that it says what is true now."""

    def __init__(self, look: Appearance, window: QWidget, commands: Commands) -> None:
        super().__init__(look, window, "shortcutsSheet")
        self.setAccessibleName(tr("Keyboard shortcuts"))
        self._commands = commands
        self._column = QVBoxLayout(self)
        head = QHBoxLayout()
        head.addWidget(Text(look, tr("Keyboard shortcuts"), Type.H2, parent=self), 1)
        self._close = Button(look, kind=Kind.ICON, icon="close", parent=self)
        self._close.setAccessibleName(tr("Close"))
        self._close.clicked.connect(self.close_sheet)
        head.addWidget(self._close)
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.viewport().setAutoFillBackground(False)
        self._column.addLayout(head)
        self._column.addWidget(self._scroll, 1)
        look.changed.connect(self._fill)
        self._fill()

    def first_focus(self) -> QWidget:
        return self._scroll

    def wanted(self, area: QRect) -> QRect:
        px = self._look.theme.px
        width = min(px(720), area.width() - 2 * px(16))
        height = min(px(560), area.height() - 2 * px(16))
        return QRect((area.width() - width) // 2, (area.height() - height) // 2, width, height)

    def _fill(self) -> None:
        px = self._look.theme.px
        self._column.setContentsMargins(px(32), px(20), px(20), px(20))
        self._column.setSpacing(px(12))
        body = QWidget()
        body.setAutoFillBackground(False)
        columns = QHBoxLayout(body)
        columns.setContentsMargins(0, 0, px(12), 0)
        columns.setSpacing(px(44))
        for menus in ((Menu.FILE, Menu.EDIT, Menu.GO), (Menu.VIEW, Menu.CHAT, Menu.HELP)):
            grid = QGridLayout()
            grid.setHorizontalSpacing(px(12))
            grid.setVerticalSpacing(px(8))
            row = 0
            for menu in menus:
                name = Text(self._look, plain(menu_title(menu)), Type.SMALL, "muted", weight=600, parent=body)
                name.setContentsMargins(0, px(8 if row else 0), 0, 0)
                grid.addWidget(name, row, 0, 1, 2)
                row += 1
                for command in self._commands.of(menu):
                    if command.keys:
                        text = plain(command.text()).rstrip(".…")
                        grid.addWidget(Text(self._look, text, parent=body), row, 0)
                        caps = KeyCaps(self._look, command.keys, body)
                        grid.addWidget(caps, row, 1, Qt.AlignmentFlag.AlignTrailing)
                        row += 1
            grid.setRowStretch(row, 1)
            columns.addLayout(grid, 1)
        self._scroll.setWidget(body)
