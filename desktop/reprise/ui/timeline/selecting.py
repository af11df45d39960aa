"""The timeline's one selection, and what keeps its ends true while the text under them changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reprise.ui.timeline.block import Block
from reprise.ui.timeline.inline import units
from reprise.ui.timeline.selection import FIRST, LAST, Position, Reach, Selection, Spot
from reprise.ui.timeline.stack import Stack
from reprise.ui.timeline.transcript import AS_PLAIN, Write, told


@dataclass(slots=True)
class _Mark:
    """A position, the words it was taken in (`None` where nobody has seen them), and its message's last index."""

    position: Position
    words: str | None
    message: int


class Selecting:
    """Ends and origin of the selection.

    An end whose text changes stays where the text before it is the same, else it goes back to where it still was. An
    end whose message goes away stands at the end of what is left before it.
    """

    def __init__(self, stack: Stack, changed: Callable[[], None], renewed: Callable[[], None]) -> None:
        self._stack = stack
        self._changed = changed
        self._renewed = renewed
        self._anchor: _Mark | None = None
        self._head: _Mark | None = None
        self._origin: _Mark | None = None

    @property
    def selection(self) -> Selection | None:
        """What is selected, `None` for nothing."""
        if self._anchor is None or self._head is None:
            return None
        return Selection(self._anchor.position, self._head.position)

    @property
    def origin(self) -> Position | None:
        """Where the pointer went down last: selecting by Shift begins there."""
        return self._origin.position if self._origin else None

    @origin.setter
    def origin(self, position: Position | None) -> None:
        self._origin = self._marked(position) if position else None

    def select(self, selection: Selection | None) -> None:
        """Set or clear the selection."""
        if selection == self.selection:
            return
        self._anchor = self._marked(selection.anchor) if selection else None
        self._head = self._marked(selection.head) if selection else None
        self._renewed()
        self._changed()

    def forget(self) -> None:
        """The messages it was about are gone."""
        self._origin = None
        self.select(None)

    def select_message(self, message: int) -> None:
        """Select all of a message; again, everything."""
        if not 0 <= message < len(self._stack):
            return
        key = self._stack.key_of(message)
        whole = Selection(Position.start_of(key), Position.end_of(key))
        if self.selection == whole:
            self.select_all()
        else:
            self.select(whole)

    def select_all(self) -> None:
        """Select every message."""
        if len(self._stack):
            first, last = self._stack.key_of(0), self._stack.key_of(len(self._stack) - 1)
            self.select(Selection(Position.start_of(first), Position.end_of(last)))

    @property
    def reach(self) -> Reach | None:
        """The selection in reading order, `None` without one."""
        selection = self.selection
        if selection is None:
            return None
        anchor, head = self.spot(selection.anchor), self.spot(selection.head)
        return None if anchor is None or head is None else Reach(min(anchor, head), max(anchor, head))

    def spot(self, position: Position) -> Spot | None:
        """Where a position is now; `None` when its message is gone."""
        message = self._stack.index_of(position.key)
        return None if message is None else Spot(message, position.place, position.offset)

    @property
    def has_extent(self) -> bool:
        """True when something lies between its ends, though it may say nothing."""
        selection = self.selection
        return selection is not None and not selection.is_empty

    def text(self) -> str:
        """The selection as plain text, "" without one."""
        return "".join(piece for piece in self.told() if piece is not None)

    def told(self, write: Write = AS_PLAIN) -> Iterator[str | None]:
        """What the selection says in pieces, `None` where a step of the work ends."""
        reach = self.reach
        return told(self._stack, reach, write) if reach else iter(())

    def told_of(self, key: str, write: Write) -> Iterator[str | None]:
        """What is written of one message, selected or not, in the same pieces; nothing when it is gone."""
        start, end = self.spot(Position.start_of(key)), self.spot(Position.end_of(key))
        return told(self._stack, Reach(start, end), write) if start and end else iter(())

    def size(self) -> tuple[int, int]:
        """How many messages are selected, at least in part, and how many characters those have in all."""
        reach = self.reach
        if reach is None:
            return 0, 0
        items = self._stack.items[reach.start.message : reach.end.message + 1]
        return len(items), sum(len(item.message.text) for item in items)

    # keeping true

    def rename(self, old: str, new: str) -> None:
        """A message goes on under another key: a live reply that is complete."""
        for mark in (self._anchor, self._head, self._origin):
            if mark is not None and mark.position.key == old:
                mark.position = mark.position._replace(key=new)

    def cut(self, message: int) -> None:
        """Messages from this index on go, and others may come there: an end that goes with them stops before it."""
        for mark in (self._anchor, self._head):
            if mark is not None:
                mark.message = min(mark.message, message)

    def refresh(self) -> None:
        """Something was shown, taken away or said anew."""
        if self._anchor is not None and self._head is not None:
            before = self.selection
            if not self._settle(self._anchor, self._head):
                self._anchor = self._head = None
            if self.selection != before:
                self._renewed()
                self._changed()
        if self._origin is not None and not self._check(self._origin):
            self._origin = None

    def _settle(self, anchor: _Mark, head: _Mark) -> bool:
        """Bring both ends to text that is there; False when there is none."""
        known = self._check(anchor), self._check(head)
        if all(known):
            return True
        if not any(known):
            return False
        lost, kept = (head, anchor) if known[0] else (anchor, head)
        if (lost.message, lost.position.place) < (kept.message, kept.position.place):
            lost.position, lost.message = Position.start_of(kept.position.key), kept.message
        else:
            lost.message = max(kept.message, min(lost.message, len(self._stack)) - 1)
            lost.position = Position.end_of(self._stack.key_of(lost.message))
        lost.words = None
        return True

    def _marked(self, position: Position) -> _Mark:
        message = self._stack.index_of(position.key)
        block = self._block(message, position)
        return _Mark(position, block.words if block else None, message if message is not None else -1)

    def _block(self, message: int | None, position: Position) -> Block | None:
        """The block a position is in, if it exists just now."""
        view = self._stack.peek(message) if message is not None else None
        return view.block_at(position.place) if view and FIRST < position.place < LAST else None

    def _check(self, mark: _Mark) -> bool:
        """Keep a mark where its text is; False when its message is gone."""
        message = self._stack.index_of(mark.position.key)
        if message is None:
            return False
        mark.message = message
        block = self._block(message, mark.position)
        if block is None:
            return True  # not made, or folded away: it is looked at when it is there
        words = block.words
        if mark.words is None:
            mark.words = words
        elif words is not mark.words and not words.startswith(mark.words):
            same = units(_common(words, mark.words))
            if same < mark.position.offset:
                mark.position = mark.position._replace(offset=same)
            mark.words = words
        return True


def _common(one: str, other: str) -> str:
    """The longest beginning of both."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return one[:low]
