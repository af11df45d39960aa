"""The list of sessions under the sidebar's first row."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from reprise.bridge.session_row import Mark
from reprise.ui.language import tr
from reprise.ui.sidebar.delegate import HALO_PERIOD_S, SessionDelegate
from reprise.ui.sidebar.model import SessionModel
from reprise.ui.style import Appearance

if TYPE_CHECKING:
    from reprise.bridge.library import Library

FRAME_MS = 100


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
