"""What one theme means for the timeline: fonts, the line grid, character formats, lengths and painting helpers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QIcon, QPainter, QPen, QPixmap, QTextCharFormat

from reprise.ui.theme import Theme, Type, baseline_in
from reprise.ui.timeline.inline import Style

Icons = Callable[[str, str, int], QIcon | QPixmap]
COLUMN = 760
INSET = 16  # outer edge to text edge


class Grid:
    """One role's font and where its baselines stand.

    The line is a fixed number of pixels, or the font's own height where that is larger; the baseline is rounded to a
    whole pixel, so that lines keep one rhythm whatever glyphs they hold.
    """

    __slots__ = ("baseline", "font", "line", "metrics")

    def __init__(self, font: QFont, line: int) -> None:
        self.font = font
        self.metrics = QFontMetricsF(font)
        ascent, descent = self.metrics.ascent(), self.metrics.descent()
        self.line = max(line, math.ceil(ascent + descent))
        self.baseline = baseline_in(font, self.line)


class Sheet:
    """Everything a block needs to lay itself out and paint. A new theme is a new sheet."""

    def __init__(self, theme: Theme, icons: Icons) -> None:
        self.theme = theme
        self._icons = icons
        self.px = theme.px
        self.color = theme.color
        self.inset = theme.px(INSET)
        self.grid = lru_cache(None)(self._grid)
        self.format = lru_cache(512)(self._format)
        self.foreground = lru_cache(64)(self._foreground)

    def _grid(self, role: Type, weight: int | None = None, tabular: bool = False) -> Grid:
        return Grid(self.theme.font(role, weight=weight, tabular=tabular), self.theme.line(role))

    def _format(self, role: Type, style: Style, is_link: bool, muted: bool) -> QTextCharFormat:
        font = self.theme.font(Type.CODE if style & Style.CODE else role)
        if style & Style.CODE:  # inline code is its surroundings minus 2 px
            font.setPixelSize(max(1, self.grid(role).font.pixelSize() - self.px(2)))
        if style & Style.BOLD and font.weight() < 600:
            font.setWeight(QFont.Weight.DemiBold)
        font.setItalic(bool(style & Style.ITALIC))
        font.setStrikeOut(bool(style & Style.STRIKE))
        made = QTextCharFormat()
        made.setFont(font)
        token = "accent" if is_link else "muted" if muted or style & Style.MUTED else "text"
        made.setForeground(QBrush(self.color(token)))
        if is_link:
            made.setFontUnderline(True)
            made.setUnderlineColor(self.color("border_strong"))
        return made

    def _foreground(self, token: str) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setForeground(QBrush(self.color(token)))
        return made

    def icon(self, painter: QPainter, name: str, token: str, rect: QRect) -> None:
        """Paint an icon of our set in a colour."""
        made = self._icons(name, token, rect.width())
        if isinstance(made, QIcon):
            made.paint(painter, rect)
        else:
            painter.drawPixmap(rect, made)

    def text(
        self, painter: QPainter, grid: Grid, x: float, center: float, text: str, token: str, *, right: bool = False
    ) -> float:
        """One line centred by cap height on `center`; `x` is its left edge, or its right one. Returns its width."""
        width = grid.metrics.horizontalAdvance(text)
        painter.setFont(grid.font)
        painter.setPen(self.color(token))
        baseline = snapped(painter, center + grid.metrics.capHeight() / 2)
        painter.drawText(QPointF(x - width if right else x, baseline), text)
        return width


def snapped(painter: QPainter, value: float) -> float:
    """`value` (a coordinate or a length) on the nearest device pixel."""
    ratio = painter.device().devicePixelRatioF()
    return math.floor(value * ratio + 0.5) / ratio


def hairline(painter: QPainter) -> float:
    """One device pixel (of a coarse screen; two from 200 % on) in painter units."""
    ratio = painter.device().devicePixelRatioF()
    return max(1, math.floor(ratio)) / ratio


def box(painter: QPainter, rect: QRectF, radius: float, fill: QColor | None, edge: QColor | None) -> None:
    """A filled rounded box whose edge is a hairline inside `rect`, on device pixels."""
    pen = hairline(painter)
    left, top = snapped(painter, rect.left()), snapped(painter, rect.top())
    right, bottom = snapped(painter, rect.right()), snapped(painter, rect.bottom())
    half = pen / 2 if edge else 0.0
    inner = QRectF(left + half, top + half, right - left - 2 * half, bottom - top - 2 * half)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(QPen(edge, pen) if edge else Qt.PenStyle.NoPen)
    painter.setBrush(fill if fill else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(inner, radius - half, radius - half)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def rule(painter: QPainter, x0: float, x1: float, y: float, color: QColor) -> None:
    """A horizontal hairline whose top is at `y`."""
    top = snapped(painter, y)
    painter.fillRect(QRectF(x0, top, x1 - x0, hairline(painter)), color)
