"""The field a chat's title turns into while it is renamed in place."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from reprise.ui.language import tr
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

TITLE_LIMIT = 64


class TitleField(QLineEdit):
    """Takes a title.

    Signals:
        left(): it lost the focus, or Esc gave it up; nothing is to change.
    """

    left = Signal()

    def __init__(self, look: Appearance, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self.setObjectName("titleEditor")
        self.setAccessibleName(tr("Title of the chat"))
        self.setMaxLength(TITLE_LIMIT)
        self.setProperty("bare", True)
        look.changed.connect(self._restyle)
        self._restyle()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.left.emit()
                return True
        return bool(super().event(event))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()

    def _restyle(self) -> None:
        self.setFont(self._look.theme.font(Type.TITLE))
