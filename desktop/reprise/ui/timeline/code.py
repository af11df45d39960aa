"""A code box: header with language, wrap and copy; lines laid out when visible; its own sideways scrolling.

A line is one row, or one for each piece of it where it is very long: no layout is longer than a piece.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QTextLayout, QTextOption

from reprise.ui.theme import Type
from reprise.ui.timeline.block import Block, Hit, Scene
from reprise.ui.timeline.bounds import CODE_LENGTH, CODE_RUNS, cluster_end
from reprise.ui.timeline.code_header import HEADER, CodeHeader
from reprise.ui.timeline.highlight import Line
from reprise.ui.timeline.hscroll import SideScroll
from reprise.ui.timeline.inline import cut, units
from reprise.ui.timeline.markdown import Frame
from reprise.ui.timeline.prose import cursor_x, indent_of, paint_frame, stepped
from reprise.ui.timeline.sheet import Sheet, box

_BOTTOM = 10
_BAR = 8
_TAB = 4


def _pieces(line: str) -> list[str]:
    if len(line) <= CODE_LENGTH:
        return [line]
    found, start = [], 0
    while start < len(line):
        end = min(len(line), start + CODE_LENGTH)
        end = cluster_end(line, start, end) if end < len(line) else end
        found.append(line[start:end])
        start = end
    return found


class CodeBlock(Block):
    """Code of one language.

    Attributes:
        lines: The code's lines; the last may be unfinished while the fence is open.
        is_open: The fence has no end yet.
        revision: Grows when lines change.
        colored: Lines whose colours are known.
        just_copied: Show "Copied" in place of "Copy".
    """

    selectable = True

    def __init__(self, sheet: Sheet, frame: Frame, lines: list[str], language: str, *, is_open: bool = False) -> None:
        super().__init__(sheet)
        self.frame = frame
        self.lines: list[str] = []
        self.language = language
        self.is_open = is_open
        self.revision = 0
        self.colored = 0
        self.just_copied = False
        self.wrapped = False
        self.side = SideScroll()
        self._x = indent_of(sheet, frame)
        self._grid = sheet.grid(Type.CODE)
        self._colors: list[Line] = []
        # A long line is shown in pieces; everything below counts pieces.
        self._shown: list[str] = []
        self._line_of: list[int] = []  # the line of each piece
        self._first: list[int] = []  # the first piece of each line
        self._layouts: dict[int, QTextLayout] = {}
        self._tops: list[int] = []  # of each piece in rows, when wrapped
        self._starts: list[int] = []
        self._widest = ""
        self._text: str | None = None
        self._width = 0
        self._add(lines)
        self.height = self._rows() * self._grid.line + sheet.px(HEADER + _BOTTOM)

    def extend(self, lines: list[str], partial: str, known: int) -> None:
        """Show the first `known` lines as they are and `lines` plus the unfinished `partial` after them."""
        new = [*lines, partial] if partial or not (lines or known) else lines
        if known < len(self.lines):
            # Of a line that grows, the pieces that are full stay.
            first = self._first[known]
            fresh = [piece for line in new[:1] for piece in _pieces(line)]
            same = 0
            while first + same < len(self._shown) and fresh[same : same + 1] == self._shown[first + same :][:1]:
                same += 1
            for at in [at for at in self._layouts if at >= first + same]:
                del self._layouts[at]
            del self.lines[known:], self._first[known:], self._shown[first:], self._line_of[first:]
        self._add(new)
        self.colored = min(self.colored, known)
        self.revision += 1
        self._starts = []
        self._measured = -1

    def _add(self, lines: list[str]) -> None:
        self._text = None
        for line in lines:
            self._first.append(len(self._shown))
            for piece in _pieces(line):
                self._shown.append(piece)
                self._line_of.append(len(self.lines))
                if len(piece) > len(self._widest):
                    self._widest = piece
            self.lines.append(line)

    def close(self, text: str) -> None:
        """The fence has ended: this is its text. The colours so far stay until the exact ones are there."""
        lines = text.split("\n")
        if lines != self.lines:
            same = min(len(lines), len(self.lines))
            self.extend(lines[same - 1 :], "", max(0, same - 1))
        self.is_open = False
        self.colored = 0

    @property
    def text(self) -> str:
        """The code, byte for byte, without a newline at the end."""
        if self._text is None:
            self._text = "\n".join(self.lines)
        return self._text

    def source(self, first: int = 0) -> str:
        """The lines from `first` on as they are coloured: in place of each that is too long for colours, none."""
        return "\n".join(line if len(line) <= CODE_LENGTH else "" for line in self.lines[first:])

    @property
    def wants_colors(self) -> bool:
        """True while lines are uncoloured and the language is named."""
        return bool(self.language) and self.colored < len(self.lines)

    def set_colors(self, first: int, colors: list[Line]) -> None:
        """The runs of the lines from `first` on."""
        self._colors.extend([()] * (first - len(self._colors)))
        self._colors[first:] = [runs if len(runs) <= CODE_RUNS else () for runs in colors]
        self.colored = first + len(colors) if self.is_open else len(self.lines)
        for at in [at for at in self._layouts if self._line_of[at] >= first]:
            del self._layouts[at]

    def toggle_wrap(self) -> None:
        """Break long lines, or let them run and scroll."""
        self.wrapped = not self.wrapped
        self.side.offset = 0
        self._measured = -1
        self._layouts.clear()

    def release(self) -> None:
        self._layouts.clear()

    def _rows(self) -> int:
        return self._tops[-1] if self.wrapped and self._tops else len(self._shown)

    def _layout(self, width: int) -> int:
        if self._width != width:
            self._width = width
            self._layouts.clear()
        view = width - self._x - 2 * self.sheet.inset
        if self.wrapped:
            self.side.set_sizes(0, view)
            self._tops = [0, *accumulate(self._rows_of(at) for at in range(len(self._shown)))]
        else:
            self._tops = []
            self.side.set_sizes(self._grid.metrics.horizontalAdvance(self._widest.expandtabs(_TAB)), view)
        bar = self.sheet.px(_BAR) if self.side.needed else 0
        return self._rows() * self._grid.line + self.sheet.px(HEADER + _BOTTOM) + bar

    def _per_row(self, at: int) -> int:
        """Letters in a wrapped row of a piece whose letters are all of one width, 0 where they are not."""
        piece = self._shown[at]
        if not piece.isascii() or "\t" in piece:
            return 0
        view = self._width - self._x - 2 * self.sheet.inset
        return max(1, int(view / self._grid.metrics.horizontalAdvance("m")))

    def _is_piece(self, at: int) -> bool:
        return len(self.lines[self._line_of[at]]) > CODE_LENGTH

    def _rows_of(self, at: int) -> int:
        size, per_row = len(self._shown[at]), self._per_row(at)
        if per_row and (size <= per_row or self._is_piece(at)):
            return max(1, -(-size // per_row))
        return self._line(at).lineCount()

    def _line(self, at: int) -> QTextLayout:
        made = self._layouts.get(at)
        if made is not None:
            return made
        per_row = self._per_row(at) if self.wrapped and self._is_piece(at) else 0
        # A space at the end of a row would take no room in it, and the rows are counted.
        text = self._shown[at].replace(" ", "\u00a0") if per_row else self._shown[at]
        made = QTextLayout(text, self._grid.font)
        option = QTextOption()
        option.setTabStopDistance(_TAB * self._grid.metrics.horizontalAdvance(" "))
        # Code reads from left to right whatever letters its strings hold.
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        option.setWrapMode(QTextOption.WrapMode.WrapAnywhere if self.wrapped else QTextOption.WrapMode.NoWrap)
        made.setTextOption(option)
        line_at = self._line_of[at]
        if line_at < len(self._colors) and not self._is_piece(at):
            ranges = []
            for start, length, token in self._colors[line_at]:
                run = QTextLayout.FormatRange()
                run.start, run.length, run.format = start, length, self.sheet.foreground(token)
                ranges.append(run)
            made.setFormats(ranges)
        made.beginLayout()
        row = 0
        while (line := made.createLine()).isValid():
            if per_row:
                line.setNumColumns(per_row)
            else:
                line.setLineWidth(self._width - self._x - 2 * self.sheet.inset if self.wrapped else 1e7)
            line.setPosition(QPointF(0, row * self._grid.line + self._grid.baseline - line.ascent()))
            row += 1
        made.endLayout()
        self._layouts[at] = made
        return made

    def _row_top(self, at: int) -> int:
        return self.sheet.px(HEADER) + (self._tops[at] if self._tops else at) * self._grid.line

    def line_y(self, at: int) -> int:
        """Where line `at` begins."""
        return self._row_top(self._first[min(at, len(self.lines) - 1)])

    def _line_at(self, y: float) -> int:
        row = int((y - self.sheet.px(HEADER)) // self._grid.line)
        at = bisect_right(self._tops, row) - 1 if self._tops else row
        return min(len(self._shown) - 1, max(0, at))

    def paint(self, painter: QPainter, scene: Scene) -> None:
        sheet = self.sheet
        if self.frame.containers:
            paint_frame(painter, sheet, self.frame, sheet.grid(Type.BODY), self.height, self.gap)
        outer = QRectF(self._x, 0, self._width - self._x, self.height)
        box(painter, outer, sheet.px(10), sheet.color("code_bg"), sheet.color("code_border"))
        if scene.top < sheet.px(HEADER):
            self._head().paint(painter, scene.hover)
        painter.save()
        clip = QPainterPath()
        clip.addRect(outer.adjusted(1, 0, -1, 0))
        painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
        left = self._x + sheet.inset - self.side.offset
        for at in range(self._line_at(scene.top), self._line_at(scene.bottom) + 1):
            self._paint_line(painter, at, left, scene.selection)
        painter.restore()
        if self.side.needed:
            hovered = scene.hover is not None and scene.hover.kind == "scroll"
            self.side.paint(painter, sheet, self.track(), hovered=hovered)

    def _paint_line(self, painter: QPainter, at: int, left: float, selection: tuple[int, int] | None) -> None:
        layout = self._line(at)
        top = self._row_top(at)
        ranges = []
        if selection and (chosen := self._chosen(at, *selection)):
            for rect in self._line_rects(at, *selection):
                painter.fillRect(rect, self.sheet.color("selection"))
            run = QTextLayout.FormatRange()
            run.start, run.length, run.format = chosen[0], chosen[1] - chosen[0], self.sheet.foreground("text")
            ranges.append(run)
        painter.setPen(self.sheet.color("text"))
        layout.draw(painter, QPointF(left, top), ranges)

    def _chosen(self, at: int, start: int, end: int) -> tuple[int, int] | None:
        """What of start..end is in a piece, in the piece's own offsets; an empty line counts."""
        begin, length = self._start(at), units(self._shown[at])
        first, last = max(0, start - begin), min(length, end - begin)
        return (first, last) if first <= last and end > begin + first and start <= begin + length else None

    def rects(self, start: int, end: int) -> list[QRectF]:
        first, last = self._offset_line(start), self._offset_line(end)
        return [rect for at in range(first, last + 1) for rect in self._line_rects(at, start, end)]

    def _line_rects(self, at: int, start: int, end: int) -> list[QRectF]:
        """The rectangles of start..end in one piece; a newline that is in it is a space wide."""
        chosen = self._chosen(at, start, end)
        if chosen is None:
            return []
        layout, top, found = self._line(at), self._row_top(at), []
        left = self._x + self.sheet.inset - self.side.offset
        newline = self._ends_line(at) and end > self._start(at) + units(self._shown[at])
        for row in range(layout.lineCount()):
            line = layout.lineAt(row)
            a, b = max(chosen[0], line.textStart()), min(chosen[1], line.textStart() + line.textLength())
            if a > b or (a == b and not newline):
                continue
            x0, x1 = sorted((cursor_x(line, a), cursor_x(line, b)))
            if newline and row == layout.lineCount() - 1:
                x1 += self._grid.metrics.horizontalAdvance(" ")
            found.append(QRectF(left + x0, top + row * self._grid.line, x1 - x0, self._grid.line))
        return found

    def _head(self) -> CodeHeader:
        return CodeHeader(self.sheet, self._x, self._width, self.language, self.wrapped, self.just_copied)

    def track(self) -> QRectF:
        """Where the sideways bar lies."""
        sheet = self.sheet
        width = self._width - self._x - 2 * sheet.inset
        return QRectF(self._x + sheet.inset, self.height - sheet.px(9), width, sheet.px(4))

    def hit(self, x: float, y: float) -> Hit | None:
        for hit in self._head().hits():
            if hit.rect is not None and hit.rect.contains(x, y):
                return hit
        if self.side.needed and self.track().adjusted(0, -4, 0, 8).contains(x, y):
            return Hit("scroll", "", self.track())
        return None

    def _start(self, at: int) -> int:
        if not self._starts:
            sizes = (units(piece) + self._ends_line(at) for at, piece in enumerate(self._shown))
            self._starts = [0, *accumulate(sizes)]
        return self._starts[at]

    def _ends_line(self, at: int) -> bool:
        """True where a newline follows a piece."""
        return at + 1 == len(self._shown) or self._line_of[at + 1] != self._line_of[at]

    def length(self) -> int:
        return self._start(len(self._shown)) - 1

    def plain(self, start: int, end: int) -> str:
        return cut(self.text, start, end)

    @property
    def words(self) -> str:
        return self.text

    def _offset_line(self, offset: int) -> int:
        self._start(0)
        return min(len(self._shown) - 1, bisect_right(self._starts, offset) - 1)

    def offset_at(self, x: float, y: float) -> int:
        at = self._line_at(y)
        layout = self._line(at)
        row = min(layout.lineCount() - 1, max(0, int((y - self._row_top(at)) // self._grid.line)))
        inside = x - self._x - self.sheet.inset + self.side.offset
        return self._start(at) + int(layout.lineAt(row).xToCursor(inside))

    def caret(self, offset: int) -> tuple[float, float, float]:
        at = self._offset_line(offset)
        layout, inside = self._line(at), offset - self._start(at)
        line = layout.lineForTextPosition(min(inside, units(self._shown[at])))
        row = max(0, line.lineNumber()) if line.isValid() else 0
        x = cursor_x(line, inside) if line.isValid() else 0.0
        left = self._x + self.sheet.inset - self.side.offset
        return left + x, self._row_top(at) + row * self._grid.line, self._grid.line

    def step(self, offset: int, by: int, *, words: bool) -> int | None:
        at = self._offset_line(offset)
        start = self._start(at)
        inside = stepped(self._line(at), offset - start, by, words=words)
        if inside is not None:
            return start + inside
        return offset + by if 0 <= offset + by <= self.length() else None

    def line_ends(self, offset: int) -> tuple[int, int]:
        at = self._offset_line(offset)
        return self._start(at), self._start(at) + units(self._shown[at])

    def word_at(self, offset: int) -> tuple[int, int]:
        at = self._offset_line(offset)
        start = self._start(at)
        layout = self._line(at)
        word = layout.previousCursorPosition(offset - start + 1, QTextLayout.CursorMode.SkipWords)
        end = layout.nextCursorPosition(word, QTextLayout.CursorMode.SkipWords)
        text = cut(self._shown[at], word, end)
        return start + word, start + end - (len(text) - len(text.rstrip()))

    def paragraph_at(self, offset: int) -> tuple[int, int]:
        line = self._line_of[self._offset_line(offset)]
        end = self._first[line + 1] if line + 1 < len(self.lines) else len(self._shown)
        return self._start(self._first[line]), self._start(end) - 1

    def line_top(self, offset: int) -> float:
        return self._row_top(self._offset_line(offset))

    def end_point(self) -> tuple[float, float, float]:
        last = len(self._shown) - 1
        layout = self._line(last)
        row = layout.lineCount() - 1
        line = layout.lineAt(row)
        x = self._x + self.sheet.inset - self.side.offset + line.naturalTextWidth()
        x = min(x, self._width - self.sheet.px(4))
        return x, self._row_top(last) + row * self._grid.line, self._grid.line
