"""Where everything is: messages from first to last, what is in view, and how far it is scrolled.

The truth about scrolling is an anchor, (message, block, pixels into the block's extent), never a height from the top of
everything: whatever is measured later, above or below, the block at the anchor stays where it is. Heights of messages
nobody has looked at are one common guess; they only decide where the scroll bar's handle is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import NamedTuple

from reprise.domain.messages import Role
from reprise.ui.timeline.block import Block
from reprise.ui.timeline.heights import Heights
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.live import LiveReply
from reprise.ui.timeline.message_view import MessageView, Parsed
from reprise.ui.timeline.sheet import Sheet

_KEEP_VIEWS = 64
_GUESS = 260
_TOP, _REPLY, _PROMPT, _RESULT, _BOTTOM = 20, 28, 44, 4, 36


class Anchor(NamedTuple):
    """The top edge of the viewport: `into` pixels below the top of a block's extent (its gap included)."""

    message: int
    block: int
    into: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A block in view; `top` is its own top (below its gap) in the viewport."""

    message: int
    index: int
    view: MessageView
    block: Block
    top: int


class Stack:
    """Items, the live reply and the foot, with their heights at one width."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.items: list[TimelineItem] = []
        self.live: LiveReply | None = None
        self.width = 0
        self.foot = sheet.px(_BOTTOM)
        self.anchor = Anchor(0, 0, 0)
        self._views: OrderedDict[str, MessageView] = OrderedDict()
        self._heights = Heights()
        self._parsed: dict[str, Parsed] = {}  # of the views a theme change took away
        self._opened: dict[str, frozenset[int]] = {}  # what is open in messages whose views are not kept
        self._known_at: dict[str, int] = {}  # where a message was when it was last looked for

    # what is there

    def __len__(self) -> int:
        return len(self.items) + (self.live is not None)

    def set_items(self, items: Iterable[TimelineItem]) -> None:
        """Start over with these."""
        self.items = list(items)
        self.live = None
        self._views.clear()
        self._parsed.clear()
        self._opened.clear()
        self._known_at.clear()
        self._heights.reset_all(len(self.items), self.sheet.px(_GUESS))
        self.anchor = Anchor(0, 0, 0)

    def key_of(self, message: int) -> str:
        """The key of a message or of the live reply."""
        return self.items[message].key if message < len(self.items) else self.view(message).item.key

    def index_of(self, key: str) -> int | None:
        """Where the message of this key is now; `None` for none."""
        at = self._known_at.get(key, -1)
        if 0 <= at < len(self.items) and self.items[at].key == key:
            return at
        if self.live is not None and self.live.item.key == key:
            return len(self.items)
        found = next((at for at in range(len(self.items) - 1, -1, -1) if self.items[at].key == key), None)
        if found is None:
            self._known_at.pop(key, None)
        else:
            self._known_at[key] = found
        return found

    def peek(self, index: int) -> MessageView | None:
        """The message's blocks if they are there."""
        if index >= len(self.items):
            return self.live
        return self._views.get(self.items[index].key)

    def opened(self, key: str) -> frozenset[int]:
        """The numbers of what is open in a message."""
        view = self._views.get(key)
        return view.opened if view is not None else self._opened.get(key, frozenset())

    def aside(self, item: TimelineItem) -> MessageView:
        """The blocks of an item to read, not to show: its own if they are there, else others that nobody keeps."""
        view = self._views.get(item.key)
        if view is not None and view.item is item:
            return view
        return MessageView(self.sheet, item, 0, opened=self.opened(item.key), at_once_s=0)

    def append(self, item: TimelineItem, view: MessageView | None = None) -> None:
        """One more item at the end; `view` is what a finished live reply hands over."""
        self.items.append(item)
        if view is not None:
            self._views[item.key] = view
        self._heights.append(view.total if view else self.sheet.px(_GUESS))

    def prepend(self, items: Sequence[TimelineItem]) -> None:
        """More items before the first; the anchor's block stays where it is."""
        if not items:
            return
        first = self._views.get(self.items[0].key) if self.items else None
        self.items[:0] = items
        self._known_at = {key: at + len(items) for key, at in self._known_at.items()}
        self._heights.prepend(len(items), self.sheet.px(_GUESS))
        message, block, into = self.anchor
        if first is not None:
            lead = self.lead(len(items), first.item.message.role)
            into += lead - first.lead if (message, block) == (0, 0) else 0
            first.lead = lead
            first.recount()
            self._heights.set(len(items), first.total)
        self.anchor = Anchor(message + len(items), block, into)

    def kept(self, wanted: Sequence[TimelineItem], start: int = 0) -> int:
        """How many messages from `start` on stay, changed or not, when these are shown instead."""
        pairs = zip(islice(self.items, start, None), wanted, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0].key == pair[1].key, pairs))

    def update(self, wanted: Sequence[TimelineItem], kept: int, start: int = 0) -> None:
        """Show these from `start` on; the first `kept` stay where they are, and a live reply only if all do."""
        for index, item in enumerate(wanted[:kept], start):
            if item is not self.items[index] and item != self.items[index]:
                self._replace(index, item)
        while len(self.items) > start + kept:
            key = self.items.pop().key
            self._views.pop(key, None)
            self._opened.pop(key, None)
            self._heights.pop()
        for item in wanted[kept:]:
            self.append(item)
        self.clamp()

    def _replace(self, index: int, item: TimelineItem) -> None:
        old = self._views.pop(item.key, None)
        was, self.items[index] = self.items[index], item
        if old is None and was.message != item.message:
            self._opened.pop(item.key, None)
        if old is not None:
            parsed = old.parsed if was.message == item.message else None
            self._views[item.key] = MessageView(self.sheet, item, old.lead, opened=old.opened, parsed=parsed)
            self._heights.set(index, self._views[item.key].total)

    def begin_live(self, key: str, label: str) -> LiveReply:
        """A live reply after the last item."""
        self.live = LiveReply(self.sheet, key, label, self.lead(len(self.items), Role.ASSISTANT))
        self._heights.append(self.live.total)
        return self.live

    def end_live(self) -> None:
        """Take the live reply away."""
        if self.live is not None:
            self.live = None
            self._heights.pop()
            self.clamp()

    def lead(self, index: int, role: Role) -> int:
        """Pixels above message `index`."""
        if index == 0:
            return self.sheet.px(_TOP)
        before = self.items[index - 1].message.role
        if role is Role.TOOL:
            return self.sheet.px(_RESULT)
        return self.sheet.px(_PROMPT if role is Role.USER and before is not Role.USER else _REPLY)

    def view(self, index: int) -> MessageView:
        """The message's blocks, made when they are not there."""
        if index >= len(self.items):
            assert self.live is not None  # noqa: S101 - len() counts it
            return self.live
        item = self.items[index]
        view = self._views.get(item.key)
        if view is None:
            lead, parsed = self.lead(index, item.message.role), self._parsed.pop(item.key, None)
            opened = self._opened.pop(item.key, ())
            view = self._views[item.key] = MessageView(self.sheet, item, lead, opened=opened, parsed=parsed)
        self._views.move_to_end(item.key)
        return view

    def trim(self, in_view: int) -> None:
        """Forget the blocks of messages that were not in view for long; `in_view` messages are there now."""
        while len(self._views) > max(_KEEP_VIEWS, 2 * in_view):
            key, view = self._views.popitem(last=False)
            if view.opened:
                self._opened[key] = view.opened

    def restyle(self, sheet: Sheet) -> None:
        """Another theme: everything is made anew, the anchor's block stays."""
        self.foot = round(self.foot * sheet.theme.zoom / self.sheet.theme.zoom)
        self.sheet = sheet
        self._parsed.update((key, view.parsed) for key, view in self._views.items() if view.parsed)
        self._opened.update((key, view.opened) for key, view in self._views.items() if view.opened)
        self._views.clear()
        if self.live is not None:
            self.live.restyle(sheet, self.lead(len(self.items), Role.ASSISTANT))

    def set_width(self, width: int) -> None:
        """Another width of the column: what was measured becomes an estimate."""
        self.width = width
        for view in self._views.values():
            view.invalidate()
        if self.live is not None:
            self.live.invalidate()

    def clamp(self) -> None:
        """Bring the anchor back to a block that exists."""
        message, index, into = self.anchor
        if message < len(self):
            self.view(message).read_to(index)
        if not len(self):
            self.anchor = Anchor(0, 0, 0)
        elif message >= len(self):
            self.anchor = Anchor(len(self) - 1, 0, 0)
        elif index >= len(self.view(message).blocks):
            self.anchor = Anchor(message, len(self.view(message).blocks) - 1, into)

    # heights

    @property
    def total(self) -> int:
        """The height of everything, guesses included."""
        return self._heights.total + self.foot

    def note_height(self, index: int) -> None:
        """Take over the total of a message whose blocks changed."""
        self._heights.set(index, self.view(index).total)

    def extent(self, message: int, index: int) -> int:
        """The measured extent of a block."""
        view = self.view(message)
        before = view.total
        height = view.extent(index, self.width)
        if view.total != before or self._heights[message] != view.total:
            self._heights.set(message, view.total)
        return height

    # moving

    def move(self, delta: int) -> None:
        """Scroll by `delta` pixels, down when positive, measuring what is passed."""
        message, index, into = self.anchor
        into += delta
        while into < 0:
            if index > 0:
                index -= 1
            elif message > 0:
                message -= 1
                index = len(self.view(message).blocks) - 1
            else:
                into = 0
                break
            into += self.extent(message, index)
        while message < len(self) and (height := self.extent(message, index)) <= into:
            if index + 1 < len(self.view(message).blocks):
                index += 1
            elif message + 1 < len(self):
                message, index = message + 1, 0
            else:
                break
            into -= height
        self.anchor = Anchor(message, index, into)

    def bottom(self, height: int) -> Anchor:
        """The anchor that shows the end at the bottom of a viewport `height` tall, or the top if all fits."""
        need = height - self.foot
        message = len(self) - 1
        index = len(self.view(message).blocks) - 1 if message >= 0 else 0
        while message >= 0:
            need -= self.extent(message, index)
            if need <= 0:
                return Anchor(message, index, -need)
            if index > 0:
                index -= 1
            else:
                message -= 1
                index = len(self.view(message).blocks) - 1 if message >= 0 else 0
        return Anchor(0, 0, 0)

    def at(self, y: int) -> Anchor:
        """The anchor at a height of the scroll bar's scale."""
        if not len(self):
            return Anchor(0, 0, 0)
        message = self._heights.find(y)
        rest = max(0, y - self._heights.top(message))
        view = self.view(message)
        # The guess may be far from what is there: stay in proportion within the message.
        rest = round(rest * view.total / max(1, self._heights[message]))
        for index, block in enumerate(view.blocks):
            height = view.above(index) + block.height
            if rest < height or index == len(view.blocks) - 1:
                return Anchor(message, index, max(0, min(rest, self.extent(message, index) - 1)))
            rest -= height
        return Anchor(message, 0, 0)

    def height_of(self, anchor: Anchor) -> int:
        """Where an anchor is on the scroll bar's scale."""
        if not len(self):
            return 0
        view = self.view(anchor.message)
        above = sum(view.above(at) + view.blocks[at].height for at in range(anchor.block))
        return self._heights.top(anchor.message) + above + anchor.into

    def place(self, height: int) -> tuple[list[Placed], int]:
        """The blocks in a viewport `height` tall, and where the last message ends in it (or beyond)."""
        message, index, into = self.anchor
        placed: list[Placed] = []
        y = -into
        while message < len(self):
            view = self.view(message)
            while index < len(view.blocks):
                if y >= height:
                    return placed, y + 1
                extent = self.extent(message, index)
                placed.append(Placed(message, index, view, view.blocks[index], y + view.above(index)))
                y += extent
                index += 1
            message, index = message + 1, 0
        return placed, y
