"""What is shown of Markdown that is half there, so that nothing on screen changes its shape twice.

Two means, for the end of the text alone: marks that say nothing yet are held back (`held`), and what has been opened
is shown as it will look once it is closed (`completed`). Words are never held back; the addresses of links are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reprise.ui.timeline.bounds import COLUMNS, columns_of

# Nothing is tried twice in these (+ after a quantifier), or a few thousand spaces would take a second.
_BULLETS = r"[ \t]*+(?:[->+*][ \t]++)*+"
_CONTAINERS = r"[ \t]*+(?:(?:[->+*]|\d{1,9}[.)])[ \t]++)*+"
_MARKS = re.compile(rf"{_BULLETS}[-+*=_#>|:~`\\ \t]*+|{_CONTAINERS}[-+*=_#>|:~`\\ \t]++")
_TASK = re.compile(_CONTAINERS + r"(?<=[-+*.)][ \t])\[[ xX]?\]?[ \t]?")
_FENCE = re.compile(_CONTAINERS + r"(?:`{3,}[^`]*|~{3,}.*)")
_NUMBER = re.compile(_BULLETS + r"(\d{1,3})[.)]?[ \t]*+")
_NUMBERED = re.compile(r"^[ \t]*\d{1,9}[.)][ \t]", re.MULTILINE)
_ADDRESS = r"(?:h|ht|htt|https?|https?:/?|https?://\S*|m|ma|mai|mail|mailt|mailto|mailto:\S*)"
_DEFINES = re.compile(rf" {{0,3}}\[[^\[\]\n]+\]:[ \t]*(?:<?{_ADDRESS}(?:[ \t]+(?:[\"'(].*)?)?)?", re.IGNORECASE)
_DEFINITION = re.compile(r" {0,3}\[[^\[\]\n]+\]:")

_MARK = re.compile(r"\\.?|`+|!?\[|\]\(?|\*+|_{2,}|~{2,}|<", re.DOTALL)
_WHOLE = re.compile(
    r"\]\([ \n]*+(?:<[^<>\n]*+>|(?:[^\s()\\]|\\.|\([^\s()]*+\))*+)"
    r"(?:[ \n]++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?[ \n]*+\)"
)
_TARGET = re.compile(rf"\]\([ \n]*+(?:<?{_ADDRESS}(?:[ \n]++(?:[\"'(].*)?)?)?", re.IGNORECASE | re.DOTALL)
# A tag, a comment or a CDATA section; the last two are taken for what they are from their first marks on.
_TAG = re.compile(
    r"<[!/?]?[a-z][^<>]*>|<!--(?:.*?-->|.*)|<!\[CDATA\[(?:.*?\]\]>|.*)|<!\[(?:C(?:D(?:A(?:TA?)?)?)?)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_OPEN_ADDRESS = re.compile(r"<(?:(|h|ht|htt|https?|https?:/?/?)|https?://[^\s<>]+|mailto:[^\s<>@]+@[^\s<>@]+)", re.I)
_LONGEST = 2000  # characters of what is looked at: it is, in every frame
_FARTHEST = 240  # characters after which what is still open is taken for what it is


def held(text: str) -> int:
    """How many characters of the last line, if it is not complete, are marks that wait for what they belong to."""
    start = text.rfind("\n") + 1
    line = text[start:]
    if not line or len(line) > _LONGEST:
        return 0
    if _MARKS.fullmatch(line) or _TASK.fullmatch(line) or _FENCE.fullmatch(line):
        return len(line)
    above = text[text.rfind("\n", 0, start - 1) + 1 : start - 1] if start else ""
    if number := _NUMBER.fullmatch(line):
        # A list's first number would flash as a text, the next ones at the end of the item above.
        return len(line) if number[1] == "1" or _NUMBERED.search(text, 0, start) else 0
    defines = _DEFINES.fullmatch(line) and (not above.strip() or _DEFINITION.match(above))
    return len(line) if defines else 0


def as_table(line: str) -> str:
    """The line of a table's head with the one that must follow it; "" where it begins none."""
    if not line.startswith("|") or "\n" in line or not line.strip("| \t"):
        return ""
    columns = columns_of(line)
    return f"{line}\n{'|-' * columns}|" if columns <= COLUMNS else ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What to parse in a paragraph's place; `image` is the description of one that is being written after it."""

    source: str
    image: str | None = None


@dataclass(slots=True)
class _Open:
    mark: str
    at: int
    count: int


@dataclass(slots=True)
class _Scan:
    """One walk over a paragraph's source, which leaves what is open at its end."""

    source: str
    open: list[_Open] = field(default_factory=list)
    end: int = -1  # where to cut
    tail: str = ""  # what closes a code or an address
    image: str | None = None

    def walk(self) -> None:
        at, source = 0, self.source
        while self.end < 0 and (found := _MARK.search(source, at)):
            mark, at = found[0], found.end()
            if mark == "\\":
                self.end = found.start()
            elif mark[0] == "`":
                at = self._code(found.start(), at)
            elif mark[0] == "<":
                at = self._angle(found.start(), at)
            elif mark[-1] == "[":
                self.open.append(_Open(mark, found.start(), len(mark)))
            elif mark[0] == "]":
                at = self._bracket(found.start(), at, mark)
            elif mark[0] in "*_~":
                self._emphasis(mark, found.start(), at)

    def _code(self, start: int, after: int) -> int:
        ticks = after - start
        close = re.compile(rf"(?<!`)`{{{ticks}}}(?!`)").search(self.source, after)
        if close:
            return close.end()
        if after == len(self.source):
            self.end = start
        elif len(self.source) - start <= _FARTHEST:
            last = len(self.source) - len(self.source.rstrip("`"))
            self.tail = "`" * (ticks - last) if last < ticks else ""
            return len(self.source)
        return after

    def _angle(self, start: int, after: int) -> int:
        if tag := _TAG.match(self.source, start):
            return tag.end()
        if address := _OPEN_ADDRESS.fullmatch(self.source, start):
            if address[1] is not None:
                self.end = start
            else:
                self.tail = ">"
            return len(self.source)
        return after

    def _bracket(self, start: int, after: int, mark: str) -> int:
        at = next((at for at in range(len(self.open) - 1, -1, -1) if self.open[at].mark[-1] == "["), -1)
        if at < 0:
            return after
        opened = self.open[at]
        del self.open[at:]
        if opened.mark == "![" and after == len(self.source) and mark == "]":
            self.end, self.image = opened.at, self.source[opened.at + opened.count : start]
        if mark == "](" and (whole := _WHOLE.match(self.source, start)):
            return whole.end()
        if mark == "](" and _TARGET.fullmatch(self.source, start):
            inside = self.source[opened.at + opened.count : start]
            self.end = opened.at
            if opened.mark == "![":
                self.image = inside
            else:  # brackets stay until it is certain that they go
                self.tail = f"[{inside}]" if after == len(self.source) else inside
        return after

    def _emphasis(self, mark: str, start: int, after: int) -> None:
        before = self.source[start - 1] if start else " "
        follows = self.source[after] if after < len(self.source) else " "
        kind, left = mark[0], len(mark)
        if not before.isspace():
            while left and (opened := self._opener(kind)):
                used = min(left, opened.count)
                opened.count, left = opened.count - used, left - used
                del self.open[self.open.index(opened) + (1 if opened.count else 0) :]
        if after == len(self.source) and left == len(mark):
            self.end = start
        elif left == len(mark) and not before.isalnum() and not follows.isspace():
            # Of single ones only those that begin a word: "*.py" and "f(*a)" mean themselves.
            begins = before != "(" and (follows.isalnum() or follows in "`[(\"'\u201c")
            if left > 1 or begins:
                self.open.append(_Open(kind, start, left))

    def _opener(self, kind: str) -> _Open | None:
        return next((each for each in reversed(self.open) if each.mark == kind), None)


def completed(source: str) -> Shown:
    """A paragraph that is still being written, as it will look when what is open in it is closed."""
    if len(source) > _LONGEST or not any(mark in source for mark in "*_~`[<\\"):
        return Shown(source)
    scan = _Scan(source)
    scan.walk()
    cut = len(source) if scan.end < 0 else scan.end
    image = next((each for each in reversed(scan.open) if each.mark == "!["), None)
    if scan.image is None and image is not None and scan.end < 0 and len(source) - image.at <= _FARTHEST:
        scan.image, cut, scan.tail = source[image.at + 2 :], image.at, ""
    text = source[:cut] + scan.tail
    if scan.image is None:
        text = text.rstrip()
    for opened in reversed(scan.open):
        if opened.mark[-1] == "[" or opened.at >= cut or len(source) - opened.at > _FARTHEST:
            continue
        if text[opened.at + opened.count :].strip(" *_~"):
            text += opened.mark * opened.count
        else:
            text = text[: opened.at].rstrip()
    return Shown(text, scan.image or None)
