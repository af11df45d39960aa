"""Leaves and parts -> blocks, and the gaps between them."""

from __future__ import annotations

from reprise.domain.messages import ToolCallPart, ToolResultPart
from reprise.ui.theme import Type
from reprise.ui.timeline.block import Block, tr
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.lines import ICON_LABEL, FoldBlock, LabelBlock, NoteBlock, RuleBlock
from reprise.ui.timeline.markdown import Code, Frame, Gap, Leaf, Prose, Rule
from reprise.ui.timeline.prose import ProseBlock
from reprise.ui.timeline.sheet import Sheet
from reprise.ui.timeline.table import TableBlock

THINKING_LINE = 24
TOOL_LINE = 28
_ITEM_GAPS = {Gap.LINE: 0, Gap.ITEM: 4, Gap.LOOSE_ITEM: 8, Gap.IN_ITEM: 8}
_HEADINGS = {1: Type.H1, 2: Type.H2}


def block_of(sheet: Sheet, leaf: Leaf, above: Block | None, *, thinking: bool = False) -> Block:
    """The block that shows `leaf` under `above`, its gap set."""
    block: Block
    if isinstance(leaf, Prose):
        role = Type.THINKING if thinking else Type.BODY
        if leaf.level:
            role = _HEADINGS.get(leaf.level, Type.H3)
        inset = sheet.px(ICON_LABEL) if thinking else 0
        block = ProseBlock(sheet, leaf.rich, leaf.frame, role, muted=thinking, inset=inset)
        block.is_heading = leaf.level > 0
    elif isinstance(leaf, Code):
        block = CodeBlock(sheet, leaf.frame, leaf.text.split("\n"), leaf.language)
    elif isinstance(leaf, Rule):
        block = RuleBlock(sheet, leaf.frame)
    else:
        first = above.first if leaf.part and isinstance(above, TableBlock) else None
        if first is not None and isinstance(above, TableBlock):
            above.ends = False
            above.invalidate()
        block = TableBlock(sheet, leaf, first)
    block.in_thinking = thinking
    block.gap = gap_between(sheet, above, block, leaf.frame)
    return block


def gap_between(sheet: Sheet, above: Block | None, block: Block, frame: Frame) -> int:
    """The vertical rhythm of section 4 of the tokens."""
    if above is None:
        return 0
    return sheet.px(_gap(above, block, frame))


def _gap(above: Block, block: Block, frame: Frame) -> int:
    if frame.gap is Gap.PART:
        return 0
    if isinstance(above, LabelBlock):
        return 4
    if isinstance(above, NoteBlock):
        return 4
    if isinstance(above, FoldBlock):
        return 4 if block.in_thinking else 8
    if isinstance(block, TableBlock) and block.leaf.part:
        return 0
    if isinstance(above, ProseBlock) and above.is_heading:
        return 6
    if isinstance(block, CodeBlock | TableBlock) or isinstance(above, CodeBlock | TableBlock):
        return 14
    if isinstance(block, RuleBlock) or isinstance(above, RuleBlock):
        return 16
    if isinstance(block, ProseBlock) and block.is_heading:
        return 16
    return _ITEM_GAPS.get(frame.gap, 12)


def note_block(sheet: Sheet, note: str, icon: str, above: Block | None) -> NoteBlock:
    """The line under a message."""
    block = NoteBlock(sheet, note, icon)
    block.gap = sheet.px(12 if isinstance(above, CodeBlock | TableBlock) else 6)
    return block


def thinking_fold(sheet: Sheet, seconds: float | None, above: Block | None, *, running: bool) -> FoldBlock:
    """The line that stands for the reasoning."""
    if running:
        label = tr("Thinking")
    elif seconds is None:
        label = tr("Thought")
    else:
        label = tr("Thought for {seconds} s").format(seconds=max(1, round(seconds)))
    block = FoldBlock(sheet, label, "thinking", THINKING_LINE)
    block.gap = sheet.px(6) if above is not None else 0
    return block


def attempts_fold(sheet: Sheet, count: int, above: Block | None) -> FoldBlock:
    """The line that stands for the attempts before a reply."""
    label = tr("1 earlier attempt") if count == 1 else tr("{n} earlier attempts").format(n=count)
    block = FoldBlock(sheet, label, "branch", THINKING_LINE)
    block.gap = sheet.px(6) if above is not None else 0
    return block


def tool_fold(sheet: Sheet, part: ToolCallPart | ToolResultPart, above: Block | None) -> FoldBlock:
    """The line that stands for a tool call or for what it gave."""
    if isinstance(part, ToolCallPart):
        label = part.name
    elif part.is_error:
        label = tr("{name} failed").format(name=part.name)
    else:
        label = tr("{name} answered").format(name=part.name)
    block = FoldBlock(sheet, label, "tool", TOOL_LINE)
    block.gap = sheet.px(4) if above is not None else 0
    return block


def tool_details(sheet: Sheet, part: ToolCallPart | ToolResultPart, above: Block) -> CodeBlock:
    """What an opened tool line shows: the arguments as they came, or the result's text."""
    if isinstance(part, ToolCallPart):
        text, language = part.arguments, "json"
    else:
        text, language = part.text, ""
    block = CodeBlock(sheet, Frame(), text.split("\n"), language)
    block.gap = sheet.px(4)
    return block
