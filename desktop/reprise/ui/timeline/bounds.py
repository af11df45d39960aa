"""What bounds the work one reply can ask for: whatever a model writes, no single step of showing it is long.

Every bound is a function of one block's text alone, so that a reply that arrives in pieces is cut where it is cut
when it is parsed at once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reprise.ui.timeline.inline import LINE_BREAK, Rich, Span, units

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
Rule = Callable[["StateBlock", int, int, bool], bool]

#: Columns of a table that are laid out; the others are counted.
COLUMNS = 64
#: Characters of a table's row; a longer line is no row.
ROW_LENGTH = 16_384
#: Lines of a paragraph or quote; the next one begins another.
LINES = 400
#: UTF-16 units and spans of one text layout.
LAYOUT_LENGTH = 8192
LAYOUT_SPANS = 200
#: Characters of source after which links defined behind their use no longer cause another parse.
REPARSE_LENGTH = 65_536
#: Characters of a line of code that are laid out together; a longer line has no colours.
CODE_LENGTH = 4096
#: Coloured runs of a line of code; a line of more has no colours.
CODE_RUNS = 120
_PART_ROWS, _PART_CELLS, _FEWEST_ROWS = 30, 300, 4
# Inline parsing in microseconds, measured: what a mark costs where nothing closes it, and all of one block.
_WEIGHTS = (("[", 30), ("*", 15), ("_", 15), ("~", 15), ("://", 120), ("mailto:", 120), ("\n", 8))
_LIGHT = "!`<&\\"
_LIGHT_WEIGHT = 8
_INLINE_WORK = 30_000
_LONGEST_CLUSTER = 64
_EDGES = re.compile(r"(?<!\\)\|")
_JOINERS = "\u200d\ufe0e\ufe0f"


def part_rows(columns: int) -> int:
    """Rows of a table that make one block: 30, or fewer of a table with many columns."""
    return max(_FEWEST_ROWS, min(_PART_ROWS, _PART_CELLS // max(1, columns)))


def bound(parser: MarkdownIt) -> None:
    """Put the bounded rules in place of the parser's own."""
    from markdown_it.rules_block import blockquote, lheading, paragraph, reference, table

    def bounded_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return _table(table, state, start, end, silent)

    parser.core.ruler.at("inline", _inline)
    for name, rule in (("reference", reference), ("lheading", lheading), ("paragraph", paragraph)):
        parser.block.ruler.at(name, _in_short(rule), {"alt": []})
    ends = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.at("blockquote", _in_short(blockquote), {"alt": ends})
    parser.block.ruler.at("table", bounded_table, {"alt": ["paragraph", "reference"]})


def _work(content: str) -> int:
    heavy = sum(content.count(mark) * weight for mark, weight in _WEIGHTS)
    return len(content) // 8 + heavy + _LIGHT_WEIGHT * sum(map(content.count, _LIGHT))


def _inline(state: StateCore) -> None:
    """Parse what stands in each block; text beyond the work a top-level block, item or row may cost stays as it is."""
    from markdown_it.token import Token

    spent = 0
    for token in state.tokens:
        kind = token.type
        if kind == "inline":
            token.children = token.children or []
            spent += _work(token.content)
            if spent <= _INLINE_WORK:
                state.md.inline.parse(token.content, state.md, state.env, token.children)
            else:
                text = " ".join(line.strip() for line in token.content.split("\n"))
                token.children = [Token("text", "", 0, content=text)]
                token.content = ""  # nothing is looked for in it
        elif token.level == 0 or kind == "tr_open" or (kind == "list_item_open" and token.level == 1):
            spent = 0


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def columns_of(text: str) -> int:
    """How many cells a table's line has."""
    text = text.strip()
    edges = text.startswith("|") + (text.endswith("|") and not text.endswith("\\|"))
    return text.count("|") - text.count("\\|") - edges + 1


def _cut_at(text: str) -> int:
    """Where the first columns of a row end."""
    at = -1
    left = COLUMNS + text.startswith("|")
    while left and (at := text.find("|", at + 1)) >= 0:
        left -= not text.endswith("\\", 0, at)
    return at if at >= 0 else len(text)


def _in_short(rule: Rule) -> Rule:
    """A rule of the parser that sees no more lines than a paragraph or quote may have."""

    def bounded(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        last = state.lineMax
        state.lineMax = min(last, start + LINES)
        try:
            return rule(state, start, min(end, state.lineMax), silent)
        finally:
            state.lineMax = last

    return bounded


def _table(rule: Rule, state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The parser's own rule, which is shown the first columns only and no line that is longer than a row may be."""
    if start + 2 > end or _line(state, start + 1)[:1] not in ("|", "-", ":"):
        return False
    columns = columns_of(_line(state, start + 1))
    more = max(0, columns - COLUMNS)
    if more and columns_of(_line(state, start)) != columns:
        return False
    ends: dict[int, int] = {}
    try:
        for line in range(start, start + 2 if silent else end):
            text = _line(state, line)
            if not text:
                break
            if text.count("|") > COLUMNS:
                ends[line] = state.eMarks[line]
                cut = _cut_at(text)
                state.eMarks[line] += cut - len(text)
                text = text[:cut]
            if len(text) > ROW_LENGTH:
                if line < start + 2:
                    return False
                end = line
                break
        first = len(state.tokens)
        if not rule(state, start, end, silent):
            return False
    finally:
        for line, at in ends.items():
            state.eMarks[line] = at
    if not silent:
        state.tokens[first].meta["more"] = more
        if not more:
            _keep_excess(state, state.tokens[first:], columns)
    return True


def _keep_excess(state: StateBlock, tokens: Sequence[Token], columns: int) -> None:
    """What a row has beyond the last column stays in its last cell: a pipe too many must not make words vanish."""
    last: Token | None = None
    row = 0
    for token in tokens:
        if token.type == "tr_open" and token.map:
            row = token.map[0]
        elif token.type == "inline":
            last = token
        elif token.type == "tr_close" and last is not None:
            text = _line(state, row).strip()
            if columns_of(text) > columns:
                more = _EDGES.split(text.removeprefix("|"), columns)[columns].replace("\\|", "|")
                last.content = f"{last.content} | {more.strip()}".rstrip("| ")


def pieces(rich: Rich) -> list[Rich]:
    """A paragraph as the texts of its layouts: one, or several cut between words where it is long."""
    if len(rich.text) <= LAYOUT_LENGTH // 2 and len(rich.spans) <= LAYOUT_SPANS:
        return [rich]
    length = units(rich.text)
    if length <= LAYOUT_LENGTH and len(rich.spans) <= LAYOUT_SPANS:
        return [rich]
    # Every character of two units becomes two, so that offsets are Qt's.
    wide = rich.text if length == len(rich.text) else _in_units(rich.text)
    found: list[Rich] = []
    start = span = pad = 0
    while start < length:
        end = min(length, start + LAYOUT_LENGTH)
        if span + LAYOUT_SPANS < len(rich.spans):
            end = min(end, max(start + 1, rich.spans[span + LAYOUT_SPANS].start))
        if end < length:
            end = _word_end(wide, start, end)
        spans = []
        while span < len(rich.spans) and rich.spans[span].start < end:
            each = rich.spans[span]
            spans.append(Span(max(0, each.start - start), min(each.end, end) - start, each.style, each.href))
            if each.end > end:
                break
            span += 1
        pads = []
        while pad < len(rich.pads) and rich.pads[pad] < end:
            pads.append(rich.pads[pad] - start)
            pad += 1
        found.append(
            Rich(_from_units(wide[start:end]) if wide is not rich.text else wide[start:end], tuple(spans), tuple(pads))
        )
        start = end
    return found


def _in_units(text: str) -> str:
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, memoryview(data).cast("H")))


def _from_units(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _word_end(text: str, start: int, end: int) -> int:
    """The end of the last word before `end`; in a word without end, of the last character people see as one."""
    at = 1 + max(text.rfind(" ", start, end), text.rfind(LINE_BREAK, start, end))
    return at if at > start else cluster_end(text, start, end)


def cluster_end(text: str, start: int, end: int) -> int:
    """`end`, or a little before it where that would part what is drawn as one."""
    for at in range(end, max(start, end - _LONGEST_CLUSTER), -1):
        after, before = text[at], text[at - 1]
        parted = "\udc00" <= after <= "\udfff" and "\ud800" <= before <= "\udbff"
        if not (parted or after in _JOINERS or before == "\u200d" or unicodedata.category(after).startswith("M")):
            return at
    return end
