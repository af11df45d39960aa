"""Translation, counting, keys and time in the window's language: all of the words that the first paint needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtGui import QKeySequence

if TYPE_CHECKING:
    from datetime import datetime


def tr(text: str) -> str:
    """`text` in the language of the window."""
    return QCoreApplication.translate("Reprise", text)


def counted(count: int, one: str, many: str) -> str:
    """`one` or `many` (already translated, with ``{n}``), whichever fits `count`."""
    return (one if count == 1 else many).format(n=QLocale().toString(count))


def word_count(text: str) -> int:
    """How many words a text has, as a person would count them."""
    return len(text.split())


def duration(seconds: float) -> str:
    """A length of time in at most two units: "45 s", "6 min 20 s", "2 h 37 min"."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return tr("{h} h {m} min").format(h=hours, m=minutes) if minutes else tr("{h} h").format(h=hours)
    if minutes:
        return tr("{m} min {s} s").format(m=minutes, s=left) if left else tr("{m} min").format(m=minutes)
    return tr("{s} s").format(s=left)


def shortcut_text(keys: str) -> str:
    """A shortcut as this desktop writes it."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def clock_time(at: datetime, *, seconds: bool = False) -> str:
    """A moment (time-zone aware) as this computer's clock shows it."""
    return at.astimezone().strftime("%H:%M:%S" if seconds else "%H:%M")
