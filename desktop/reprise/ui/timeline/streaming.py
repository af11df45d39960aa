"""The live reply's life: buffered deltas, one flush a frame, and its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer

from reprise.domain.deltas import Delta, RecastDelta, TextDelta, ThinkingDelta
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.stack import Stack

_FRAME_MS = 16
_PAUSE_MS = 4


class Streaming(QObject):
    """Feeds the stack's live reply.

    Args:
        stack: Where the live reply is.
        grown: Called with a flush that grows the reply and returns from where it changed it.
        changed: Called after any other change.
        lost: Called when text of the live reply went from where it was: what pointed into it points nowhere.
        renamed: Called with the reply's key and the key of the complete message in its place.
    """

    def __init__(
        self,
        stack: Stack,
        grown: Callable[[Callable[[], tuple[int, int]]], None],
        changed: Callable[[], None],
        lost: Callable[[], None],
        renamed: Callable[[str, str], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._stack = stack
        self._grown = grown
        self._changed = changed
        self._lost = lost
        self._renamed = renamed
        self._buffer: list[Delta] = []
        self._next: tuple[str, str] | None = None
        self._since = QElapsedTimer()
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame.timeout.connect(self.flush)

    def forget(self) -> None:
        """Drop what is buffered; the live reply is gone or goes."""
        self._frame.stop()
        self._buffer.clear()
        self._next = None

    def begin(self, key: str, label: str) -> None:
        """A new reply; a failed one that has text stays until the first delta."""
        self._frame.stop()
        self._buffer.clear()
        live = self._stack.live
        if live is not None and live.failed:
            self._next = (key, label)
            return
        self.drop()
        self._stack.begin_live(key, label)
        self._changed()

    def feed(self, delta: Delta) -> None:
        """Buffer a delta for the next frame."""
        if not self._says(delta):
            return
        self._buffer.append(delta)
        if not self._frame.isActive():
            # Frames begin 16 ms apart however long showing one takes, but the window always gets its turn.
            passed = self._since.elapsed() if self._since.isValid() else _FRAME_MS
            self._frame.start(max(_PAUSE_MS, _FRAME_MS - passed))

    def _says(self, delta: Delta) -> bool:
        """True for what changes the text. A recast before any text moves nothing: a failed partial stays."""
        if isinstance(delta, RecastDelta):
            return self._next is None or bool(self._buffer)
        return isinstance(delta, TextDelta | ThinkingDelta) and bool(delta.text)

    def flush(self) -> None:
        """Show what is buffered."""
        self._frame.stop()
        self._since.start()
        deltas, self._buffer = self._buffer, []
        if not deltas:
            return
        if self._next is not None:
            key, label = self._next
            self._next = None
            self._stack.end_live()
            self._stack.begin_live(key, label)
            self._lost()
            self._changed()
        live = self._stack.live
        if live is None:
            return

        def grow() -> tuple[int, int]:
            changed_from = live.feed(deltas)
            self._stack.note_height(len(self._stack.items))
            return changed_from

        if any(isinstance(delta, RecastDelta) for delta in deltas):
            grow()
            self._lost()
            self._changed()
        else:
            self._grown(grow)

    def finish(self, item: TimelineItem) -> bool:
        """Put the complete message in the reply's place; False when no reply is live."""
        self.flush()
        live = self._stack.live
        if live is None:
            return False
        self.forget()
        if item.thought_s is None and live.thought_s is not None:
            item = replace(item, thought_s=live.thought_s)
        view = live.finish(item)
        anchor = self._stack.anchor
        self._stack.end_live()
        self._stack.append(item, view)
        self._renamed(live.item.key, item.key)
        self._stack.anchor = anchor
        self._changed()
        return True

    def fail(self, note: str, icon: str) -> None:
        """Dim what arrived and put a note under it; an empty reply goes away."""
        self.flush()
        self._next = None
        live = self._stack.live
        if live is None:
            return
        if live.is_empty:
            self.drop()
            return
        live.fail(replace(live.item, note=note, note_icon=icon))
        self._stack.note_height(len(self._stack.items))
        self._changed()

    def drop(self) -> None:
        """Take the live or failed reply away."""
        self.forget()
        if self._stack.live is not None:
            self._stack.end_live()
            self._lost()
            self._changed()

    def set_wait_text(self, text: str | None) -> None:
        """What the live reply waits for; a failed one that is being tried again shows it in place of its note."""
        live = self._stack.live
        if live is None or (live.failed and self._next is None) or live.wait_text == text:
            return
        live.set_wait_text(text)
        self._stack.note_height(len(self._stack.items))
        self._changed()
