"""Details of a pending turn: status, provider, request, the provider's words, and every attempt with its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from reprise.domain.failures import Failure
from reprise.ui.controls import Button, Kind, Text
from reprise.ui.flow import FlowRow
from reprise.ui.language import counted, tr
from reprise.ui.painting import box, rule
from reprise.ui.style import Appearance
from reprise.ui.theme import Type
from reprise.ui.words import AttemptRow, status_text

SHOWN_FIRST = 3
NARROW = 520
_BESIDE_BUTTON = 2  # rows
QUOTE_PADDING = 4
WHAT, THEN = 2, 3  # places in an attempt's line


@dataclass(frozen=True, slots=True)
class Details:
    """What there is to say about a failure, all of it plain text."""

    failure: Failure | None
    provider: str
    model: str
    attempts: Sequence[AttemptRow]
    report: str = ""
    again: str = ""


class AttemptDetails(QWidget):
    """Labels and values under a hairline, opened in place."""

    def __init__(self, look: Appearance, details: Details, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setObjectName("attemptDetails")
        self._grid = QGridLayout(self)
        self._lines: list[_Line] = []
        self._copy: Button | None = None
        self._is_narrow: bool | None = None
        self._gaps: dict[int, int] = {}
        self._values: list[Text] = []
        failure = details.failure
        if details.report:
            copy = Button(look, tr("Copy report"), icon="copy", parent=self)
            copy.setObjectName("copyReportButton")
            copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(details.report))
            self._copy = copy
        if failure is not None:
            self._line(tr("Status"), status_text(failure))
        self._line(tr("Provider"), " · ".join(part for part in (details.provider, details.model) if part))
        if failure is not None:
            if failure.request_id:
                self._line(tr("Request"), failure.request_id, Type.CODE)
            words = "\n".join(dict.fromkeys(part for part in (failure.message, failure.provider_detail) if part))
            if details.again:
                self._line(tr("Again"), details.again)
            if words:
                self._put(tr("Their words"), Quote(look, words, self), top=4, down=QUOTE_PADDING)
        if details.attempts:
            self._put(tr("Attempts"), AttemptList(look, details.attempts, self), top=6)
        self._grid.setColumnStretch(1, 1)
        look.changed.connect(self._restyle)
        self._restyle()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rule(painter, 1, self.width() - 1, 0, self._look.theme.color("border"))
        painter.end()

    def _line(self, label: str, value: str, role: Type = Type.UI) -> None:
        text = Text(self._look, value, role, wrap=True, parent=self)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text.setCursor(Qt.CursorShape.IBeamCursor)
        self._values.append(text)
        self._put(label, text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._wants_narrow() != self._is_narrow:
            self._restyle()

    def _put(self, label: str, widget: QWidget, *, top: int = 0, down: int = 0) -> None:
        name = Text(self._look, label, Type.UI, "muted", parent=self)
        self._lines.append(_Line(name, widget, top, down))
        widget.setAccessibleName(f"{label}: {widget.text()}" if isinstance(widget, Text) else label)

    def _wants_narrow(self) -> bool:
        return self.width() < self._look.theme.px(NARROW)

    def _stand(self) -> None:
        """Labels beside their values; above them where it is narrow."""
        for row in range(self._grid.rowCount()):
            self._grid.setRowMinimumHeight(row, 0)
        while self._grid.count():
            self._grid.takeAt(0)
        self._gaps.clear()
        if self._is_narrow:
            self._stack()
        else:
            self._align()

    def _align(self) -> None:
        top = Qt.AlignmentFlag.AlignTop
        if self._copy is not None:
            self._grid.addWidget(self._copy, 0, 2, _BESIDE_BUTTON, 1, top | Qt.AlignmentFlag.AlignTrailing)
        row = 0
        for line in self._lines:
            row = self._gap(row, line)
            self._grid.addWidget(line.name, row, 0, top)
            # Beside the button only where it stands.
            self._grid.addWidget(line.value, row, 1, 1, 1 if row < _BESIDE_BUTTON else 2)
            row += 1

    def _stack(self) -> None:
        row = 0
        for line in self._lines:
            row = self._gap(row, line)
            self._grid.addWidget(line.name, row, 0, 1, 3)
            self._grid.addWidget(line.value, row + 1, 0, 1, 3)
            row += 2
        if self._copy is not None:
            self._grid.addWidget(self._copy, row, 0, 1, 3, Qt.AlignmentFlag.AlignLeading)

    def _gap(self, row: int, line: _Line) -> int:
        """Make room above a line that wants some; the row it stands in then."""
        if not line.top:
            return row
        self._gaps[row] = line.top
        return row + 1

    def _restyle(self) -> None:
        px, is_narrow = self._look.theme.px, self._wants_narrow()
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            self._stand()
        self._grid.setContentsMargins(px(16 if is_narrow else 48), px(12), px(16), px(14))
        self._grid.setHorizontalSpacing(px(12))
        self._grid.setVerticalSpacing(px(4))
        self._grid.setColumnMinimumWidth(0, 0 if is_narrow else px(80))
        for line in self._lines:
            line.name.setContentsMargins(0, 0 if is_narrow else px(line.down), 0, 0)
        for value in self._values:
            value.setContentsMargins(0 if is_narrow else px(12), 0, 0, 0)
        for row, gap in self._gaps.items():
            self._grid.setRowMinimumHeight(row, px(gap))


@dataclass(frozen=True, slots=True)
class _Line:
    """A value and its label: `top` more above them, the label `down` lower where it stands beside, in px at 100 %."""

    name: Text
    value: QWidget
    top: int
    down: int


class Quote(QFrame):
    """The provider's own words, set apart and selectable."""

    def __init__(self, look: Appearance, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        row = QHBoxLayout(self)
        self._row = row
        text = Text(look, words, Type.CODE, wrap=True, parent=self)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text.setCursor(Qt.CursorShape.IBeamCursor)
        text.setAccessibleName(words)
        row.addWidget(text)
        look.changed.connect(self._restyle)
        self._restyle()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(6), theme.color("code_bg"), theme.color("code_border"))
        painter.end()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._row.setContentsMargins(px(12), px(QUOTE_PADDING), px(12), px(QUOTE_PADDING))


class AttemptList(QWidget):
    """One line an attempt; the middle ones wait behind "7 more"."""

    def __init__(self, look: Appearance, rows: Sequence[AttemptRow], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._hidden: list[QWidget] = []
        self._lines: list[tuple[FlowRow, list[Text]]] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._column = QVBoxLayout(self)
        self._column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._fold = QHBoxLayout()
        folded = range(SHOWN_FIRST, len(rows) - 1) if len(rows) > SHOWN_FIRST + 2 else range(0)
        for index, row in enumerate(rows):
            if folded and index == folded.start:
                self._more = Button(
                    look,
                    counted(len(folded), tr("1 more"), tr("{n} more")),
                    kind=Kind.PLAIN,
                    chevron="chevron-right",
                    padding=8,
                    quiet=True,
                    parent=self,
                )
                self._more.setObjectName("moreAttemptsButton")
                self._more.clicked.connect(self._unfold)
                self._column.addLayout(self._fold)
                self._fold.addWidget(self._more)
                self._fold.addStretch(1)
            line = self._line(row)
            if index in folded:
                line.hide()
                self._hidden.append(line)
            self._column.addWidget(line)
        look.changed.connect(self._restyle)
        self._restyle()

    def minimumSizeHint(self) -> QSize:
        # A card may be narrower than the longest line: the line gives way, not the card's edge.
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._restyle()

    def _line(self, row: AttemptRow) -> QWidget:
        line = QWidget(self)
        line.setAccessibleName(f"{row.number}, {row.time}, {row.what}, {row.then}")
        flow = FlowRow(line)
        flow.setContentsMargins(0, 0, 0, 0)
        labels: list[Text] = []
        for text, token, name in (
            (str(row.number), "muted", "number"),
            (row.time, "text", "time"),
            (row.what, "text", "what"),
            (row.then, "muted", "then"),
        ):
            label = Text(self._look, text, Type.UI, token, tabular=True, parent=line)
            label.setObjectName(name)
            if name == "number":
                label.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
            flow.addWidget(label)
            labels.append(label)
        self._lines.append((flow, labels))
        return line

    def _columns(self) -> tuple[int, int]:
        """The gap between two columns, and the width of what came of an attempt: 0 where there is no room for one."""
        px = self._look.theme.px
        whats, thens = (max((_advance(labels[at]) for _, labels in self._lines), default=0) for at in (WHAT, THEN))
        for gap in (px(12), px(8)):
            room = self.width() - px(33) - px(67) - 3 * gap - thens
            if whats <= room:
                return gap, max(whats, min(px(156), room))
        return px(8), 0

    def _unfold(self) -> None:
        self._more.hide()
        for line in self._hidden:
            line.show()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._column.setSpacing(px(2))
        self._fold.setContentsMargins(px(37), 0, 0, 0)
        gap, what = self._columns()
        widths = {"number": px(33), "time": px(67), "what": what, "then": 0}
        for layout, labels in self._lines:
            layout.setSpacing(gap)
            layout.hanging = widths["number"] + gap
            for label in labels:
                label.setMinimumWidth(widths[label.objectName()])
                if label.objectName() == "number":
                    label.setContentsMargins(0, 0, px(5), 0)


def _advance(label: Text) -> int:
    return label.fontMetrics().horizontalAdvance(label.text()) + 1
