"""The Markdown of what is selected: whole blocks as they were written, parts of blocks with what marks them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reprise.domain.messages import Message, Role, TextPart, ThinkingPart
from reprise.ui.timeline.block import Block
from reprise.ui.timeline.inline import LINE_BREAK, Rich, Style, cut, units
from reprise.ui.timeline.markdown import Code, Gap, Leaf, Prose, Table, located, normalised
from reprise.ui.timeline.message_view import MessageView
from reprise.ui.timeline.selection import Reach
from reprise.ui.timeline.transcript import Write, chosen_of

_MARKS = ((Style.BOLD, "**"), (Style.ITALIC, "*"), (Style.STRIKE, "~~"))
_SPECIAL = re.compile(r"[\\`*\[\]<]|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~")
_CONTAINER = re.compile(r" {0,3}(?:>|[-+*](?=\s|$)|\d{1,9}[.)](?=\s|$)) ?|[ \t]+")
_TASK = re.compile(r"\[[ xX]\] ")
_RUN = re.compile("`+")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A selected leaf of a text: its number and the offsets, of `length`, that are selected."""

    number: int
    first: int
    last: int
    length: int

    @property
    def is_whole(self) -> bool:
        """True when all of it is selected."""
        return self.first == 0 and self.last == self.length


def _source_of(message: Message) -> str:
    return message.text.strip("\n")


def _selected(view: MessageView, message: int, reach: Reach) -> str:
    """A message's part of the selection; a prompt as it was typed."""
    said = view.message
    is_inside = reach.start[:2] < (message, (0, 0)) and reach.end[:2] > (message, view.blocks[-1].place)
    if is_inside and not view.opened:
        return _source_of(said)
    sections: dict[int, list[tuple[Block, Chosen]]] = {}
    for block in view.blocks:
        chosen = chosen_of(block, message, reach)
        if chosen is not None:
            section, number = block.place
            sections.setdefault(section, []).append((block, Chosen(number, *chosen, block.length())))
    texts = {view.section_of(number): part for number, part in enumerate(said.parts)}
    pieces = []
    for section, found in sections.items():
        part = texts.get(section)
        blocks, chosen_ones = [block for block, _ in found], [each for _, each in found]
        if isinstance(part, ThinkingPart):
            below = [Chosen(each.number - 1, each.first, each.last, each.length) for each in chosen_ones]
            pieces.append(markdown_of(part.text, below))
        elif isinstance(part, TextPart) and said.role is Role.ASSISTANT:
            pieces.append(markdown_of(part.text, chosen_ones))
        else:
            pieces.append(_as_seen(blocks, chosen_ones))
    return "\n\n".join(piece for piece in pieces if piece)


def _as_seen(blocks: Sequence[Block], chosen: Sequence[Chosen]) -> str:
    """What has no Markdown source: a prompt's lines, a tool's text, an attempt that was given up."""
    pieces: list[str] = []
    for block, each in zip(blocks, chosen, strict=True):
        if pieces:
            pieces.append(block.joint)
        pieces.append(block.plain(each.first, each.last))
    return "".join(pieces)


def markdown_of(text: str, chosen: Sequence[Chosen]) -> str:
    """The Markdown of neighbouring leaves of a text, of which the first and last may be selected in part."""
    lines = normalised(text).split("\n")
    found = located(text)
    chosen = [each for each in chosen if each.number < len(found)]
    if not chosen:
        return ""
    whole = [each for each in chosen if _is_whole(each, chosen, found)]
    pieces: list[str] = []
    numbers = [each.number for each in chosen]
    if whole:
        low, high = whole[0].number, whole[-1].number
        before = [each for each in chosen if each.number < low]
        after = [each for each in chosen if each.number > high]
        _, first, _ = found[low]
        _, _, end = found[high]
        pieces += [_part(found, lines, each, alone=False) for each in before]
        head = _table_head(found, lines, low)
        pieces.append("\n".join([*head, *lines[first:end]]))
        if not _is_closed(found[high][0], lines[first:end]):
            pieces[-1] += f"\n{_fence_of(lines[found[high][1]])}"
        numbers = [each.number for each in before] + [low] + [each.number for each in after]
        pieces += [_part(found, lines, each, alone=False) for each in after]
    else:
        pieces = [_part(found, lines, each, alone=len(chosen) == 1) for each in chosen]
    joined = pieces[0]
    for number, piece in zip(numbers[1:], pieces[1:], strict=True):
        joined += _joint(found, number) + piece
    return joined


Located = tuple[Leaf, int, int]


def _is_piece(leaf: Leaf) -> bool:
    return isinstance(leaf, Prose) and leaf.frame.gap is Gap.PART


def _is_whole(each: Chosen, chosen: Sequence[Chosen], found: Sequence[Located]) -> bool:
    """True when a leaf is selected with all that stands on its lines: a long paragraph is several leaves."""
    numbers = {other.number: other.is_whole for other in chosen}
    first = last = each.number
    while first > 0 and _is_piece(found[first][0]):
        first -= 1
    while last + 1 < len(found) and _is_piece(found[last + 1][0]):
        last += 1
    return all(numbers.get(number, False) for number in range(first, last + 1))


def _joint(found: Sequence[Located], number: int) -> str:
    """What stood between a leaf and the one above it."""
    leaf, first, _ = found[number]
    if _is_piece(leaf):
        return ""
    return "\n" if number and found[number - 1][2] >= first else "\n\n"


def _table_head(found: Sequence[Located], lines: Sequence[str], number: int) -> list[str]:
    """The head of the table that a later part goes on with; nothing for anything else."""
    leaf = found[number][0]
    if not isinstance(leaf, Table) or leaf.part == 0:
        return []
    top = found[number - leaf.part][1]
    return list(lines[top : top + 2])


def _fence_of(line: str) -> str:
    match = re.search(r"(`{3,}|~{3,})", line)
    return match[1] if match else "```"


def _is_closed(leaf: Leaf, lines: Sequence[str]) -> bool:
    """False for a fence without its end: what comes after it would be code."""
    if not isinstance(leaf, Code) or not lines:
        return True
    inside = leaf.text.count("\n") + 1 if leaf.text else 0
    opener = _CONTAINER.sub("", lines[-inside - 1]) if inside < len(lines) else ""
    return not opener.startswith(("```", "~~~"))


def _part(found: Sequence[Located], lines: Sequence[str], each: Chosen, *, alone: bool) -> str:
    """Part of a leaf. With others around it, and at its beginning, it keeps what it stands in."""
    leaf, first, _ = found[each.number]
    with_frame = not alone or each.first == 0
    marked, plain = _frame_of(leaf, lines[first]) if with_frame else ("", "")
    if isinstance(leaf, Prose):
        level = "#" * leaf.level + " " if leaf.level and each.first == 0 else ""
        return marked + level + _inline(leaf.rich, each.first, each.last).replace("\n", f"\n{plain}")
    if isinstance(leaf, Code):
        code = cut(leaf.text, each.first, each.last)
        longest = max((len(run) for run in _RUN.findall(code)), default=0)
        fence = "`" * max(3, longest + 1)
        return marked + f"{fence}{leaf.language}\n{code}\n{fence}".replace("\n", f"\n{plain}")
    if isinstance(leaf, Table):
        return _table_part(found, lines, each, leaf)
    return "\n".join(lines[first : found[each.number][2]])


def _frame_of(leaf: Leaf, line: str) -> tuple[str, str]:
    """What stands before a leaf's text on its first line, and what stands there on the lines after it."""
    at = 0
    for _ in leaf.frame.containers:
        match = _CONTAINER.match(line, at)
        at = match.end() if match else at
    marked = line[:at]
    plain = "".join(mark if mark in "> \t" else " " for mark in marked)
    if leaf.frame.markers and (task := _TASK.match(line, at)):
        marked += task[0]
    return marked, plain


def _table_part(found: Sequence[Located], lines: Sequence[str], each: Chosen, leaf: Table) -> str:
    """The rows that are selected, however little of them, under the table's head; of one cell, its text."""
    rows = [leaf.head, *leaf.rows] if leaf.part == 0 else list(leaf.rows)
    begin, touched = 0, []
    for at, row in enumerate(rows):
        for cell in row:
            end = begin + units(cell.text)
            if begin <= each.first and each.last <= end:
                return _inline(cell, each.first - begin, each.last - begin)
            if begin < each.last and end > each.first:
                touched.append(at)
            begin = end + 1
    top = found[each.number - leaf.part][1]
    own = found[each.number][1] + (2 if leaf.part == 0 else 0)
    wanted = sorted(set(touched))
    if leaf.part == 0:
        wanted = [at - 1 for at in wanted if at > 0]
    return "\n".join([*lines[top : top + 2], *(lines[own + at] for at in wanted)])


def _inline(rich: Rich, first: int, last: int) -> str:
    """Text with its marks, without the real host that is shown beside a link: nobody wrote that."""
    pieces: list[str] = []
    at, linked = first, -1
    for span in rich.spans:
        is_host = span.style & Style.MUTED and not span.href and span.start == linked
        linked = span.end if span.href else -1
        start, end = max(span.start, first), min(span.end, last)
        if start >= end:
            continue
        pieces.append(_escaped(rich.plain(at, start)))
        if not is_host:
            pieces.append(_marked(rich.plain(start, end), span.style, span.href))
        at = end
    pieces.append(_escaped(rich.plain(at, last)))
    return "".join(pieces)


def _marked(text: str, style: Style, href: str) -> str:
    if not text.strip():
        return text
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    inner = text.strip()
    if style & Style.CODE:
        longest = max((len(run) for run in _RUN.findall(inner)), default=0)
        ticks, pad = "`" * (longest + 1), " " if inner[0] == "`" or inner[-1] == "`" else ""
        inner = f"{ticks}{pad}{inner}{pad}{ticks}"
    else:
        inner = _escaped(inner)
    for flag, mark in _MARKS:
        if style & flag:
            inner = f"{mark}{inner}{mark}"
    if href and href != text.strip():
        inner = f"[{inner}](<{href}>)" if re.search(r"[\s()]", href) else f"[{inner}]({href})"
    elif href:
        inner = href
    return f"{lead}{inner}{tail}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"\\{match[0]}", text).replace(LINE_BREAK, "\n").replace("\n", "\\\n")


AS_MARKDOWN = Write(_selected, _source_of)
"""As it was written."""
