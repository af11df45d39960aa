"""Painting little: what only moves is shifted on the screen, and what is new below it is painted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect

from reprise.ui.timeline.canvas import FADE

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline


class Shifting:
    """Moves the page of a timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def scroll(self, delta: int) -> None:
        """Scroll down by `delta` pixels, up when negative."""
        timeline, before, viewport = self._timeline, self._tops(), self._timeline.viewport()
        timeline.scroller.move(delta)
        timeline.settle()
        shifts = {top - before[key] for key, top in self._tops().items() if key in before}
        still = viewport.height() - timeline.sheet.px(FADE)  # what fades is painted anew, the rest is shifted
        if len(shifts) != 1 or timeline.has_card:
            viewport.update()
        elif shift := shifts.pop():
            viewport.scroll(0, shift, QRect(0, 0, viewport.width(), still))
            viewport.update(0, still, viewport.width(), viewport.height() - still)

    def grow(self, grow: Callable[[], tuple[int, int]]) -> None:
        """Paint only what a frame of the stream changes: shift what stays the same, repaint what is below it."""
        timeline = self._timeline
        message, viewport = len(timeline.scroller.stack.items), timeline.viewport()
        before = self._tops()
        index, inside = grow()
        timeline.settle()
        after = self._tops()
        first = (message, index)
        shifts = {
            after[key] - before[key] for key in after if key in before and (key < first or (key == first and inside))
        }
        if timeline.has_card or len(shifts) != 1:
            viewport.update()
            return
        if shift := shifts.pop():
            viewport.scroll(0, shift)
        if first in after and inside:
            dirty = after[first] + inside
        else:
            dirty = max(
                placed.top + placed.block.height
                for placed in timeline.scroller.placed
                if (placed.message, placed.index) < first
            )
        viewport.update(0, dirty, viewport.width(), viewport.height() - dirty)

    def _tops(self) -> dict[tuple[int, int], int]:
        return {(placed.message, placed.index): placed.top for placed in self._timeline.scroller.placed}
