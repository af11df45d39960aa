"""What lies over the window: a scrim with one sheet; it keeps the focus and goes with Esc or a press beside it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget

from reprise.ui.painting import box
from reprise.ui.style import Appearance


class Sheet(QWidget):
    """A panel on an overlay. `wanted` says where it goes in a window of a given size.

    Signals:
        closed(): it is gone.
    """

    closed = Signal()

    def __init__(self, look: Appearance, window: QWidget, name: str) -> None:
        self._scrim = _Scrim(look, window)
        super().__init__(self._scrim)
        self._look = look
        self._window = window
        self._before: QWidget | None = None
        self.setObjectName(name)
        self._scrim.sheet = self
        self._scrim.hide()
        look.changed.connect(self.arrange)

    @property
    def is_open(self) -> bool:
        """True while it is shown."""
        return not self._scrim.isHidden()

    def wanted(self, area: QRect) -> QRect:
        """The sheet's rectangle in the window's `area`."""
        return area

    def open_sheet(self) -> None:
        """Show it over the window and give it the focus; the focus goes back on close."""
        if self.is_open:
            return
        self._before = QApplication.focusWidget()
        self.arrange()
        self._scrim.show()
        self._scrim.raise_()
        self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def close_sheet(self) -> None:
        """Take it away."""
        if not self.is_open:
            return
        self._scrim.hide()
        before = self._before
        self._before = None
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.closed.emit()

    def discard(self) -> None:
        """Let go of a sheet that is made anew each time."""
        self._scrim.deleteLater()

    def first_focus(self) -> QWidget:
        """What gets the focus when it opens."""
        return self

    def arrange(self) -> None:
        """Follow the window's size."""
        area = self._window.rect()
        self._scrim.setGeometry(area)
        self.setGeometry(self.wanted(area))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(12), theme.color("raised"), theme.color("border_strong"))
        painter.end()


class _Scrim(QWidget):
    def __init__(self, look: Appearance, window: QWidget) -> None:
        super().__init__(window)
        self._look = look
        self.sheet: Sheet | None = None
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.sheet is not None and not self.isHidden():
            self.sheet.arrange()
        return False

    def event(self, event: QEvent) -> bool:
        # Esc belongs to the sheet before it belongs to the turn (behaviour D7).
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_escape(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_escape(event) and self.sheet is not None:
            self.sheet.close_sheet()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.sheet is not None and not self.sheet.geometry().contains(event.position().toPoint()):
            self.sheet.close_sheet()
        event.accept()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes round among what lies over the window.

        Not by `nextInFocusChain`: PySide makes what that returns a child of the widget it was asked of, and with
        this one half the window's wrappers would go.
        """
        current = QApplication.focusWidget()
        ring = [
            widget
            for widget in self.findChildren(QWidget)
            if widget is current
            or (widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled())
        ]
        if current not in ring or len(ring) < 2:
            return False
        reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        ring[(ring.index(current) + (1 if forward else -1)) % len(ring)].setFocus(reason)
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._look.theme.color("scrim"))
        painter.end()


def _is_escape(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Escape
