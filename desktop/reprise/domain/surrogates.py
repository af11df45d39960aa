"""Half characters: JSON escapes can cut one in two, and no database or file takes a half."""

from __future__ import annotations

import re

_ANY = re.compile("[\ud800-\udfff]")
_HIGH_TAIL = re.compile("[\ud800-\udbff]$")


class SurrogateJoiner:
    """Joins pairs split over two pieces of one text; what stays alone becomes U+FFFD."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """`text` as it may go on, a first half at its end held back."""
        if not self._held and not _ANY.search(text):
            return text
        text = self._held + text
        self._held = ""
        if (tail := _HIGH_TAIL.search(text)) is not None:
            self._held = tail[0]
            text = text[: tail.start()]
        return whole(text)

    def flush(self, *, broke_off: bool = False) -> str:
        """What is still held once the text is over. Of a text that broke off, half a character was no part yet."""
        held, self._held = self._held, ""
        return "" if broke_off else whole(held)


def whole(text: str) -> str:
    """`text` with its surrogate pairs joined and every lone surrogate replaced."""
    if not _ANY.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
