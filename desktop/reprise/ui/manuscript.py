"""The document of the composer: a very long line in it is laid out the quick way, and changes in nothing else."""

from __future__ import annotations

import re

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont, QTextDocument, QTextOption

# A line is laid out as a whole at every key: above this many characters shaping it takes most of a frame.
HEAVY_LINE = 10_000
# Looking for the word's end costs its length for every line it fills: above this it may break anywhere.
HEAVY_WORD = 2_000
ORDINARY = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
# Each is tried at a start only: from every character it would read the same ones again and again.
_WORD = re.compile(rf"(?<!\S)\S{{{HEAVY_WORD}}}")
_LINE = re.compile(rf"^.{{{HEAVY_LINE}}}", re.MULTILINE)


class Manuscript(QTextDocument):
    """A plain text with its own undo history.

    Qt lays a line out anew, all of it, at every key in it. One that is too long for that is drawn without kerning, and
    a word of thousands of characters breaks where the width ends. The text stays the text: only its layout differs.
    """

    def __init__(self, font: QFont, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._font = font
        self._long_line = False
        self._long_word = False
        self._apply()
        self.contentsChange.connect(self._changed)

    def use_font(self, font: QFont) -> None:
        """Be written in `font`."""
        self._font = font
        self._apply()

    def toPlainText(self) -> str:
        """What is written, with newlines between its lines. Qt's own turns every no-break space into a space."""
        return self.toRawText().replace("\u2029", "\n").replace("\u2028", "\n")

    def expect(self, text: str) -> None:
        """`text` comes in next: choose the layout before there is much to lay out."""
        long_line, long_word = _measured(text)
        self._choose(self._long_line or long_line, self._long_word or long_word)

    def _changed(self, position: int, removed: int, added: int) -> None:
        # Told before the change is laid out: what came in unannounced (undo, a draft) is met in time as well.
        if max(removed, added) >= HEAVY_WORD:
            self._choose(*_measured(self.toPlainText()))
        elif self.characterCount() < HEAVY_WORD:
            self._choose(False, False)
        if self._long_line:
            for block in (self.findBlock(position), self.findBlock(position + added)):
                if block.length() > HEAVY_LINE:  # else the caret's place alone shapes the line once more
                    block.layout().setCacheEnabled(True)

    def _choose(self, long_line: bool, long_word: bool) -> None:
        if (long_line, long_word) != (self._long_line, self._long_word):
            self._long_line, self._long_word = long_line, long_word
            self._apply()

    def _apply(self) -> None:
        # Each of the two setters lays everything out anew, whether or not anything differs. Wrapping matters more.
        wrap = QTextOption.WrapMode.WrapAnywhere if self._long_word else ORDINARY
        option = self.defaultTextOption()
        if option.wrapMode() != wrap:
            option.setWrapMode(wrap)
            self.setDefaultTextOption(option)
        font = QFont(self._font)
        if self._long_line:
            font.setKerning(False)
            font.setStyleStrategy(font.styleStrategy() | QFont.StyleStrategy.PreferNoShaping)
        if font != self.defaultFont():
            self.setDefaultFont(font)


def _measured(text: str) -> tuple[bool, bool]:
    return bool(_LINE.search(text)), bool(_WORD.search(text))
