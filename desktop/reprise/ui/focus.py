"""The focus ring: one widget around the control that got the focus from the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from reprise.ui.style import Appearance

_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


def show_ring(control: QWidget, look: Appearance, reason: Qt.FocusReason) -> None:
    """Put a ring around `control` until it loses the focus, if it got it from the keyboard."""
    if reason in _KEYBOARD and control.parentWidget() is not None:
        FocusRing(control, look)


class FocusRing(QWidget):
    """2 px of the focus colour, 2 px outside the control; a sibling, so that it scrolls along with it."""

    def __init__(self, control: QWidget, look: Appearance) -> None:
        super().__init__(control.parentWidget())
        self._control = control
        self._look = look
        self.setObjectName("focusRing")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        control.installEventFilter(self)
        look.changed.connect(self.update)
        self._follow()
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.Move | QEvent.Type.Resize:
                self._follow()
            case QEvent.Type.FocusOut | QEvent.Type.Hide | QEvent.Type.ParentChange | QEvent.Type.MouseButtonPress:
                self._control.removeEventFilter(self)
                self.hide()
                self.deleteLater()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("focus"), 2))
        radius = min(theme.px(6) + 3.0, self.height() / 2)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius, radius)
        painter.end()

    def _follow(self) -> None:
        self.setGeometry(self._control.geometry().adjusted(-4, -4, 4, 4))
