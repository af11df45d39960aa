"""The mouse over the timeline: hover, presses, selecting, tooltips."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QToolTip

from reprise.ui.timeline.actions import step_of
from reprise.ui.timeline.block import Block, Hit
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.selection import Position, Selection
from reprise.ui.timeline.stack import Placed
from reprise.ui.timeline.table import TableBlock

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline


class Pointer:
    """What the mouse is over and what it drags.

    Attributes:
        message: Index of the message under the pointer, -1 for none.
        block: The block under the pointer, or `None`.
        hit: What a press would do, or `None`.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.message = -1
        self.block: Block | None = None
        self.hit: Hit | None = None
        self._pressed: Hit | None = None
        self._press_at = QPointF()
        self._side: Block | None = None
        self._selecting: Position | None = None
        self._unit = 0
        self._copied: CodeBlock | None = None

    def forget(self) -> None:
        """What was under the pointer or dragged is no longer there."""
        self.message, self.block, self.hit = -1, None, None
        self._pressed = self._side = self._selecting = None

    def shift(self, count: int) -> None:
        """So many messages came before all others: what is under the pointer or dragged stays so."""
        if self.message >= 0:
            self.message += count
        if self._selecting is not None:
            self._selecting = self._selecting._replace(message=self._selecting.message + count)

    def leave(self) -> None:
        """The pointer left the timeline."""
        self._set_hover(-1, None, None)

    def hover(self, at: QPointF) -> None:
        """The pointer is at this point of the viewport."""
        message = self._timeline.scroller.message_at(at.y())
        if (below := self._timeline.message_actions.hit(message, at)) is not None:
            self._set_hover(message, None, below)
            return
        placed = self._timeline.scroller.placed_at(at.y())
        if placed is None or not placed.top <= at.y() < placed.top + placed.block.height:
            self._set_hover(message, None, None)
            return
        hit = placed.block.hit(at.x() - self._timeline.column_left, at.y() - placed.top)
        self._set_hover(message, placed.block, hit)

    def _set_hover(self, message: int, block: Block | None, hit: Hit | None) -> None:
        timeline = self._timeline
        if (message, hit) != (self.message, self.hit) or (hit and block is not self.block):
            if self._copied is not None and block is not self._copied:
                self._copied.just_copied = False
                self._copied = None
            timeline.viewport().update()
        self.message, self.block, self.hit = message, block, hit
        over_text = block is not None and block.selectable and hit is None
        shape = Qt.CursorShape.IBeamCursor if over_text else Qt.CursorShape.ArrowCursor
        if hit is not None and hit.kind in ("link", "note"):
            shape = Qt.CursorShape.PointingHandCursor
        if timeline.viewport().cursor().shape() != shape:
            timeline.viewport().setCursor(shape)

    def position(self, at: QPointF, *, within: int | None = None) -> Position | None:
        """The place in the text nearest to a point; in message `within` only, if given."""
        candidates = [
            placed
            for placed in self._timeline.scroller.placed
            if placed.block.selectable and (within is None or placed.message == within)
        ]
        if not candidates:
            return None
        nearest = min(candidates, key=lambda placed: _distance(placed, at.y()))
        offset = nearest.block.offset_at(at.x() - self._timeline.column_left, at.y() - nearest.top)
        return Position(nearest.message, nearest.index, offset)

    def press(self, event: QMouseEvent) -> None:
        """A button went down."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        at = event.position()
        self.hover(at)
        self._pressed, self._press_at = self.hit, at
        self._unit = 0
        if self.hit is not None and self.hit.kind == "scroll":
            self._side = self.block
        elif self.hit is None or self.hit.kind == "link":
            self._selecting = self.position(at)
            self._timeline.selecting.select(None)
            if self._selecting is not None:
                self._timeline.selecting.message = self._selecting.message

    def double_click(self, event: QMouseEvent) -> None:
        """Two clicks take a word, a third (the caller says) its paragraph."""
        if self.hit is not None and self.hit.kind != "link":
            self.press(event)
            return
        self._pressed = None
        self.take(event.position(), 1)

    def take(self, at: QPointF, unit: int) -> None:
        """Select the word (1) or paragraph (2) at a point and go on selecting by such units."""
        position = self.position(at)
        if position is None:
            return
        self._selecting, self._unit = position, unit
        self._timeline.selecting.select(self._by_unit(position, position))

    def _by_unit(self, anchor: Position, head: Position) -> Selection:
        if self._unit == 0:
            return Selection(anchor, head)
        first, last = self._around(min(anchor, head)), self._around(max(anchor, head))
        start = Position(first[0], first[1], first[2])
        end = Position(last[0], last[1], last[3])
        return Selection(start, end) if anchor <= head else Selection(end, start)

    def _around(self, at: Position) -> tuple[int, int, int, int]:
        block = self._timeline.selecting.block(at)
        first, last = block.word_at(at.offset) if self._unit == 1 else block.paragraph_at(at.offset)
        return at.message, at.block, first, last

    def move(self, event: QMouseEvent) -> None:
        """The mouse moved, with or without a button."""
        at = event.position()
        if self._side is not None and isinstance(self._side, CodeBlock | TableBlock):
            dx = at.x() - self._press_at.x()
            self._press_at = at
            if self._side.side.drag(self._side.track(), dx):
                self._timeline.viewport().update()
        elif self._selecting is not None and event.buttons() & Qt.MouseButton.LeftButton:
            moved = (at - self._press_at).manhattanLength() >= QGuiApplication.styleHints().startDragDistance()
            head = self.position(at, within=self._selecting.message)
            if head is not None and (moved or self._unit or self._timeline.selecting.selection is not None):
                self._timeline.selecting.select(self._by_unit(self._selecting, head))
        else:
            self.hover(at)

    def release(self, event: QMouseEvent) -> None:
        """The button went up: a press that did not become a drag does what it was for."""
        pressed, self._pressed = self._pressed, None
        self._side = self._selecting = None
        if pressed is None or self._timeline.selecting.selection is not None:
            return
        self.hover(event.position())
        if self.hit is not None and (self.hit.kind, self.hit.value) == (pressed.kind, pressed.value):
            self._activate(self.hit)

    def _activate(self, hit: Hit) -> None:
        timeline, block = self._timeline, self.block
        if hit.kind == "link":
            timeline.link_activated.emit(hit.value)
        elif hit.kind == "note":
            timeline.note_link.emit(timeline.key_of(self.message), hit.value)
        elif hit.kind == "action" and hit.value == "copy":
            timeline.selecting.copy_message(self.message)
        elif hit.kind == "action":
            timeline.action_wanted.emit(timeline.key_of(self.message), hit.value)
        elif hit.kind == "branch":
            timeline.branch_wanted.emit(timeline.key_of(self.message), step_of(hit.value))
        elif hit.kind == "fold" and block is not None:
            timeline.toggle(self.message, block.fold)
        elif isinstance(block, CodeBlock):
            if hit.kind == "copy":
                timeline.selecting.copy(block.text, "code")
                block.just_copied = True
                self._copied = block
            elif hit.kind == "wrap":
                timeline.keeping_line(block.toggle_wrap)
        timeline.viewport().update()

    def tooltip(self, at: QPoint, on_screen: QPoint) -> None:
        """Say what is under the pointer: a link's real host, a button's name."""
        self.hover(QPointF(at))
        if self.hit is not None and self.hit.tip:
            # Escaped, because a tooltip guesses whether it is HTML, and an address is the model's.
            text = f"<span>{html.escape(self.hit.tip)}</span>".replace("\n", "<br>")
            QToolTip.showText(on_screen, text, self._timeline.viewport(), QRect(at, at).adjusted(-8, -8, 8, 8))
        else:
            QToolTip.hideText()


def _distance(placed: Placed, y: float) -> float:
    return max(0.0, placed.top - y, y - placed.top - placed.block.height)
