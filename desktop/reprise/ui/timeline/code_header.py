"""The line over a code box: its language, and the buttons that wrap and copy."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter

from reprise.ui.theme import Type
from reprise.ui.timeline.block import Hit, tr
from reprise.ui.timeline.highlight import language_name
from reprise.ui.timeline.sheet import Sheet, box

HEADER = 34


@dataclass(frozen=True, slots=True)
class CodeHeader:
    """The header of a box from `left` to `right` as it is shown now."""

    sheet: Sheet
    left: float
    right: float
    language: str
    wrapped: bool
    just_copied: bool

    def hits(self) -> tuple[Hit, Hit]:
        """The buttons: copy and wrap."""
        return self._copy_hit(), self._wrap_hit()

    def paint(self, painter: QPainter, hover: Hit | None) -> None:
        """Paint the line, its button under the pointer lit."""
        sheet = self.sheet
        small = sheet.grid(Type.SMALL, 500)
        middle = sheet.px(HEADER) / 2 + sheet.px(1)
        name = language_name(self.language) if self.language else tr("Text")
        sheet.text(painter, small, self.left + sheet.inset, middle, name, "muted")
        for hit in self.hits():
            assert hit.rect is not None  # noqa: S101 - buttons have one
            hovered = hover is not None and hover.kind == hit.kind
            if hovered:
                box(painter, hit.rect, sheet.px(6), sheet.color("hover"), None)
            token = "text" if hovered or (hit.kind == "wrap" and self.wrapped) else "muted"
            size = sheet.px(16)
            icon = "copy" if hit.kind == "copy" else "wrap"
            if hit.kind == "copy" and self.just_copied:
                icon, token = "check", "success"
            place = QRect(round(hit.rect.left()) + sheet.px(6), round(middle - size / 2), size, size)
            sheet.icon(painter, icon, token, place)
            if hit.kind == "copy":
                label = tr("Copied") if self.just_copied else tr("Copy")
                sheet.text(painter, small, self.right - sheet.inset, middle, label, token, right=True)

    def _copy_hit(self) -> Hit:
        sheet = self.sheet
        label = tr("Copied") if self.just_copied else tr("Copy")
        width = sheet.grid(Type.SMALL, 500).metrics.horizontalAdvance(label) + sheet.px(6 + 16 + 6 + 8)
        right = self.right - sheet.inset + sheet.px(8)
        return Hit("copy", "", QRectF(right - width, sheet.px(4), width, sheet.px(28)), tr("Copy code"))

    def _wrap_hit(self) -> Hit:
        sheet, size = self.sheet, self.sheet.px(28)
        copy = self._copy_hit().rect
        assert copy is not None  # noqa: S101 - buttons have one
        tip = tr("Let long lines run") if self.wrapped else tr("Wrap long lines")
        return Hit("wrap", "", QRectF(copy.left() - size, sheet.px(4), size, size), tip)
