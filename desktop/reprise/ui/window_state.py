"""state.ini: what the window must know before its first paint (geometry, sidebar, scheme, zoom)."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRect, QSettings, QSize
from PySide6.QtGui import QGuiApplication

DEFAULT_SIZE = QSize(1180, 760)
SMALLEST = QSize(360, 320)
ZOOMS = (0.5, 0.67, 0.75, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)


class WindowState:
    """Reads and writes `state.ini`; without a path nothing is kept. A damaged value counts as absent."""

    def __init__(self, path: Path | None) -> None:
        self._settings = QSettings(str(path), QSettings.Format.IniFormat) if path is not None else None

    @property
    def geometry(self) -> QRect | None:
        """The window's last rectangle, moved and cut so that a screen there now shows it; None the first time."""
        rect = self._value("geometry")
        return clamped(rect) if isinstance(rect, QRect) and rect.isValid() else None

    @property
    def maximized(self) -> bool:
        """Whether the window filled the screen."""
        return str(self._value("maximized")).lower() == "true"

    @property
    def sidebar_open(self) -> bool:
        """Whether the sidebar is shown where there is room for it."""
        return str(self._value("sidebar")).lower() != "false"

    @property
    def scheme(self) -> str:
        """``light``, ``dark`` or ``system``."""
        value = str(self._value("scheme"))
        return value if value in ("light", "dark") else "system"

    @property
    def zoom(self) -> float:
        """The zoom, 0.5 to 3."""
        try:
            return clamped_zoom(float(str(self._value("zoom"))))
        except ValueError:
            return 1.0

    def keep(self, **values: object) -> None:
        """Store values under `geometry`, `maximized`, `sidebar`, `scheme`, `zoom`."""
        if self._settings is not None:
            for key, value in values.items():
                self._settings.setValue(key, value)

    def sync(self) -> None:
        """Write what is not written yet."""
        if self._settings is not None:
            self._settings.sync()

    def _value(self, key: str) -> object:
        return self._settings.value(key) if self._settings is not None else None


def clamped_zoom(zoom: float) -> float:
    """`zoom` within what the window can show."""
    return min(max(zoom, ZOOMS[0]), ZOOMS[-1]) if zoom == zoom else 1.0


def next_zoom(zoom: float, by: int) -> float:
    """The next (1) or previous (-1) step from `zoom`, which may lie between two."""
    if by > 0:
        return next((step for step in ZOOMS if step > zoom + 0.001), ZOOMS[-1])
    return next((step for step in reversed(ZOOMS) if step < zoom - 0.001), ZOOMS[0])


def clamped(rect: QRect) -> QRect:
    """`rect` on a screen there is: no larger than it, and wholly within it."""
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    if not screens:
        return rect

    def shared(screen: QRect) -> int:
        common = screen.intersected(rect)
        return common.width() * common.height() if common.isValid() else 0

    screen = max(screens, key=shared)
    size = rect.size().boundedTo(screen.size()).expandedTo(SMALLEST.boundedTo(screen.size()))
    left = min(max(rect.left(), screen.left()), screen.left() + screen.width() - size.width())
    top = min(max(rect.top(), screen.top()), screen.top() + screen.height() - size.height())
    return QRect(left, top, size.width(), size.height())
