"""The mouse over the timeline: hover, presses, wheel, tooltips."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip

from reprise.ui.timeline.actions import step_of
from reprise.ui.timeline.block import Block, Hit
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.dragging import PARAGRAPH, WORD
from reprise.ui.timeline.focus import STEP
from reprise.ui.timeline.table import TableBlock

if TYPE_CHECKING:
    from reprise.ui.timeline.view import Timeline


class Pointer:
    """What the mouse is over and what it presses.

    Attributes:
        message: Index of the message under the pointer, -1 for none.
        block: The block under the pointer, or `None`.
        hit: What a press would do, or `None`.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.message = -1
        self.block: Block | None = None
        self.hit: Hit | None = None
        self._pressed: Hit | None = None
        self._press_at = QPointF()
        self._side: Block | None = None
        self._double_click = (QPointF(-1000, -1000), 0)
        self._copied: CodeBlock | None = None
        self._told = ""  # the link under the pointer whose tooltip has been shown

    def forget(self) -> None:
        """What was under the pointer or dragged is no longer there."""
        self.message, self.block, self.hit = -1, None, None
        self._pressed = self._side = None

    def shift(self, count: int) -> None:
        """So many messages came before all others: what is under the pointer stays so."""
        if self.message >= 0:
            self.message += count

    def wheel(self, event: QWheelEvent) -> None:
        """Scroll the page, or sideways (also with Shift) what is wide under the pointer."""
        timeline, pixels, angle = self._timeline, event.pixelDelta(), event.angleDelta()
        sideways = abs(angle.x()) > abs(angle.y()) or event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        lines = QGuiApplication.styleHints().wheelScrollLines() * STEP
        if not sideways:
            timeline.scroll_by(-round(pixels.y() or angle.y() * lines / 120))
            self.hover(event.position())
            return
        placed = timeline.scroller.placed_at(event.position().y())
        if placed is not None and isinstance(placed.block, CodeBlock | TableBlock):
            placed.block.side.scroll_by(-(pixels.x() or (angle.x() or angle.y()) * lines / 120))
            timeline.viewport().update()

    def leave(self) -> None:
        """The pointer left the timeline."""
        self._set_hover(-1, None, None)

    def hover(self, at: QPointF) -> None:
        """The pointer is at this point of the viewport."""
        message = self._timeline.scroller.message_at(at.y())
        if (below := self._timeline.message_actions.hit(message, at)) is not None:
            self._set_hover(message, None, below)
            return
        placed = self._timeline.scroller.placed_at(at.y())
        if placed is None or not placed.top <= at.y() < placed.top + placed.block.height:
            self._set_hover(message, None, None)
            return
        hit = placed.block.hit(at.x() - self._timeline.column_left, at.y() - placed.top)
        self._set_hover(message, placed.block, hit)

    def _set_hover(self, message: int, block: Block | None, hit: Hit | None) -> None:
        timeline = self._timeline
        if (message, hit) != (self.message, self.hit) or (hit and block is not self.block):
            if self._copied is not None and block is not self._copied:
                self._copied.just_copied = False
                self._copied = None
            timeline.viewport().update()
        self.message, self.block, self.hit = message, block, hit
        if hit is None or hit.value != self._told:
            self._told = ""
        over_text = block is not None and block.selectable and hit is None
        shape = Qt.CursorShape.IBeamCursor if over_text else Qt.CursorShape.ArrowCursor
        if hit is not None and hit.kind in ("link", "note"):
            shape = Qt.CursorShape.PointingHandCursor
        if timeline.viewport().cursor().shape() != shape:
            timeline.viewport().setCursor(shape)

    def press(self, event: QMouseEvent) -> None:
        """A button went down; a third click at once takes the paragraph."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        at, (last, when) = event.position(), self._double_click
        hints = QGuiApplication.styleHints()
        near = (at - last).manhattanLength() < hints.startDragDistance()
        if near and event.timestamp() - when < hints.mouseDoubleClickInterval():
            self._timeline.dragging.take(at, PARAGRAPH)
            return
        self.hover(at)
        self._pressed, self._press_at = self.hit, at
        on = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if self.hit is not None and self.hit.kind == "scroll":
            self._side = self.block
        elif self.hit is None or self.hit.kind == "link":
            if on:
                self._pressed = None  # it extends the selection and opens nothing
            self._timeline.dragging.begin(at, on=on)
            self._timeline.focus.choose(self.message, by_key=False)

    def double_click(self, event: QMouseEvent) -> None:
        """Two clicks take a word."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._double_click = (event.position(), event.timestamp())
        if self.hit is not None and self.hit.kind != "link":
            self.press(event)
            return
        self._pressed = None
        self._timeline.dragging.take(event.position(), WORD)

    def move(self, event: QMouseEvent) -> None:
        """The mouse moved, with or without a button."""
        at = event.position()
        if self._side is not None and isinstance(self._side, CodeBlock | TableBlock):
            dx = at.x() - self._press_at.x()
            self._press_at = at
            if self._side.side.drag(self._side.track(), dx):
                self._timeline.viewport().update()
        elif self._timeline.dragging.is_on and event.buttons() & Qt.MouseButton.LeftButton:
            self._timeline.dragging.move(at)
        else:
            self.hover(at)
            if self._is_untold:  # at once, not after a rest
                self._tell(at)

    def release(self, event: QMouseEvent) -> None:
        """The button went up: a press that did not become a drag does what it was for."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        pressed, self._pressed = self._pressed, None
        selected = self._timeline.dragging.is_on and self._timeline.selecting.selection is not None
        self._side = None
        self._timeline.dragging.end()
        if pressed is None or selected:
            return
        self.hover(event.position())
        if self.hit is not None and (self.hit.kind, self.hit.value) == (pressed.kind, pressed.value):
            if self._is_untold:
                # By touch, or the text moved under a pointer at rest: the first click says where it leads.
                self._tell(event.position())
            else:
                self._activate(self.hit)

    @property
    def _is_untold(self) -> bool:
        return self.hit is not None and self.hit.kind == "link" and self.hit.value != self._told

    def _tell(self, at: QPointF) -> None:
        self.tooltip(at.toPoint(), self._timeline.viewport().mapToGlobal(at).toPoint())

    def _activate(self, hit: Hit) -> None:
        timeline, block = self._timeline, self.block
        if hit.kind == "link":
            timeline.link_activated.emit(hit.value)
        elif hit.kind == "note":
            timeline.note_link.emit(timeline.key_of(self.message), hit.value)
        elif hit.kind == "action" and hit.value == "copy":
            timeline.clipboard.put(timeline.scroller.stack.view(self.message).plain_text(), "message")
        elif hit.kind == "action":
            timeline.action_wanted.emit(timeline.key_of(self.message), hit.value)
        elif hit.kind == "branch":
            timeline.branch_wanted.emit(timeline.key_of(self.message), step_of(hit.value))
        elif hit.kind == "fold" and block is not None:
            timeline.toggle(self.message, block.fold)
        elif isinstance(block, CodeBlock):
            if hit.kind == "copy":
                timeline.clipboard.put(block.text, "code")
                block.just_copied = True
                self._copied = block
            elif hit.kind == "wrap":
                timeline.keeping_line(block.toggle_wrap)
        timeline.viewport().update()

    def tooltip(self, at: QPoint, on_screen: QPoint) -> None:
        """Say what is under the pointer: a link's real host, a button's name."""
        self.hover(QPointF(at))
        if self.hit is not None and self.hit.tip:
            self._told = self.hit.value if self.hit.kind == "link" else ""
            # Escaped, because a tooltip guesses whether it is HTML, and an address is the model's.
            text = f"<span>{html.escape(self.hit.tip)}</span>".replace("\n", "<br>")
            QToolTip.showText(on_screen, text, self._timeline.viewport(), QRect(at, at).adjusted(-8, -8, 8, 8))
        else:
            QToolTip.hideText()
