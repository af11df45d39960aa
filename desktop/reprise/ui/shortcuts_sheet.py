"""The cheat sheet: every shortcut there is, by menu."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from reprise.ui.commands import Commands, Menu, menu_title, plain
from reprise.ui.controls import Button, Kind, Text
from reprise.ui.keycaps import KeyCaps
from reprise.ui.language import tr
from reprise.ui.overlay import Sheet
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

NARROW = 560


class ShortcutsSheet(Sheet):
    """Made anew each time it opens, so that it says what is true now."""

    def __init__(self, look: Appearance, window: QWidget, commands: Commands) -> None:
        super().__init__(look, window, "shortcutsSheet")
        self.setAccessibleName(tr("Keyboard shortcuts"))
        self._commands = commands
        self._column = QVBoxLayout(self)
        head = QHBoxLayout()
        head.addWidget(Text(look, tr("Keyboard shortcuts"), Type.H2, wrap=True, parent=self), 1)
        self._close = Button(look, kind=Kind.ICON, icon="close", parent=self)
        self._close.setAccessibleName(tr("Close"))
        self._close.clicked.connect(self.close_sheet)
        head.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stand()

    def _fill(self) -> None:
        px = self._look.theme.px
        self._column.setSpacing(px(12))
        body = QWidget()
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, body)
        self._columns.setContentsMargins(0, 0, px(12), 0)
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
                        grid.addWidget(Text(self._look, text, wrap=True, parent=body), row, 0)
                        caps = KeyCaps(self._look, command.keys, body)
                        grid.addWidget(caps, row, 1, Qt.AlignmentFlag.AlignTrailing)
                        row += 1
            grid.setRowStretch(row, 1)
            grid.setColumnStretch(0, 1)
            self._columns.addLayout(grid, 1)
        self._stand()
        self._scroll.setWidget(body)
        body.setAutoFillBackground(False)  # the scroll area turns it on

    def _stand(self) -> None:
        """The columns side by side; one below the other where it is narrow."""
        px = self._look.theme.px
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        is_narrow = self.width() < px(NARROW)
        self._columns.setDirection(down if is_narrow else across)
        self._columns.setSpacing(px(16 if is_narrow else 44))
        self._column.setContentsMargins(px(20 if is_narrow else 32), px(20), px(8 if is_narrow else 20), px(20))
