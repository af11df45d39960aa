"""The widget under the last message: it stands on the outer edge, scrolls along and is as tall as it wants to be."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

_ABOVE, _BELOW, _PLAIN_FOOT, _TOP = 16, 20, 36, 20


class CardPlace(QObject):
    """Holds at most one card.

    Args:
        viewport: The card's parent while it is shown.
        changed: Called when the card wants another height.
    """

    #: On the class too: Qt may still filter events while Python takes the program apart.
    card: QWidget | None = None

    def __init__(self, viewport: QWidget, changed: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._viewport = viewport
        self._changed = changed

    def set(self, card: QWidget | None) -> None:
        """Show another card. The one before is hidden and no longer ours."""
        if self.card is not None and card is not self.card:
            self.card.removeEventFilter(self)
            self.card.hide()
            self.card.setParent(None)
        self.card = card
        if card is not None:
            card.setParent(self._viewport)
            card.installEventFilter(self)
            card.show()

    def _height(self, width: int) -> int:
        if self.card is None:
            return 0
        own = self.card.heightForWidth(width) if self.card.hasHeightForWidth() else -1
        return own if own >= 0 else self.card.sizeHint().height()

    def foot(self, width: int, px: Callable[[float], int]) -> int:
        """Pixels below the last message: the card with its gaps, else room for the message's actions."""
        if self.card is None:
            return px(_PLAIN_FOOT)
        return px(_ABOVE) + self._height(width) + px(_BELOW)

    def place(self, left: int, end: int | None, width: int, px: Callable[[float], int]) -> None:
        """Put the card under `end`, the last message's lower edge (`None`: there is no message)."""
        if self.card is not None:
            # Out of view it stays shown beyond the edge: hiding would take the focus from its buttons.
            top = px(_TOP) if end is None else end + px(_ABOVE)
            self.card.setGeometry(left, top, width, self._height(width))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.card and event.type() is QEvent.Type.LayoutRequest:
            self._changed()
        return False
