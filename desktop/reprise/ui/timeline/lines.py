"""The single lines of a message: label, note, folded thinking or tool call; and the rule."""

from __future__ import annotations

import re

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter

from reprise.ui.theme import Type
from reprise.ui.timeline.block import Block, Hit, Scene
from reprise.ui.timeline.inline import plain
from reprise.ui.timeline.markdown import Frame
from reprise.ui.timeline.prose import Text, indent_of, paint_frame
from reprise.ui.timeline.sheet import Sheet, rule

_ACTION = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
ICON_LABEL = 22  # a 16 px icon on the text edge, then its label


def _paint_icon(painter: QPainter, sheet: Sheet, name: str, token: str, x: float, middle: float) -> None:
    size = sheet.px(16)
    # Two pixels left, so that its ink touches the edge.
    sheet.icon(painter, name, token, QRect(round(x) - sheet.px(2), round(middle - size / 2), size, size))


class LabelBlock(Block):
    """The model's name; figures join it under the pointer."""

    def __init__(self, sheet: Sheet, label: str, meta: str) -> None:
        super().__init__(sheet)
        self.label, self.meta = label, meta
        self.height = sheet.grid(Type.SMALL).line

    def _layout(self, width: int) -> int:
        self._width = width
        return self.sheet.grid(Type.SMALL).line

    def paint(self, painter: QPainter, scene: Scene) -> None:
        sheet, middle = self.sheet, self.height / 2
        x = float(sheet.inset)
        x += sheet.text(painter, sheet.grid(Type.SMALL, 500), x, middle, self.label, "muted")
        if self.meta and scene.message_hovered:
            grid = sheet.grid(Type.SMALL, None, True)
            room = self._width - sheet.inset - x
            text = grid.metrics.elidedText(f"  \u00b7  {self.meta}", Qt.TextElideMode.ElideRight, room)
            sheet.text(painter, grid, x, middle, text, "muted")


class NoteBlock(Block):
    """An icon, a sentence and, after it, actions: ``Cut off. [Keep](keep)``."""

    def __init__(self, sheet: Sheet, note: str, icon: str) -> None:
        super().__init__(sheet)
        self.icon = icon
        self._actions = [(match[1], match[2]) for match in _ACTION.finditer(note)]
        self._text = Text(sheet, plain(_ACTION.sub("", note).strip()), Type.UI, muted=True)
        self._hits: list[tuple[Hit, str]] = []
        self.height = sheet.grid(Type.UI).line

    def _layout(self, width: int) -> int:
        sheet, grid = self.sheet, self.sheet.grid(Type.UI, 500)
        left = sheet.inset + sheet.px(ICON_LABEL)
        room = width - left - sheet.inset
        height = self._text.layout(room)
        x, y = left + self._text.end_x() + sheet.px(12), height - grid.line
        self._hits = []
        for label, action in self._actions:
            size = grid.metrics.horizontalAdvance(label)
            if x + size > left + room:
                x, y = left, y + grid.line
            self._hits.append((Hit("note", action, QRectF(x, y, size, grid.line)), label))
            x += size + sheet.px(16)
        return y + grid.line

    def release(self) -> None:
        self._text.release()

    def paint(self, painter: QPainter, scene: Scene) -> None:
        sheet, grid = self.sheet, self.sheet.grid(Type.UI, 500)
        _paint_icon(painter, sheet, self.icon, "muted", sheet.inset, grid.line / 2)
        self._text.paint(painter, sheet.inset + sheet.px(ICON_LABEL), 0, Scene())
        for hit, label in self._hits:
            assert hit.rect is not None  # noqa: S101 - actions have one
            token = "accent_hover" if scene.hover == hit else "accent"
            sheet.text(painter, grid, hit.rect.left(), hit.rect.center().y(), label, token)

    def hit(self, x: float, y: float) -> Hit | None:
        return next((hit for hit, _ in self._hits if hit.rect is not None and hit.rect.contains(x, y)), None)


class FoldBlock(Block):
    """A line that opens in place: "Thought for 8 s", or a tool call's name."""

    def __init__(self, sheet: Sheet, label: str, icon: str, line: int) -> None:
        super().__init__(sheet)
        self.label, self.icon = label, icon
        self.is_open = False
        self.height = sheet.px(line)
        self._line = self.height

    def _layout(self, width: int) -> int:
        self._room = width - 2 * self.sheet.inset - self.sheet.px(ICON_LABEL + 24)
        return self._line

    def paint(self, painter: QPainter, scene: Scene) -> None:
        sheet, middle = self.sheet, self.height / 2
        hovered = scene.hover is not None and scene.hover.kind == "fold"
        token = "text" if hovered else "muted"
        _paint_icon(painter, sheet, self.icon, token, sheet.inset, middle)
        x = sheet.inset + sheet.px(ICON_LABEL)
        grid = sheet.grid(Type.UI, 500, True)
        label = grid.metrics.elidedText(self.label, Qt.TextElideMode.ElideRight, self._room)
        width = sheet.text(painter, grid, x, middle, label, token)
        size = sheet.px(14)
        chevron = "chevron-down" if self.is_open else "chevron-right"
        sheet.icon(painter, chevron, token, QRect(round(x + width) + sheet.px(5), round(middle - size / 2), size, size))

    def hit(self, x: float, y: float) -> Hit | None:
        grid = self.sheet.grid(Type.UI, 500, True)
        end = self.sheet.inset + self.sheet.px(ICON_LABEL + 24) + grid.metrics.horizontalAdvance(self.label)
        return Hit("fold", "", QRectF(self.sheet.inset, 0, end, self.height)) if x <= end else None


class RuleBlock(Block):
    """A thematic break: a hairline between the text edges."""

    def __init__(self, sheet: Sheet, frame: Frame) -> None:
        super().__init__(sheet)
        self.frame = frame
        self.height = 1

    def _layout(self, width: int) -> int:
        self._width = width
        return 1

    def paint(self, painter: QPainter, scene: Scene) -> None:
        sheet = self.sheet
        if self.frame.containers:
            paint_frame(painter, sheet, self.frame, sheet.grid(Type.BODY), self.height, self.gap)
        left = sheet.inset + indent_of(sheet, self.frame)
        rule(painter, left, self._width - sheet.inset, 0, sheet.color("border"))
