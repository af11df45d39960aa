"""How the window looks and lies: scheme, zoom, widths, names and the order of Tab, and what it keeps of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QLineEdit, QTextEdit, QWidget

from reprise.ui.style import high_contrast
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window_state import WindowState, clamped, next_zoom
from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks


def test_a_narrow_window_lays_the_sidebar_over_the_page(act: Callable[..., None]) -> None:
    """tokens section 4: below 720 px it opens over the page, and Esc closes it."""

    async def scene(stage: WindowStage) -> None:
        window = stage.window
        assert window.page.x() == window.sidebar.width()
        window.resize(560, 760)
        assert window.sidebar.isHidden()
        assert window.page.x() == 0
        window.commands.action("sidebar").trigger()
        assert window.sidebar.isVisible()
        assert window.page.x() == 0
        QTest.keyClick(window.sidebar.new_chat, Qt.Key.Key_Escape)
        assert window.sidebar.isHidden()

    act(scene)


def test_closing_asks_the_program_and_keeps_the_place(act: Callable[..., None]) -> None:
    """Design rule 4: the window stays until `shut`."""

    async def scene(stage: WindowStage) -> None:
        asked: list[bool] = []
        stage.window.closing.connect(lambda: asked.append(True))
        QTest.keyClick(stage.window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
        assert asked == [True]
        assert stage.window.isVisible()
        assert WindowState(stage.state).geometry is not None

    act(scene)


def test_scheme_and_zoom_restyle_at_once_and_are_kept(act: Callable[..., None]) -> None:
    """ux section 1, design section 6."""

    async def scene(stage: WindowStage) -> None:
        stage.window.commands.action("schemeDark").trigger()
        await stage.drain()
        assert stage.window.look.theme.scheme is Scheme.DARK
        assert stage.preferences.value("appearance.scheme") == "dark"
        assert WindowState(stage.state).scheme == "dark"
        stage.window.look.set_zoom(2.0)
        await stage.drain()
        assert stage.window.header.height() == 96
        assert WindowState(stage.state).zoom == 2.0

    act(scene)


def test_every_control_has_a_name(act: Callable[..., None]) -> None:
    """ux section 6."""

    async def scene(stage: WindowStage) -> None:
        stage.window.commands.action("settings").trigger()
        kinds = (QAbstractButton, QAbstractSpinBox, QLineEdit, QTextEdit)
        controls = [each for kind in kinds for each in stage.window.findChildren(kind)]
        unnamed = [
            each
            for each in controls
            if not each.accessibleName()
            and each.objectName() not in ("qt_spinbox_lineedit",)
            and not each.metaObject().className().startswith("QLineEditIcon")
        ]
        assert unnamed == []

    act(scene)


def test_the_scheme_follows_the_system_until_one_is_chosen(act: Callable[..., None]) -> None:
    """ux: follows the system's scheme live."""

    async def scene(stage: WindowStage) -> None:
        look, hints = stage.window.look, QGuiApplication.styleHints()
        look.choose_scheme("system")
        hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)  # as the platform does
        assert look.theme.scheme is Scheme.DARK
        hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
        assert look.theme.scheme is Scheme.LIGHT
        look.choose_scheme("light")
        hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
        assert look.theme.scheme is Scheme.LIGHT

    act(scene)


def test_high_contrast_takes_the_system_s_palette(qapp: object, resources: Path) -> None:
    """tokens section 2: lines become the text colour, tints the base colour."""
    system = QPalette()
    system.setColor(QPalette.ColorRole.Text, QColor("#ffff00"))
    system.setColor(QPalette.ColorRole.Base, QColor("#000000"))
    theme = high_contrast(load_theme(resources, Scheme.DARK), system)
    assert theme.hex("border_strong") == theme.hex("text") == "#ffff00"
    assert theme.hex("warn_tint") == theme.hex("page") == "#000000"


def test_tab_goes_through_the_window_in_reading_order(act: Callable[..., None]) -> None:
    """ux section 6."""

    async def scene(stage: WindowStage) -> None:
        stage.window.sidebar.new_chat.setFocus()
        names: list[str] = []
        for _ in range(10):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            names.append(QApplication.focusWidget().objectName())
        order = [
            "settingsButton",
            "sidebarButton",
            "modelPicker",
            "moreButton",
            "starter1",
            "ownModelButton",
            "composer",
        ]
        assert [name for name in names if name in order] == order
        assert stage.window.findChild(QWidget, "focusRing") is not None

    act(scene)


def test_a_window_that_lay_on_a_screen_that_is_gone_comes_back(qapp: object) -> None:
    """Design section 6: geometry is clamped to the screens there are."""
    rect = clamped(QRect(90_000, -5_000, 4_000, 4_000))
    assert rect.width() < 4_000
    assert rect.left() >= 0


def test_a_damaged_state_file_counts_as_absent(tmp_path: Path) -> None:
    """state.ini is never a reason not to start."""
    path = tmp_path / "state.ini"
    path.write_bytes(b"\x00[General]\nzoom=big\ngeometry=@Rect(oops)\nscheme=pink\n")
    state = WindowState(path)
    assert (state.zoom, state.geometry, state.scheme) == (1.0, None, "system")


def test_zoom_steps_from_wherever_it_is() -> None:
    """Ctrl+= and Ctrl+-."""
    assert next_zoom(1.0, 1) == 1.1
    assert next_zoom(1.05, -1) == 1.0
    assert next_zoom(3.0, 1) == 3.0
