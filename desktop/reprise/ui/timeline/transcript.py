"""What a selection says, message by message in steps: nothing is laid out, and no step is long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from reprise.domain.messages import Message
from reprise.ui.timeline.block import Block
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.message_view import MessageView
from reprise.ui.timeline.selection import Reach
from reprise.ui.timeline.stack import Stack


class Write(NamedTuple):
    """How a selection is written.

    Attributes:
        part: What is selected of a message that is read to its end; the message's index counts as the reach counts.
        whole: All of a message that has nothing opened, from what it says alone; `None` where its blocks are needed.
    """

    part: Callable[[MessageView, int, Reach], str]
    whole: Callable[[Message], str] | None = None


def told(stack: Stack, reach: Reach, write: Write) -> Iterator[str | None]:
    """The pieces of what is selected now, whatever is shown meanwhile; `None` where a step ends.

    The messages are those of the moment this is called.
    """
    first, last = reach.start.message, min(reach.end.message, len(stack) - 1)
    items = stack.items[first : last + 1]
    live = write.part(stack.live, last, reach) if stack.live is not None and last == len(stack.items) else ""
    return _pieces(stack, items, first, live, reach, write)


def _pieces(
    stack: Stack, items: list[TimelineItem], first: int, live: str, reach: Reach, write: Write
) -> Iterator[str | None]:
    begun = False
    for message, item in enumerate(items, first):
        is_within = reach.start.message < message < reach.end.message
        if write.whole is not None and is_within and not stack.opened(item.key):
            text = write.whole(item.message)
        else:
            view = stack.aside(item)
            while view.is_reading:
                view.read_on()
                yield None
            text = write.part(view, message, reach)
        if text:
            yield f"\n\n{text}" if begun else text
            begun = True
        yield None
    if live:
        yield f"\n\n{live}" if begun else live


def chosen_of(block: Block, message: int, reach: Reach) -> tuple[int, int] | None:
    """What of a block is selected with what is only drawn at its edges, `None` where that says nothing."""
    length = block.length()
    chosen = reach.within(message, block.place, length) if block.selectable else None
    if chosen is None:
        return None
    first, last = chosen
    if first and not block.plain(0, first):
        first = 0
    if last < length and not block.plain(last, length):
        last = length
    return (first, last) if not length or block.plain(first, last) else None


def _plain_of(view: MessageView, message: int, reach: Reach) -> str:
    """A message's part of the selection as it is seen; a list's marker comes with its text's beginning."""
    pieces: list[str] = []
    for block in view.blocks:
        chosen = chosen_of(block, message, reach)
        if chosen is None:
            continue
        first, last = chosen
        is_begun = first == 0 and (last == block.length() or reach.start[:2] < (message, block.place))
        if pieces:
            pieces.append(block.joint)
        pieces.append((block.prefix if is_begun else "") + block.plain(first, last))
    return "".join(pieces)


AS_PLAIN = Write(_plain_of)
"""As it is seen."""
