"""Sideways scrolling inside one block: code and tables that are wider than the column."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from reprise.ui.timeline.sheet import Sheet, box


class SideScroll:
    """Keeps how far content of one width is shifted in a view of another."""

    __slots__ = ("content", "offset", "view")

    def __init__(self) -> None:
        self.offset = 0.0
        self.content = 0.0
        self.view = 0.0

    @property
    def needed(self) -> bool:
        """True when the content does not fit."""
        return self.content > self.view + 0.5

    def set_sizes(self, content: float, view: float) -> None:
        """New widths; the shift stays within them."""
        self.content, self.view = content, view
        self.scroll_by(0)

    def scroll_by(self, delta: float) -> bool:
        """Shift by `delta` pixels; True when something moved."""
        before = self.offset
        self.offset = min(max(0.0, self.offset + delta), max(0.0, self.content - self.view))
        return self.offset != before

    def thumb(self, track: QRectF) -> QRectF:
        """The bar's handle in `track`."""
        width = max(24.0, track.width() * self.view / self.content)
        x = (track.width() - width) * self.offset / max(1.0, self.content - self.view)
        return QRectF(track.left() + x, track.top(), width, track.height())

    def drag(self, track: QRectF, dx: float) -> bool:
        """Shift as if the handle was moved by `dx`."""
        free = track.width() - self.thumb(track).width()
        return free > 0 and self.scroll_by(dx * (self.content - self.view) / free)

    def paint(self, painter: QPainter, sheet: Sheet, track: QRectF, *, hovered: bool) -> None:
        """Paint the handle."""
        token = "control_border" if hovered else "border_strong"
        box(painter, self.thumb(track), track.height() / 2, sheet.color(token), None)
