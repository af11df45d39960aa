"""A row of buttons that goes on in the next line where the room ends."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from reprise.ui.painting import mirrored


class FlowRow(QLayout):
    """Widgets side by side, `trailing` one at the far edge of the first line that has room for it.

    That one's own padding may stand `overhang` pixels beyond the edge, so that its words end on it. With `hanging`, the
    lines after the first begin so many pixels further in, close below one another.
    """

    def __init__(self, parent: QWidget, trailing: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._trailing = trailing
        self.overhang = 0
        self.hanging = 0

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._places(width)[1]

    def sizeHint(self) -> QSize:
        shown = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in shown) + self.spacing() * max(0, len(shown) - 1)
        margins = self.contentsMargins()
        height = max((size.height() for size in shown), default=0)
        return QSize(width + margins.left() + margins.right(), height + margins.top() + margins.bottom())

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        width = max((item.sizeHint().width() for item in self._shown()), default=0)
        return QSize(width + margins.left() + margins.right(), self.sizeHint().height())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        parent = self.parentWidget()
        left_to_right = parent is None or parent.isLeftToRight()
        for item, place in self._places(rect.width())[0]:
            item.setGeometry(mirrored(place, rect.width(), left_to_right).translated(rect.topLeft()))

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _places(self, width: int) -> tuple[list[tuple[QLayoutItem, QRect]], int]:
        """Where everything stands in a row `width` wide, and how high that is."""
        margins, gap = self.contentsMargins(), self.spacing()
        left, right, y = margins.left(), width - margins.right(), margins.top()
        x, line = left, 0
        below = 0 if self.hanging else gap
        places: list[tuple[QLayoutItem, QRect]] = []
        for item in self._shown():
            size = item.sizeHint()
            is_trailing = item.widget() is self._trailing
            edge = right + self.overhang if is_trailing else right
            if x > left and x + size.width() > edge:
                x, y, line = left + self.hanging, y + line + below, 0
            at = max(x, edge - size.width()) if is_trailing else x
            places.append((item, QRect(QPoint(at, y), size)))
            x, line = at + size.width() + gap, max(line, size.height())
        return places, y + line + margins.bottom()
