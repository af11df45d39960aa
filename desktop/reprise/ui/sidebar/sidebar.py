"""The sidebar's frame, and the list it gets once the library is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from reprise.ui.controls import Text
from reprise.ui.language import shortcut_text, tr
from reprise.ui.painting import hairline, rule
from reprise.ui.sidebar.rows import SideRow
from reprise.ui.style import Appearance

if TYPE_CHECKING:
    from datetime import date

    from reprise.bridge.library import Library
    from reprise.ui.sidebar.session_list import SessionList

WIDTH = 260


class Sidebar(QWidget):
    """260 px: New chat, the sessions, Settings.

    Signals:
        new_chat_wanted(), settings_wanted(): the two fixed rows.
        session_wanted(str): a session was chosen.
        menu_wanted(str, QPoint): the menu of a session, at a point of the screen.
    """

    new_chat_wanted = Signal()
    settings_wanted = Signal()
    session_wanted = Signal(str)
    menu_wanted = Signal(str, QPoint)

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setAccessibleName(tr("Sidebar"))
        self._look = look
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self.new_chat = SideRow(look, tr("New chat"), "new-chat", aside=shortcut_text("Ctrl+N"), parent=self)
        self.new_chat.setObjectName("newChatButton")
        self.new_chat.clicked.connect(self.new_chat_wanted)
        self._empty = Text(look, tr("Your chats will appear here."), ink="muted", wrap=True, parent=self)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.list: SessionList | None = None
        self.settings = SideRow(look, tr("Settings"), "settings", strong=False, parent=self)
        self.settings.setObjectName("settingsButton")
        self.settings.clicked.connect(self.settings_wanted)
        self._foot = QVBoxLayout()
        self._foot.addWidget(self.settings)
        self._top = QVBoxLayout()
        self._top.addWidget(self.new_chat)
        self._column.addLayout(self._top)
        self._column.addWidget(self._empty, 1)
        self._column.addLayout(self._foot)
        look.changed.connect(self._restyle)
        self._restyle()

    def attach(self, library: Library, today: Callable[[], date]) -> None:
        """Show the library's sessions."""
        from reprise.ui.sidebar.session_list import SessionList  # not needed for the first paint

        self.list = SessionList(self._look, library, today, self)
        self.list.session_wanted.connect(self.session_wanted)
        self.list.menu_wanted.connect(self.menu_wanted)
        self._column.insertWidget(1, self.list, 1)
        QWidget.setTabOrder(self.new_chat, self.list)
        QWidget.setTabOrder(self.list, self.settings)
        model = self.list.sessions
        model.modelReset.connect(self._settle)
        self._settle()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("sidebar"))
        line = hairline(painter)
        edge = 0.0 if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else self.width() - line
        painter.fillRect(round(edge), 0, 1, self.height(), theme.color("border"))
        rule(painter, 0, self.width(), self.height() - theme.px(44), theme.color("border"))
        painter.end()

    def _settle(self) -> None:
        empty = self.list is None or self.list.sessions.rowCount() == 0
        self._empty.setVisible(empty)
        if self.list is not None:
            self.list.setVisible(not empty)

    def _restyle(self) -> None:
        px = self._look.theme.px
        self.setFixedWidth(px(WIDTH))
        self._column.setContentsMargins(0, 0, 0, 0)
        self._top.setContentsMargins(px(8), px(8), px(9), 0)
        self._foot.setContentsMargins(px(8), px(6), px(9), px(6))
        self._empty.setContentsMargins(px(20), 0, px(20), 0)
        self.update()
