"""What is in view and whether the end is followed; no widget, so that it can be reasoned about alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from reprise.ui.timeline.block import Block
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.stack import Anchor, Placed, Stack

_KEEP_BLOCKS = 400


class Scroller:
    """Keeps the blocks in view placed.

    Attributes:
        stack: Everything there is.
        placed: The blocks in view, from top to bottom.
        end: Where the last message ends in the viewport, or something beyond its lower edge.
        follows: The end is in view and stays there when more comes.
        wants_start: The first message is wanted, also if others come before it; else the line being read stays.
    """

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.placed: list[Placed] = []
        self.end = 0
        self.follows = True
        self.wants_start = False
        self._height = 0
        self._seen: OrderedDict[Block, None] = OrderedDict()

    def forget(self) -> None:
        """None of the blocks seen so far exists any more."""
        self._seen.clear()
        self.placed = []

    def settle(self, width: int, height: int, foot: int) -> None:
        """Place what a viewport of `height` shows of a column of `width`; `foot` pixels end it."""
        stack = self.stack
        self._height = height
        if stack.width != width:
            stack.set_width(width)
        stack.foot = foot
        if self.follows:
            self.wants_start = False
            stack.anchor = stack.bottom(height)
        else:
            stack.clamp()
        self.placed, self.end = stack.place(height)
        if not self.follows and self.end + foot <= height:
            self.follows = True
            stack.anchor = stack.bottom(height)
            self.placed, self.end = stack.place(height)
        for placed in self.placed:
            self._seen[placed.block] = None
            self._seen.move_to_end(placed.block)
        while len(self._seen) > max(_KEEP_BLOCKS, 2 * len(self.placed)):
            self._seen.popitem(last=False)[0].release()
        stack.trim(len(self.placed))

    def go_to(self, anchor: Anchor) -> None:
        """Scroll there and let go of the end; the next `settle` takes hold of it again where it is in view."""
        self.follows = self.wants_start = False
        self.stack.anchor = anchor

    def go_to_start(self) -> None:
        """Scroll to the first message, and to what comes before it later."""
        self.go_to(Anchor(0, 0, 0))
        self.wants_start = True

    def prepend(self, items: Sequence[TimelineItem]) -> None:
        """More messages before the first. `settle` afterwards."""
        self.stack.prepend(items)
        if self.wants_start:
            self.stack.anchor = Anchor(0, 0, 0)

    def move(self, delta: int) -> None:
        """Scroll down by `delta` pixels, up when negative."""
        self.follows = self.wants_start = False
        self.stack.move(delta)

    def keeping_line(self, change: Callable[[], object]) -> None:
        """Do what changes heights; the line at the top of the viewport stays where it is. `settle` afterwards."""
        line = next((placed for placed in self.placed if placed.top + placed.block.height > 0), None)
        if line is None or self.follows:
            change()
            return
        offset = line.block.offset_at(line.block.sheet.inset, 1 - line.top) if line.top < 0 else 0
        seen_at = line.top + line.block.line_top(offset) if line.top < 0 else line.top
        change()
        stack = self.stack
        stack.clamp()
        view = stack.view(line.message)
        index = min(line.index, len(view.blocks) - 1)
        stack.extent(line.message, index)
        inside = view.blocks[index].line_top(offset) if offset else 0
        stack.anchor = Anchor(line.message, index, 0)
        stack.move(round(view.above(index) + inside - seen_at))

    def placed_at(self, y: float) -> Placed | None:
        """The block at, or nearest above, a height of the viewport."""
        found = None
        for placed in self.placed:
            if placed.top - placed.block.gap > y:
                break
            found = placed
        return found

    def message_at(self, y: float) -> int:
        """The message whose blocks, or the gap below them, are at this height; -1 for none."""
        found = -1
        for placed in self.placed:
            if placed.top - (placed.view.pad if placed.index == 0 else placed.block.gap) > y:
                break
            found = placed.message
        return found

    def bottom_of(self, message: int) -> int | None:
        """Where a message ends in the viewport, if that is in view."""
        for placed in reversed(self.placed):
            if placed.message == message:
                last = placed.index == len(placed.view.blocks) - 1
                return placed.top + placed.block.height + placed.view.pad if last else None
        return None

    def span(self, message: int, beyond: int) -> tuple[int, int]:
        """Top and bottom of a message in view with its panel; ends out of view lie `beyond` the viewport's edge."""
        top, bottom = -beyond, self._height + beyond
        for placed in self.placed:
            if placed.message == message:
                if placed.index == 0:
                    top = placed.top - placed.view.pad
                if placed.index == len(placed.view.blocks) - 1:
                    bottom = placed.top + placed.block.height + placed.view.pad
        return top, bottom

    def panels(self, beyond: int) -> dict[int, tuple[int, int]]:
        """Top and bottom of each prompt's panel; ends that are out of view lie `beyond` the viewport's edge."""
        prompts = {placed.message for placed in self.placed if placed.view.is_panel}
        return {message: self.span(message, beyond) for message in sorted(prompts)}
