"""The reply that is being written: a message view that grows at its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from PySide6.QtCore import QElapsedTimer, QRectF
from PySide6.QtGui import QPainter

from reprise.domain.deltas import Delta, RecastDelta, TextDelta, ThinkingDelta
from reprise.domain.messages import Message, Role, TextPart, ThinkingPart
from reprise.ui.theme import Type
from reprise.ui.timeline.block import Block
from reprise.ui.timeline.build import block_of, gap_between, note_block, thinking_fold
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.incremental import OpenFence, Splitter
from reprise.ui.timeline.inline import Rich
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.lines import LabelBlock
from reprise.ui.timeline.markdown import Code, Frame, Leaf, Prose, Table
from reprise.ui.timeline.message_view import NOTE, TEXT, THINKING, MessageView, Ready
from reprise.ui.timeline.prose import ProseBlock
from reprise.ui.timeline.sheet import Sheet
from reprise.ui.timeline.table import TableBlock

_EMPTY = Prose(Frame(), Rich(""))


class LiveReply(MessageView):
    """Blocks of a reply without its end.

    What the splitter has frozen keeps its block; of the open tail, leaves that did not change keep theirs too, an
    open fence and an open table grow in place.

    Attributes:
        wait_text: What it waits for, or `None`.
        failed: The dimmed rest of an attempt, with a note.
    """

    def __init__(self, sheet: Sheet, key: str, label: str, lead: int) -> None:
        self._splitter = Splitter()
        self._thinking = Splitter()
        self._thoughts: list[Block] = []  # of what is frozen, while the thinking is open
        self._clock = QElapsedTimer()
        self._thought_over = False
        self._thought_s: float | None = None
        self._head = 0  # blocks before the text
        self._leaves: list[Leaf] = []  # of the text's blocks; an open fence has a block after theirs
        self._frozen = 0
        self._fence: tuple[OpenFence, CodeBlock, int] | None = None  # the last: lines already shown
        self._has_note = False
        self.wait_text: str | None = None
        self.failed = False
        super().__init__(sheet, TimelineItem(key, Message(Role.ASSISTANT, ()), label), lead)

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._splitter.text

    @property
    def message(self) -> Message:
        thought = (ThinkingPart(self._thinking.text),) if self._has_thought else ()
        return Message(Role.ASSISTANT, (*thought, TextPart(self.text)))

    @property
    def thought_s(self) -> float | None:
        """Seconds of reasoning; `None` unless it was seen to begin and end."""
        return self._thought_s

    @property
    def is_empty(self) -> bool:
        """True before the first delta."""
        return not self._has_thought and not self._splitter.has_text

    def _all(self) -> Iterator[Block]:
        """Everything anew: after a theme change or when thinking opens."""
        above: Block | None = None
        if self.item.label:
            yield (above := LabelBlock(self.sheet, self.item.label, self.item.meta))
        if self._has_thought:
            fold = thinking_fold(self.sheet, self._thought_s, above, running=not self._thought_over)
            fold.fold = 0
            fold.place = (THINKING, 0)
            fold.is_open = 0 in self._opened
            yield (above := fold)
            if fold.is_open:
                for at, block in enumerate(self._thought_blocks(fold), 1):
                    block.place = (THINKING, at)
                    yield (above := block)
        self._leaves = []
        self._fence = None
        self._frozen = 0

    def _thought_blocks(self, fold: Block) -> list[Block]:
        """The opened thinking; only what is not frozen yet is made anew."""
        thinking, above = self._thinking, self._thoughts[-1] if self._thoughts else fold
        for leaf in thinking.frozen[len(self._thoughts) :]:
            above = block_of(self.sheet, leaf, above, thinking=True)
            self._thoughts.append(above)
        tail: list[Block] = []
        for leaf in [*thinking.open, thinking.fence.shown()] if thinking.fence else thinking.open:
            above = block_of(self.sheet, leaf, above, thinking=True)
            tail.append(above)
        return [*self._thoughts, *tail]

    @property
    def _has_thought(self) -> bool:
        return self._thinking.has_text

    def _build(self) -> None:
        self.blocks = list(self._all())
        self._head = len(self.blocks)
        self._has_note = False
        self._show_text()
        self._show_note()
        self.recount()

    def feed(self, deltas: list[Delta]) -> tuple[int, int]:
        """Take in what came since the last frame.

        Returns the first block that looks different, and the height in it from which it does.
        """
        caret = self.caret()
        index, top = self._feed(deltas)
        if caret is not None and caret[0] < index:
            return caret[0], round(caret[2])
        if caret is not None and caret[0] == index:
            top = min(top, round(caret[2]))
        return index, top

    def _feed(self, deltas: list[Delta]) -> tuple[int, int]:
        begins = self.is_empty
        thinking, text, is_recast = self._told_apart(deltas)
        # What a recast moves was reasoning from its first word on, whatever it passed for.
        if begins or (thinking and not self._has_thought and not is_recast):
            begins = True
            self._clock.start()
        rebuild = is_recast
        if thinking:
            rebuild = rebuild or not self._has_thought or 0 in self._opened
            self._thinking.feed(thinking)
        if text:
            self._splitter.feed(text)
        if self._has_thought and not self._thought_over and (is_recast or text.strip()):
            self._thought_over = True
            self._thinking.reveal()
            # Begun and ended in one frame: it comes from the disk or in one piece, and its time is not known.
            self._thought_s = None if begins else self._clock.elapsed() / 1000
            rebuild = True
        if rebuild:
            self._build()
            return 0, 0
        if not text:
            return len(self.blocks), 0
        self._drop_note()
        first = self._show_text()
        self._show_note()
        return first

    def _told_apart(self, deltas: list[Delta]) -> tuple[str, str, bool]:
        """The reasoning and the answer in a frame, and whether what was said before turned out to be reasoning."""
        thinking: list[str] = []
        text: list[str] = []
        is_recast = False
        for delta in deltas:
            match delta:
                case ThinkingDelta(piece):
                    thinking.append(piece)
                case TextDelta(piece):
                    text.append(piece)
                case RecastDelta():
                    thinking += [self._splitter.text, *text]
                    text.clear()
                    self._splitter = Splitter()
                    is_recast = True
        return "".join(thinking), "".join(text), is_recast

    def restyle(self, sheet: Sheet, lead: int) -> None:
        """Another theme: every block is made anew."""
        self.sheet, self.lead = sheet, lead
        self._thoughts.clear()
        self._build()

    def _above(self) -> Block | None:
        return self.blocks[-1] if self.blocks else None

    def _push(self, block: Block, section: int = TEXT) -> None:
        block.place = (section, len(self.blocks) - self._head)
        self.blocks.append(block)
        self.total += block.gap + block.height

    def _truncate(self, count: int) -> None:
        for block in self.blocks[count:]:
            self.total -= block.gap + block.height
        del self.blocks[count:]

    def _show_text(self) -> tuple[int, int]:
        """Bring the blocks up to the splitter's leaves; returns the first changed block and the height in it."""
        splitter = self._splitter
        if self._fence is not None:
            first = self._head + len(self._leaves)
            if splitter.fence is self._fence[0]:
                return first, self._grow_fence()
            self._close_fence(splitter.frozen[len(self._leaves)])
        fresh = [*splitter.frozen[self._frozen :], *splitter.open]
        if not fresh and splitter.fence is None and not splitter.frozen:
            fresh = [_EMPTY]
        known = self._leaves[self._frozen :]
        same = 0
        while same < min(len(known), len(fresh)) and known[same] == fresh[same]:
            same += 1
        keep = self._frozen + same
        first = self._head + keep
        if keep < len(self._leaves) and same < len(fresh) and self._grow_table(keep, fresh[same]):
            keep += 1
            same += 1
        old = self.blocks[first] if first < len(self.blocks) else None
        self._truncate(self._head + keep)
        del self._leaves[keep:]
        self._mend_table_end()
        for leaf in fresh[same:]:
            self._push(block_of(self.sheet, leaf, self._above()))
            self._leaves.append(leaf)
        self._frozen = len(splitter.frozen)
        if splitter.fence is not None:
            self._open_fence(splitter.fence)
        new = self.blocks[first] if first < len(self.blocks) else None
        return first, new.same_until(old) if old is not None and isinstance(new, ProseBlock) else 0

    def _mend_table_end(self) -> None:
        """A table whose next part went away ends itself again."""
        last = self._above()
        if isinstance(last, TableBlock) and not last.ends:
            last.ends = True
            last.invalidate()

    def _grow_table(self, at: int, leaf: Leaf) -> bool:
        block, old = self.blocks[self._head + at], self._leaves[at]
        if not (isinstance(block, TableBlock) and isinstance(leaf, Table) and isinstance(old, Table)):
            return False
        if (old.frame, old.part, old.aligns) != (leaf.frame, leaf.part, leaf.aligns):
            return False
        block.update_rows(leaf)
        self._leaves[at] = leaf
        return True

    def _open_fence(self, fence: OpenFence) -> None:
        block = CodeBlock(self.sheet, Frame(), [""], fence.language, is_open=True)
        block.gap = gap_between(self.sheet, self._above(), block, Frame())
        self._push(block)
        self._fence = (fence, block, 0)
        self._grow_fence()

    def _grow_fence(self) -> int:
        assert self._fence is not None  # noqa: S101 - callers have looked
        fence, block, known = self._fence
        before = block.height
        top = block.line_y(known)
        block.extend(fence.lines[known:], fence.partial, known)
        self._fence = (fence, block, len(fence.lines))
        self.total += block.height - before
        return top

    def _close_fence(self, leaf: Leaf) -> None:
        if self._fence is None or not isinstance(leaf, Code):
            return
        block = self._fence[1]
        self._fence = None
        self._leaves.append(leaf)
        self._frozen = len(self._leaves)
        block.close(leaf.text)

    def _drop_note(self) -> None:
        if self._has_note:
            self._truncate(len(self.blocks) - 1)
            self._has_note = False

    def _show_note(self) -> None:
        if self.failed and self.item.note and not self.wait_text:
            self._push(note_block(self.sheet, self.item.note, self.item.note_icon, self._above()), NOTE)
            self._has_note = True
        elif self.wait_text and not self.is_empty:
            self._push(note_block(self.sheet, self.wait_text, "clock", self._above()), NOTE)
            self._has_note = True

    def set_wait_text(self, text: str | None) -> None:
        """What the reply waits for, or `None`."""
        if text != self.wait_text:
            self.wait_text = text
            self._drop_note()
            self._show_note()

    def fail(self, item: TimelineItem) -> None:
        """No more comes: dimmed, with the note of `item`."""
        self.item = item
        self.failed = True
        self.wait_text = None
        self._splitter.reveal()
        self._drop_note()
        self._show_text()
        self._show_note()

    @property
    def is_dimmed(self) -> bool:
        return self.failed

    def finish(self, item: TimelineItem) -> MessageView:
        """The view of the complete message. Blocks that are right already are taken over, so that nothing flickers."""
        text = self._splitter.text
        final = list(self._splitter.finish())
        self._drop_note()
        if self._fence is not None and isinstance(final[min(len(self._leaves), len(final) - 1)], Code):
            self._close_fence(final[len(self._leaves)])
        pairs = deque(zip(self._leaves, self.blocks[self._head :], strict=False))
        opened = {at for at, part in enumerate(item.message.parts) if self._opened and isinstance(part, ThinkingPart)}
        return MessageView(self.sheet, item, self.lead, Ready(text, final, pairs), opened)

    def caret(self) -> tuple[int, float, float, float] | None:
        """Where the next letter will stand: block index, x, top and height in the block's coordinates."""
        if self.failed:
            return None
        index = len(self.blocks) - (2 if self._has_note else 1)
        return (index, *self.blocks[index].end_point())

    def paint_caret(self, painter: QPainter, x: float, top: float, height: float) -> None:
        """The caret, and what is waited for beside it while there is nothing else; origin is the block's."""
        sheet = self.sheet
        size = sheet.px(18)
        gap = 0 if self.is_empty else sheet.px(1)
        painter.fillRect(
            QRectF(round(x) + gap, round(top + (height - size) / 2), sheet.px(2), size), sheet.color("accent")
        )
        if self.is_empty and self.wait_text:
            grid = sheet.grid(Type.UI, None, True)
            sheet.text(painter, grid, round(x) + sheet.px(12), top + height / 2, self.wait_text, "muted")
