"""How a row of the palette is painted: icon, text with the matched letters in the accent, key caps or a day."""

from __future__ import annotations

from enum import IntEnum

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from reprise.ui.keycaps import caps_width, paint_caps
from reprise.ui.painting import baseline, box, label
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

NARROW = 400


class Role(IntEnum):
    """What an item carries: a `Found`, or the name of a group."""

    FOUND = Qt.ItemDataRole.UserRole + 1


class PaletteDelegate(QStyledItemDelegate):
    """Rows of 36, groups of 30 px."""

    def __init__(self, look: Appearance, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, self._look.theme.px(30 if isinstance(index.data(Role.FOUND), str) else 36))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme, px = self._look.theme, self._look.theme.px
        area: QRect = option.rect
        state: QStyle.StateFlag = option.state
        found = index.data(Role.FOUND)
        painter.save()
        if isinstance(found, str):
            line = area.adjusted(px(20), px(2), -px(20), 0)
            label(painter, line, found, theme.font(Type.SMALL, weight=600), theme.color("muted"))
            painter.restore()
            return
        if state & QStyle.StateFlag.State_Selected:
            box(painter, area.adjusted(px(7), 0, -px(7), 0), px(6), theme.color("selected_raised"))
        side = px(16)
        ratio = painter.device().devicePixelRatio()
        pixmap = self._look.icons.pixmap(found.icon, "muted", side, ratio)
        painter.drawPixmap(QPointF(area.left() + px(20), area.top() + (area.height() - side) / 2), pixmap)
        right = area.right() + 1 - px(19)
        taken = 0.0
        if area.width() >= px(NARROW) or self._fits(found.text, found.shortcut, found.aside, right - px(51 + 16)):
            if found.shortcut:
                middle = area.top() + area.height() / 2
                taken = px(16) + paint_caps(painter, self._look, found.shortcut, right, middle)
            elif found.aside:
                line = QRect(area.left(), area.top(), right - area.left(), area.height())
                small, muted = theme.font(Type.SMALL), theme.color("muted")
                taken = px(16) + label(painter, line, found.aside, small, muted, right=True)
        text_area = QRect(area.left() + px(51), area.top(), 0, area.height())
        text_area.setRight(round(right - taken))
        self._text(painter, found.text, set(found.places), text_area)
        painter.restore()

    def _fits(self, text: str, shortcut: str, aside: str, width: int) -> bool:
        """Whether what stands beside the name leaves it whole; where it is narrow the name comes first."""
        small = QFontMetricsF(self._look.theme.font(Type.SMALL))
        beside = caps_width(self._look, shortcut) if shortcut else small.horizontalAdvance(aside)
        return QFontMetricsF(self._strong()).horizontalAdvance(text) + beside <= width

    def _strong(self) -> QFont:
        font = QFont(self._look.theme.font(Type.BODY))
        font.setPixelSize(self._look.theme.px(14))
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _text(self, painter: QPainter, text: str, places: set[int], area: QRect) -> None:
        """Runs of matched and other letters, each drawn whole; too long a text is cut at its end."""
        theme = self._look.theme
        font = theme.font(Type.BODY)
        size = QFont(font)
        size.setPixelSize(theme.px(14))
        strong = self._strong()
        shown = QFontMetricsF(strong).elidedText(text, Qt.TextElideMode.ElideRight, area.width())
        x, start = float(area.left()), 0
        y = baseline(size, area.top() + area.height() / 2)
        while start < len(shown):
            hit = start in places
            end = start
            while end < len(shown) and (end in places) == hit:
                end += 1
            painter.setFont(strong if hit else size)
            painter.setPen(theme.color("accent" if hit else "text"))
            painter.drawText(QPointF(x, y), shown[start:end])
            x += QFontMetricsF(strong if hit else size).horizontalAdvance(shown[start:end])
            start = end
