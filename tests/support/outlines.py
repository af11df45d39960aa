"""What a text is made of, in one form for our leaves and for the HTML a specification gives: kinds, places, looks.

How far apart the items of a list stand is not part of it: that is decided item by item here, list by list there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html.parser import HTMLParser

from reprise.ui.timeline.inline import LINE_BREAK, Rich, Span, Style, cut, units
from reprise.ui.timeline.links import host_of
from reprise.ui.timeline.markdown import Code, Frame, Leaf, Prose, Rule, Table

Run = tuple[str, Style, str]  # text, look, address
Place = tuple[str, tuple[tuple[int, str], ...]]  # containers, markers as in Frame
Piece = tuple[Place, str, object]  # where, kind, and what is in it

_BULLET = "-"
_STYLES = {"strong": Style.BOLD, "em": Style.ITALIC, "del": Style.STRIKE, "code": Style.CODE}
_BLOCKS = {"p", "pre", "blockquote", "ul", "ol", "li", "hr", "table", "tr", "th", "td", *(f"h{n}" for n in range(1, 7))}


def _merged(runs: Iterable[Run]) -> tuple[Run, ...]:
    out: list[Run] = []
    for text, style, href in runs:
        if out and out[-1][1:] == (style, href):
            out[-1] = (out[-1][0] + text, style, href)
        elif text:
            out.append((text, style, href))
    return tuple(out)


def _runs(rich: Rich) -> Iterator[Run]:
    at = 0
    for span in (*rich.spans, Span(units(rich.text), units(rich.text), Style.PLAIN)):
        for start, end, style, href in (
            (at, span.start, Style.PLAIN, ""),
            (span.start, span.end, span.style, span.href),
        ):
            inside = [start, *(edge for pad in rich.pads if start <= pad < end for edge in (pad, pad + 1)), end]
            for left, right in zip(inside[::2], inside[1::2], strict=True):
                yield cut(rich.text, left, right), style, href
        at = span.end


def _marker(marker: str) -> str:
    if marker.startswith("["):
        return marker
    return marker[:-1] if marker[0].isdigit() else _BULLET


def _place(frame: Frame) -> Place:
    return frame.containers, tuple((at, _marker(marker)) for at, marker in frame.markers)


def of_leaves(leaves: Iterable[Leaf]) -> list[Piece]:
    """The outline of what we show."""
    out: list[Piece] = []
    for leaf in leaves:
        place = _place(leaf.frame)
        if isinstance(leaf, Prose):
            out.append((place, f"h{leaf.level}" if leaf.level else "p", _merged(_runs(leaf.rich))))
        elif isinstance(leaf, Code):
            out.append((place, "code", (leaf.language, leaf.text)))
        elif isinstance(leaf, Rule):
            out.append((place, "hr", None))
        elif isinstance(leaf, Table):
            rows = [[_merged(_runs(cell)) for cell in row] for row in (leaf.head, *leaf.rows)]
            out.append((place, "table", (leaf.aligns, rows)))
    return out


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[Piece] = []
        self._containers = ""
        self._markers: list[tuple[int, str]] = []
        self._lists: list[int | None] = []  # the next number, None for bullets
        self._runs: list[Run] = []
        self._kind = ""
        self._styles: list[str] = []
        self._href = ""
        self._language = ""
        self._rows: list[list[tuple[Run, ...]]] = []
        self._aligns: list[str] = []

    def _put(self, kind: str, what: object) -> None:
        self.out.append(((self._containers, tuple(self._markers)), kind, what))
        self._markers.clear()

    def _taken(self) -> tuple[Run, ...]:
        runs = [(text.replace("\n", " "), style, href) for text, style, href in _merged(self._runs)]
        self._runs.clear()
        return _merged(runs)

    def _end_prose(self, kind: str = "p", *, always: bool = False) -> None:
        if self._kind == "pre":
            return
        if self._runs:
            self._runs[0] = (self._runs[0][0].lstrip("\n"), *self._runs[0][1:])
            self._runs[-1] = (self._runs[-1][0].rstrip("\n"), *self._runs[-1][1:])
        if self._runs or always:
            self._put(kind, self._taken())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag in _BLOCKS:
            self._end_prose()
        if tag == "blockquote":
            self._containers += "q"
        elif tag in ("ul", "ol"):
            self._lists.append(int(has.get("start", "1")) if tag == "ol" else None)
        elif tag == "li":
            number = self._lists[-1]
            self._containers += "l"
            self._markers.append((len(self._containers) - 1, _BULLET if number is None else str(number)))
            self._lists[-1] = None if number is None else number + 1
        elif tag == "input":
            self._markers[-1] = (self._markers[-1][0], "[x]" if "checked" in has else "[ ]")
            self._kind = "task"
        elif tag == "hr":
            self._put("hr", None)
        elif tag == "pre":
            self._kind, self._language = "pre", ""
        elif tag == "code" and self._kind == "pre":
            self._language = has.get("class", "").removeprefix("language-")
        elif tag == "table":
            self._rows, self._aligns = [], []
        elif tag == "tr":
            self._rows.append([])
        elif tag == "th":
            self._aligns.append(has.get("align", ""))
        elif tag == "a":
            self._href = has.get("href", "")
        elif tag == "br":
            self._runs.append((LINE_BREAK, self._style, self._href))
        elif tag == "img":
            words = f"[Image: {has.get('alt') or 'untitled'} ({host_of(has['src'])})]"
            self._runs.append((words, self._style | Style.MUTED, self._href))
        elif tag in _STYLES:
            self._styles.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._rows[-1].append(self._taken())
        elif tag == "table":
            self._put("table", (tuple(self._aligns), self._rows))
        elif tag == "pre":
            self._put("code", (self._language, "".join(text for text, _, _ in self._runs).removesuffix("\n")))
            self._runs.clear()
            self._kind = ""
        elif tag == "p" or (tag[:1] == "h" and tag[1:].isdigit()):
            self._end_prose(tag, always=True)
        elif tag == "blockquote":
            self._end_prose()
            self._containers = self._containers[:-1]
        elif tag == "li":
            self._end_prose(always=bool(self._markers) and self._markers[-1][0] == len(self._containers) - 1)
            self._containers = self._containers[:-1]
        elif tag in ("ul", "ol"):
            self._lists.pop()
        elif tag == "a":
            self._href = ""
        elif tag in self._styles:
            self._styles.remove(tag)

    @property
    def _style(self) -> Style:
        style = Style.PLAIN
        for tag in self._styles:
            style |= _STYLES[tag]
        return style

    def handle_data(self, data: str) -> None:
        if self._kind == "task":
            data, self._kind = data.removeprefix(" "), ""
        if self._runs and self._runs[-1][0].endswith(LINE_BREAK):
            data = data.removeprefix("\n")
        if not self._runs and not data.strip("\n"):
            return
        self._runs.append((data, self._style, self._href))

    def read(self, html: str) -> list[Piece]:
        self.feed(html)
        self.close()
        self._end_prose()
        return self.out


def of_html(html: str) -> list[Piece]:
    """The outline of what a specification expects; raw HTML in it is read as if it were Markdown's."""
    return _Reader().read(html)
