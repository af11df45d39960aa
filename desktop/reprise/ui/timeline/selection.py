"""What is selected: two positions over (message, block, offset), in reading order or against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from reprise.ui.timeline.message_view import MessageView


class Position(NamedTuple):
    """A place in the text. Messages and blocks count from 0, offsets are UTF-16 units; tuples compare in order."""

    message: int
    block: int
    offset: int


@dataclass(frozen=True, slots=True)
class Selection:
    """From where the pointer went down to where it is now."""

    anchor: Position
    head: Position

    @property
    def start(self) -> Position:
        """The earlier end."""
        return min(self.anchor, self.head)

    @property
    def end(self) -> Position:
        """The later end."""
        return max(self.anchor, self.head)

    @property
    def is_empty(self) -> bool:
        """True when both ends are one."""
        return self.anchor == self.head

    def within(self, message: int, block: int, length: int) -> tuple[int, int] | None:
        """The selected offsets of a block that is `length` long, `None` for none."""
        here = (message, block)
        start, end = self.start, self.end
        if here < start[:2] or here > end[:2]:
            return None
        first = start.offset if here == start[:2] else 0
        last = end.offset if here == end[:2] else length
        return (first, last) if first < last or start[:2] < here < end[:2] else None

    def text(self, view: MessageView, message: int) -> str:
        """The selected text of one message, markers of list items included where their text is from its start."""
        pieces: list[str] = []
        for index in range(self.start.block, min(self.end.block + 1, len(view.blocks))):
            block = view.blocks[index]
            if not block.selectable:
                continue
            length = block.length()
            chosen = self.within(message, index, length)
            if chosen is None and not (length == 0 and self.start[1] < index < self.end[1]):
                continue
            first, last = chosen or (0, 0)
            if pieces:
                pieces.append(block.joint)
            whole = first == 0 and (last == length or len(pieces) > 0)
            pieces.append((block.prefix if whole else "") + block.plain(first, last))
        return "".join(pieces)
