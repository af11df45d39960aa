"""Where ink stands: on the text edge, on its line, in its column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from reprise.ui.controls import Button, Text
from reprise.ui.style import Appearance
from reprise.ui.theme import Scheme, Type, baseline_in, load_theme
from reprise.ui.window_state import WindowState
from support.pictures import area, shown
from support.qt import until_active
from support.window import LARGE, WindowStage

pytestmark = pytest.mark.slow_callbacks
LIMITED = {"fail": {"kind": "rate_limit", "status": 429, "message": "slow down"}}
HALF = "these are the words that came before the provider was too busy to go on with them"


def inked(image: QImage) -> list[tuple[int, int]]:
    """The pixels that are clearly darker than white."""
    pixels = ((x, y) for y in range(image.height()) for x in range(image.width()))
    return [(x, y) for x, y in pixels if image.pixelColor(x, y).lightness() < 160]


def picture(widget: QWidget) -> QImage:
    """A widget alone, on white."""
    widget.resize(widget.sizeHint())
    image = QImage(widget.size(), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    widget.render(image, QPoint(0, 0))
    return image


@pytest.fixture
def look(qapp: QApplication, resources: Path, tmp_path: Path) -> Appearance:
    """The light look at 100 %."""
    return Appearance(resources, load_theme(resources, Scheme.LIGHT), WindowState(tmp_path / "state.ini"))


@pytest.mark.parametrize("role", [Type.DISPLAY, Type.BODY, Type.UI, Type.SMALL])
def test_a_wrapped_line_stands_on_the_grid_s_baseline(look: Appearance, role: Type) -> None:
    """tokens section 3: ``(line - ascent - descent) / 2 + ascent``, whatever the system's font is."""
    text = Text(look, "H", role, wrap=True)
    wanted = baseline_in(look.theme.font(role), look.theme.line(role))
    lowest = max(y for _, y in inked(picture(text)))
    assert abs(lowest + 1 - wanted) <= 1


def test_an_icon_stands_nearer_to_its_button_s_edge_than_the_words(look: Appearance) -> None:
    """tokens section 6: padding 12, 10 beside an icon."""
    button = Button(look, "Retry", icon="retry")
    assert button.sizeHint().width() == Button(look, "Retry").sizeHint().width() - 2 + 16 + 6
    inside = [x for x, y in inked(picture(button)) if 2 < x < button.width() - 3 and 4 < y < 24]
    assert 10 <= min(inside) <= 14
    assert 12 <= button.width() - 1 - max(inside) <= 14


@pytest.mark.usefixtures("stillness")
def test_the_empty_composer_s_caret_stands_before_the_words(act: Callable[..., None]) -> None:
    """Mockup 01: the words begin on the text edge, and the caret does not cover their first letter."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        stage.window.activateWindow()
        await until_active(stage.window)
        composer.editor.setFocus()
        accent = stage.window.look.theme.color("accent").rgb()
        image = composer.grab().toImage()
        middle = image.height() // 2
        assert [x for x in range(40) if image.pixel(x, middle) == accent] == [13, 14]

    act(scene)


@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_the_attempts_columns_line_up(act: Callable[..., None], zoom: float) -> None:
    """Mockup 04, at 100 % and where there is hardly room."""

    async def scene(stage: WindowStage) -> None:
        stage.window.look.set_zoom(zoom)
        await stage.send("go")
        await stage.clock.advance(60)
        stage.find("detailsButton").click()
        await stage.drain()
        for name in ("time", "what", "then"):
            places = [area(each).x() for each in stage.window.findChildren(Text, name) if each.isVisible()]
            assert len(places) > 2
            assert len(set(places)) == 1

    act(scene, [HALF, LIMITED], *[[LIMITED]] * 3)


@pytest.mark.parametrize("width", [1180, 560])
def test_the_settings_cross_stands_in_the_corner(act: Callable[..., None], width: int) -> None:
    """Mockup 08: 18 px from the sheet's two edges."""

    async def scene(stage: WindowStage) -> None:
        stage.window.resize(width, 760)
        stage.window.commands.action("settings").trigger()
        await stage.drain()
        sheet, cross = area(shown(stage, "settingsDialog")), area(shown(stage, "closeSettings"))
        assert (sheet.right() - cross.right(), cross.top() - sheet.top()) == (18, 18)

    act(scene)


def test_the_title_stands_level_with_the_model(act: Callable[..., None]) -> None:
    """tokens section 3: text is centred by cap height."""

    async def scene(stage: WindowStage) -> None:
        title, picker = area(stage.window.header.title), area(stage.window.header.picker)
        assert title.center().y() == picker.center().y()

    act(scene)


def test_an_empty_composer_names_the_model_that_answers_now(act: Callable[..., None]) -> None:
    """ux section 4: another default, as Settings may choose, is named like a model that was picked."""

    async def scene(stage: WindowStage) -> None:
        stage.catalog.chosen = LARGE
        stage.window.deeds.models_changed()
        assert stage.window.page.composer.editor.accessibleName() == "Message Qwen3 32B"
        assert stage.window.header.picker.text() == "Qwen3 32B"

    act(scene)
