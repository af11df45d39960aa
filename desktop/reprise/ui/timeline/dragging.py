"""Selecting with the mouse: by characters, words or paragraphs, and on beyond the edge of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QTimer
from PySide6.QtGui import QGuiApplication

from reprise.ui.timeline.block import Block
from reprise.ui.timeline.selection import Position, Selection
from reprise.ui.timeline.stack import Placed

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline

CHARACTER, WORD, PARAGRAPH = range(3)
_FRAME_MS = 16
_SHARE = 0.3  # of the pixels beyond the edge that a frame scrolls by


class Dragging(QObject):
    """From a press to its release. Its timer runs only while the pointer is beyond the upper or lower edge."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(timeline)
        self._timeline = timeline
        self._unit = CHARACTER
        self._from = QPointF()
        self._at = QPointF()
        self.is_on = False
        self._frame = QTimer(self)
        self._frame.setInterval(_FRAME_MS)
        self._frame.timeout.connect(self._scroll)

    @property
    def is_scrolling(self) -> bool:
        """True while the page moves under the pointer by itself."""
        return self._frame.isActive()

    def begin(self, at: QPointF, *, on: bool) -> None:
        """A press: it clears the selection, or with Shift (`on`) goes on with it to here."""
        selecting = self._timeline.selecting
        self._unit, self._from, self.is_on = CHARACTER, at, True
        position = self.position(at)
        if on and position is not None and selecting.origin is not None:
            selecting.select(Selection(selecting.origin, position))
            return
        selecting.select(None)
        selecting.origin = position

    def take(self, at: QPointF, unit: int) -> None:
        """Select the word or paragraph at a point and go on selecting by such units."""
        position = self.position(at)
        if position is not None:
            self._unit, self._from, self.is_on = unit, at, True
            self._timeline.selecting.origin = position
            self._extend(position)

    def move(self, at: QPointF) -> None:
        """The pointer moved with its button down."""
        selecting = self._timeline.selecting
        moved = (at - self._from).manhattanLength() >= QGuiApplication.styleHints().startDragDistance()
        if not (moved or self._unit or selecting.selection is not None):
            return
        self._at = at
        if (position := self.position(at)) is not None:
            self._extend(position)
        beyond = self._beyond()
        if beyond and not self._frame.isActive():
            self._frame.start()
        elif not beyond:
            self._frame.stop()

    def end(self) -> None:
        """The button went up, or what was dragged over is gone."""
        self._frame.stop()
        if self.is_on:
            self.is_on = False
            self._timeline.primary.offer()

    def position(self, at: QPointF) -> Position | None:
        """The place in the text in view that is nearest to a point; `None` where there is no text."""
        timeline = self._timeline
        y = min(max(at.y(), 0.0), timeline.viewport().height() - 1.0)
        candidates = [placed for placed in timeline.scroller.placed if placed.block.selectable]
        if not candidates:
            return None
        nearest = min(candidates, key=lambda placed: _distance(placed, y))
        offset = nearest.block.offset_at(at.x() - timeline.column_left, y - nearest.top)
        return Position(nearest.view.item.key, nearest.block.place, offset)

    def _extend(self, head: Position) -> None:
        selecting = self._timeline.selecting
        anchor = selecting.origin
        if anchor is None:
            return
        if self._unit == CHARACTER:
            selecting.select(Selection(anchor, head))
            return
        first, last = selecting.spot(anchor), selecting.spot(head)
        if first is None or last is None:
            return
        if first <= last:
            selecting.select(Selection(self._around(anchor)[0], self._around(head)[1]))
        else:
            selecting.select(Selection(self._around(anchor)[1], self._around(head)[0]))

    def _around(self, at: Position) -> tuple[Position, Position]:
        """The word or paragraph at a position."""
        block = self._block(at)
        if block is None:
            return at, at
        first, last = block.word_at(at.offset) if self._unit == WORD else block.paragraph_at(at.offset)
        return at._replace(offset=first), at._replace(offset=last)

    def _block(self, at: Position) -> Block | None:
        stack = self._timeline.scroller.stack
        message = stack.index_of(at.key)
        if message is None:
            return None
        found = stack.view(message).block_at(at.place)
        if found is not None:
            found.measure(stack.width)
        return found

    def _beyond(self) -> float:
        """Pixels of the pointer below the lower edge; negative above the upper one."""
        return min(0.0, self._at.y()) + max(0.0, self._at.y() - self._timeline.viewport().height())

    def _scroll(self) -> None:
        beyond = self._beyond()
        step = round(beyond * _SHARE) or (1 if beyond > 0 else -1)
        self._timeline.scroll_by(step)
        self.move(self._at)


def _distance(placed: Placed, y: float) -> float:
    return max(0.0, placed.top - y, y - placed.top - placed.block.height)
