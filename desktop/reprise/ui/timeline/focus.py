"""The message that the keys are about: where it is, how it is marked, and how the arrows go on to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from reprise.ui.timeline.stack import Anchor

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline

STEP = 40
"""Pixels of one arrow key or one notch's line, not zoomed."""

_MARGIN = 14
_RING = 4
_BY_KEY = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class Focus:
    """The focused message of a timeline.

    Attributes:
        is_marked: Its ring is shown: it was reached with the keyboard.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._key = ""
        self.is_marked = False

    @property
    def message(self) -> int:
        """Its index; the newest message where none was chosen, -1 without any."""
        stack = self._timeline.scroller.stack
        found = stack.index_of(self._key) if self._key else None
        return len(stack) - 1 if found is None else found

    @property
    def marked(self) -> int:
        """The index of the message with the ring, -1 for none."""
        return self.message if self.is_marked and self._timeline.hasFocus() else -1

    def choose(self, message: int, *, by_key: bool) -> None:
        """The keys are about this message; with `by_key` they select from its beginning, not from the last press."""
        if message < 0:
            return
        self._key = self._timeline.key_of(message)
        if by_key:
            self._timeline.selecting.origin = None
        self.is_marked = by_key
        self._timeline.viewport().update()

    def rename(self, old: str, new: str) -> None:
        """The message goes on under another key."""
        if self._key == old:
            self._key = new

    def come(self, reason: Qt.FocusReason) -> None:
        """The timeline got the focus: by Tab, the message in view is marked."""
        self.is_marked = reason in _BY_KEY or (self.is_marked and reason is not Qt.FocusReason.MouseFocusReason)
        if self.is_marked:
            self._look()
        self._timeline.viewport().update()

    def go(self, by: int) -> None:
        """To the next message (1) or the one before (-1); of what is longer than the page, first the rest."""
        timeline = self._timeline
        self.is_marked = True
        if self._look():
            timeline.viewport().update()
            return
        margin, height = timeline.sheet.px(_MARGIN), timeline.viewport().height()
        top, bottom = self._span(self.message)
        hidden = bottom - (height - margin) if by > 0 else margin - top
        following = self.message + by
        at_end = not 0 <= following < len(timeline.scroller.stack)
        if hidden > 0 or at_end:
            timeline.scroll_by(by * (STEP if at_end else min(STEP, hidden)))
        else:
            self.choose(following, by_key=True)
            self._reveal(by)
        timeline.viewport().update()

    def reveal(self) -> None:
        """Bring the focused message into view."""
        self._look(go_there=True)

    def rect(self, message: int) -> QRectF | None:
        """Where a message is in the viewport, from outer edge to outer edge; `None` out of view."""
        if all(placed.message != message for placed in self._timeline.scroller.placed):
            return None
        top, bottom = self._span(message)
        return QRectF(0, top, self._timeline.column_width, bottom - top)

    def paint(self, painter: QPainter) -> None:
        """The ring around the focused message; the painter's origin is the column's outer edge."""
        rect = self.rect(self.marked) if self.marked >= 0 else None
        if rect is None:
            return
        sheet = self._timeline.sheet
        around, radius = sheet.px(_RING) - 1, sheet.px(10) + sheet.px(_RING) - 1
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(sheet.color("focus"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect.adjusted(-around, -around, around, around), radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _span(self, message: int) -> tuple[int, int]:
        return self._timeline.scroller.span(message, 2 * self._timeline.viewport().height())

    def _look(self, *, go_there: bool = False) -> bool:
        """Keep to what is in view, or go there; True when it was out of view."""
        shown = sorted({placed.message for placed in self._timeline.scroller.placed})
        if not shown or self.message in shown:
            return False
        if go_there:
            self._timeline.go_to(Anchor(self.message, 0, 0))
        else:
            self.choose(shown[0] if self.message < shown[0] else shown[-1], by_key=self.is_marked)
        return True

    def _reveal(self, by: int) -> None:
        """Show the message beside the one that was focused: all of it, or as much of its near end as fits."""
        timeline, message = self._timeline, self.message
        margin, height = timeline.sheet.px(_MARGIN), timeline.viewport().height()
        if self.rect(message) is None:
            timeline.scroll_by(by * timeline.sheet.px(2 * STEP))  # more than any gap between messages
        top, bottom = self._span(message)
        if by > 0 and bottom > height - margin:
            timeline.scroll_by(top - margin)
            _, bottom = self._span(message)
            timeline.scroll_by(min(0, bottom - (height - margin)))
        elif by < 0 and top < margin:
            timeline.scroll_by(bottom - (height - margin))
            top, _ = self._span(message)
            timeline.scroll_by(max(0, top - margin))
