"""The sidebar's frame, and the list it gets once the library is there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QHideEvent, QKeyEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QSizePolicy, QVBoxLayout, QWidget

from reprise.bridge.session_row import Mark
from reprise.ui.commands import shortcut_text
from reprise.ui.controls import Text
from reprise.ui.language import tr
from reprise.ui.painting import hairline, rule
from reprise.ui.sidebar.delegate import HALO_PERIOD_S, SessionDelegate
from reprise.ui.sidebar.model import SessionModel
from reprise.ui.sidebar.rows import SideRow
from reprise.ui.style import Appearance

if TYPE_CHECKING:
    from reprise.bridge.library import Library

WIDTH = 260
FRAME_MS = 100


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


class SessionList(QListView):
    """The virtual list. One timer breathes the halos, only while something streams and can be seen.

    Signals:
        session_wanted(str): a row was pressed, or Enter on it.
        menu_wanted(str, QPoint): the right button on a row, or the menu key; a point of the screen.
    """

    session_wanted = Signal(str)
    menu_wanted = Signal(str, QPoint)

    def __init__(self, look: Appearance, library: Library, today: Callable[[], date], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("sessionList")
        self.setAccessibleName(tr("Chats"))
        self._look = look
        self._library = library
        self.sessions = SessionModel(library, today)
        self._delegate = SessionDelegate(look, self)
        self.setModel(self.sessions)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(False)
        self.setLayoutMode(QListView.LayoutMode.Batched)  # ten thousand rows are measured in slices
        self.setBatchSize(200)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.clicked.connect(self._open)
        self._breath = QTimer(self)
        self._breath.setInterval(FRAME_MS)
        self._breath.timeout.connect(self._breathe)
        self.sessions.dataChanged.connect(self._settle)
        self.sessions.modelReset.connect(self._settle)
        library.current_changed.connect(self._follow)
        look.changed.connect(self._restyle)
        parent.window().installEventFilter(self)
        self._follow()
        self._settle()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open(self.currentIndex())
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._delegate.keyboard_focus = event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        )
        super().focusInEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowStateChange:
            self._settle()
        return False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._settle()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._breath.stop()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        session = self.sessions.session_at(index)
        if session is not None:
            at = self.viewport().mapToGlobal(self.visualRect(index).center()) if by_key else event.globalPos()
            self.menu_wanted.emit(session, at)

    @property
    def breathes(self) -> bool:
        """True while the halo timer runs."""
        return self._breath.isActive()

    def _open(self, index: QModelIndex) -> None:
        session = self.sessions.session_at(index)
        if session is not None:
            self.session_wanted.emit(session)

    def _follow(self, *_: object) -> None:
        index = self.sessions.index_of(self._library.current.session_id)
        selection = self.selectionModel()
        if index.isValid():
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(index)
        self.viewport().update()

    def _settle(self, *_: object) -> None:
        window = self.window()
        seen = self.isVisible() and not window.isMinimized()
        streaming = bool(self.sessions.places(Mark.STREAMING))
        if seen and streaming and self._look.moves:
            if not self._breath.isActive():
                self._breath.start()
        else:
            self._breath.stop()

    def _breathe(self) -> None:
        # The phase of a decoration, not a measured wait: no Clock needed.
        self._delegate.phase_s = monotonic() % HALO_PERIOD_S
        side = self._look.theme.px(40)
        for place in self.sessions.places(Mark.STREAMING):
            rect = self.visualRect(self.sessions.index(place))
            if rect.intersects(self.viewport().rect()):
                self.viewport().update(rect.adjusted(rect.width() - side, 0, 0, 0))

    def _restyle(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.viewport().update()
