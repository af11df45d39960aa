"""What is selected: two places in the text of a conversation that keep their meaning while the text around them grows.

A place names its message by key and its block by the part of the message it belongs to, never by where either stands:
messages that are put in before, thinking that is opened and a reply that goes on move nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

Place = tuple[int, int]
"""A block of a message: the section it is in, and its number there from 0; in reading order."""

FIRST: Place = (-2, 0)
LAST: Place = (1 << 30, 0)


class Position(NamedTuple):
    """A place in the text: the message's key, the block, UTF-16 units into its words."""

    key: str
    place: Place
    offset: int

    @classmethod
    def start_of(cls, key: str) -> Position:
        """Before everything a message says."""
        return cls(key, FIRST, 0)

    @classmethod
    def end_of(cls, key: str) -> Position:
        """After everything a message says."""
        return cls(key, LAST, 0)


@dataclass(frozen=True, slots=True)
class Selection:
    """From where selecting began to where it is now."""

    anchor: Position
    head: Position

    @property
    def is_empty(self) -> bool:
        """True when both ends are one."""
        return self.anchor == self.head


class Spot(NamedTuple):
    """A position with its message's index in place of the key: spots compare in reading order."""

    message: int
    place: Place
    offset: int


class Reach(NamedTuple):
    """A selection as it lies now: what is from `start` to `end` in reading order."""

    start: Spot
    end: Spot

    def within(self, message: int, place: Place, length: int) -> tuple[int, int] | None:
        """The selected offsets of a block that is `length` long, `None` for none."""
        here, start, end = (message, place), self.start, self.end
        if here < start[:2] or here > end[:2]:
            return None
        first = min(start.offset, length) if here == start[:2] else 0
        last = min(end.offset, length) if here == end[:2] else length
        return (first, last) if first < last or start[:2] < here < end[:2] else None
