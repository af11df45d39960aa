"""The page beside the sidebar: timeline or empty page above, banner and composer below, on the same two edges."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QScrollBar, QWidget

from reprise.ui.composer import Composer
from reprise.ui.controls import Button, Kind, Text
from reprise.ui.language import tr
from reprise.ui.painting import box
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

if TYPE_CHECKING:
    from reprise.ui.first_run import FirstRun
    from reprise.ui.retry_banner import RetryBanner
    from reprise.ui.tray import Tray

COLUMN = 760
NARROW = 640


class Page(QWidget):
    """Lays out what a conversation shows; knows nothing of conversations.

    Signals:
        jump_wanted(): "Jump to latest" was pressed.
    """

    jump_wanted = Signal()

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._look = look
        self._first_run: FirstRun | None = None
        self._timeline: QAbstractScrollArea | None = None
        self._edge: Callable[[], int] = lambda: 0
        self._bar = ScrollBar(self)
        self.jump = JumpButton(look, self)
        self.jump.clicked.connect(self.jump_wanted)
        self.jump.hide()
        self._banner: RetryBanner | None = None
        self.tray: Tray | None = None
        self.composer = Composer(look, self)
        self._quiet = Text(look, "", Type.SMALL, "muted", parent=self)
        self._quiet.setObjectName("composerNote")
        self.composer.refused.connect(self.say)
        self.composer.installEventFilter(self)
        look.changed.connect(self.arrange)

    def add_first_run(self) -> FirstRun:
        """Make the empty page."""
        from reprise.ui.first_run import FirstRun  # not needed for the first paint

        self._first_run = FirstRun(self._look, self)
        self._first_run.lower()
        self._first_run.show()
        self.arrange()
        return self._first_run

    def add_banner(self) -> RetryBanner:
        """Make what stands on the composer while a turn waits."""
        from reprise.ui.retry_banner import RetryBanner  # not needed for the first paint

        self._banner = RetryBanner(self._look, self)
        self._banner.installEventFilter(self)
        return self._banner

    def add_tray(self) -> Tray:
        """Make what stands on the composer."""
        from reprise.ui.tray import Tray  # not needed for the first paint

        self.tray = Tray(self._look, self)
        self.tray.installEventFilter(self)
        self.arrange()
        return self.tray

    @property
    def banner(self) -> RetryBanner:
        """The retry banner; RuntimeError before `add_banner`."""
        if self._banner is None:
            raise RuntimeError("the retry banner is not made yet")
        return self._banner

    @property
    def first_run(self) -> FirstRun:
        """The empty page; RuntimeError before `add_first_run`."""
        if self._first_run is None:
            raise RuntimeError("the empty page is not made yet")
        return self._first_run

    def set_timeline(self, timeline: QAbstractScrollArea, edge: Callable[[], int]) -> None:
        """Put the timeline on the page, hidden until something is said; `edge` is where its column begins.

        Its scroll bar floats over the page, so that the column keeps its place when the bar comes.
        """
        self._timeline, self._edge = timeline, edge
        timeline.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._bar.follow(timeline.verticalScrollBar())
        timeline.setParent(self)
        timeline.hide()
        timeline.stackUnder(self._bar)
        self.arrange()

    def order_tabs(self, before: QWidget) -> None:
        """Let Tab go on from `before` through the page in reading order."""
        banner, composer = self.banner, self.composer
        chain: list[QWidget] = [before, *(self._first_run.rows() if self._first_run else ())]
        if self._timeline is not None:
            chain.append(self._timeline)
        chain += [banner.now, banner.later, banner.cancel]
        chain += self.tray.stops() if self.tray is not None else []
        chain += [composer.editor, composer.button]
        for first, second in pairwise(chain):
            QWidget.setTabOrder(first, second)

    def show_empty(self, empty: bool) -> None:
        """Show the empty page, or the timeline."""
        show_timeline = not empty and self._timeline is not None
        self.first_run.setVisible(empty)
        if self._timeline is not None:
            self._timeline.setVisible(show_timeline)
            self._bar.settle(shown=show_timeline)
        if empty:
            self.jump.hide()

    def say(self, sentence: str) -> None:
        """One quiet line under the composer; "" takes it away."""
        self._quiet.setText(sentence)
        self._quiet.setAccessibleName(sentence)
        self.arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide):
            self.arrange()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Put everything on its edge; idempotent."""
        px = self._look.theme.px
        width, height = self.width(), self.height()
        if width <= 0 or height <= 0:
            return
        side = self._edge() or max(px(16), (width - px(COLUMN)) // 2)
        column = max(1, width - 2 * side)
        bottom = px(16 if width < px(NARROW) else 20)
        self.composer.set_limit(round(self.window().height() * 0.4))
        _place(self.composer, QRect(side, height - bottom - self.composer.height(), column, self.composer.height()))
        top = self.composer.y()
        note = QRect(side + px(16), top + self.composer.height(), column - px(32), bottom)
        self._quiet.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading)
        _place(self._quiet, note)
        if self.tray is not None:
            self.tray.set_limit(min(round(self.window().height() * 0.4), top - px(8)))
        for above in (self.tray, self._banner):
            if above is not None and not above.isHidden():
                _place(above, QRect(side, top - px(8) - above.height(), column, above.height()))
                top = above.y()
        body = QRect(0, 0, width, max(0, top))
        if self._first_run is not None:
            _place(self._first_run, body)
            self._first_run.set_side(side)
        if self._timeline is not None:
            _place(self._timeline, body)
            if self._edge() != side:
                self.arrange()  # the timeline's column took another place with its new width
                return
            _place(self._bar, QRect(width - px(10), 0, px(10), body.height()))
        size = self.jump.sizeHint()
        _place(self.jump, QRect((width - size.width()) // 2, top - px(16) - size.height(), size.width(), size.height()))


class JumpButton(Button):
    """The round-ended button that leads back to the end."""

    def __init__(self, look: Appearance, parent: QWidget) -> None:
        super().__init__(look, tr("Jump to latest"), kind=Kind.PLAIN, icon="jump-latest", parent=parent)
        self.setObjectName("jumpToLatest")

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), self.height() / 2, theme.color("raised"), theme.color("border_strong"))
        painter.end()
        super().paintEvent(event)

    def _colors(self) -> tuple[str | None, str | None, str]:
        return None, None, "text"


class ScrollBar(QScrollBar):
    """A bar that floats over the page and moves with the timeline's own, which is hidden."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._shown = False
        self._other: QScrollBar | None = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def follow(self, other: QScrollBar) -> None:
        """Move with `other` from now on."""
        self._other = other
        other.rangeChanged.connect(self._take)
        other.valueChanged.connect(self._take)
        self.valueChanged.connect(other.setValue)
        self._take()

    def settle(self, *, shown: bool) -> None:
        """Show it where there is something to scroll."""
        self._shown = shown
        self.setVisible(shown and self.maximum() > self.minimum())

    def _take(self, *_: int) -> None:
        if self._other is None:
            return
        self.blockSignals(True)
        self.setRange(self._other.minimum(), self._other.maximum())
        self.setPageStep(self._other.pageStep())
        self.setSingleStep(self._other.singleStep())
        self.setValue(self._other.value())
        self.blockSignals(False)
        self.settle(shown=self._shown)
        self.update()


def _place(widget: QWidget, rect: QRect) -> None:
    if widget.geometry() != rect:
        widget.setGeometry(rect)
