"""What stands on the composer: what is being edited in it, and the messages that wait for their delivery."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from reprise.domain.sessions import Entry
from reprise.ui.language import counted, tr
from reprise.ui.painting import box
from reprise.ui.queue_list import QueueList
from reprise.ui.style import Appearance
from reprise.ui.tray_line import LINE, TrayLine

_SHOWN = 4


class Tray(QWidget):
    """One line each, hidden while there is nothing to say, and never higher than its limit.

    Signals:
        edit_cancelled(): the edit is to be given up.
        edit_wanted(str), removed(str): a queued message is to be edited, or to go; its id.
    """

    edit_cancelled = Signal()
    edit_wanted = Signal(str)
    removed = Signal(str)

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composerTray")
        self._look = look
        self._limit = 0
        self._waiting: tuple[Entry, ...] = ()
        self._edited = self._editing = ""
        self._is_open = False
        self._edit = TrayLine(look, "close", parent=self)
        self._edit.name_button(0, tr("Give up the edit"), "cancelEditButton")
        self._cancel = self._edit.buttons[0]
        self._cancel.clicked.connect(self.edit_cancelled)
        self._list = QueueList(look, self._cancel, self)
        self._list.edit_wanted.connect(self.edit_wanted)
        self._list.removed.connect(self.removed)
        self._more = TrayLine(look, "chevron-up", parent=self)
        self._more.name_button(0, tr("Show all"), "showAllQueuedButton")
        self._toggle = self._more.buttons[0]
        self._toggle.clicked.connect(self._open_or_close)
        QWidget.setTabOrder(self._cancel, self._toggle)
        self._grid = QGridLayout(self)
        self._grid.setSpacing(0)
        self._grid.setColumnStretch(0, 1)
        for row, part in enumerate((self._edit, self._list, self._more)):
            self._grid.addWidget(part, row, 0)
            part.hide()
        self._grid.addWidget(self._list.bar, 1, 1)
        look.changed.connect(self._settle)
        self.hide()

    def tell(self, edit: str, waiting: tuple[Entry, ...], edited: str = "") -> None:
        """Show what is being edited ("" = nothing) and the queued messages, the next one first.

        `edited` is the id of the one among them that is being edited.
        """
        if (edit, edited, waiting) == (self._editing, self._edited, self._waiting):
            return
        self._editing, self._edited, self._waiting = edit, edited, waiting
        if not waiting:
            self._is_open = False
        self._edit.say("edit", edit)
        self._edit.setVisible(bool(edit))
        self._settle()

    def set_limit(self, height: int) -> None:
        """The most it may take (40 % of the window); it shows one message all the same."""
        if height != self._limit:
            self._limit = height
            self._settle()

    def stops(self) -> list[QWidget]:
        """Where Tab stops, in reading order."""
        return [self._cancel, *self._list.buttons, self._toggle]

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(10), theme.color("surface"), theme.color("border"))
        painter.end()

    def _open_or_close(self) -> None:
        self._is_open = not self._is_open
        self._settle()

    def _settle(self) -> None:
        px = self._look.theme.px
        count = len(self._waiting)
        edits, folds = bool(self._editing), count > _SHOWN
        room = max(1, (self._limit - px(8)) // px(LINE) - edits - folds)
        rows = min(count, room if self._is_open else min(_SHOWN, room))
        self._list.show_messages(self._waiting, self._edited, rows)
        self._list.set_scrolls(self._is_open or not folds)
        self._list.setVisible(count > 0)
        if folds:
            if self._is_open:
                words, name = counted(count, tr("1 message waits"), tr("{n} messages wait")), tr("Show fewer")
            else:
                words, name = counted(count - rows, tr("1 more"), tr("{n} more")), tr("Show all")
            self._more.say("more", words)
            self._more.name_button(0, name, "showAllQueuedButton")
            self._toggle.set_icon("chevron-down" if self._is_open else "chevron-up", 16)
        self._more.setVisible(folds)
        self._grid.setContentsMargins(px(16), px(4), 0, px(4))
        self._grid.setColumnMinimumWidth(1, px(10))  # of the bar, whether it is there or not: no button moves
        self.setFixedHeight(px(8) + (edits + rows + folds) * px(LINE))
        self.setVisible(edits or count > 0)
        self.update()
