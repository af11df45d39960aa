"""Painting the blocks in view and what floats over them: caret, actions, the fade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect
from PySide6.QtGui import QLinearGradient, QPainter

from reprise.ui.timeline.block import Scene
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.selection import Reach
from reprise.ui.timeline.stack import Placed

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline

FADE = 24


class Canvas:
    """Paints a timeline's viewport."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._reach: Reach | None = None

    def paint(self, painter: QPainter, area: QRect) -> None:
        """Paint `area` of the viewport."""
        timeline = self._timeline
        scroller = timeline.scroller
        self._reach = timeline.selecting.reach
        painter.fillRect(area, timeline.sheet.color("page"))
        painter.translate(timeline.column_left, 0)
        top, bottom = area.top(), area.bottom() + 1
        for message, (first, end) in scroller.panels(timeline.sheet.px(40)).items():
            if end >= top and first <= bottom:
                scroller.stack.view(message).paint_panel(painter, first, end, timeline.column_width)
        for placed in scroller.placed:
            block = placed.block
            if placed.top + block.height < top or placed.top - block.gap > bottom:
                continue
            painter.save()
            painter.translate(0, placed.top)
            placed.view.paint_block(painter, placed.index, self._scene(placed, top, bottom))
            painter.restore()
            if isinstance(block, CodeBlock) and block.wants_colors:
                timeline.highlighter.request(block)
        self._paint_caret(painter)
        timeline.message_actions.paint(painter)
        timeline.focus.paint(painter)
        timeline.keys.caret.paint(painter)
        painter.resetTransform()
        if not scroller.follows:
            self._paint_fade(painter)

    def _scene(self, placed: Placed, top: int, bottom: int) -> Scene:
        pointer, block = self._timeline.pointer, placed.block
        selection = None
        if self._reach is not None and block.selectable:
            selection = self._reach.within(placed.message, block.place, block.length())
        hover = pointer.hit if pointer.block is block else None
        return Scene(top - placed.top, bottom - placed.top, selection, hover, pointer.message == placed.message)

    def _paint_caret(self, painter: QPainter) -> None:
        scroller = self._timeline.scroller
        live = scroller.stack.live
        caret = live.caret() if live is not None else None
        if live is None or caret is None:
            return
        index, x, y, height = caret
        for placed in reversed(scroller.placed):
            if placed.view is live and placed.index == index:
                painter.save()
                painter.translate(0, placed.top)
                live.paint_caret(painter, x, y, height)
                painter.restore()
                break

    def _paint_fade(self, painter: QPainter) -> None:
        """Text that runs under the lower edge fades into the page."""
        timeline = self._timeline
        height, fade = timeline.viewport().height(), timeline.sheet.px(FADE)
        page = timeline.sheet.color("page")
        gradient = QLinearGradient(0, height - fade, 0, height)
        for stop, alpha in ((0.0, 0), (1.0, 255)):
            page.setAlpha(alpha)
            gradient.setColorAt(stop, page)
        page.setAlpha(255)
        painter.fillRect(QRect(0, height - fade, timeline.viewport().width(), fade), gradient)
