"""The preview of a retry policy: a bar for every wait, and their sum."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from reprise.domain.retry import RetryPolicy
from reprise.ui.language import duration, tr
from reprise.ui.painting import box, label, rule
from reprise.ui.schedules import sum_of
from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class RetryChart(QWidget):
    """Painted; a screen reader hears the sum and the waits."""

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("retryPreview")
        self._look = look
        self._policy = RetryPolicy(())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(self._look.theme.px(280), self._look.theme.px(208))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._look.theme.px(160), self._look.theme.px(208))

    def summary(self) -> str:
        """The sum in words: "10 retries over 6 min 20 s"."""
        return sum_of(self._policy)

    def show_policy(self, policy: RetryPolicy) -> None:
        """Preview `policy`."""
        self._policy = policy
        waits = ", ".join(duration(wait) for wait in policy.schedule[:20])
        self.setAccessibleName(f"{self.summary()}. {waits}".strip())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._look.theme, self._look.theme.px
        painter = QPainter(self)
        box(painter, self.rect(), px(10), theme.color("code_bg"), theme.color("code_border"))
        head = QRectF(px(16), px(10), self.width() - px(32), px(20))
        title, strong = theme.font(Type.SMALL, weight=600), theme.font(Type.UI, weight=500, tabular=True)
        taken = label(painter, head, self.summary(), strong, theme.color("text"), right=True)
        if taken + QFontMetricsF(title).horizontalAdvance(tr("Preview")) + px(8) <= head.width():
            label(painter, head, tr("Preview"), title, theme.color("muted"))
        floor = self.height() - px(32)
        rule(painter, px(16), self.width() - px(16), floor, theme.color("border_strong"))
        if self._policy.schedule:
            self._bars(painter, floor)
        painter.end()

    def _bars(self, painter: QPainter, floor: int) -> None:
        theme, px = self._look.theme, self._look.theme.px
        font = theme.font(Type.MICRO, tabular=True)
        metrics = QFontMetricsF(font)
        shown = self._policy.schedule[:40]
        step = (self.width() - px(32)) / len(shown)
        width = min(px(28), max(2, round(step * 0.6)))
        tallest = max(shown)
        room = floor - px(52)
        color = theme.color("accent")
        color.setAlphaF(0.85)
        said_until = -1.0
        for place, wait in enumerate(shown):
            middle = px(16) + step * (place + 0.5)
            height = max(px(2), round(room * wait / tallest))
            bar = QRectF(round(middle - width / 2), floor - height, width, height)
            path = QPainterPath()
            radius = min(px(4), height)
            path.addRoundedRect(bar.adjusted(0, 0, 0, radius), radius, radius)
            painter.save()
            painter.setClipRect(bar)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillPath(path, color)
            painter.restore()
            painter.setFont(font)
            painter.setPen(theme.color("muted"))
            text = tr("{s} s").format(s=round(wait)) if wait < 100 else duration(wait)
            half = metrics.horizontalAdvance(text) / 2
            if middle - half > said_until:
                painter.drawText(QPointF(middle - half, bar.top() - px(5)), text)
                number = str(place + 1)
                painter.drawText(QPointF(middle - metrics.horizontalAdvance(number) / 2, floor + px(18)), number)
                said_until = middle + half + px(4)
