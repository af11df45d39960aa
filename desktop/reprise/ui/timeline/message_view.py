"""One message as a stack of blocks. Only blocks that are looked at are measured and laid out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from reprise.domain.messages import Role, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from reprise.ui.timeline.block import Block, Scene
from reprise.ui.timeline.build import block_of, gap_between, note_block, thinking_fold, tool_details, tool_fold
from reprise.ui.timeline.inline import plain
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.lines import FoldBlock, LabelBlock, NoteBlock
from reprise.ui.timeline.markdown import Frame, Gap, Leaf, Prose, parse
from reprise.ui.timeline.sheet import Sheet, box

_PANEL_PAD = 10
_DIMMED = 0.65
_TYPED = Frame(gap=Gap.LINE)


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
    ) -> None:
        self.sheet = sheet
        self.item = item
        self.lead = lead
        self.blocks: list[Block] = []
        self.total = 0
        self._opened = set(opened)
        self._ready = ready
        self._build()
        self._ready = None

    @property
    def is_panel(self) -> bool:
        """True for a prompt: it stands on a panel."""
        return self.item.message.role is Role.USER

    def _build(self) -> None:
        self.blocks = list(self._made()) or [block_of(self.sheet, Prose(Frame(), plain("")), None)]
        self.recount()

    def recount(self) -> None:
        """Set the total anew."""
        pad = self.pad
        self.total = self.lead + 2 * pad + sum(block.gap + block.height for block in self.blocks)

    @property
    def pad(self) -> int:
        """Pixels between the panel's edge and the text."""
        return self.sheet.px(_PANEL_PAD) if self.is_panel else 0

    def _made(self) -> Iterator[Block]:
        sheet, item = self.sheet, self.item
        above: Block | None = None
        if item.label:
            yield (above := LabelBlock(sheet, item.label, item.meta))
        for number, part in enumerate(item.message.parts):
            if isinstance(part, TextPart):
                for leaf in self.leaves(part.text):
                    yield (above := self._block_of(leaf, above))
                continue
            if isinstance(part, ThinkingPart):
                fold = thinking_fold(sheet, item.thought_s, above, running=False)
            else:
                fold = tool_fold(sheet, part, above)
            fold.fold = number
            fold.is_open = number in self._opened
            yield (above := fold)
            if fold.is_open:
                for block in self._inside(part, fold):
                    yield (above := block)
        if item.note:
            yield note_block(sheet, item.note, item.note_icon, above)

    def leaves(self, text: str) -> list[Leaf]:
        """A reply's Markdown; anything else line by line as it was typed."""
        if self._ready and self._ready.text == text:
            return self._ready.leaves
        if self.item.message.role is Role.ASSISTANT:
            return parse(text)
        return [Prose(_TYPED, plain(line)) for line in text.strip("\n").split("\n")]

    def _block_of(self, leaf: Leaf, above: Block | None) -> Block:
        waiting = self._ready.blocks if self._ready else deque()
        if not waiting or waiting[0][0] != leaf:
            waiting.clear()
            return block_of(self.sheet, leaf, above)
        _, block = waiting.popleft()
        block.gap = gap_between(self.sheet, above, block, leaf.frame)
        return block

    def _inside(self, part: ThinkingPart | ToolCallPart | ToolResultPart, fold: FoldBlock) -> Iterator[Block]:
        if not isinstance(part, ThinkingPart):
            yield tool_details(self.sheet, part, fold)
            return
        above: Block = fold
        for leaf in parse(part.text):
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
