"""Inline Markdown tokens -> text with spans: pure values that can be compared.

Offsets are UTF-16 units, as Qt counts them.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING

from reprise.ui.timeline.links import TURNING, host_of, mark_of

if TYPE_CHECKING:
    from markdown_it.token import Token

LINE_BREAK = "\u2028"
_PAD = "\u00a0"  # one cell of the fixed font on either side of inline code, glued to it
_MARKS = ("strong", "em", "s")  # in the order of their styles


class Style(IntFlag):
    """How a span looks."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    STRIKE = 4
    CODE = 8
    MUTED = 16


@dataclass(frozen=True, slots=True)
class Span:
    """A run of one look; `href` is "" where the run is no link."""

    start: int
    end: int
    style: Style
    href: str = ""


@dataclass(frozen=True, slots=True)
class Rich:
    """Text of one paragraph. `pads` are offsets of characters that are drawn but never copied."""

    text: str
    spans: tuple[Span, ...] = ()
    pads: tuple[int, ...] = ()

    def plain(self, start: int = 0, end: int | None = None) -> str:
        """What copying start..end gives: no padding, line breaks as newlines."""
        end = units(self.text) if end is None else end
        pieces: list[str] = []
        for pad in self.pads:
            if start <= pad < end:
                pieces.append(cut(self.text, start, pad))
                start = pad + 1
        pieces.append(cut(self.text, start, end))
        return "".join(pieces).replace(LINE_BREAK, "\n")


def units(text: str) -> int:
    """The length of `text` in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, start: int, end: int) -> str:
    """`text[start:end]` with offsets in UTF-16 units."""
    if text.isascii():
        return text[start:end]
    return text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end].decode("utf-16-le", "replace")


def reads_from_right(text: str) -> bool:
    """True when the first letter with a direction is of a script written from right to left."""
    if text.isascii():
        return False
    strong = (kind for kind in map(unicodedata.bidirectional, text) if kind in ("L", "R", "AL"))
    return next(strong, "L") != "L"


def plain(text: str) -> Rich:
    """Text shown as it is, one paragraph with hard line breaks."""
    return Rich(text.replace("\n", LINE_BREAK))


class _Writer:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._spans: list[Span] = []
        self._pads: list[int] = []
        self._at = 0

    def add(self, text: str, style: Style, href: str = "") -> None:
        if not text:
            return
        start, self._at = self._at, self._at + units(text)
        self._pieces.append(text)
        if style or href:
            self._spans.append(Span(start, self._at, style, href))

    def add_code(self, text: str, style: Style, href: str) -> None:
        self._pads.append(self._at)
        self.add(f"{_PAD}{text}{_PAD}", style | Style.CODE, href)
        self._pads.append(self._at - 1)

    @property
    def count(self) -> int:
        return len(self._pieces)

    def since(self, count: int) -> str:
        return "".join(self._pieces[count:])

    def rich(self) -> Rich:
        return Rich("".join(self._pieces), tuple(self._spans), tuple(self._pads))


def _words(token: Token) -> str:
    """What a token says without its looks: an image's description."""
    return "".join(map(_words, token.children)) if token.children else token.content


def rich_text(token: Token, *, skip: int = 0) -> Rich:
    """The text of an inline token, without its first `skip` characters (a task's box)."""
    out = _Writer()
    children = token.children or ()
    # Beside a link nothing turns the direction of what is read.
    signs = TURNING if any(child.type == "link_open" for child in children) else {}
    depths = [0] * len(_MARKS)  # one inside another of its kind ends twice
    style, href, label = Style.PLAIN, "", 0
    for child in children:
        kind = child.type
        if kind in ("text", "html_inline"):
            # A newline is here only as an entity, or in a tag, which is text like any other.
            out.add(child.content[skip:].replace("\n", " ").translate(signs), style, href)
            skip = 0
        elif kind == "softbreak":
            out.add(" ", style, href)
        elif kind == "hardbreak":
            out.add(LINE_BREAK, style, href)
        elif kind == "code_inline":
            out.add_code(child.content.translate(signs), style, href)
        elif kind == "image":
            # Nothing is fetched: the words say what would be there and from where.
            host = host_of(str(child.attrGet("src") or ""))
            words = f"[Image: {_words(child) or 'untitled'}" + (f" ({host})]" if host else "]")
            out.add(words.replace("\n", " ").translate(signs), style | Style.MUTED, href)
        elif kind == "link_open":
            href, label = str(child.attrGet("href") or ""), out.count
        elif kind == "link_close":
            if mark := mark_of(out.since(label), href):
                out.add(f" ({mark})", style | Style.MUTED)
            href = ""
        else:
            name, _, edge = kind.rpartition("_")
            if name in _MARKS:
                at = _MARKS.index(name)
                depths[at] += 1 if edge == "open" else -1
                style = style | Style(1 << at) if depths[at] else style & ~Style(1 << at)
    return out.rich()
