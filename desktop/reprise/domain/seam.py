"""The seam between what a reply said before it broke off and what it goes on with."""

from __future__ import annotations

from reprise.domain.surrogates import SurrogateJoiner

LOOKS_BACK = 400
"""How far back in the text before a repetition may begin, in characters; it may also begin at the very start."""

COUNTS_FROM = 12
"""Shorter than this a repeated tail may be chance, unless it is the whole last line."""

LINE_COUNTS_FROM = 3
"""Shorter than this, or without a letter or digit, even a whole line may be chance: a brace, a list's number."""


class Seam:
    """Leaves out what a continuation repeats of the text before it.

    Models asked to go on often begin with the last words or the last line again, and some begin from the first word.
    Text is held back only while it could still be such a repetition; of several the longest is left out, and
    everything behind it passes unchanged. The work is linear in what is held.

    A piece may end in half a character: that half passes with the other one, and is compared with it. A mark that
    joins the character before it (an accent, the rest of a joined emoji) is a character here like any other.
    """

    def __init__(self, before: str, *, prefilled: bool = False) -> None:
        """`prefilled`: the provider goes on in mid-text, so only a repetition of everything is none of the reply."""
        self._before = before
        self._held = ""
        self._could_begin = _beginnings(before, prefilled=prefilled)
        self._repeated = 0
        self._joiner = SurrogateJoiner()

    def feed(self, text: str) -> str:
        """What passes of the next piece of the continuation, together with what was held before it."""
        return self._take(self._joiner.feed(text))

    def _take(self, text: str) -> str:
        if not self._could_begin:
            return text
        held, before = len(self._held), self._before
        self._held += text
        undecided: list[int] = []
        for begin in self._could_begin:
            left = len(before) - begin - held
            if left <= len(text):
                if text.startswith(before[begin + held :]):
                    self._repeated = max(self._repeated, len(before) - begin)
            elif before.startswith(text, begin + held):
                undecided.append(begin)
        self._could_begin = undecided
        return "" if undecided else self._pass()

    def end(self) -> str:
        """What is still held back when the continuation is complete, a whole repetition left out."""
        passed = self._take(self._joiner.flush())
        self._could_begin = []
        return passed + self._pass()

    def _pass(self) -> str:
        passed, self._held = self._held[self._repeated :], ""
        self._repeated = 0
        return passed


def _beginnings(before: str, *, prefilled: bool) -> list[int]:
    """Where in `before` a repetition may begin."""
    length = len(before)
    tails = () if prefilled else range(max(0, length - LOOKS_BACK), length - COUNTS_FROM + 1)
    found = set(tails)
    last_line = before.rfind("\n") + 1
    for begin in (0,) if prefilled else (0, last_line):
        said = before[begin:].strip()
        if len(said) >= LINE_COUNTS_FROM and any(char.isalnum() for char in said):
            found.add(begin)
    return sorted(found)
