"""Markdown as it arrives: what can no longer change is frozen, only the open tail is parsed again.

A block is frozen when a later one has begun on a line that is complete (of a table: whose delimiter row is complete
too), for half a line may still turn out to continue what is above it (``#`` becomes ``#tag``, ``***`` becomes bold).
A list freezes item by item, a table in parts of 30 rows; an open fence takes lines and is never parsed.

The open tail is shown as what it is about to be (see `halves`), until `finish` or `reveal` say that no more comes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reprise.ui.timeline.bounds import REPARSE_LENGTH, part_rows
from reprise.ui.timeline.halves import as_table, held
from reprise.ui.timeline.markdown import (
    Carry,
    Code,
    Frame,
    Gap,
    Leaf,
    groups,
    language_of,
    leaves,
    normalised,
    parse,
    show_open_end,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^\n]*)\n")


@dataclass(slots=True)
class OpenFence:
    """A fence without its end. `lines` are complete; `partial` is the beginning of the next one."""

    indent: int
    mark: str
    language: str
    lines: list[str] = field(default_factory=list)
    partial: str = ""

    def _unindented(self, line: str) -> str:
        column = at = 0
        while column < self.indent and at < len(line) and line[at] in " \t":
            column += 4 - column % 4 if line[at] == "\t" else 1
            at += 1
        return " " * (column - self.indent) + line[at:] if at else line

    def closes(self, line: str) -> bool:
        """True when a complete `line` ends the fence (CommonMark 4.5)."""
        body = line.strip(" \t")
        return (
            len(body) >= len(self.mark)
            and not body.strip(self.mark[0])
            and not line.startswith(("    ", "\t"))
            and len(line) - len(line.lstrip(" ")) < 4
        )

    def take(self, line: str) -> None:
        """Add a complete line."""
        self.lines.append(self._unindented(line))

    def show_partial(self, text: str) -> None:
        """Show the beginning of a line, unless it may become the fence's end: that would flash up and vanish."""
        body = text.strip(" \t")
        self.partial = "" if body and not body.strip(self.mark[0]) else self._unindented(text)

    def shown(self) -> Code:
        """The block as it is shown now."""
        return Code(Frame(), "\n".join([*self.lines, self.partial] if self.partial else self.lines), self.language)

    def leaf(self, rest: str = "") -> Code:
        """The block as it stands, `rest` being an unfinished last line."""
        lines = [*self.lines, self._unindented(rest)] if rest else self.lines
        return Code(Frame(), "\n".join(lines), self.language)


class Splitter:
    """Takes pieces of a reply and keeps its leaves.

    Attributes:
        frozen: Leaves that stay; only ever extended before `finish`.
        open: Leaves of the open tail as they are shown, new with each `feed`.
        fence: The open fence at the end, when there is one (`open` is empty then).
    """

    def __init__(self) -> None:
        self.frozen: list[Leaf] = []
        self.open: list[Leaf] = []
        self.fence: OpenFence | None = None
        self._pieces: list[str] = []
        self._tail = ""
        self._held = ""
        self._kept = ""  # the end of the tail that is not shown yet
        self._is_exact = True  # the open leaves are those of the tail
        self._is_over = False
        self._references: dict[str, Any] = {}
        self._has_references = False
        self._carry: Carry | None = None

    @property
    def text(self) -> str:
        """Everything fed."""
        return "".join(self._pieces)

    @property
    def has_text(self) -> bool:
        """True once anything was fed."""
        return bool(self._pieces)

    def feed(self, text: str) -> None:
        """Take in more text, in any pieces."""
        self._pieces.append(text)
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""  # its line feed may come with the next piece
        self._tail += normalised(text.removesuffix("\r"))
        while self._advance():
            pass

    def finish(self) -> list[Leaf]:
        """All leaves of the complete text, equal to `parse` of it.

        A link defined after its use changes what is frozen: then, and only then, everything is parsed once more. In a
        very long text such a link stays as it was written.
        """
        if self._held:
            self._held, self._tail, self._is_exact = "", self._tail + "\n", False
        self.reveal()
        if self._has_references and sum(map(len, self._pieces)) <= REPARSE_LENGTH:
            self.frozen, self.open = parse(self.text), []
        elif self.fence is not None:
            # A last line of spaces only counts as none, as in a full parse.
            ended = not self._tail.strip() or self.fence.closes(self._tail)
            self.frozen.append(self.fence.leaf("" if ended else self._tail))
        else:
            self.frozen.extend(self.open)
        self.fence, self.open, self._tail = None, [], ""
        return self.frozen

    def reveal(self) -> None:
        """Show the tail as it stands: as far as anybody knows, no more comes."""
        if self._is_exact:
            return
        self._is_over = True
        while self._advance():
            pass
        self._is_over = False

    def _advance(self) -> bool:
        """One step over the tail; True when more may follow."""
        return self._take_lines() if self.fence is not None else self._parse_tail()

    def _take_lines(self) -> bool:
        fence = self.fence
        assert fence is not None  # noqa: S101 - narrows the type
        *lines, rest = self._tail.split("\n")
        for index, line in enumerate(lines):
            if fence.closes(line):
                self.frozen.append(fence.leaf())
                self._tail = "\n".join([*lines[index + 1 :], rest])
                self.fence = None
                return True
            fence.take(line)
        self._tail = rest
        fence.show_partial(rest)
        return False

    def _parse_tail(self) -> bool:
        references = dict(self._references)
        end = len(self._tail) - (0 if self._is_over else held(self._tail))
        text, self._kept = self._tail[:end], self._tail[end:]
        self._is_exact = not self._kept
        found = groups(text, references)
        self._has_references = self._has_references or bool(references)
        if not found:
            self.open = []
            return False
        lines = text.split("\n")
        complete = len(lines) - 1
        last = len(found) - 1
        while last > 0 and _settled_from(found[last]) > complete:
            last -= 1
        if last > 0:
            for group in found[:last]:
                self.frozen.extend(leaves(group, lines, self._take_carry()))
            self._cut(lines, _first_line(found[last]), references)
            return True
        if len(found) == 1:
            kind = found[0][0].type
            if kind == "fence":
                self._cut(lines, _first_line(found[0]), references)
                lines = lines[_first_line(found[0]) :]
            if kind == "fence" and (match := _FENCE.match(self._tail)):
                self.fence = OpenFence(len(match[1]), match[2], language_of(found[0][0].info))
                self.open, self._tail, self._carry = [], self._tail[match.end() :], None
                return True
            if kind.endswith("_list_open") and self._freeze_items(found[0], lines, references):
                return True
            if kind == "table_open" and self._freeze_rows(found[0], lines, references):
                return True
        if not self._is_over and _show_open_end(found, lines, references):
            self._is_exact = False
        self.open = []
        carry = self._carry
        for group in found:
            self.open.extend(leaves(group, lines, carry))
            carry = None
        return False

    def _take_carry(self) -> Carry | None:
        carry, self._carry = self._carry, None
        return carry

    def _cut(self, lines: list[str], line: int, references: dict[str, Any], head: str = "") -> None:
        """Drop the lines before `line` from the tail, keeping the link definitions that stood in them."""
        for label, definition in references.items():
            if definition["map"][0] < line:
                self._references.setdefault(label, {**definition, "map": [-1, -1]})
        self._tail = head + "\n".join(lines[line:]) + self._kept

    def _freeze_items(self, group: list[Token], lines: list[str], references: dict[str, Any]) -> bool:
        """Freeze the items before the last one that has begun for certain."""
        starts = [at for at, token in enumerate(group) if token.type == "list_item_open" and token.level == 1]
        while len(starts) > 1 and _first_line(group[starts[-1] :]) + 1 >= len(lines):
            starts.pop()
        if len(starts) < 2:
            return False
        line = _first_line(group[starts[-1] :])
        self.frozen.extend(leaves([*group[: starts[-1]], group[-1]], lines, self._carry))
        start = group[0].attrGet("start")
        first = self._carry.number if self._carry else 1 if start is None else int(start)
        gap = Gap.ITEM if lines[line - 1].strip(" \t>") else Gap.LOOSE_ITEM
        self._carry = Carry(number=first + len(starts) - 1, gap=gap)
        self._cut(lines, line, references)
        return True

    def _freeze_rows(self, group: list[Token], lines: list[str], references: dict[str, Any]) -> bool:
        """Freeze the rows of a part, if one after them is complete."""
        rows = [token for token in group if token.type == "tr_open"][1:]
        size = part_rows(sum(token.type == "th_open" for token in group))
        if len(rows) <= size or _first_line(rows[size:]) + 1 >= len(lines):
            return False
        parts = leaves(group, lines, self._carry)
        count = (len(rows) - 1) // size
        while _first_line(rows[count * size :]) + 1 >= len(lines):
            count -= 1
        self.frozen.extend(parts[:count])
        top = _first_line(group)
        head = "\n".join(lines[top : top + 2]) + "\n"
        self._carry = Carry(part=(self._carry.part if self._carry else 0) + count)
        self._cut(lines, _first_line(rows[count * size :]), references, head)
        return True


def _show_open_end(found: list[list[Token]], lines: list[str], references: dict[str, Any]) -> bool:
    """Let the last block look as it will when what is open in it is closed; returns whether it does so now."""
    if len(lines) > 1 and not lines[-1] and not lines[-2].strip(" \t>"):
        return False  # an empty line has closed it
    first, is_table = _first_line(found[-1]), False
    if found[-1][0].type == "paragraph_open" and not any(lines[first + 1 :]) and (table := as_table(lines[first])):
        made = groups(table, references)
        if is_table := made[0][0].type == "table_open":
            found[-1] = made[0]
    return show_open_end(found[-1], references, is_line_open=bool(lines[-1])) or is_table


def _first_line(tokens: list[Token]) -> int:
    where = tokens[0].map
    assert where is not None  # noqa: S101 - block tokens that open have one
    return where[0]


def _settled_from(group: list[Token]) -> int:
    """How many lines must be complete for the group to begin where it does for good."""
    return _first_line(group) + (2 if group[0].type == "table_open" else 1)
