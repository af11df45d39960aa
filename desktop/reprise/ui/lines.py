"""A wrapping sentence with strong pieces: plain text to code and screen readers, painted with two weights."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from reprise.ui.style import Appearance
from reprise.ui.theme import Type


class Sentence(QWidget):
    """Pieces of (text, strong) set in the UI size with tabular figures; wraps, never elides."""

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._pieces: list[tuple[str, bool]] = []
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        look.changed.connect(self.updateGeometry)

    def text(self) -> str:
        """The whole sentence."""
        return "".join(text for text, _ in self._pieces)

    def set_pieces(self, pieces: list[tuple[str, bool]]) -> None:
        """Show another sentence."""
        if pieces != self._pieces:
            self._pieces = list(pieces)
            self.setAccessibleName(self.text())
            self.updateGeometry()
            self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._laid_out(width)[1]

    def sizeHint(self) -> QSize:
        layout, height = self._laid_out(1 << 16)
        return QSize(round(layout.maximumWidth() + 0.999), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._look.theme.px(80), self._look.theme.line(Type.UI))

    def paintEvent(self, event: QPaintEvent) -> None:
        layout, height = self._laid_out(self.width())
        painter = QPainter(self)
        painter.setPen(self._look.theme.color("text"))
        layout.draw(painter, QPointF(0, max(0, (self.height() - height) // 2)))
        painter.end()

    def _laid_out(self, width: int) -> tuple[QTextLayout, int]:
        theme = self._look.theme
        layout = QTextLayout(self.text(), theme.font(Type.UI, tabular=True))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(self.layoutDirection())
        layout.setTextOption(option)
        ranges: list[QTextLayout.FormatRange] = []
        start = 0
        strong = QFont(theme.font(Type.UI, weight=600, tabular=True))
        for text, is_strong in self._pieces:
            length = len(text.encode("utf-16-le")) // 2
            if is_strong:
                made = QTextLayout.FormatRange()
                made.start, made.length = start, length
                form = QTextCharFormat()
                form.setFont(strong)
                made.format = form
                ranges.append(made)
            start += length
        layout.setFormats(ranges)
        line_height = theme.line(Type.UI)
        layout.beginLayout()
        count = 0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1, width))
            line.setPosition(QPointF(0, round(count * line_height + (line_height - line.height()) / 2)))
            count += 1
        layout.endLayout()
        return layout, max(1, count) * line_height
