"""Selecting text and putting it on the clipboard."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QGuiApplication

from reprise.ui.timeline.block import Block
from reprise.ui.timeline.selection import Position, Selection
from reprise.ui.timeline.stack import Stack


class Selecting:
    """The timeline's one selection.

    Attributes:
        selection: What is selected, `None` for nothing.
        message: Index of the message Ctrl+A means, -1 for the last one.
    """

    def __init__(self, stack: Stack, changed: Callable[[], None], copied: Callable[[str], None]) -> None:
        self._stack = stack
        self._changed = changed
        self._copied = copied
        self.selection: Selection | None = None
        self.message = -1

    def select(self, selection: Selection | None) -> None:
        """Set or clear the selection."""
        if selection != self.selection:
            self.selection = selection
            self._changed()

    def forget(self) -> None:
        """The messages it was about are gone."""
        self.select(None)
        self.message = -1

    def shift(self, count: int) -> None:
        """So many messages came before all others: what is selected stays so."""
        if self.message >= 0:
            self.message += count
        if self.selection is not None:
            anchor, head = self.selection.anchor, self.selection.head
            self.selection = Selection(
                anchor._replace(message=anchor.message + count), head._replace(message=head.message + count)
            )

    def select_message(self) -> None:
        """Select all of the message pressed last, or of the last one."""
        message = self.message if 0 <= self.message < len(self._stack) else len(self._stack) - 1
        if message < 0:
            return
        blocks = self._stack.view(message).blocks
        texts = [at for at, block in enumerate(blocks) if block.selectable]
        if texts:
            end = Position(message, texts[-1], blocks[texts[-1]].length())
            self.select(Selection(Position(message, texts[0], 0), end))

    def block(self, at: Position) -> Block:
        """The block a position is in."""
        return self._stack.view(at.message).blocks[at.block]

    def text(self) -> str:
        """The selection as plain text, "" without one."""
        if self.selection is None or self.selection.is_empty:
            return ""
        message = self.selection.start.message
        return self.selection.text(self._stack.view(message), message)

    def copy_selection(self) -> bool:
        """Put the selection on the clipboard; False without one."""
        text = self.text()
        if text:
            self.copy(text, "selection")
        return bool(text)

    def copy_message(self, message: int) -> None:
        """Put a message's text on the clipboard: a reply's Markdown, a prompt as typed."""
        self.copy(self._stack.view(message).plain_text(), "message")

    def copy(self, text: str, what: str) -> None:
        """Put text on the clipboard and say what it was."""
        QGuiApplication.clipboard().setText(text)
        self._copied(what)
