"""Paragraphs, headings and list items: one text layout on the line grid."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QTextLayout, QTextLine, QTextOption

from reprise.ui.theme import Type
from reprise.ui.timeline.block import Block, Hit, Scene
from reprise.ui.timeline.inline import LINE_BREAK, Rich, Style, reads_from_right, units
from reprise.ui.timeline.links import tip_of
from reprise.ui.timeline.markdown import Frame, Gap
from reprise.ui.timeline.sheet import Grid, Sheet, box

_ITEM = 28
_QUOTE = 16
_MARKER = 18
_CHIP = 18
_SIMPLE = 200
_WIDER = 1.5  # more than what bold or code add to a text's width


def indent_of(sheet: Sheet, frame: Frame, upto: int | None = None) -> int:
    """Pixels from the text edge to where text inside the containers starts."""
    return sum(sheet.px(_ITEM if kind == "l" else _QUOTE) for kind in frame.containers[:upto])


def paint_frame(painter: QPainter, sheet: Sheet, frame: Frame, grid: Grid, height: float, gap: int) -> None:
    """The bars of quotes and the markers of items around a leaf."""
    x = float(sheet.inset)
    for kind in frame.containers:
        if kind == "q":
            top = 0 if frame.opens_quote else -gap
            painter.fillRect(QRectF(x, top, sheet.px(2), height - top), sheet.color("border_strong"))
        x += sheet.px(_ITEM if kind == "l" else _QUOTE)
    for index, marker in frame.markers:
        _paint_marker(painter, sheet, sheet.inset + indent_of(sheet, frame, index), marker, grid)


def _paint_marker(painter: QPainter, sheet: Sheet, x: float, marker: str, grid: Grid) -> None:
    right, middle = x + sheet.px(_MARKER), grid.line / 2
    if marker in ("[ ]", "[x]"):
        size = sheet.px(14)
        rect = QRectF(right - size, round(middle - size / 2), size, size)
        checked = marker == "[x]"
        fill = sheet.color("accent") if checked else None
        box(painter, rect, sheet.px(4), fill, fill or sheet.color("control_border"))
        if checked:
            sheet.icon(painter, "check", "on_accent", rect.toRect())
    elif marker in "\u2022\u25e6\u25aa":
        size = sheet.px(5)
        # Where the eye puts the middle of small letters.
        middle = grid.baseline - grid.metrics.xHeight() / 2
        rect = QRectF(right - size - sheet.px(1), round(middle - size / 2), size, size)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        hollow = marker == "\u25e6"
        painter.setPen(QPen(sheet.color("muted"), 1.2) if hollow else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if hollow else sheet.color("muted"))
        if marker == "\u25aa":
            painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
        else:
            painter.drawEllipse(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    else:
        font = sheet.grid(Type.BODY, None, True)
        painter.setFont(font.font)
        painter.setPen(sheet.color("muted"))
        width = font.metrics.horizontalAdvance(marker)
        # A long number keeps off the margin as far as the text leaves room.
        left = min(max(x, right - width), x + sheet.px(_ITEM - 4) - width)
        painter.drawText(QPointF(left, grid.baseline), marker)


def cursor_x(line: QTextLine, offset: int) -> float:
    """Where a cursor stands on a line (Qt's call also answers with the offset it took)."""
    at = line.cursorToX(offset)
    return float(at[0] if isinstance(at, tuple) else at)  # type: ignore[arg-type]


def stepped(layout: QTextLayout, offset: int, by: int, *, words: bool) -> int | None:
    """The offset one character or word on or back in a layout; `None` beyond its ends."""
    mode = QTextLayout.CursorMode.SkipWords if words else QTextLayout.CursorMode.SkipCharacters
    move = layout.nextCursorPosition if by > 0 else layout.previousCursorPosition
    found = int(move(offset, mode))
    return None if found == offset else found


class Text:
    """A text layout on a grid: the lines of a paragraph or of a table cell."""

    __slots__ = ("_align", "_layout", "_natural", "grid", "lines", "muted", "rich", "role", "sheet", "width")

    def __init__(
        self,
        sheet: Sheet,
        rich: Rich,
        role: Type,
        *,
        muted: bool = False,
        weight: int | None = None,
        tabular: bool = False,
    ) -> None:
        self.sheet, self.rich, self.role, self.muted = sheet, rich, role, muted
        self.grid = sheet.grid(role, weight, tabular)
        self._natural = -1.0
        self._layout: QTextLayout | None = None
        self._align = Qt.AlignmentFlag.AlignLeft
        self.width = -1.0
        self.lines = 1

    def release(self) -> None:
        """Drop the layout; the number of lines at this width is kept."""
        self._layout = None

    def natural_width(self) -> float:
        """The width of the text on one line."""
        if self._natural < 0 and self._is_simple:
            self._natural = self.grid.metrics.horizontalAdvance(self.rich.text) + 1
        if self._natural < 0:
            self.layout(1e6)
            layout = self._made()
            lines = (layout.lineAt(at) for at in range(layout.lineCount()))
            # A hair more than measured, so that rounding never breaks what fits.
            self._natural = max((line.naturalTextWidth() for line in lines), default=0.0) + 1
        return self._natural

    @property
    def _is_simple(self) -> bool:
        """True for short text of one look, whose width a font tells without a layout."""
        return not self.rich.spans and len(self.rich.text) <= _SIMPLE and LINE_BREAK not in self.rich.text

    def _fits(self, width: float) -> bool:
        """True where it is known without a layout that one line is enough."""
        if self._is_simple:
            return self.natural_width() <= width
        text = self.rich.text
        if LINE_BREAK in text or (self._natural < 0 and len(text) > _SIMPLE):
            return False
        if self._natural < 0:
            return self.grid.metrics.horizontalAdvance(text) * _WIDER <= width
        return self._natural <= width

    def layout(self, width: float, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> int:
        """Break into lines of `width`; returns the height."""
        if self.width != width or self._align != align:
            self.width, self._align = width, align
            if self._fits(width):
                self.lines, self._layout = 1, None  # what fits is laid out when it is painted
            else:
                self._build()
        return self.lines * self.grid.line

    def _build(self) -> QTextLayout:
        layout = self._layout = QTextLayout(self.rich.text, self.grid.font)
        # "Left" is where reading begins.
        turned = self._align == Qt.AlignmentFlag.AlignLeft and reads_from_right(self.rich.text)
        option = QTextOption(Qt.AlignmentFlag.AlignRight if turned else self._align)
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats(self._formats())
        layout.beginLayout()
        count = 0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self.width)
            # The grid decides where the baseline is, not the tallest glyph of the line.
            line.setPosition(QPointF(0, count * self.grid.line + self.grid.baseline - line.ascent()))
            count += 1
        layout.endLayout()
        self.lines = max(1, count)
        return layout

    def _formats(self) -> list[QTextLayout.FormatRange]:
        ranges = []
        for span in self.rich.spans:
            made = QTextLayout.FormatRange()
            made.start, made.length = span.start, span.end - span.start
            made.format = self.sheet.format(self.role, span.style, bool(span.href), self.muted)
            ranges.append(made)
        return ranges

    def _made(self) -> QTextLayout:
        return self._layout or self._build()

    def paint(self, painter: QPainter, x: float, y: float, scene: Scene) -> None:
        """Draw the lines that are in the scene's bounds, chips and the selection under them."""
        layout = self._made()
        for span in self.rich.spans:
            if span.style & Style.CODE:
                self._paint_chip(painter, layout, span.start, span.end, x, y)
        ranges = []
        if scene.selection and (chosen := self._clamped(scene.selection)):
            for rect in self.rects(*chosen):
                painter.fillRect(rect.translated(x, y), self.sheet.color("selection"))
            made = QTextLayout.FormatRange()
            made.start, made.length = chosen[0], chosen[1] - chosen[0]
            made.format = self.sheet.foreground("text")
            ranges.append(made)
        painter.setPen(self.sheet.color("muted" if self.muted else "text"))
        clip = QRectF(-1e5, scene.top - self.grid.line, 2e5, scene.bottom - scene.top + 2 * self.grid.line)
        layout.draw(painter, QPointF(x, y), ranges, clip)

    def _clamped(self, selection: tuple[int, int]) -> tuple[int, int] | None:
        start, end = max(0, selection[0]), min(units(self.rich.text), selection[1])
        return (start, end) if start < end else None

    def _extent(self, layout: QTextLayout, at: int, start: int, end: int) -> tuple[float, float] | None:
        """The left and right end of start..end on line `at`."""
        line = layout.lineAt(at)
        first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
        if first >= last:
            return None
        left, right = sorted((cursor_x(line, first), cursor_x(line, last)))
        return left, right

    def _paint_chip(self, painter: QPainter, layout: QTextLayout, start: int, end: int, x: float, y: float) -> None:
        sheet, height = self.sheet, self.sheet.px(_CHIP)
        for at in range(layout.lineForTextPosition(start).lineNumber(), layout.lineCount()):
            extent = self._extent(layout, at, start, end)
            if extent is None:
                break
            top = y + at * self.grid.line + (self.grid.line - height) / 2
            rect = QRectF(x + extent[0], top, extent[1] - extent[0], height)
            box(painter, rect, sheet.px(4), sheet.color("inline_code"), None)

    def rects(self, start: int, end: int) -> list[QRectF]:
        """What start..end covers, a rectangle for each line, from the text's origin."""
        layout = self._made()
        found: list[QRectF] = []
        for at in range(max(0, layout.lineForTextPosition(start).lineNumber()), layout.lineCount()):
            extent = self._extent(layout, at, start, end)
            if extent is None:
                break
            found.append(QRectF(extent[0], at * self.grid.line, extent[1] - extent[0], self.grid.line))
        return found

    def caret(self, offset: int) -> tuple[float, float]:
        """Where a cursor stands before an offset: x, and the top of its line."""
        at = self.line_of(offset)
        layout = self._made()
        x = cursor_x(layout.lineAt(at), min(offset, units(self.rich.text))) if layout.lineCount() else 0.0
        return x, at * self.grid.line

    def step(self, offset: int, by: int, *, words: bool) -> int | None:
        """The offset one character or word on (`by` 1) or back (-1); `None` beyond the text's ends."""
        return stepped(self._made(), offset, by, words=words)

    def line_ends(self, offset: int) -> tuple[int, int]:
        """The first and last offset on the line that holds `offset`."""
        layout = self._made()
        if not layout.lineCount():
            return 0, 0
        line = layout.lineAt(self.line_of(offset))
        start, end = line.textStart(), line.textStart() + line.textLength()
        # The end of a line that goes on is the beginning of the next one: before its last space is still here.
        return start, end if line.lineNumber() == layout.lineCount() - 1 else max(start, end - 1)

    def offset_at(self, x: float, y: float) -> int:
        """The offset nearest to a point of the text."""
        layout = self._made()
        if not layout.lineCount():
            return 0
        at = min(layout.lineCount() - 1, max(0, int(y // self.grid.line)))
        return int(layout.lineAt(at).xToCursor(x))

    def word_at(self, offset: int) -> tuple[int, int]:
        """The word around an offset, by Qt's rules for every script."""
        layout = self._made()
        start = layout.previousCursorPosition(offset + 1, QTextLayout.CursorMode.SkipWords)
        end = layout.nextCursorPosition(start, QTextLayout.CursorMode.SkipWords)
        text = self.rich.plain(start, end)
        return start, end - (len(text) - len(text.rstrip()))

    def line_of(self, offset: int) -> int:
        """The number of the line that holds an offset."""
        line = self._made().lineForTextPosition(min(offset, units(self.rich.text)))
        return line.lineNumber() if line.isValid() else 0

    def end_x(self) -> float:
        """The x after the last letter."""
        layout = self._made()
        if not layout.lineCount():
            return 0.0
        line = layout.lineAt(layout.lineCount() - 1)
        return cursor_x(line, line.textStart() + line.textLength())

    def link_at(self, x: float, y: float) -> str:
        """The address of the link under a point, "" for none."""
        layout = self._made()
        at = int(y // self.grid.line)
        if y < 0 or at >= layout.lineCount():
            return ""
        line = layout.lineAt(at)
        if not line.naturalTextRect().left() <= x <= line.naturalTextRect().right():
            return ""
        offset = line.xToCursor(x, line.CursorPosition.CursorOnCharacter)
        return next((span.href for span in self.rich.spans if span.href and span.start <= offset < span.end), "")


class ProseBlock(Block):
    """A paragraph or heading with its markers and quote bars."""

    selectable = True
    is_heading = False

    def __init__(
        self, sheet: Sheet, rich: Rich, frame: Frame, role: Type = Type.BODY, *, muted: bool = False, inset: int = 0
    ) -> None:
        super().__init__(sheet)
        self.frame = frame
        self._x = sheet.inset + indent_of(sheet, frame) + inset
        self.text = Text(sheet, rich, role, muted=muted or "q" in frame.containers)
        per_line = max(1.0, (sheet.px(728) - self._x) / (self.text.grid.metrics.averageCharWidth() or 1))
        self.height = (int(len(rich.text) / per_line) + 1) * self.text.grid.line

    def _layout(self, width: int) -> int:
        return self.text.layout(max(self.sheet.px(40), width - self._x - self.sheet.inset))

    def release(self) -> None:
        self.text.release()

    def paint(self, painter: QPainter, scene: Scene) -> None:
        if self.frame.containers:
            paint_frame(painter, self.sheet, self.frame, self.text.grid, self.height, self.gap)
        self.text.paint(painter, self._x, 0, scene)

    def hit(self, x: float, y: float) -> Hit | None:
        href = self.text.link_at(x - self._x, y)
        return Hit("link", href, None, tip_of(href)) if href else None

    def same_until(self, old: Block) -> int:
        """The height down to which this looks like `old`, if it is a longer version of that; else 0."""
        if not isinstance(old, ProseBlock) or (old.frame, old.text.role) != (self.frame, self.text.role):
            return 0
        was, now = old.text.rich, self.text.rich
        if not now.text.startswith(was.text) or now.spans[: len(was.spans)] != was.spans:
            return 0
        return (old.text.lines - 1) * old.text.grid.line  # its last word may move to the next line

    def length(self) -> int:
        return units(self.text.rich.text)

    def plain(self, start: int, end: int) -> str:
        return self.text.rich.plain(start, end)

    @property
    def words(self) -> str:
        return self.text.rich.text

    @property
    def joint(self) -> str:
        if self.frame.gap is Gap.PART:
            return ""
        return "\n" if self.gap < self.sheet.px(8) and not self.is_heading else "\n\n"

    @property
    def prefix(self) -> str:
        depth = max(0, self.frame.containers.count("l") - 1)
        return "".join(f"{'  ' * depth}{marker} " for _, marker in self.frame.markers)

    def offset_at(self, x: float, y: float) -> int:
        return self.text.offset_at(x - self._x, y)

    def caret(self, offset: int) -> tuple[float, float, float]:
        x, top = self.text.caret(offset)
        return self._x + x, top, self.text.grid.line

    def rects(self, start: int, end: int) -> list[QRectF]:
        return [rect.translated(self._x, 0) for rect in self.text.rects(start, end)]

    def step(self, offset: int, by: int, *, words: bool) -> int | None:
        return self.text.step(offset, by, words=words)

    def line_ends(self, offset: int) -> tuple[int, int]:
        return self.text.line_ends(offset)

    def word_at(self, offset: int) -> tuple[int, int]:
        return self.text.word_at(offset)

    def line_top(self, offset: int) -> float:
        return self.text.line_of(offset) * self.text.grid.line

    def end_point(self) -> tuple[float, float, float]:
        top = (self.text.lines - 1) * self.text.grid.line
        return self._x + self.text.end_x(), top, self.text.grid.line
