"""What stands in the gap below a message: its place among its alternatives, and under the pointer its actions.

The gaps are always there, so nothing moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QPainter

from reprise.ui.theme import Type
from reprise.ui.timeline.block import Hit, tr
from reprise.ui.timeline.item import MessageAction, TimelineItem
from reprise.ui.timeline.sheet import Sheet, box, hairline

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline

SIZE = 28
_BELOW = 4
_CHEVRON = 20
_STEPS = {"previous": ("chevron-left", -1), "next": ("chevron-right", 1)}


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing in the row, in the viewport's coordinates: a button (`icon`, `hit`), a text, or a line (neither)."""

    rect: QRect
    icon: str = ""
    text: str = ""
    hit: Hit | None = None


class Actions:
    """The rows of a timeline's messages. Copy comes first wherever there is text."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def hit(self, message: int, at: QPointF) -> Hit | None:
        """What a press at this point of the viewport would do, if it is on a button below `message`."""
        slots = self.slots(message)
        return next((slot.hit for slot in slots if slot.hit and slot.rect.contains(at.toPoint())), None)

    def button(self, message: int, name: str) -> QRect | None:
        """Where a message's button is, if it is in view."""
        wanted = (slot.rect for slot in self.slots(message) if slot.hit is not None and slot.hit.value == name)
        return next(wanted, None)

    def slots(self, message: int) -> list[Slot]:
        """What is in the row below a message, from left to right; empty where its end is out of view."""
        timeline = self._timeline
        item = timeline.item(message)
        bottom = timeline.scroller.bottom_of(message)
        if item is None or bottom is None:
            return []
        sheet, px = timeline.sheet, timeline.sheet.px
        is_panel = timeline.is_panel(message)
        parts = list(_parts(item, is_panel))
        widths = [self._width(sheet, kind, text) for kind, text, _ in parts]
        if is_panel:
            # The icon of the last button ends on the text edge.
            x = timeline.column_left + timeline.column_width - sheet.inset + px(6) - sum(widths)
            top = bottom
        else:
            # So does the first one's begin: a chevron's ink is further in than a button's.
            inward = (_CHEVRON - 14) // 2 + 2 if item.place else 6
            x, top = timeline.column_left + sheet.inset - px(inward) - px(2), bottom + px(_BELOW)
        slots: list[Slot] = []
        for (kind, text, hit), width in zip(parts, widths, strict=True):
            rect = QRect(x, top, width, px(SIZE))
            placed = None if hit is None else Hit(hit.kind, hit.value, QRectF(rect), hit.tip)
            slots.append(Slot(rect, text if kind == "icon" else "", text if kind == "text" else "", placed))
            x += width
        return slots

    def paint(self, painter: QPainter) -> None:
        """Paint every row in view: the places always, the rest below the message under the pointer or with the ring."""
        pointer, marked = self._timeline.pointer, self._timeline.focus.marked
        for message in sorted({placed.message for placed in self._timeline.scroller.placed}):
            item = self._timeline.item(message)
            if item is None or not (item.place or message in (pointer.message, marked)):
                continue
            for slot in self.slots(message):
                if message in (pointer.message, marked) or _is_place(slot):
                    self._paint(painter, slot, pointer.hit)

    def _width(self, sheet: Sheet, kind: str, text: str) -> int:
        if kind == "text":
            grid = sheet.grid(Type.SMALL, 500, True)
            return round(grid.metrics.horizontalAdvance(text)) + sheet.px(8)
        if kind == "line":
            return sheet.px(13)
        return sheet.px(_CHEVRON if text.startswith("chevron") else SIZE)

    def _paint(self, painter: QPainter, slot: Slot, hover: Hit | None) -> None:
        sheet = self._timeline.sheet
        rect = slot.rect.translated(-self._timeline.column_left, 0)
        if slot.text:
            grid, middle = sheet.grid(Type.SMALL, 500, True), rect.center().y() + 0.5
            sheet.text(painter, grid, rect.left() + sheet.px(4), middle, slot.text, "muted")
            return
        if slot.hit is None:
            line, height = hairline(painter), sheet.px(14)
            top = rect.center().y() - height // 2
            painter.fillRect(QRectF(rect.center().x(), top, line, height), sheet.color("border_strong"))
            return
        hovered = hover is not None and (hover.kind, hover.value, hover.rect) == (
            slot.hit.kind,
            slot.hit.value,
            slot.hit.rect,
        )
        is_step = slot.icon.startswith("chevron")
        if hovered:
            box(painter, QRectF(rect), sheet.px(6), sheet.color("hover"), None)
        size = sheet.px(14 if is_step else 16)
        place = QRect(rect.left() + (rect.width() - size) // 2, rect.top() + (rect.height() - size) // 2, size, size)
        sheet.icon(painter, slot.icon, "text" if hovered else "muted", place)


def step_of(name: str) -> int:
    """How far "previous" and "next" go among the alternatives."""
    return _STEPS[name][1]


def _is_place(slot: Slot) -> bool:
    return slot.icon.startswith("chevron") or "/" in slot.text


def _parts(item: TimelineItem, is_panel: bool) -> Iterator[tuple[str, str, Hit | None]]:
    """Kind ("icon", "text" or "line"), what it shows, and what a press does."""
    if item.place is not None:
        number, count = item.place
        yield "icon", "chevron-left", Hit("branch", "previous", tip=tr("Previous version"))
        yield "text", f"{number}/{count}", None
        yield "icon", "chevron-right", Hit("branch", "next", tip=tr("Next version"))
    actions = [MessageAction("copy", "copy", tr("Copy")), *item.actions] if item.message.text else [*item.actions]
    if item.place is not None and actions:
        yield "line", "", None
    if is_panel and item.time and actions:
        yield "text", item.time, None
    for action in actions:
        yield "icon", action.icon, Hit("action", action.name, tip=action.tip)
