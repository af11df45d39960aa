"""Shortcuts as key caps."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from reprise.ui.language import shortcut_text
from reprise.ui.painting import baseline, box
from reprise.ui.style import Appearance
from reprise.ui.theme import Scheme, Type


def keys_of(shortcut: str) -> list[str]:
    """The caps of a shortcut: "Ctrl+=" -> ["Ctrl", "="]."""
    text = shortcut_text(shortcut)
    if text.endswith("++"):
        return [*(part for part in text[:-2].split("+") if part), "+"]
    return [part for part in text.split("+") if part] or [text]


def caps_width(look: Appearance, shortcut: str) -> float:
    """How wide `paint_caps` will be."""
    return sum(_cap_width(look, key) for key in keys_of(shortcut)) + look.theme.px(4) * (len(keys_of(shortcut)) - 1)


def paint_caps(painter: QPainter, look: Appearance, shortcut: str, right: float, middle: float) -> float:
    """Paint the caps so that they end at `right`; returns their width."""
    theme, px = look.theme, look.theme.px
    font = theme.font(Type.MICRO)
    fill = theme.color("surface" if theme.scheme is Scheme.DARK else "sunken")
    width = caps_width(look, shortcut)
    x = right - width
    for key in keys_of(shortcut):
        cap = QRectF(round(x), round(middle - px(9)), _cap_width(look, key), px(18))
        box(painter, cap, px(4), fill, theme.color("border_strong"))
        painter.setFont(font)
        painter.setPen(theme.color("muted"))
        text_width = QFontMetricsF(font).horizontalAdvance(key)
        painter.drawText(QPointF(cap.center().x() - text_width / 2, baseline(font, cap.center().y())), key)
        x += cap.width() + px(4)
    return width


def _cap_width(look: Appearance, key: str) -> float:
    px = look.theme.px
    return float(max(px(18), round(QFontMetricsF(look.theme.font(Type.MICRO)).horizontalAdvance(key)) + px(10)))


class KeyCaps(QWidget):
    """A shortcut as caps in a layout."""

    def __init__(self, look: Appearance, shortcut: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look, self._shortcut = look, shortcut
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(shortcut_text(shortcut))
        look.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(round(caps_width(self._look, self._shortcut)), self._look.theme.px(20))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_caps(painter, self._look, self._shortcut, self.width(), self.height() / 2)
        painter.end()
