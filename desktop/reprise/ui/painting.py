"""Small painting rules every self-painted widget shares: hairlines, rounded boxes, labels centred by cap height."""

from __future__ import annotations

from math import floor

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from reprise.ui.theme import Theme


def hairline(painter: QPainter) -> float:
    """The width of a one-device-pixel line in the painter's units (never a grey one and a half)."""
    ratio = painter.device().devicePixelRatio()
    return max(1, floor(ratio)) / ratio


def box(
    painter: QPainter, rect: QRect | QRectF, radius: float, fill: QColor | None, edge: QColor | None = None
) -> None:
    """A rounded box with a hairline edge that lies inside `rect`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    area = QRectF(rect)
    if edge is None:
        painter.setPen(Qt.PenStyle.NoPen)
    else:
        width = hairline(painter)
        painter.setPen(QPen(edge, width))
        area.adjust(width / 2, width / 2, -width / 2, -width / 2)
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(area, radius, radius)


def mirrored(rect: QRect, width: int, is_left_to_right: bool) -> QRect:
    """`rect` of a widget `width` wide as the layout direction wants it."""
    return rect if is_left_to_right else QRect(width - rect.right() - 1, rect.y(), rect.width(), rect.height())


def rule(painter: QPainter, left: float, right: float, y: float, color: QColor) -> None:
    """A horizontal hairline whose upper edge is at `y`."""
    painter.fillRect(QRectF(left, y, right - left, hairline(painter)), color)


def baseline(font: QFont, middle: float) -> float:
    """Where the baseline is so that capitals are centred on `middle`: icons and labels then sit level."""
    return float(round(middle + QFontMetricsF(font).capHeight() / 2))


def label(
    painter: QPainter,
    rect: QRect | QRectF,
    text: str,
    font: QFont,
    color: QColor,
    *,
    right: bool = False,
    elide: bool = True,
) -> float:
    """Draw one line at the leading (or trailing) edge of `rect`, centred by cap height; returns its width."""
    area = QRectF(rect)
    metrics = QFontMetricsF(font)
    if elide:
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width())
    width = metrics.horizontalAdvance(text)
    left = area.right() - width if right else area.left()
    painter.setFont(font)
    painter.setPen(color)
    painter.drawText(QPointF(left, baseline(font, area.center().y())), text)
    return width


def ring(painter: QPainter, rect: QRectF, share: float, theme: Theme, width: float) -> None:
    """The countdown: what is left of the wait, from 12 o'clock, over a faint track."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    area = rect.adjusted(width / 2, width / 2, -width / 2, -width / 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("warn_border"), width))
    painter.drawEllipse(area)
    pen = QPen(theme.color("warn"), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.drawArc(area, 90 * 16, round(360 * 16 * min(max(share, 0.0), 1.0)))
