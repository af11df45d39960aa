"""Markdown text -> leaves: the paragraphs, code boxes, tables and rules a message is stacked from.

Containers are flattened: a leaf carries the quotes and list items it stands in, so that every leaf can be laid out,
frozen and dropped alone. Raw HTML is text, and only http, https and mailto make a link. The parser
is imported when the first message is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from reprise.ui.timeline.bounds import bound, part_rows, pieces
from reprise.ui.timeline.halves import completed
from reprise.ui.timeline.inline import Rich, rich_text
from reprise.ui.timeline.links import is_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_BULLETS = "\u2022\u25e6\u25aa"
_TASK = re.compile(r"\[([ xX])\] ")
_NEWLINE = re.compile(r"\r\n?")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Gap(StrEnum):
    """What separates a leaf from the one above it, beside the kinds of both."""

    BLOCK = "block"
    ITEM = "item"
    LOOSE_ITEM = "loose_item"
    IN_ITEM = "in_item"
    LINE = "line"
    PART = "part"


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a leaf stands.

    `containers` has one letter for each container, outermost first: ``l`` list item, ``q`` quote. `markers` are
    (index into containers, marker) of the items this leaf opens; a task's marker is ``[ ]`` or ``[x]``.
    """

    containers: str = ""
    markers: tuple[tuple[int, str], ...] = ()
    gap: Gap = Gap.BLOCK
    opens_quote: bool = False


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph or a heading of `level` 1 to 6, or a part of a long one: all but the first have `Gap.PART`."""

    frame: Frame
    rich: Rich
    level: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced or indented block; `text` without its last newline, `language` the first word of the info string."""

    frame: Frame
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Up to 30 rows of a table: part 0 has the head and fixes the columns' widths; `more` columns are not there."""

    frame: Frame
    head: tuple[Rich, ...]
    aligns: tuple[str, ...]
    rows: tuple[tuple[Rich, ...], ...]
    part: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A thematic break."""

    frame: Frame


Leaf = Prose | Code | Table | Rule
References = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Carry:
    """What a list or table that was cut goes on with: the item's number and gap, or the table's part."""

    number: int = 0
    gap: Gap = Gap.ITEM
    part: int = 0


@cache
def _parser(with_addresses: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    # A tag is found, so that what looks like Markdown in it is none, and shown as it was written.
    parser = MarkdownIt("commonmark", {"html": True, "linkify": with_addresses})
    parser.enable(["table", "strikethrough"]).disable("html_block")
    bound(parser)
    if with_addresses:
        parser.enable("linkify")
        # "main.py" is no link though .py is a domain: only written-out addresses are.
        assert parser.linkify is not None  # noqa: S101 - the option above makes it
        parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    parser.validateLink = lambda url: is_link(url)  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser


def normalised(text: str) -> str:
    """Newlines as ``\\n``, NUL and lone surrogates as the replacement character."""
    if "\r" in text:
        text = _NEWLINE.sub("\n", text)
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _parser_for(text: str) -> MarkdownIt:
    # Looking for addresses costs a third of the time, and without one of these there is none.
    return _parser("://" in text or "mailto:" in text.lower())


def groups(text: str, references: References) -> list[list[Token]]:
    """The tokens of each top-level block; link definitions found are added to `references`."""
    found: list[list[Token]] = []
    start = depth = 0
    tokens = _parser_for(text).parse(text, {"references": references})
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            found.append(tokens[start : index + 1])
            start = index + 1
    return found


def show_open_end(group: Sequence[Token], references: References, *, is_line_open: bool) -> bool:
    """Let the last text of a block that is being written look as it will when what is open in it is closed.

    Only a paragraph goes on after a line that is complete. Returns whether anything looks different now.
    """
    from markdown_it.token import Token

    at = next((at for at in range(len(group) - 1, 0, -1) if group[at].nesting >= 0), 0)
    last = group[at]
    if last.type != "inline" or not (is_line_open or group[at - 1].type == "paragraph_open"):
        return False
    shown = completed(last.content)
    if shown.image is None and shown.source == last.content:
        return False
    (inline,) = _parser_for(shown.source).parseInline(shown.source, {"references": references})
    last.children = inline.children or []
    if shown.image is not None:
        last.children.append(Token("image", "img", 0, content=shown.image, attrs={"src": ""}))
    return True


def parse(text: str) -> list[Leaf]:
    """All leaves of a complete text."""
    text = normalised(text)
    lines = text.split("\n")
    return [leaf for group in groups(text, {}) for leaf in leaves(group, lines)]


def language_of(info: str) -> str:
    """The language a fence names: the first word of its info string."""
    from markdown_it.common.utils import unescapeAll

    return (unescapeAll(info).split() or [""])[0]


def leaves(group: Sequence[Token], lines: Sequence[str], carry: Carry | None = None) -> list[Leaf]:
    """One top-level block as leaves; `carry` when it goes on from one that was cut."""
    return list(_Flattener(lines, carry).run(group))


def located(text: str) -> list[tuple[Leaf, int, int]]:
    """All leaves of a complete text, each with the lines it stands on, from the first to before the last."""
    text = normalised(text)
    lines = text.split("\n")
    found: list[tuple[Leaf, int, int]] = []
    for group in groups(text, {}):
        flattener = _Flattener(lines, None)
        row = 0
        for leaf in flattener.run(group):
            first, end = flattener.lines
            if isinstance(leaf, Table):
                row = row if leaf.part else first + 2
                first, row = (row if leaf.part else first), row + len(leaf.rows)
                end = row
            found.append((leaf, first, end))
    return found


class _Flattener:
    lines = (0, 0)  # that the leaf in hand stands on

    def __init__(self, lines: Sequence[str], carry: Carry | None) -> None:
        self._lines = lines
        self._carry = carry
        self._containers = ""
        self._markers: list[tuple[int, str]] = []
        self._gap = Gap.BLOCK
        self._opens_quote = False
        self._lists: list[tuple[str, int, str]] = []  # bullet or "", next number, delimiter
        self._first_item = False

    def _frame(self) -> Frame:
        frame = Frame(self._containers, tuple(self._markers), self._gap, self._opens_quote)
        self._markers.clear()
        self._gap = Gap.IN_ITEM if "l" in self._containers else Gap.BLOCK
        self._opens_quote = False
        return frame

    def run(self, group: Sequence[Token]) -> Iterator[Leaf]:
        index = 0
        while index < len(group):
            token = group[index]
            kind = token.type
            if token.map is not None:
                self.lines = (token.map[0], token.map[1])
            if kind in ("paragraph_open", "heading_open"):
                yield from self._prose(group[index + 1], int(token.tag[1]) if kind == "heading_open" else 0)
                index += 2
            elif kind in ("fence", "code_block"):
                yield Code(self._frame(), token.content.removesuffix("\n"), language_of(token.info))
            elif kind == "hr":
                yield Rule(self._frame())
            elif kind == "table_open":
                end = next(at for at in range(index, len(group)) if group[at].type == "table_close")
                yield from self._table(group[index:end])
                index = end
            elif kind in ("bullet_list_open", "ordered_list_open"):
                self._open_list(token)
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self._lists.pop()
                self._gap = Gap.IN_ITEM if self._lists else Gap.BLOCK
            elif kind == "list_item_open":
                self._open_item(token)
            elif kind == "list_item_close":
                if self._markers and self._markers[-1][0] == len(self._containers) - 1:
                    yield Prose(self._frame(), Rich(""))
                self._containers = self._containers[:-1]
            elif kind == "blockquote_open":
                self._containers += "q"
                self._opens_quote = True
            elif kind == "blockquote_close":
                self._containers = self._containers[:-1]
            index += 1

    def _prose(self, inline: Token, level: int) -> Iterator[Prose]:
        skip = 0
        if (
            self._markers
            and self._markers[-1][0] == len(self._containers) - 1
            and (task := _TASK.match(inline.content))
        ):
            skip = task.end()
            self._markers[-1] = (self._markers[-1][0], "[ ]" if task[1] == " " else "[x]")
        frame = self._frame()
        for piece in pieces(rich_text(inline, skip=skip)):
            yield Prose(frame, piece, level)
            frame = Frame(frame.containers, gap=Gap.PART)

    def _open_list(self, token: Token) -> None:
        carry, self._carry = self._carry, None
        if token.type == "bullet_list_open":
            depth = sum(1 for bullet, _, _ in self._lists if bullet)
            self._lists.append((_BULLETS[min(depth, 2)], 0, ""))
        else:
            start = token.attrGet("start")
            number = carry.number if carry else 1 if start is None else int(start)
            self._lists.append(("", number, token.markup))
        self._first_item = True
        if carry:
            self._gap = carry.gap
        elif len(self._lists) > 1 and not self._markers:
            self._gap = self.item_gap(token)

    def _open_item(self, token: Token) -> None:
        bullet, number, delimiter = self._lists[-1]
        if not self._first_item and not self._markers:
            self._gap = self.item_gap(token)
        self._first_item = False
        self._containers += "l"
        self._markers.append((len(self._containers) - 1, bullet or f"{number}{delimiter}"))
        self._lists[-1] = (bullet, number + 1, delimiter)

    def item_gap(self, token: Token) -> Gap:
        """An item after an empty line stands further off. Decided item by item, so that later text changes nothing."""
        line = token.map[0] if token.map else 0
        return Gap.LOOSE_ITEM if line > 0 and not self._lines[line - 1].strip(" \t>") else Gap.ITEM

    def _table(self, tokens: Sequence[Token]) -> Iterator[Table]:
        part = self._carry.part if self._carry else 0
        rows: list[tuple[Rich, ...]] = []
        cells: list[Rich] = []
        aligns: list[str] = []
        for index, token in enumerate(tokens):
            if token.type == "tr_open":
                cells = []
            elif token.type == "inline":
                cells.append(rich_text(token))
                if not rows:
                    style = str(tokens[index - 1].attrGet("style") or "")
                    aligns.append(style.rpartition(":")[2])
            elif token.type == "tr_close":
                rows.append(tuple(cells))
        head, body = rows[0], rows[1:]
        more, count = int(tokens[0].meta.get("more", 0)), part_rows(len(head))
        for start in range(0, max(1, len(body)), count):
            yield Table(self._frame(), head, tuple(aligns), tuple(body[start : start + count]), part, more)
            part += 1
