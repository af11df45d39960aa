"""One message as a stack of blocks. Only blocks that are looked at are measured and laid out.

The beginning of a long message is read when its view is made, the rest in steps.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from reprise.domain.messages import Message, Part, Role, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from reprise.ui.timeline.block import Block, Scene
from reprise.ui.timeline.bounds import REPARSE_LENGTH, pieces
from reprise.ui.timeline.build import (
    attempts_fold,
    block_of,
    gap_between,
    note_block,
    thinking_fold,
    tool_details,
    tool_fold,
)
from reprise.ui.timeline.incremental import Splitter
from reprise.ui.timeline.inline import plain
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.lines import FoldBlock, LabelBlock, NoteBlock
from reprise.ui.timeline.markdown import Frame, Gap, Leaf, Prose, parse
from reprise.ui.timeline.selection import Place
from reprise.ui.timeline.sheet import Sheet, box

_PANEL_PAD = 10
_DIMMED = 0.65
_TYPED = Frame(gap=Gap.LINE)
_TYPED_ON = Frame(gap=Gap.PART)
_AT_ONCE = 16_384
_STEP = 4096
#: Seconds that making a view may read for beyond its first step.
AT_ONCE_S = 0.05
_LINES = 400  # of a prompt in one step

ATTEMPTS = -2  # the number under which the earlier attempts are folded
_ATTEMPT_PARTS, _PARTS_EACH = -10, 16  # and those of their parts, which are no parts of the message

THINKING, TEXT, NOTE = 0, 1, 1 << 20
"""Sections of a message: reasoning that comes first, the first part after it, the line under the message."""

Parsed = dict[int, list[Leaf]]  # by the number of the part; complete ones only


@dataclass(slots=True)
class Ready:
    """What a live reply hands over: its text, that text's leaves, and the blocks that are there already."""

    text: str
    leaves: list[Leaf]
    blocks: deque[tuple[Leaf, Block]]


class MessageView:
    """The blocks of one item.

    Attributes:
        item: What is shown.
        blocks: From top to bottom.
        lead: Pixels between the message above and this one.
        total: The height of everything, lead and panel included; blocks that were never measured count as estimated.
    """

    def __init__(
        self,
        sheet: Sheet,
        item: TimelineItem,
        lead: int,
        ready: Ready | None = None,
        opened: Iterable[int] = (),
        parsed: Parsed | None = None,
        at_once_s: float = AT_ONCE_S,
    ) -> None:
        self.sheet = sheet
        self.item = item
        self.lead = lead
        self.blocks: list[Block] = []
        self.total = 0
        self.parsed: Parsed = parsed or {}
        self._rest: Iterator[Block | None] | None = None
        self._opened = set(opened)
        self._ready = ready
        self._at_once_s = at_once_s
        self._build()
        self._ready = None

    @property
    def message(self) -> Message:
        """What it says."""
        return self.item.message

    @property
    def is_panel(self) -> bool:
        """True for a prompt: it stands on a panel."""
        return self.item.message.role is Role.USER

    def _build(self) -> None:
        self.blocks = []
        self._rest = self._made()
        until = time.perf_counter() + self._at_once_s
        while self._read_step() and time.perf_counter() < until:
            pass
        if not self.blocks:
            self.blocks = [block_of(self.sheet, Prose(Frame(), plain("")), None)]
            self.blocks[0].place = (TEXT, 0)
        self.recount()

    @property
    def opened(self) -> frozenset[int]:
        """The numbers of what is open."""
        return frozenset(self._opened)

    @property
    def is_reading(self) -> bool:
        """True until all of the message has blocks."""
        return self._rest is not None

    def read_on(self) -> bool:
        """Read one more step; True when there is another."""
        count = len(self.blocks)
        more = self._read_step()
        self.total += sum(block.gap + block.height for block in self.blocks[count:])
        return more

    def read_to(self, index: int) -> None:
        """Read until there is a block of this index, or the message ends."""
        while index >= len(self.blocks) and self.is_reading:
            self.read_on()

    def block_at(self, place: Place) -> Block | None:
        """The block of this place, if there is one now."""
        at = bisect_left(self.blocks, place, key=lambda block: block.place)
        return self.blocks[at] if at < len(self.blocks) and self.blocks[at].place == place else None

    def section_of(self, number: int) -> int:
        """The section of the message's part with this number."""
        parts = self.message.parts
        return number if parts and isinstance(parts[0], ThinkingPart) else number + TEXT

    def _read_step(self) -> bool:
        for block in self._rest or ():
            if block is None:
                return True
            self.blocks.append(block)
        self._rest = None
        return False

    def recount(self) -> None:
        """Set the total anew."""
        pad = self.pad
        self.total = self.lead + 2 * pad + sum(block.gap + block.height for block in self.blocks)

    @property
    def pad(self) -> int:
        """Pixels between the panel's edge and the text."""
        return self.sheet.px(_PANEL_PAD) if self.is_panel else 0

    def _made(self) -> Iterator[Block | None]:
        """The blocks from top to bottom, `None` where a step ends."""
        sheet, item = self.sheet, self.item
        above: Block | None = None
        if item.label:
            yield (above := LabelBlock(sheet, item.label, item.meta))
        for number, part in enumerate(item.message.parts):
            above = yield from _numbered(self._part(part, number, above), self.section_of(number), above)
        if item.note:
            note = note_block(sheet, item.note, item.note_icon, above)
            above = yield from _numbered(iter([note]), NOTE, above)
        if item.attempts:
            yield from _numbered(self._attempts(above), NOTE + 1, above)

    def _part(self, part: Part, number: int, above: Block | None) -> Iterator[Block | None]:
        sheet, item = self.sheet, self.item
        if isinstance(part, TextPart):
            for leaf in self.leaves(part.text, number):
                if leaf is None:
                    yield None
                else:
                    yield (above := self._block_of(leaf, above))
            return
        if isinstance(part, ThinkingPart):
            fold = thinking_fold(sheet, item.thought_s, above, running=False)
        else:
            fold = tool_fold(sheet, part, above)
        fold.fold = number
        fold.is_open = number in self._opened
        yield fold
        if fold.is_open:
            yield from self._inside(part, fold, number)

    def _attempts(self, above: Block | None) -> Iterator[Block | None]:
        """The attempts before this reply, folded (behaviour D5)."""
        fold = attempts_fold(self.sheet, len(self.item.attempts), above)
        fold.fold, fold.is_open = ATTEMPTS, ATTEMPTS in self._opened
        yield fold
        if not fold.is_open:
            return
        above = fold
        for number, attempt in enumerate(self.item.attempts):
            head = note_block(self.sheet, attempt.note, "retry", above)
            yield head
            above = head
            for at, part in enumerate(attempt.parts):
                if not isinstance(part, TextPart | ThinkingPart):
                    continue
                for leaf in self._read(part.text, _ATTEMPT_PARTS - number * _PARTS_EACH - at):
                    if leaf is None:
                        yield None
                    else:
                        block = block_of(self.sheet, leaf, above, thinking=True)
                        yield block
                        above = block

    def leaves(self, text: str, number: int) -> Iterator[Leaf | None]:
        """A reply's Markdown; anything else line by line as it was typed. `None` where a step ends."""
        if self._ready and self._ready.text == text:
            yield from self._ready.leaves
        elif self.item.message.role is Role.ASSISTANT:
            yield from self._read(text, number)
        else:
            for at, line in enumerate(text.strip("\n").split("\n"), 1):
                for on, piece in enumerate(pieces(plain(line))):
                    yield Prose(_TYPED_ON if on else _TYPED, piece)
                if at % _LINES == 0:
                    yield None

    def _read(self, text: str, number: int) -> Iterator[Leaf | None]:
        known = self.parsed.get(number)
        if known is None and (len(text) <= _AT_ONCE or (len(text) <= REPARSE_LENGTH and "]:" in text)):
            known = parse(text)
        if known is not None:
            yield from known
            return
        splitter, told = Splitter(), 0
        for start in range(0, len(text), _STEP):
            splitter.feed(text[start : start + _STEP])
            yield from splitter.frozen[told:]
            told = len(splitter.frozen)
            yield None
        self.parsed[number] = splitter.finish()
        yield from self.parsed[number][told:]

    def _block_of(self, leaf: Leaf, above: Block | None) -> Block:
        waiting = self._ready.blocks if self._ready else deque()
        if not waiting or waiting[0][0] != leaf:
            waiting.clear()
            return block_of(self.sheet, leaf, above)
        _, block = waiting.popleft()
        block.gap = gap_between(self.sheet, above, block, leaf.frame)
        return block

    def _inside(
        self, part: ThinkingPart | ToolCallPart | ToolResultPart, fold: FoldBlock, number: int
    ) -> Iterator[Block | None]:
        if not isinstance(part, ThinkingPart):
            yield tool_details(self.sheet, part, fold)
            return
        above: Block = fold
        for leaf in self._read(part.text, number):
            if leaf is None:
                yield None
            else:
                yield (above := block_of(self.sheet, leaf, above, thinking=True))

    def toggle(self, number: int) -> None:
        """Open or close the part with this number in place."""
        self._opened ^= {number}
        self._build()

    def extent(self, index: int, width: int) -> int:
        """The measured height of a block with what stands above it (and the panel's foot below the last)."""
        block = self.blocks[index]
        before = block.height
        height = block.measure(width)
        self.total += height - before
        return self.above(index) + height + (self.pad if index == len(self.blocks) - 1 else 0)

    def above(self, index: int) -> int:
        """Pixels between the block above (or the message above) and this block."""
        return self.blocks[index].gap + (self.lead + self.pad if index == 0 else 0)

    def invalidate(self) -> None:
        """The width has changed: heights are estimates again."""
        for block in self.blocks:
            block.invalidate()

    def release(self) -> None:
        """Drop what painting needs."""
        for block in self.blocks:
            block.release()

    def paint_panel(self, painter: QPainter, top: float, bottom: float, width: int) -> None:
        """The panel of a prompt from `top` to `bottom`."""
        sheet = self.sheet
        rect = QRectF(0, top, width, bottom - top)
        box(painter, rect, sheet.px(10), sheet.color("user"), sheet.color("user_border"))

    def paint_block(self, painter: QPainter, index: int, scene: Scene) -> None:
        """One block, dimmed where the body is; the painter's origin is the block's."""
        block, sheet = self.blocks[index], self.sheet
        dimmed = self.is_dimmed and not isinstance(block, LabelBlock | NoteBlock)
        if dimmed:
            painter.setOpacity(_DIMMED)
        if block.in_thinking:
            top = 0 if index and isinstance(self.blocks[index - 1], FoldBlock) else -block.gap
            painter.fillRect(
                QRectF(sheet.inset + sheet.px(5), top, sheet.px(2), block.height - top), sheet.color("border_strong")
            )
        block.paint(painter, scene)
        if dimmed:
            painter.setOpacity(1)

    @property
    def is_dimmed(self) -> bool:
        """True for a partial that waits for its next attempt."""
        return self.item.dimmed

    def plain_text(self) -> str:
        """What copying the message gives: a reply's Markdown source, a prompt as typed."""
        return self.item.message.text


def _numbered(
    blocks: Iterator[Block | None], section: int, above: Block | None
) -> Generator[Block | None, None, Block | None]:
    """Give the blocks of a section their places; returns the last one, or what stood above."""
    count = 0
    for block in blocks:
        if block is not None:
            block.place = (section, count)
            count += 1
            above = block
        yield block
    return above
