"""The field that takes an API key inside a card."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from reprise.ui.controls import Button, Kind, Text
from reprise.ui.flow import FlowRow
from reprise.ui.language import tr
from reprise.ui.painting import mirrored
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class KeyField(QWidget):
    """Where the key goes, the field with an eye, Save and retry, Cancel.

    Signals:
        accepted(str): the key, trimmed and not empty.
        cancelled(): the old buttons are wanted back.
    """

    accepted = Signal(str)
    cancelled = Signal()

    def __init__(self, look: Appearance, place: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        where = tr("Kept for this run only and sent only to {place}.").format(place=place or tr("the provider"))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._where = Text(look, where, Type.UI, "muted", wrap=True, parent=self)
        self.line = QLineEdit(self)
        self.line.setObjectName("keyField")
        self.line.setEchoMode(QLineEdit.EchoMode.Password)
        self.line.setAccessibleName(tr("API key"))
        self.line.setPlaceholderText(tr("API key"))
        self.line.returnPressed.connect(self._accept)
        self.line.textChanged.connect(self._settle)
        self.line.installEventFilter(self)
        self._eye = Button(look, kind=Kind.ICON, icon="eye", parent=self.line)
        self._eye.setObjectName("showKeyButton")
        self._eye.setAccessibleName(tr("Show the key"))
        self._eye.setCursor(Qt.CursorShape.ArrowCursor)
        self._eye.setToolTip(tr("Show the key"))
        self._eye.setCheckable(True)
        self._eye.toggled.connect(self._reveal)
        self._buttons = QWidget(self)
        self._row = FlowRow(self._buttons)
        self.save = Button(look, tr("Save and retry"), kind=Kind.PRIMARY, icon="retry", parent=self)
        self.save.setObjectName("saveKeyButton")
        self.save.clicked.connect(self._accept)
        self.cancel = Button(look, tr("Cancel"), parent=self)
        self.cancel.setObjectName("cancelKeyButton")
        self.cancel.clicked.connect(self.cancelled)
        self._row.addWidget(self.save)
        self._row.addWidget(self.cancel)
        self._column.addWidget(self._where)
        self._column.addWidget(self.line)
        self._column.addWidget(self._buttons)
        look.changed.connect(self._restyle)
        self._settle()
        self._restyle()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._place_eye()
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.cancelled.emit()
                return True
        return super().eventFilter(watched, event)

    def _accept(self) -> None:
        if key := self.line.text().strip():
            self.accepted.emit(key)

    def _reveal(self, shown: bool) -> None:
        self.line.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)

    def _settle(self) -> None:
        self.save.setEnabled(bool(self.line.text().strip()))

    def _restyle(self) -> None:
        px = self._look.theme.px
        self.line.setFont(self._look.theme.font(Type.CODE))
        self._column.setContentsMargins(0, 0, px(10), 0)
        self._where.setContentsMargins(0, px(3), 0, px(12))
        self._row.setContentsMargins(0, px(12), 0, 0)
        self._row.setSpacing(px(8))
        self._place_eye()

    def _place_eye(self) -> None:
        px, size = self._look.theme.px, self._eye.sizeHint()
        field = self.line.rect()
        place = QRect(field.right() + 1 - px(6) - size.width(), (field.height() - size.height()) // 2, *size.toTuple())
        is_left_to_right = self.isLeftToRight()
        self._eye.setGeometry(mirrored(place, field.width(), is_left_to_right))
        room = px(24)  # besides the field's own padding
        self.line.setTextMargins(0 if is_left_to_right else room, 0, room if is_left_to_right else 0, 0)
