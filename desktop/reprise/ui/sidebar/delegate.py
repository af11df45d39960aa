"""Paints the rows: a title and one state in the slot at the right, each with a shape, word or weight of its own."""

from __future__ import annotations

from math import pi, sin

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from reprise.bridge.session_row import Mark, SessionRow
from reprise.ui.language import duration, tr
from reprise.ui.painting import box, label, ring
from reprise.ui.sidebar.model import Data
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

HALO_PERIOD_S = 1.6


class SessionDelegate(QStyledItemDelegate):
    """Rows of 32, groups of 34 px."""

    def __init__(self, look: Appearance, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look
        self.phase_s = 0.0
        self.keyboard_focus = False
        self._longest: dict[str, int] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, self._look.theme.px(32 if index.data(Data.ROW) is not None else 34))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme, px = self._look.theme, self._look.theme.px
        area: QRect = option.rect
        state: QStyle.StateFlag = option.state
        row = index.data(Data.ROW)
        painter.save()
        if not isinstance(row, SessionRow):
            line = area.adjusted(px(20), px(10), -px(20), 0)
            label(painter, line, str(index.data()), theme.font(Type.SMALL, weight=600), theme.color("muted"))
            painter.restore()
            return
        current = bool(index.data(Data.CURRENT))
        inner = QRect(area.left() + px(8), area.top(), area.width() - px(16), area.height())
        if current or state & QStyle.StateFlag.State_MouseOver:
            box(painter, inner, px(6), theme.color("selected" if current else "hover"))
        if self.keyboard_focus and state & QStyle.StateFlag.State_HasFocus:
            pen_rect = QRectF(inner).adjusted(1, 1, -1, -1)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            pen = painter.pen()
            pen.setColor(theme.color("focus"))
            pen.setWidthF(2)
            painter.setPen(pen)
            painter.drawRoundedRect(pen_rect, px(6), px(6))
        slot = QRect(area.left() + px(20), area.top(), area.width() - px(40), area.height())
        taken = self._slot(painter, row, slot)
        weight = 600 if row.mark is Mark.UNREAD else 500 if current else 400
        text = slot.adjusted(0, 0, -taken, 0)
        label(painter, text, row.session.title, theme.font(Type.UI, weight=weight), theme.color("text"))
        painter.restore()

    def _slot(self, painter: QPainter, row: SessionRow, slot: QRect) -> int:
        """Paint the state at the trailing edge; returns the pixels it takes."""
        theme, px = self._look.theme, self._look.theme.px
        right, middle = slot.right() + 1, slot.top() + slot.height() / 2
        match row.mark:
            case Mark.ASKS:
                font = theme.font(Type.SMALL, weight=600)
                return round(label(painter, slot, tr("Asks"), font, theme.color("accent"), right=True)) + px(10)
            case Mark.STREAMING | Mark.UNREAD:
                center = QPointF(right - px(8), middle)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(Qt.PenStyle.NoPen)
                if row.mark is Mark.STREAMING:
                    halo = theme.color("accent")
                    wave = 0.5 - 0.5 * sin(2 * pi * self.phase_s / HALO_PERIOD_S + pi / 2) if self._look.moves else 0.5
                    halo.setAlphaF(0.15 + 0.15 * wave)
                    painter.setBrush(halo)
                    painter.drawEllipse(center, px(7), px(7))
                painter.setBrush(theme.color("accent"))
                painter.drawEllipse(center, theme.zoom * 4, theme.zoom * 4)
                return px(26)
            case Mark.COUNTDOWN if row.seconds_left is not None:
                return self._countdown(painter, row, slot, row.seconds_left)
            case Mark.COUNTDOWN | Mark.PENDING | Mark.DRAFT:
                name, token, side = {
                    # It waits for the network, or for another chat, however long.
                    Mark.COUNTDOWN: ("clock", "warn", px(16)) if row.is_behind else ("offline", "muted", px(16)),
                    Mark.PENDING: ("retry", "warn", px(16)),
                    Mark.DRAFT: ("draft", "muted", px(16)),
                }[row.mark]
                device = painter.device()
                ratio = device.devicePixelRatio()
                pixmap = self._look.icons.pixmap(name, token, side, ratio)
                painter.drawPixmap(QPointF(right - px(8) - side / 2, middle - side / 2), pixmap)
                return px(26)
            case _:
                return 0

    def _countdown(self, painter: QPainter, row: SessionRow, slot: QRect, seconds: int) -> int:
        theme, px = self._look.theme, self._look.theme.px
        font = theme.font(Type.SMALL, weight=600, tabular=True)
        width = label(painter, slot, duration(seconds), font, theme.color("warn"), right=True)
        longest = max(seconds, self._longest.get(row.session.id, 0), 1)
        self._longest[row.session.id] = longest if seconds > 1 else 0
        side = px(13)
        left = slot.right() + 1 - width - px(8) - side
        ring(
            painter,
            QRectF(left, slot.top() + (slot.height() - side) / 2, side, side),
            seconds / longest,
            theme,
            theme.zoom * 1.75,
        )
        return round(width) + px(8) + side + px(10)
