"""Icons: the SVGs of the resources folder, tinted with a token's colour and rendered at the screen's scale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from reprise.ui.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

# Marks that point along the reading direction; the logo, clock, retry and media marks never turn round.
_MIRRORED = frozenset({"chevron-left", "chevron-right", "undo", "redo", "wrap", "continue", "sidebar", "external"})


class Icons:
    """Renders and keeps tinted icons. `theme` is asked at every call, so a scheme change needs only `clear()`."""

    def __init__(self, resources: Path, theme: Callable[[], Theme]) -> None:
        self._folder = resources / "icons"
        self._theme = theme
        self._sources: dict[str, str] = {}
        self._pixmaps: dict[tuple[str, str, int, float, bool], QPixmap] = {}

    def pixmap(self, name: str, token: str, px: int, dpr: float | None = None) -> QPixmap:
        """The icon `name` in the colour of `token`, `px` device-independent pixels square. KeyError for a bad token."""
        ratio = dpr if dpr is not None else _screen_ratio()
        mirrored = name in _MIRRORED and QGuiApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft
        key = (name, self._theme().hex(token), px, ratio, mirrored)
        if key not in self._pixmaps:
            self._pixmaps[key] = self._render(*key)
        return self._pixmaps[key]

    def icon(self, name: str, px: int = 16) -> QIcon:
        """The icon for a menu or a native control: muted at rest, text colour when active, faint when disabled."""
        from PySide6.QtGui import QIcon  # of menus: not needed for the first paint

        icon = QIcon()
        for mode, token in (
            (QIcon.Mode.Normal, "muted"),
            (QIcon.Mode.Active, "text"),
            (QIcon.Mode.Selected, "text"),
            (QIcon.Mode.Disabled, "faint"),
        ):
            icon.addPixmap(self.pixmap(name, token, px), mode)
        return icon

    def clear(self) -> None:
        """Forget what was rendered; the colours changed."""
        self._pixmaps.clear()

    def _render(self, name: str, color: str, px: int, ratio: float, mirrored: bool) -> QPixmap:
        if name not in self._sources:
            self._sources[name] = (self._folder / f"{name}.svg").read_text("utf-8")
        renderer = QSvgRenderer(QByteArray(self._sources[name].replace("currentColor", color).encode()))
        side = round(px * ratio)
        pixmap = QPixmap(side, side)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        if mirrored:
            painter.translate(side, 0)
            painter.scale(-1, 1)
        renderer.render(painter, QRectF(0, 0, side, side))
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        return pixmap


def _screen_ratio() -> float:
    screen = QGuiApplication.primaryScreen()
    return screen.devicePixelRatio() if screen is not None else 1.0
