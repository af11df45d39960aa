"""The retry banner: why the turn waits, which retry comes, the live seconds, and the three things to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from reprise.ui.controls import Button, Glyph, Kind, Ring
from reprise.ui.language import tr
from reprise.ui.lines import Sentence
from reprise.ui.motion import appear
from reprise.ui.painting import box, mirrored
from reprise.ui.style import Appearance

if TYPE_CHECKING:
    from reprise.domain.retry import PendingRetry

NARROW = 640
MINUTE_S = 60.0


class RetryBanner(QWidget):
    """44 px above the composer, 76 in two rows where the column is narrow, more when the sentence wraps.

    Signals:
        retry_now(), cancelled(), extended(float seconds): the buttons.
    """

    retry_now = Signal()
    cancelled = Signal()
    extended = Signal(float)

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("retryBanner")
        self.setAccessibleName(tr("A retry is scheduled"))
        self._look = look
        self._pending: PendingRetry | None = None
        self._place_name = ""
        self._longest = 1
        self._is_offline = False
        self.ring = Ring(look, 16, self)
        self.glyph = Glyph(look, "offline", "muted", 16, self)
        self.glyph.hide()
        self.sentence = Sentence(look, self)
        self.sentence.setObjectName("retryBannerText")
        self.now = Button(look, tr("Retry now"), kind=Kind.FRAMED, parent=self)
        self.now.setObjectName("retryNowButton")
        self.now.clicked.connect(self.retry_now)
        self.later = Button(look, tr("+1 min"), kind=Kind.PLAIN, parent=self)
        self.later.setObjectName("extendRetryButton")
        self.later.setAccessibleName(tr("Wait one minute longer"))
        self.later.clicked.connect(lambda: self.extended.emit(MINUTE_S))
        self.cancel = Button(look, tr("Cancel"), kind=Kind.PLAIN, parent=self)
        self.cancel.setObjectName("cancelRetryButton")
        self.cancel.setAccessibleName(tr("Cancel the wait"))
        self.cancel.clicked.connect(self.cancelled)
        look.changed.connect(self._arrange)
        self.hide()

    def start(self, pending: PendingRetry, seconds: int | None, place: str) -> None:
        """Show the wait for `pending` with `seconds` left; `place` is the provider's name.

        Without seconds nobody knows how long: it waits for another chat's retry, or for the network; then it is
        neutral, since nothing is wrong with the chat.
        """
        # A banner is shown long after the first paint.
        from reprise.domain.retry import WaitReason
        from reprise.ui.words import open_wait_words

        self._pending, self._place_name, self._longest = pending, place, max(1, seconds or 0)
        counts, self._is_offline = seconds is not None, pending.reason is WaitReason.OFFLINE
        self.setAccessibleName(tr("A retry is scheduled") if counts else open_wait_words(pending))
        self.glyph.set_icon(*(("offline", "muted") if self._is_offline else ("clock", "warn")))
        self.ring.setVisible(counts)
        self.glyph.setVisible(not counts)
        self.later.setVisible(counts)
        self.now.setText(tr("Try now") if self._is_offline else tr("Retry now"))
        self.now.setAccessibleName(self.now.text())
        self.show_seconds(seconds or 0)
        appear(self, self._look)

    def show_seconds(self, seconds: int) -> None:
        """The wait has `seconds` left; more than before when it was extended."""
        if self._pending is None:
            return
        self._longest = max(self._longest, seconds)
        self.ring.set_share(seconds / self._longest)
        from reprise.ui.words import countdown_segments

        self.sentence.set_pieces(countdown_segments(self._pending, seconds, self._place_name))
        self._arrange()

    def end(self) -> None:
        """The wait is over, one way or another."""
        self._pending = None
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        fill, edge = ("surface", "border_strong") if self._is_offline else ("warn_tint", "warn_border")
        box(painter, self.rect(), theme.px(10), theme.color(fill), theme.color(edge))
        painter.end()

    def _arrange(self) -> None:
        px = self._look.theme.px
        buttons = [button for button in (self.now, self.later, self.cancel) if not button.isHidden()]
        sizes = [button.sizeHint() for button in buttons]
        taken = sum(size.width() for size in sizes) + (len(sizes) - 1) * px(8)
        left, edge = px(44), px(8)
        rows = 2 if self.width() < px(NARROW) - px(32) else 1
        room = self.width() - left - (px(16) if rows == 2 else taken + edge + px(12))
        if rows == 1 and self.sentence.sizeHint().width() > 2 * room:
            rows, room = 2, self.width() - left - px(16)
        text = self.sentence.heightForWidth(room)
        if rows == 1:
            height = max(px(44), text + px(24))
            top, x = (height - sizes[0].height()) // 2, self.width() - edge - taken
            self.sentence.setGeometry(self._sided(QRect(left, (height - text) // 2, room, text)))
        else:
            top, x = text + px(20), left
            lines = self._lines([size.width() for size in sizes], self.width() - left - edge, px(8))
            height = top + edge + lines * sizes[0].height() + (lines - 1) * px(4)
            self.sentence.setGeometry(self._sided(QRect(left, px(10), room, text)))
        first = self.sentence.y() + (text if rows == 1 else px(20)) // 2
        for mark in (self.ring, self.glyph):
            mark.setGeometry(self._sided(QRect(px(16), first - mark.height() // 2, mark.width(), mark.height())))
        for button, size in zip(buttons, sizes, strict=True):
            if rows == 2 and x > left and x + size.width() > self.width() - edge:
                top, x = top + size.height() + px(4), left
            button.setGeometry(self._sided(QRect(x, top, size.width(), size.height())))
            x += size.width() + px(8)
        if self.minimumHeight() != height:
            self.setFixedHeight(height)
        self.update()

    @staticmethod
    def _lines(widths: list[int], room: int, gap: int) -> int:
        """How many lines buttons of these widths need."""
        lines, taken = 1, 0
        for width in widths:
            if taken and taken + gap + width > room:
                lines, taken = lines + 1, 0
            taken += width + (gap if taken else 0)
        return lines

    def _sided(self, rect: QRect) -> QRect:
        return mirrored(rect, self.width(), self.isLeftToRight())
