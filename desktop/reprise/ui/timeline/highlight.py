"""Colours for code, found by pygments in short slices while nothing else is to do."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from reprise.ui.timeline.inline import units

if TYPE_CHECKING:
    from pygments.lexer import Lexer

    from reprise.ui.timeline.code import CodeBlock

Line = tuple[tuple[int, int, str], ...]  # start, length (UTF-16 units), colour token
_SLICE_S = 0.004
_LIVE_MS = 250
_LOADING_MS = 20
_CONTEXT = 20
_MOST = 60
_MOST_LENGTH = 4096
# By longest prefix of the token's name; what is missing is plain text.
_COLORS = {
    "Keyword": "syn_keyword",
    "Keyword.Constant": "syn_constant",
    "Keyword.Type": "syn_type",
    "Operator.Word": "syn_keyword",
    "Name.Function": "syn_function",
    "Name.Decorator": "syn_function",
    "Name.Attribute": "syn_function",
    "Name.Class": "syn_type",
    "Name.Builtin": "syn_type",
    "Name.Builtin.Pseudo": "",
    "Name.Exception": "syn_type",
    "Name.Namespace": "syn_type",
    "Name.Constant": "syn_constant",
    "Name.Tag": "syn_keyword",
    "Literal.String": "syn_string",
    "Literal.Number": "syn_number",
    "Comment": "syn_comment",
    "Operator": "syn_operator",
    "Punctuation": "syn_operator",
    "Generic.Inserted": "add_text",
    "Generic.Deleted": "del_text",
    "Generic.Heading": "syn_function",
    "Generic.Subheading": "syn_function",
}


@cache
def _color_of(name: str) -> str:
    while name not in _COLORS and "." in name:
        name = name.rpartition(".")[0]
    return _COLORS.get(name, "")


@cache
def _known() -> dict[str, str]:
    """Every language pygments brings, by alias, without importing a single lexer."""
    from pygments.lexers._mapping import LEXERS

    return {alias: str(name) for _, name, aliases, *_ in LEXERS.values() for alias in aliases}


def language_name(language: str) -> str:
    """A language as people write it ("Python" for ``py``); what pygments does not know stays as it is."""
    return _known().get(language.lower(), language)


class _Lexers:
    """Pygments' lexers. Making one compiles its expressions, which takes up to 0.2 s: a thread of its own does that."""

    def __init__(self) -> None:
        self._made: dict[str, Lexer] = {}
        self._making: set[str] = set()

    def is_ready(self, language: str) -> bool:
        """True when the language's lexer (or that there is none) is known; else it soon will be."""
        if language in self._made or language.lower() not in _known():
            return True
        if language not in self._making:
            self._making.add(language)
            threading.Thread(target=self.make, args=(language,), name=f"reprise-lexer-{language}", daemon=True).start()
        return False

    def make(self, language: str) -> Lexer | None:
        """The language's lexer, made here and now if need be; `None` for a language nobody knows."""
        if language.lower() not in _known():
            return None
        if language not in self._made:
            from pygments.lexers import get_lexer_by_name

            self._made[language] = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        return self._made[language]


_lexers = _Lexers()


def colored_lines(language: str, text: str) -> Iterator[Line]:
    """The coloured runs of each line of `text`, lazily."""
    lexer = _lexers.make(language)
    if lexer is None:
        return
    runs: list[tuple[int, int, str]] = []
    at = 0
    for kind, value in lexer.get_tokens(text):
        color = _color_of(str(kind).removeprefix("Token."))
        first, *rest = value.split("\n")
        for index, piece in enumerate((first, *rest)):
            if index:
                yield tuple(runs)
                runs, at = [], 0
            length = units(piece)
            if color and length:
                start, before, same = runs[-1] if runs else (0, 0, "")
                if same == color and start + before == at:
                    runs[-1] = (start, before + length, color)
                else:
                    runs.append((at, length, color))
            at += length
    yield tuple(runs)


class _Work:
    """The colouring of one block: of all its lines, or of an open fence's last ones from `first` on."""

    def __init__(self, block: CodeBlock) -> None:
        self.block = block
        self._was_open, self._revision, self._count = block.is_open, block.revision, len(block.lines)
        self.first = _tail_of(block) if block.is_open else 0
        self._lines = colored_lines(block.language, block.source(self.first))
        self._done: list[Line] = []

    def go_on(self, until: float) -> bool:
        """Read lines until there are no more or the time (of `time.perf_counter`) is up; True when all are read."""
        for line in self._lines:
            self._done.append(line)
            if time.perf_counter() > until:
                return False
        return True

    def show(self) -> bool:
        """Give the block its colours; False when it is not what was read any more."""
        block, done = self.block, self._done
        changed = block.revision != self._revision
        if block.is_open is not self._was_open or (changed and not block.is_open):
            return False
        if block.is_open:
            # Of a fence that has grown since, the last line read may have been half of one.
            done = done[: self._count - self.first - changed]
        block.set_colors(self.first, done)
        return True


def _tail_of(block: CodeBlock) -> int:
    """Where to read an open fence from: an empty line at most 20 above what is new, a guess that closing corrects."""
    start = first = block.colored
    while start > max(0, first - _CONTEXT) and block.lines[start - 1].strip():
        start -= 1
    start = max(start, len(block.lines) - _MOST)
    length = 0
    for at in range(len(block.lines) - 1, start - 1, -1):
        length += len(block.lines[at])
        if length > _MOST_LENGTH:
            return at + 1
    return start


class Highlighter(QObject):
    """Works through the code blocks that were seen, newest first, a few milliseconds at a time."""

    def __init__(self, changed: Callable[[CodeBlock, int], None], parent: QObject) -> None:
        """`changed`: called with a block and the line from which it has other colours."""
        super().__init__(parent)
        self._changed = changed
        self._waiting: OrderedDict[CodeBlock, None] = OrderedDict()
        self._current: _Work | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._work)

    @property
    def is_idle(self) -> bool:
        """True when every block asked for is coloured."""
        return not self._waiting and self._current is None

    def request(self, block: CodeBlock) -> None:
        """Colour a block soon. A block that still grows is coloured a few times a second."""
        self._waiting[block] = None
        self._waiting.move_to_end(block)
        if not self._timer.isActive():
            self._timer.start(self._pause_ms())

    def clear(self) -> None:
        """Forget what was asked."""
        self._waiting.clear()
        self._current = None
        self._timer.stop()

    def _next(self) -> CodeBlock:
        """The newest that waits; one that still grows, which is asked for again and again, after all others."""
        return next((block for block in reversed(self._waiting) if not block.is_open), next(reversed(self._waiting)))

    def _pause_ms(self) -> int:
        return _LIVE_MS if self._current is None and self._next().is_open else 0

    def _work(self) -> None:
        until = time.perf_counter() + _SLICE_S
        if self._current is None and self._waiting:
            block = self._next()
            if not _lexers.is_ready(block.language):
                self._timer.start(_LOADING_MS)
                return
            del self._waiting[block]
            self._current = _Work(block)
        work = self._current
        if work is not None and work.go_on(until):
            self._current = None
            if work.show():
                self._changed(work.block, work.first)
        if not self.is_idle:
            self._timer.start(self._pause_ms())
