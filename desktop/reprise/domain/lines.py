"""Text for one line: folded, and cut where no letter and no emoji comes apart."""

from __future__ import annotations

import unicodedata

# They are in the spelling of words, and make one emoji of several.
_JOINERS = "\u200c\u200d"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0020, 0xE0080)


def one_line(text: str) -> str:
    """`text` with its white space folded and control characters made blanks; "" when nothing is to be seen in it."""
    line = " ".join("".join(char if char.isprintable() or char in _JOINERS else " " for char in text).split())
    return line if line.strip(_JOINERS + " ") else ""


def shortened(text: str, limit: int) -> str:
    """At most `limit` (2 or more) characters of `text`, the last one "…" if something was left out.

    What people see as one letter or one emoji is there whole or not at all (behaviour F69), unless it alone fills half
    of the limit.
    """
    if len(text) <= limit:
        return text
    end = limit - 1
    while end > limit // 2 and _is_inside(text, end):
        end -= 1
    return text[: limit - 1 if _is_inside(text, end) else end].rstrip() + "…"


def _is_inside(text: str, at: int) -> bool:
    """Whether the characters before and at `at` are seen as one."""
    code = ord(text[at])
    if code in _FLAG_LETTERS:
        before = at
        while before and ord(text[before - 1]) in _FLAG_LETTERS:
            before -= 1
        return (at - before) % 2 == 1
    is_more = unicodedata.category(text[at]).startswith("M") or code in _SKIN_TONES or code in _TAGS
    return is_more or text[at] in _JOINERS or text[at - 1] == "\u200d"
