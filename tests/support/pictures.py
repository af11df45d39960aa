"""Pictures of the window at rest, and what can be measured on them: ink, edges, room for the words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

from PySide6.QtCore import QPoint, QPropertyAnimation, QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from reprise.ui.controls import Button, Elided, Kind
from reprise.ui.overlay import Sheet
from support.window import WindowStage

READABLE = 4.5


async def settle(stage: WindowStage) -> None:
    """Bring to its end what moves in the window, and to its colours the code in view."""
    await stage.drain()
    for moving in stage.window.findChildren(QPropertyAnimation):
        moving.setCurrentTime(moving.duration())
    timeline = stage.find("timeline")
    stage.window.grab()  # what comes into view asks for its colours when it is painted
    while not timeline.highlighter.is_idle:
        await stage.drain()
    await stage.drain()


def take(stage: WindowStage, path: Path) -> QImage:
    """Save what the window shows, and return it."""
    image = stage.window.grab().toImage()
    assert image.save(str(path))
    return image


def shown(stage: WindowStage, name: str) -> QWidget:
    """The one visible widget of this name."""
    found = [widget for widget in stage.window.findChildren(QWidget, name) if widget.isVisible()]
    assert len(found) == 1, f"{len(found)} visible widgets are called {name}"
    return found[0]


def area(widget: QWidget) -> QRect:
    """Where a widget is in its window."""
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


def overlapping(widgets: list[QWidget]) -> list[str]:
    """The pairs that cover one another though neither holds the other."""
    return [
        f"{one.objectName()} and {other.objectName()}"
        for one, other in combinations(widgets, 2)
        if not one.isAncestorOf(other) and not other.isAncestorOf(one) and area(one).intersects(area(other))
    ]


def words(stage: WindowStage) -> Iterator[QWidget]:
    """Every visible button and line of text that says something and can be used now; only the sheet's, under one."""
    sheets = [sheet for sheet in stage.window.findChildren(Sheet) if sheet.is_open]
    for widget in (sheets or [stage.window])[0].findChildren(QWidget):
        says = isinstance(widget, QAbstractButton | QLabel | Elided) and bool(widget.text())
        if says and widget.isVisible() and widget.isEnabled() and not widget.visibleRegion().isEmpty():
            yield widget


def cut_words(stage: WindowStage) -> list[str]:
    """The buttons and sentences that have less room than their words need."""
    cut: list[str] = []
    for widget in words(stage):
        if isinstance(widget, QLabel) and widget.wordWrap():
            fits = widget.height() >= widget.heightForWidth(widget.width())
        elif isinstance(widget, QLabel):
            room, metrics, said = widget.contentsRect(), widget.fontMetrics(), widget.text()
            fits = room.width() >= metrics.horizontalAdvance(said)
            fits &= room.height() >= metrics.tightBoundingRect(said).height()
        elif isinstance(widget, Button):
            fits = widget.width() >= widget.sizeHint().width() and widget.height() >= widget.sizeHint().height()
        else:
            continue
        if not fits:
            cut.append(f"{widget.objectName()} {widget.text()!r}")
    return cut


def cut_off(stage: WindowStage) -> list[str]:
    """The buttons and sentences that go beyond what they stand in, or sideways out of what is in view."""
    cut: list[str] = []
    for widget in stage.window.findChildren(QWidget):
        if not isinstance(widget, QAbstractButton | QLabel | Elided) or not widget.isVisible():
            continue
        holder, seen = widget.parentWidget(), widget.visibleRegion().boundingRect()
        if not holder.rect().contains(widget.geometry()) or 0 < seen.width() < widget.width():
            cut.append(f"{widget.objectName()} {widget.text()!r}")
    return cut


def small_targets(stage: WindowStage) -> list[str]:
    """The buttons that are harder to hit than 28 px at 100 % (tokens section 6)."""
    least = stage.window.look.theme.px(28)
    return [
        widget.accessibleName()
        for widget in stage.window.findChildren(Button)
        if widget.isVisible() and widget.kind is not Kind.LINK and min(widget.width(), widget.height()) < least
    ]


def off_edge(stage: WindowStage) -> list[str]:
    """The boxes of the page that stand on other edges than the composer's (tokens section 4)."""
    page = stage.window.page
    cards = stage.window.findChildren(QWidget, "pendingCard")
    edges = area(page.composer).left(), area(page.composer).right()
    boxes = [box for box in (page.banner, *cards) if box.isVisible()]
    return [box.objectName() for box in boxes if (area(box).left(), area(box).right()) != edges]


def pale_words(stage: WindowStage, image: QImage) -> list[str]:
    """The words whose ink, measured on the picture, stands out from what is behind it by less than 4.5:1."""
    pale: list[str] = []
    for widget in words(stage):
        if widget.visibleRegion().boundingRect() != widget.rect():
            continue  # half out of view: what is seen may hold no letter
        if (ratio := ink(image, area(widget))) < READABLE:
            pale.append(f"{widget.objectName()} {widget.text()!r}: {ratio:.1f}")
    return pale


def ink(image: QImage, rect: QRect) -> float:
    """The contrast between a part's commonest colour and the one that is farthest from it."""
    ratio = image.devicePixelRatio()
    part = image.copy(QRect(rect.topLeft() * ratio, rect.size() * ratio)).convertToFormat(QImage.Format.Format_RGB32)
    colors = Counter(memoryview(part.constBits()).cast("I"))
    behind = colors.most_common(1)[0][0]
    return max(contrast(behind, color) for color in colors)


def contrast(one: int, other: int) -> float:
    """WCAG 2's ratio of two colours 0xrrggbb, 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@cache
def _luminance(color: int) -> float:
    parts = [(color >> shift & 0xFF) / 255 for shift in (16, 8, 0)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
