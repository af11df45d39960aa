"""The messages that wait for their delivery: a line each, as many as there is room for, and a bar for the rest."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QVBoxLayout, QWidget

from reprise.domain.sessions import Delivery, Entry, Queued
from reprise.ui.controls import Button
from reprise.ui.language import tr
from reprise.ui.style import Appearance
from reprise.ui.tray_line import LINE, TrayLine

_READ = 500  # characters of a message: more than a line shows
_EDIT, _REMOVE = 0, 1  # places in a line


class QueueList(QWidget):
    """Has lines only for what is in view; scrolling gives them other messages, so that a thousand cost no more.

    Its bar is placed by whoever it stands in. On its buttons Up, Down, Page Up, Page Down, Home and End go from
    message to message, and Delete takes one out.

    Signals:
        edit_wanted(str), removed(str): a message is to be edited, or to go; its id.
    """

    edit_wanted = Signal(str)
    removed = Signal(str)

    def __init__(self, look: Appearance, before: QWidget, parent: QWidget) -> None:
        """Tab comes here from `before`."""
        super().__init__(parent)
        self.setObjectName("queueList")
        self._look = look
        self._before = before
        self._waiting: Sequence[Entry] = ()
        self._edited = ""
        self._rows = 0
        self._lines: list[TrayLine] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.bar = QScrollBar(Qt.Orientation.Vertical, parent)
        self.bar.setObjectName("queueBar")
        self.bar.setAccessibleName(tr("Messages that wait"))
        self.bar.valueChanged.connect(self._fill)
        self.bar.hide()

    @property
    def buttons(self) -> list[Button]:
        """The buttons of the lines that are there, in reading order."""
        return [button for line in self._lines for button in line.buttons]

    def show_messages(self, waiting: Sequence[Entry], edited: str, rows: int) -> None:
        """Show `rows` lines of `waiting`, the next one first; `edited` is in the composer."""
        self._waiting, self._edited, self._rows = waiting, edited, min(rows, len(waiting))
        self.bar.blockSignals(True)
        self.bar.setRange(0, len(waiting) - self._rows)
        self.bar.setPageStep(max(1, self._rows))
        self.bar.blockSignals(False)
        self._fill()
        self.setFixedHeight(self._rows * self._look.theme.px(LINE))

    def set_scrolls(self, scrolls: bool) -> None:
        """Whether more than the first lines can be reached."""
        self.bar.setVisible(scrolls and self.bar.maximum() > 0)
        if not scrolls:
            self.bar.setValue(0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.bar.isHidden():
            QCoreApplication.sendEvent(self.bar, event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            row, at = divmod([id(button) for button in self.buttons].index(id(watched)), len(self._lines[0].buttons))
            here, last = self.bar.value() + row, len(self._waiting) - 1
            if event.key() == Qt.Key.Key_Delete:
                self.removed.emit(self._waiting[here].id)
                return True
            to = {
                Qt.Key.Key_Up: here - 1,
                Qt.Key.Key_Down: here + 1,
                Qt.Key.Key_PageUp: here - self._rows,
                Qt.Key.Key_PageDown: here + self._rows,
                Qt.Key.Key_Home: 0,
                Qt.Key.Key_End: last,
            }.get(Qt.Key(event.key()))
            if to is not None:
                self._go(min(max(to, 0), last), at)
                return True
        return False

    def _go(self, index: int, at: int) -> None:
        if not self.bar.isHidden():
            first = self.bar.value()
            self.bar.setValue(min(max(first, index - self._rows + 1), index))
        row = min(index - self.bar.value(), self._rows - 1)
        self._lines[row].buttons[at].setFocus(Qt.FocusReason.TabFocusReason)

    def _fill(self) -> None:
        while len(self._lines) < self._rows:
            self._add_line()
        first = self.bar.value()
        for row, line in enumerate(self._lines):
            if row >= self._rows:
                self._hide(line)
                continue
            self._say(line, self._waiting[first + row])
            line.show()

    def _say(self, line: TrayLine, entry: Entry) -> None:
        queued = entry.data
        if isinstance(queued, Queued):
            follows_up = queued.delivery is Delivery.FOLLOW_UP
            when = tr("After this reply: {text}") if follows_up else tr("Next: {text}")
            icon = "edit" if entry.id == self._edited else "clock" if follows_up else "send"
            line.say(icon, when.format(text=" ".join(queued.message.text[:_READ].split())))

    def _hide(self, line: TrayLine) -> None:
        for at, button in enumerate(line.buttons):
            if button.hasFocus() and self._rows:
                self._lines[self._rows - 1].buttons[at].setFocus(Qt.FocusReason.TabFocusReason)
        line.hide()

    def _add_line(self) -> None:
        line = TrayLine(self._look, "edit", "close", parent=self)
        line.name_button(_EDIT, tr("Edit this message"), "editQueuedButton")
        line.name_button(_REMOVE, tr("Do not send this"), "removeQueuedButton")
        row = len(self._lines)
        line.buttons[_EDIT].clicked.connect(lambda: self.edit_wanted.emit(self._key(row)))
        line.buttons[_REMOVE].clicked.connect(lambda: self.removed.emit(self._key(row)))
        before = self._lines[-1].buttons[-1] if self._lines else self._before
        for button in line.buttons:
            button.installEventFilter(self)
            QWidget.setTabOrder(before, button)
            before = button
        self._lines.append(line)
        self._column.addWidget(line)

    def _key(self, row: int) -> str:
        return self._waiting[self.bar.value() + row].id
