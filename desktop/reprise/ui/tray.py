"""What stands on the composer: the prompt that is being edited, and the messages that wait for their delivery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from reprise.ui.controls import Button, Elided, Glyph, Kind
from reprise.ui.language import tr
from reprise.ui.painting import box
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

_SHOWN, _MOST = 4, 12
_READ = 500  # characters of a message: more than a line shows


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queued message: its id, its text, and whether it waits for the whole turn to end."""

    key: str
    text: str
    follows_up: bool


class Tray(QWidget):
    """One line each, hidden while there is nothing to say.

    Signals:
        edit_cancelled(): the edit is to be given up.
        edit_wanted(str), removed(str): a queued message is to come back into the composer, or to go; its id.
    """

    edit_cancelled = Signal()
    edit_wanted = Signal(str)
    removed = Signal(str)

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composerTray")
        self._look = look
        self._editing = False
        self._waiting: tuple[Waiting, ...] = ()
        self._shows_all = False
        self._column = QVBoxLayout(self)
        self._lines: list[QWidget] = []
        look.changed.connect(self._restyle)
        self.hide()

    def set_editing(self, editing: bool) -> None:
        """Say, or no longer, that a prompt is being edited."""
        if editing != self._editing:
            self._editing = editing
            self._rebuild()

    def set_waiting(self, waiting: Sequence[Waiting]) -> None:
        """Show the queued messages, the next one first."""
        if tuple(waiting) != self._waiting:
            self._waiting = tuple(waiting)
            self._rebuild()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(10), theme.color("surface"), theme.color("border"))
        painter.end()

    def _rebuild(self) -> None:
        for line in self._lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = []
        if self._editing:
            words = tr("Editing a prompt. Sending it makes another version; this one stays.")
            cancel = self._button("close", tr("Give up the edit"))
            cancel.setObjectName("cancelEditButton")
            cancel.clicked.connect(self.edit_cancelled)
            self._add_line("edit", words, cancel)
        shown = _MOST if self._shows_all else _SHOWN
        for waiting in self._waiting[:shown]:
            edit = self._button("edit", tr("Back into the composer"))
            edit.setObjectName("editQueuedButton")
            edit.clicked.connect(lambda _checked=False, key=waiting.key: self.edit_wanted.emit(key))
            remove = self._button("close", tr("Do not send this"))
            remove.setObjectName("removeQueuedButton")
            remove.clicked.connect(lambda _checked=False, key=waiting.key: self.removed.emit(key))
            when = tr("After this reply: {text}") if waiting.follows_up else tr("Next: {text}")
            text = when.format(text=" ".join(waiting.text[:_READ].split()))
            self._add_line("clock" if waiting.follows_up else "send", text, edit, remove)
        if (more := len(self._waiting) - shown) > 0:
            all_ = self._button("chevron-up", tr("Show all"))
            all_.setObjectName("showAllQueuedButton")
            all_.clicked.connect(self._show_all)
            self._add_line("more", tr("{n} more").format(n=more), all_)
        self._restyle()
        self.setVisible(bool(self._lines))

    def _show_all(self) -> None:
        self._shows_all = True
        self._rebuild()

    def _button(self, icon: str, name: str) -> Button:
        button = Button(self._look, kind=Kind.ICON, icon=icon, parent=self)
        button.setAccessibleName(name)
        button.setToolTip(name)
        return button

    def _add_line(self, icon: str, words: str, *buttons: Button) -> None:
        # A widget of its own: it takes its layout and all that stands in it along when it goes.
        line = QWidget(self)
        row = QHBoxLayout(line)
        text = Elided(self._look, Type.UI, "muted", line)
        text.setObjectName("trayText")
        text.set_text(words)
        row.addWidget(Glyph(self._look, icon, "muted", 16, line))
        row.addWidget(text, 1)
        for button in buttons:
            row.addWidget(button)
        self._column.addWidget(line)
        line.show()
        self._lines.append(line)

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._column.setContentsMargins(px(16), px(4), px(8), px(4))
        self._column.setSpacing(0)
        for line in self._lines:
            if (row := line.layout()) is not None:
                row.setContentsMargins(0, px(2), 0, px(2))
                row.setSpacing(px(6))
        rows = len(self._lines)
        self.setFixedHeight(px(8) + rows * px(32))
        self.update()
