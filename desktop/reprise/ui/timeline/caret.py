"""Selecting with the keyboard: the end of the selection as a cursor that goes through blocks and messages."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from reprise.ui.timeline.block import Block
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.selection import LAST, Position, Selection
from reprise.ui.timeline.stack import Anchor
from reprise.ui.timeline.table import TableBlock

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline

_PROBE = 3  # pixels between two looks for the next line


class Unit(Enum):
    """How far a cursor goes."""

    CHARACTER = auto()
    WORD = auto()
    LINE = auto()
    LINE_END = auto()
    BLOCK = auto()
    ALL = auto()


class Caret:
    """Moves the selection's head."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._column: float | None = None  # where going up and down began
        self._placed: Position | None = None  # where a key put it last

    def extend(self, unit: Unit, by: int) -> None:
        """Move the head on (`by` 1) or back (-1) and show it; without a selection it begins where the pointer was."""
        selecting = self._timeline.selecting
        selection = selecting.selection
        anchor = selection.anchor if selection else selecting.origin
        head = selection.head if selection else anchor
        message = self._timeline.focus.message
        if anchor is None or head is None:
            if message < 0:
                return
            anchor = head = Position.start_of(self._timeline.key_of(message))
        if selecting.origin is None:
            selecting.origin = anchor
        if unit is not Unit.LINE:
            self._column = None
        moved = self._moved(head, unit, by)
        if moved is not None:
            selecting.select(Selection(anchor, moved))
            self._placed = moved
            self._show(moved)

    def paint(self, painter: QPainter) -> None:
        """A line where the head is, once a key put it there; the painter's origin is the column's outer edge."""
        timeline = self._timeline
        selection = timeline.selecting.selection
        if selection is None or selection.head != self._placed or not timeline.hasFocus():
            return
        key, place, offset = selection.head
        for placed in timeline.scroller.placed:
            if placed.view.item.key == key and placed.block.place == place:
                x, top, height = placed.block.caret(offset)
                if 0 <= x <= timeline.column_width:
                    width = timeline.sheet.px(2)
                    rect = QRectF(x - width / 2, placed.top + top, width, height)
                    painter.fillRect(rect, timeline.sheet.color("text"))

    def _moved(self, head: Position, unit: Unit, by: int) -> Position | None:
        stack = self._timeline.scroller.stack
        if unit is Unit.ALL:
            key = stack.key_of(0 if by < 0 else len(stack) - 1)
            return Position.start_of(key) if by < 0 else Position.end_of(key)
        found = self._found(head)
        if found is None:
            return None
        message, index, offset = found
        block = self._block(message, index)
        match unit:
            case Unit.CHARACTER | Unit.WORD:
                inside = block.step(offset, by, words=unit is Unit.WORD)
            case Unit.LINE:
                if self._column is None:
                    self._column = block.caret(offset)[0]
                inside = self._line_on(block, offset, by)
            case Unit.LINE_END:
                inside = block.line_ends(offset)[by > 0]
            case _:
                paragraph = block.paragraph_at(offset)[by > 0]
                inside = paragraph if paragraph != offset else None
        if inside is not None:
            return Position(head.key, block.place, inside)
        following = self._beside(message, index, by)
        if following is None:
            return Position(head.key, block.place, block.length() if by > 0 else 0)
        message, index = following
        block = self._block(message, index)
        inside = 0 if by > 0 else block.length()
        if unit is Unit.LINE:
            inside = block.offset_at(self._column or 0, 0 if by > 0 else block.height - 1)
        elif unit is Unit.BLOCK:
            inside = block.paragraph_at(inside)[by > 0]
        return Position(stack.key_of(message), block.place, inside)

    def _line_on(self, block: Block, offset: int, by: int) -> int | None:
        """The offset on the next line of the block, `None` when this is the last."""
        _, top, height = block.caret(offset)
        y = top + height + 1 if by > 0 else top - 1
        while 0 <= y < block.height:
            found = block.offset_at(self._column or 0, y)
            if (block.caret(found)[1] - top) * by > 0:
                return found
            y += by * _PROBE
        return None

    def _found(self, head: Position) -> tuple[int, int, int] | None:
        """The message, the block with text, and the offset where the head is; the nearest text where it is in none."""
        stack = self._timeline.scroller.stack
        message = stack.index_of(head.key)
        if message is None:
            return None
        view = stack.view(message)
        if head.place == LAST:
            view.read_to(1 << 60)
        at = next((at for at, block in enumerate(view.blocks) if block.place >= head.place), len(view.blocks))
        if at < len(view.blocks) and view.blocks[at].selectable:
            block = view.blocks[at]
            return message, at, min(head.offset, block.length()) if block.place == head.place else 0
        for by in (1, -1) if at < len(view.blocks) else (-1, 1):
            beside = self._beside(message, at, by)
            if beside is not None and (by > 0 or beside[0] == message):
                block = self._block(*beside)
                return *beside, 0 if by > 0 else block.length()
        return None

    def _beside(self, message: int, index: int, by: int) -> tuple[int, int] | None:
        """The next block with text, `None` beyond the conversation's ends."""
        stack = self._timeline.scroller.stack
        while True:
            view = stack.view(message)
            index += by
            view.read_to(index)
            while 0 <= index < len(view.blocks):
                if view.blocks[index].selectable:
                    return message, index
                index += by
                view.read_to(index)
            message += by
            if not 0 <= message < len(stack):
                return None
            index = -1 if by > 0 else len(stack.view(message).blocks)

    def _block(self, message: int, index: int) -> Block:
        stack = self._timeline.scroller.stack
        block = stack.view(message).blocks[index]
        stack.extent(message, index)
        return block

    def _show(self, head: Position) -> None:
        """Scroll as far as it takes to see the line the head is on."""
        timeline, found = self._timeline, self._found(head)
        if found is None:
            return
        message, index, offset = found
        block = self._block(message, index)
        x, top, height = block.caret(offset)
        if isinstance(block, CodeBlock | TableBlock):
            inset = timeline.sheet.inset
            block.side.scroll_by(min(0.0, x - inset) + max(0.0, x - (timeline.column_width - inset)))
        placed = next(
            (each for each in timeline.scroller.placed if (each.message, each.index) == (message, index)), None
        )
        margin = timeline.sheet.px(16)
        if placed is None:
            before = self._is_above(message, index)
            timeline.go_to(Anchor(message, index, 0))
            view = timeline.scroller.stack.view(message)
            inside = round(view.above(index) + top)
            room = timeline.viewport().height() - round(height) - margin
            timeline.scroll_by(inside - (margin if before else room))
        elif placed.top + top < margin:
            timeline.scroll_by(round(placed.top + top - margin))
        elif placed.top + top + height > timeline.viewport().height() - margin:
            timeline.scroll_by(round(placed.top + top + height - timeline.viewport().height() + margin))

    def _is_above(self, message: int, index: int) -> bool:
        placed = self._timeline.scroller.placed
        return bool(placed) and (message, index) < (placed[0].message, placed[0].index)
