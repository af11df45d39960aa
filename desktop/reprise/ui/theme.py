"""Colours, type and sizes: the design tokens of one scheme at one zoom."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QJsonDocument
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF


class Scheme(StrEnum):
    """The two looks; both carry the same token names."""

    LIGHT = "light"
    DARK = "dark"


class Type(StrEnum):
    """The roles of text."""

    DISPLAY = "display"
    H1 = "h1"
    H2 = "h2"
    H3 = "h3"
    BODY = "body"
    THINKING = "thinking"
    TITLE = "title"
    UI = "ui"
    SMALL = "small"
    MICRO = "micro"
    CODE = "code"


# size / line in px at 100 %, weight
_TYPE: dict[Type, tuple[int, int, int]] = {
    Type.DISPLAY: (24, 32, 600),
    Type.H1: (22, 30, 600),
    Type.H2: (18, 26, 600),
    Type.H3: (15, 22, 600),
    Type.BODY: (15, 22, 400),
    Type.THINKING: (14, 22, 400),
    Type.TITLE: (14, 20, 600),
    Type.UI: (13, 20, 400),
    Type.SMALL: (12, 16, 400),
    Type.MICRO: (11, 14, 500),
    Type.CODE: (13, 20, 400),
}


class Theme(NamedTuple):
    """One scheme at one zoom (1.0 = 100 %). Sizes scale with the zoom, then round to whole pixels."""

    scheme: Scheme
    zoom: float
    colors: dict[str, str]

    def color(self, token: str) -> QColor:
        """The colour a token names, the caller's own; KeyError for an unknown one. The scrim carries its alpha."""
        return QColor(_color(self.colors[token]))

    def hex(self, token: str) -> str:
        """The token's ``#rrggbb``, for style sheets and icons."""
        return self.colors[token]

    def px(self, size: float) -> int:
        """A length of the 100 % grid in device-independent pixels of this zoom, at least 1 for a positive one."""
        return max(1, round(size * self.zoom)) if size > 0 else round(size * self.zoom)

    def font(self, role: Type, *, weight: int | None = None, tabular: bool = False) -> QFont:
        """The system's font for a role; `tabular` gives figures of equal width."""
        size, _, own = _TYPE[role]
        return QFont(_font(role is Type.CODE, self.px(size), weight or own, tabular))

    def line(self, role: Type) -> int:
        """The fixed line height of a role in pixels."""
        return self.px(_TYPE[role][1])


def baseline_in(font: QFont, line: int) -> int:
    """Where the baseline is in a line `line` pixels high, from its top (tokens section 3)."""
    metrics = QFontMetricsF(font)
    ascent, descent = metrics.ascent(), metrics.descent()
    return round((line - ascent - descent) / 2 + ascent)


@cache
def _color(value: str) -> QColor:
    if len(value) == 9:  # #RRGGBBAA, which QColor would read as #AARRGGBB
        color = QColor(value[:7])
        color.setAlpha(int(value[7:], 16))
        return color
    return QColor(value)


@cache
def _font(fixed: bool, pixels: int, weight: int, tabular: bool) -> QFont:
    system = QFontDatabase.SystemFont.FixedFont if fixed else QFontDatabase.SystemFont.GeneralFont
    font = QFontDatabase.systemFont(system)
    font.setPixelSize(pixels)
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if tabular:
        font.setFeature(QFont.Tag("tnum"), 1)
    if fixed:
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setFeature(QFont.Tag("calt"), 0)
    return font


@cache
def _tokens(resources: Path) -> dict[str, dict[str, str]]:
    text = (resources / "themes" / "tokens.json").read_bytes()
    tokens: dict[str, dict[str, str]] = QJsonDocument.fromJson(text).toVariant()  # `json` takes longer to import
    return tokens


def load_theme(resources: Path, scheme: Scheme, zoom: float = 1.0) -> Theme:
    """The theme of `scheme` from the resources folder."""
    return Theme(scheme, zoom, _tokens(resources)[scheme.value])
