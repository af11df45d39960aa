"""The timeline widget: what it shows, how it scrolls and follows, how it paints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from reprise.domain.deltas import Delta
from reprise.ui.theme import Theme
from reprise.ui.timeline.actions import Actions
from reprise.ui.timeline.canvas import Canvas
from reprise.ui.timeline.card import CardPlace
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.context_menu import ContextMenu
from reprise.ui.timeline.copying import Clipboard, Primary
from reprise.ui.timeline.dragging import Dragging
from reprise.ui.timeline.focus import STEP, Focus
from reprise.ui.timeline.highlight import Highlighter
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.keys import Keys
from reprise.ui.timeline.pointer import Pointer
from reprise.ui.timeline.reading import Reader
from reprise.ui.timeline.scroller import Scroller
from reprise.ui.timeline.selecting import Selecting
from reprise.ui.timeline.sheet import COLUMN, Icons, Sheet
from reprise.ui.timeline.shifting import Shifting
from reprise.ui.timeline.source import AS_MARKDOWN
from reprise.ui.timeline.stack import Anchor, Stack
from reprise.ui.timeline.streaming import Streaming
from reprise.ui.timeline.transcript import AS_PLAIN

_MARGIN = 16


class Timeline(QAbstractScrollArea):
    """Messages in a column of at most 760 px.

    Signals:
        at_tail_changed(bool): the reader reached or left the end.
        link_activated(str): an http, https or mailto link was clicked; the address.
        copied(str): something was put on the clipboard: "code", "link", "message", "selection" or "table".
        copying(bool): a long text is being collected for the clipboard; False when that is over.
        selection_changed(): something else is selected, or nothing.
        note_link(str, str): an action inside a note was pressed: the item's (or live reply's) key, the action.
        action_wanted(str, str): a button below a message was pressed: the item's key, the action's name.
        branch_wanted(str, int): another version of a message is wanted: its key, -1 or 1.
    """

    at_tail_changed = Signal(bool)
    link_activated = Signal(str)
    copied = Signal(str)
    copying = Signal(bool)
    selection_changed = Signal()
    note_link = Signal(str, str)
    action_wanted = Signal(str, str)
    branch_wanted = Signal(str, int)

    def __init__(self, theme: Theme, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline")
        self.setAccessibleName(self.tr("Conversation"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setMouseTracking(True)
        self._icons = icons
        self.sheet = Sheet(theme, icons)
        self._stack = Stack(self.sheet)
        self.scroller = Scroller(self._stack)
        self.selecting = Selecting(self._stack, self.viewport().update, self._selection_renewed)
        self.message_actions = Actions(self)
        self.pointer = Pointer(self)
        self.dragging = Dragging(self)
        self.focus = Focus(self)
        self.context_menu = ContextMenu(self)
        self.clipboard = Clipboard(self.selecting, self.copied.emit, self.copying.emit, self)
        self.primary = Primary(self.selecting, self)
        self.keys = Keys(self)
        self.highlighter = Highlighter(self._repaint_code, self)
        self.reader = Reader(self.scroller, self._changed, self)
        self._canvas = Canvas(self)
        self._shifting = Shifting(self)
        self._streaming = Streaming(
            self._stack, self._shifting.grow, self._changed, self._stop_pointing, self._renamed, self
        )
        self._card = CardPlace(self.viewport(), self._changed, self)
        self._was_at_tail = True
        self._syncing = False
        self.verticalScrollBar().valueChanged.connect(self._bar_moved)

    # what is shown

    def set_items(self, items: Iterable[TimelineItem]) -> None:
        """Show these messages and stand at the end. Drops a live reply and the selection; the card stays."""
        self._streaming.forget()
        self.highlighter.clear()
        self.scroller.forget()
        self._stack.set_items(items)
        self._stop_pointing()
        self.selecting.forget()
        self.scroller.follows = True
        self._changed()

    def update_items(self, items: Iterable[TimelineItem], start: int = 0) -> None:
        """Show these in place of the messages from `start` on, keeping what stays: opened parts, selection, the line
        being read, and the end if it is followed. A live reply stays only if no message comes or goes.
        """
        wanted = list(items)
        kept = self._stack.kept(wanted, start)
        if self.has_reply and (kept < len(wanted) or start + kept < len(self._stack.items)):
            self.drop_reply()
        self.pointer.forget()
        self.selecting.cut(start + kept)
        self.keeping_line(lambda: self._stack.update(wanted, kept, start))

    def prepend_items(self, items: Sequence[TimelineItem]) -> None:
        """Put these before the first message. Nothing moves, unless the start is what is wanted."""
        before = [(placed.block, placed.top) for placed in self.scroller.placed]
        self.scroller.prepend(items)
        self.pointer.shift(len(items))
        self.settle()
        if before != [(placed.block, placed.top) for placed in self.scroller.placed]:
            self.viewport().update()

    def append_item(self, item: TimelineItem) -> None:
        """Add a message at the end. While a reply is live, finish or drop that first."""
        if self._stack.live is not None:
            self.drop_reply()
        self._stack.append(item)
        self._changed()

    def begin_reply(self, key: str, label: str) -> None:
        """A caret in the reply's place. After `fail_reply` the dimmed partial stays until the first delta."""
        self._streaming.begin(key, label)

    def feed(self, delta: Delta) -> None:
        """Take in a delta of the live reply; shown with the next frame. Counts and tool calls show nothing."""
        self._streaming.feed(delta)

    def finish_reply(self, item: TimelineItem) -> None:
        """The reply is complete: `item` takes its place without a jump. Without a live reply it is appended."""
        if not self._streaming.finish(item):
            self.append_item(item)

    def fail_reply(self, note: str, icon: str = "info") -> None:
        """Keep what arrived, dimmed, with a note line under it; an empty reply goes away."""
        self._streaming.fail(note, icon)

    def drop_reply(self) -> None:
        """Take the live (or failed) reply away."""
        self._streaming.drop()

    def set_wait_text(self, text: str | None) -> None:
        """What the live reply waits for: beside the caret while empty, on a line with a clock under the text."""
        self._streaming.set_wait_text(text)

    @property
    def has_reply(self) -> bool:
        """True while a live or failed reply is shown."""
        return self._stack.live is not None

    def set_card(self, card: QWidget | None) -> None:
        """A widget on the outer edge under the last message, which scrolls along. `None` hides and releases it."""
        self._card.set(card)
        self._changed()

    @property
    def has_card(self) -> bool:
        """True while a card is shown."""
        return self._card.card is not None

    def set_theme(self, theme: Theme) -> None:
        """Change scheme or zoom; the line being read stays."""
        self.sheet = Sheet(theme, self._icons)
        self.highlighter.clear()
        self.scroller.forget()
        self.pointer.forget()
        self.keeping_line(lambda: self._stack.restyle(self.sheet))

    # copying

    def copy_selection(self) -> bool:
        """Put the selection on the clipboard as it is seen; False without one."""
        return self.clipboard.selection(AS_PLAIN)

    def copy_markdown(self) -> bool:
        """Put the Markdown source of the selection on the clipboard; False without one."""
        return self.clipboard.selection(AS_MARKDOWN)

    def select_all(self) -> None:
        """Select the focused message; when that is selected, everything."""
        self.selecting.select_message(self.focus.message)

    # scrolling

    def go_to(self, anchor: Anchor) -> None:
        """Show a block at the top of the page, as far as the end lets it."""
        self.scroller.go_to(anchor)
        self._changed()

    def jump_to_latest(self) -> None:
        """Go to the end and follow it."""
        self.scroller.follows = True
        self._changed()

    def jump_to_start(self) -> None:
        """Go to the first message."""
        self.scroller.go_to_start()
        self._changed()

    @property
    def is_at_tail(self) -> bool:
        """True while the end is in view, and so followed."""
        return self.scroller.follows

    def scroll_by(self, delta: int) -> None:
        """Scroll down by `delta` pixels, up when negative. Up lets go of the end."""
        self._shifting.scroll(delta)

    def _bar_moved(self, value: int) -> None:
        if self._syncing:
            return
        if value >= self.verticalScrollBar().maximum():
            self.scroller.follows = True
        elif value == 0:
            self.scroller.go_to_start()
        else:
            self.scroller.go_to(self._stack.at(value))
        self._changed()

    def _changed(self) -> None:
        """Settle where everything is and paint it."""
        self.settle()
        self.viewport().update()

    def _stop_pointing(self) -> None:
        """Text is not where it was: what the mouse is doing there does not hold."""
        self.dragging.end()
        self.pointer.forget()

    def _renamed(self, old: str, new: str) -> None:
        self.selecting.rename(old, new)
        self.focus.rename(old, new)

    def _selection_renewed(self) -> None:
        self.primary.forget()
        self.selection_changed.emit()

    def settle(self) -> None:
        """Work out where everything is, without painting it."""
        self.selecting.refresh()
        width, scroller = self.column_width, self.scroller
        scroller.settle(width, self.viewport().height(), self._card.foot(width, self.sheet.px))
        end = scroller.end if len(self._stack) else None
        self._card.place(self.column_left, end, width, self.sheet.px)
        self._sync_bar(self.viewport().height())
        self.reader.look()
        if scroller.follows != self._was_at_tail:
            self._was_at_tail = scroller.follows
            self.at_tail_changed.emit(scroller.follows)

    def keeping_line(self, change: Callable[[], object]) -> None:
        """Do what changes heights; the line at the top of the viewport stays where it is."""
        self.scroller.keeping_line(change)
        self._changed()

    def _sync_bar(self, height: int) -> None:
        bar = self.verticalScrollBar()
        end = max(0, self._stack.total - height)
        self._syncing = True
        bar.setRange(0, end)
        bar.setPageStep(height)
        bar.setSingleStep(STEP)
        bar.setValue(end if self.scroller.follows else min(end - 1, self._stack.height_of(self._stack.anchor)))
        self._syncing = False

    # geometry

    @property
    def column_width(self) -> int:
        """The width between the outer edges."""
        return max(1, min(self.sheet.px(COLUMN), self.width() - 2 * self.sheet.px(_MARGIN)))

    @property
    def column_left(self) -> int:
        """The outer edge in the viewport: centred on the whole widget, so that the scroll bar shifts nothing."""
        return (self.width() - self.column_width) // 2

    def item(self, message: int) -> TimelineItem | None:
        """What is shown at an index; `None` beyond the last message (the live reply included)."""
        items = self._stack.items
        return items[message] if 0 <= message < len(items) else None

    def is_panel(self, message: int) -> bool:
        """True for a prompt: it stands on a panel."""
        return self._stack.view(message).is_panel

    def key_of(self, message: int) -> str:
        """The key of a message or of the live reply."""
        return self._stack.key_of(message)

    def toggle(self, message: int, part: int) -> None:
        """Open or close a message's thinking or tool line in place."""

        def change() -> None:
            self._stack.view(message).toggle(part)
            self._stack.note_height(message)

        self.scroller.follows = False  # it opens downwards: the line that was pressed stays
        self.keeping_line(change)

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        self._canvas.paint(painter, event.rect())
        painter.end()

    def _repaint_code(self, block: CodeBlock, line: int) -> None:
        top = block.line_y(line)
        for placed in self.scroller.placed:
            if placed.block is block:
                self.viewport().update(self.column_left, placed.top + top, self.column_width, block.height - top)

    # events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self.column_width
        if width != self._stack.width:
            self.keeping_line(lambda: self._stack.set_width(width))
        else:
            self._changed()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Nothing: what a moved bar means is settled in `_bar_moved`; Qt would repaint everything here."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.pointer.wheel(event)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.keys.press(event):
            event.accept()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus.come(event.reason())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            self.context_menu.open_focused()
        else:
            self.context_menu.open_at(event.pos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pointer.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.pointer.double_click(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.pointer.release(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Leave:
            self.pointer.leave()
        elif isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            self.pointer.tooltip(event.pos(), event.globalPos())
            return True
        return bool(super().viewportEvent(event))
