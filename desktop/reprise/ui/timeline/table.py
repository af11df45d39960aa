"""Up to 30 rows and 64 columns of a table; its parts share the widths the first one settled and look like one box."""

from __future__ import annotations

import re
from bisect import bisect_right

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from reprise.ui.theme import Type
from reprise.ui.timeline.block import Block, Hit, Scene, tr
from reprise.ui.timeline.hscroll import SideScroll
from reprise.ui.timeline.inline import Rich, units
from reprise.ui.timeline.links import tip_of
from reprise.ui.timeline.markdown import Table
from reprise.ui.timeline.prose import Text, indent_of, paint_frame
from reprise.ui.timeline.sheet import Sheet, box, rule

_PAD = 5  # above and below a cell's lines
_HEAD_PAD = 6
_NARROWEST = 96
_MORE = 30  # the line that counts the columns that are not there
_FIGURE = re.compile(
    r"[-+\u2212~<>\u2248]?\s?[$\u20ac\u00a3]?\d[\d.,'\u00a0\u202f ]*(\s?[%\u2030\u00b0\u00b5A-Za-z/]{1,6})?"
)
_ALIGN = {
    "right": Qt.AlignmentFlag.AlignRight,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "left": Qt.AlignmentFlag.AlignLeft,
}


class TableBlock(Block):
    """A part of a table.

    Attributes:
        leaf: What is shown.
        ends: The last part of its table: it draws the lower edge.
        first: The part with the head.
    """

    selectable = True

    def __init__(self, sheet: Sheet, leaf: Table, first: TableBlock | None) -> None:
        super().__init__(sheet)
        self.leaf = leaf
        self.ends = True
        self.side: SideScroll = first.side if first else SideScroll()
        self.first = first or self
        self._x = indent_of(sheet, leaf.frame)
        self._width = 0
        self._foot = 0
        self._edges: list[int] = []
        self._tops: list[int] = []
        self._texts: list[list[Text]] = []
        self._settled = -1
        self._aligns: list[Qt.AlignmentFlag] = []
        self.update_rows(leaf)
        self.height = sheet.px(32) * (len(leaf.rows) + (leaf.part == 0))

    def update_rows(self, leaf: Table) -> None:
        """Show a longer version of the same part; cells that did not change keep their layout."""
        self.leaf = leaf
        self._is_made = False
        self._starts: list[int] = []
        self._measured = self._settled = -1

    @property
    def _rows(self) -> list[list[Text]]:
        """The cells, made when they are looked at for the first time or again."""
        if not self._is_made:
            self._is_made = True
            old, leaf = self._texts, self.leaf
            self._texts = []
            for at, row in enumerate([leaf.head, *leaf.rows] if leaf.part == 0 else leaf.rows):
                is_head = leaf.part == 0 and at == 0
                known = old[at] if at < len(old) else []
                cells = []
                for column, rich in enumerate(row):
                    cell = known[column] if column < len(known) else None
                    cells.append(cell if cell is not None and cell.rich == rich else self._cell(rich, is_head))
                self._texts.append(cells)
        return self._texts

    def _cell(self, rich: Rich, is_head: bool) -> Text:
        if is_head:
            return Text(self.sheet, rich, Type.UI, muted=True, weight=600)
        return Text(self.sheet, rich, Type.THINKING, tabular=True)

    def release(self) -> None:
        self._texts = []
        self._is_made = False
        self._measured = -1

    def columns(self, width: int) -> tuple[list[int], list[Qt.AlignmentFlag]]:
        """The columns' right edges from the box's left, and their alignments; only the first part's are used."""
        if self._settled != width:
            self._settled = width
            self._aligns = [self._align(at) for at in range(len(self.leaf.aligns))]
            natural = [
                max(row[at].natural_width() for row in self._rows if at < len(row)) + 2 * self.sheet.inset
                for at in range(len(self._aligns))
            ]
            weights = [1 if align is _ALIGN["right"] else 2 for align in self._aligns]
            edge = 0.0
            self._edges = []
            for column in _shares(natural, weights, width - self._x, self.sheet.px(_NARROWEST)):
                edge += column
                self._edges.append(round(edge))
        return self._edges, self._aligns

    def _align(self, column: int) -> Qt.AlignmentFlag:
        """As the table says; figures stand right when it says nothing."""
        if (named := self.leaf.aligns[column]) in _ALIGN:
            return _ALIGN[named]
        cells = [row[column].plain().strip() for row in self.leaf.rows if column < len(row)]
        figures = [cell for cell in cells if cell]
        if figures and all(_FIGURE.fullmatch(cell) for cell in figures):
            return Qt.AlignmentFlag.AlignRight
        return Qt.AlignmentFlag.AlignLeft

    def _layout(self, width: int) -> int:
        self._width = width
        edges, aligns = self.first.columns(width)
        self._edges, self._aligns = edges, aligns
        self.side.set_sizes(edges[-1], width - self._x)
        self._tops = [0]
        for at, row in enumerate(self._rows):
            pad = self.sheet.px(_HEAD_PAD if self._is_head(at) else _PAD)
            left, tallest = 0, 0
            for column, cell in enumerate(row):
                tallest = max(tallest, cell.layout(edges[column] - left - 2 * self.sheet.inset, aligns[column]))
                left = edges[column]
            self._tops.append(self._tops[-1] + tallest + 2 * pad)
        self._foot = self.sheet.px(_MORE) if self.leaf.more and self.ends else 0
        return self._tops[-1] + (self.sheet.px(12) if self.side.needed and self.ends else 0) + self._foot

    def _is_head(self, at: int) -> bool:
        return self.leaf.part == 0 and at == 0

    def paint(self, painter: QPainter, scene: Scene) -> None:
        sheet = self.sheet
        if self.leaf.frame.containers:
            paint_frame(painter, sheet, self.leaf.frame, sheet.grid(Type.BODY), self.height, self.gap)
        more = sheet.px(20)  # what rounds the corners of another part is clipped away
        top = 0 if self.leaf.part == 0 else -more
        height = self.height - self._foot
        bottom = height if self.ends else height + more
        outer = QRectF(self._x, 0, self._width - self._x, height)
        painter.save()
        painter.setClipRect(outer, Qt.ClipOperation.IntersectClip)
        frame = QRectF(self._x, top, outer.width(), bottom - top)
        if self.leaf.part == 0:
            painter.save()
            painter.setClipRect(QRectF(self._x, 0, outer.width(), self._tops[1]), Qt.ClipOperation.IntersectClip)
            box(painter, frame, sheet.px(10), sheet.color("code_bg"), None)
            painter.restore()
        box(painter, frame, sheet.px(10), None, sheet.color("border"))
        for y in self._tops[:-1]:
            if y > 0 or self.leaf.part:
                rule(painter, self._x, self._width, y, sheet.color("border"))
        painter.setClipRect(outer.adjusted(1, 0, -1, 0), Qt.ClipOperation.IntersectClip)
        self._paint_cells(painter, scene)
        painter.restore()
        if self.side.needed and self.ends:
            hovered = scene.hover is not None and scene.hover.kind == "scroll"
            self.side.paint(painter, sheet, self.track(), hovered=hovered)
        if self._foot:
            said = tr("1 more column") if self.leaf.more == 1 else tr("{count} more columns")
            middle = height + self._foot / 2 + sheet.px(3)
            said = said.format(count=f"{self.leaf.more:,}")
            sheet.text(painter, sheet.grid(Type.UI), self._x + sheet.inset, middle, said, "muted")

    def _paint_cells(self, painter: QPainter, scene: Scene) -> None:
        first = max(0, bisect_right(self._tops, scene.top) - 1)
        shift = self._x + self.sheet.inset - self.side.offset
        for at in range(first, len(self._rows)):
            if self._tops[at] > scene.bottom:
                break
            pad = self.sheet.px(_HEAD_PAD if self._is_head(at) else _PAD)
            begin = min(len(self._edges) - 1, bisect_right(self._edges, self.side.offset))
            left = self._edges[begin - 1] if begin else 0
            for column, cell in enumerate(self._rows[at][begin:], begin):
                if left - self.side.offset > self._width - self._x:
                    break
                inner = Scene()
                if scene.selection:
                    start = self._start(at, column)
                    inner.selection = (scene.selection[0] - start, scene.selection[1] - start)
                cell.paint(painter, shift + left, self._tops[at] + pad, inner)
                left = self._edges[column]

    def track(self) -> QRectF:
        """Where the sideways bar lies."""
        sheet = self.sheet
        width = self._width - self._x - 2 * sheet.inset
        return QRectF(self._x + sheet.inset, self.height - self._foot - sheet.px(8), width, sheet.px(4))

    def hit(self, x: float, y: float) -> Hit | None:
        if self.side.needed and self.ends and self.track().adjusted(0, -4, 0, 8).contains(x, y):
            return Hit("scroll", "", self.track())
        if y > self._tops[-1]:
            return None
        at, column, inside = self._cell_at(x, y)
        href = self._rows[at][column].link_at(*inside)
        return Hit("link", href, None, tip_of(href)) if href else None

    def _cell_at(self, x: float, y: float) -> tuple[int, int, tuple[float, float]]:
        at = min(len(self._rows) - 1, max(0, bisect_right(self._tops, y) - 1))
        x += self.side.offset - self._x
        column = min(len(self._rows[at]) - 1, bisect_right(self._edges, x))
        left = self._edges[column - 1] if column else 0
        pad = self.sheet.px(_HEAD_PAD if self._is_head(at) else _PAD)
        return at, column, (x - left - self.sheet.inset, y - self._tops[at] - pad)

    def _start(self, at: int, column: int) -> int:
        """Offsets count through the cells row by row, one tab or newline after each."""
        if not self._starts:
            self._starts = [0]
            for row in self._rows:
                for cell in row:
                    self._starts.append(self._starts[-1] + units(cell.rich.text) + 1)
        return self._starts[at * len(self.leaf.head) + column]

    def _cells(self) -> list[tuple[int, Text, bool]]:
        return [
            (self._start(at, column), cell, column == len(row) - 1)
            for at, row in enumerate(self._rows)
            for column, cell in enumerate(row)
        ]

    def length(self) -> int:
        return sum(units(cell.rich.text) + 1 for row in self._rows for cell in row) - 1

    def plain(self, start: int, end: int) -> str:
        pieces = []
        for begin, cell, ends_row in self._cells():
            stop = begin + units(cell.rich.text)
            if begin > end or stop < start:
                continue
            pieces.append(cell.rich.plain(max(0, start - begin), min(end, stop) - begin))
            pieces.append("\n" if ends_row else "\t")
        return "".join(pieces[:-1])

    @property
    def words(self) -> str:
        return "\n".join("\t".join(cell.rich.text for cell in row) for row in self._rows)

    @property
    def joint(self) -> str:
        return "\n" if self.leaf.part else "\n\n"

    def offset_at(self, x: float, y: float) -> int:
        at, column, inside = self._cell_at(x, y)
        return self._start(at, column) + self._rows[at][column].offset_at(*inside)

    def _around(self, offset: int) -> tuple[int, Text]:
        at, column = self._row_column(offset)
        return self._start(at, column), self._rows[at][column]

    def _origin(self, at: int, column: int) -> QPointF:
        """Where a cell's text begins."""
        left = self._edges[column - 1] if column else 0
        pad = self.sheet.px(_HEAD_PAD if self._is_head(at) else _PAD)
        return QPointF(self._x + self.sheet.inset - self.side.offset + left, self._tops[at] + pad)

    def caret(self, offset: int) -> tuple[float, float, float]:
        at, column = self._row_column(offset)
        cell, origin = self._rows[at][column], self._origin(at, column)
        x, top = cell.caret(offset - self._start(at, column))
        return origin.x() + x, origin.y() + top, cell.grid.line

    def rects(self, start: int, end: int) -> list[QRectF]:
        found: list[QRectF] = []
        first, last = self._row_column(start)[0], self._row_column(end)[0]
        for at in range(first, last + 1):
            for column, cell in enumerate(self._rows[at]):
                begin = self._start(at, column)
                inside = max(0, start - begin), min(units(cell.rich.text), end - begin)
                if inside[0] < inside[1]:
                    found += [rect.translated(self._origin(at, column)) for rect in cell.rects(*inside)]
        return found

    def step(self, offset: int, by: int, *, words: bool) -> int | None:
        begin, cell = self._around(offset)
        inside = cell.step(offset - begin, by, words=words)
        if inside is not None:
            return begin + inside
        return offset + by if 0 <= offset + by <= self.length() else None

    def line_ends(self, offset: int) -> tuple[int, int]:
        begin, cell = self._around(offset)
        start, end = cell.line_ends(offset - begin)
        return begin + start, begin + end

    def _row_column(self, offset: int) -> tuple[int, int]:
        """The cell that holds an offset."""
        self._start(0, 0)
        number = min(len(self._starts) - 2, bisect_right(self._starts, offset) - 1)
        return divmod(number, len(self.leaf.head))

    def word_at(self, offset: int) -> tuple[int, int]:
        begin, cell = self._around(offset)
        first, last = cell.word_at(offset - begin)
        return begin + first, begin + last

    def paragraph_at(self, offset: int) -> tuple[int, int]:
        begin, cell = self._around(offset)
        return begin, begin + units(cell.rich.text)

    def line_top(self, offset: int) -> float:
        for at in range(len(self._rows) - 1, -1, -1):
            if self._start(at, 0) <= offset:
                return self._tops[at]
        return 0

    def end_point(self) -> tuple[float, float, float]:
        at, column = len(self._rows) - 1, len(self._edges) - 1
        cell = self._rows[at][column]
        while not cell.rich.text and column > 0:
            column -= 1
            cell = self._rows[at][column]
        left = self._edges[column - 1] if column else 0
        pad = self.sheet.px(_HEAD_PAD if self._is_head(at) else _PAD)
        x = self._x + self.sheet.inset - self.side.offset + left + cell.end_x()
        return x, self._tops[at] + pad + (cell.lines - 1) * cell.grid.line, cell.grid.line


def _shares(natural: list[float], weights: list[int], room: float, narrowest: float) -> list[float]:
    """Column widths: by weight where the content fits that, by content where it does not.

    When all of it is too wide, the wide columns share what the narrow ones leave; none gets less than `narrowest`
    (or its content), so that the table may become wider than `room` and scroll.
    """
    if sum(natural) <= room:
        widths = list(natural)
        free = set(range(len(natural)))
        while free:
            left = room - sum(widths[at] for at in range(len(natural)) if at not in free)
            share = left / sum(weights[at] for at in free)
            tight = {at for at in free if natural[at] > share * weights[at]}
            if not tight:
                for at in free:
                    widths[at] = share * weights[at]
                break
            free -= tight
        return widths
    least = [min(width, narrowest) for width in natural]
    spare = room - sum(least)
    if spare <= 0:
        return least
    wish = [width - low for width, low in zip(natural, least, strict=True)]
    return [low + spare * more / sum(wish) for low, more in zip(least, wish, strict=True)]
