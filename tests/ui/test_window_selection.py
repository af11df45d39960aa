"""The timeline's selection in the window: how the keys get there, and what the Edit menu does with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from reprise.ui.timeline import Timeline
from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


async def _tab_to_timeline(stage: WindowStage) -> Timeline:
    """Press Tab as often as it takes, from the composer on."""
    stage.window.activateWindow()
    stage.window.page.composer.editor.setFocus()
    for _ in range(20):
        focus = QApplication.focusWidget()
        assert focus is not None
        if isinstance(focus, Timeline):
            return focus
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        await stage.drain()
    raise AssertionError("Tab does not lead to the timeline")


async def _copied(stage: WindowStage) -> str:
    """What is on the clipboard once all that was copied is collected."""
    while stage.find("timeline").clipboard.copier.is_busy:
        await stage.drain()
    return QGuiApplication.clipboard().text()


def test_tab_leads_to_the_newest_message_and_the_arrows_go_on(act: Callable[..., None]) -> None:
    """Issue point 7: Tab to the timeline, Up and Down by message, Enter opens actions."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("hello")
        timeline = await _tab_to_timeline(stage)
        assert timeline.focus.marked == 1
        QTest.keyClick(timeline, Qt.Key.Key_Up)
        assert timeline.focus.marked == 0
        QTest.keyClick(timeline, Qt.Key.Key_Return)
        await stage.drain()
        menu = timeline.context_menu.menu
        assert menu is not None
        assert [action.text() for action in menu.actions()][:2] == ["Copy message", "Edit and send again"]
        QTest.keyClick(menu, Qt.Key.Key_Escape)
        await stage.drain()
        assert timeline.context_menu.menu is None

    act(scene, ["a *word*"])


def test_tab_leads_on_from_the_send_button(act: Callable[..., None]) -> None:
    """N16: with something written, the composer and its button are no trap for the keyboard."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("hello")
        stage.window.page.composer.set_text("more")
        timeline = await _tab_to_timeline(stage)
        QTest.keyClick(timeline, Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is stage.window.page.composer.editor

    act(scene, ["a *word*"])


def test_the_edit_menu_copies_and_selects_in_the_timeline(act: Callable[..., None]) -> None:
    """ux section 3: a command that cannot work is off and says why; the keys and the menu do the same."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("hello")
        commands = stage.window.commands
        commands.refresh()
        assert not commands.action("copyMarkdown").isEnabled()
        assert commands.action("copyMarkdown").toolTip().endswith("Nothing is selected in the conversation.")
        timeline = await _tab_to_timeline(stage)
        assert not commands.action("copy").isEnabled()
        assert commands.action("selectAll").isEnabled()
        commands.action("selectAll").trigger()
        assert timeline.selecting.text() == "a word"
        commands.refresh()
        commands.action("copy").trigger()
        assert await _copied(stage) == "a word"
        commands.action("copyMarkdown").trigger()
        assert await _copied(stage) == "a *word*"
        stage.window.page.composer.editor.setFocus()
        await stage.drain()
        assert not commands.action("copyMarkdown").isEnabled()

    act(scene, ["a *word*"])


def test_ctrl_c_and_ctrl_a_in_the_timeline_are_about_the_conversation(act: Callable[..., None]) -> None:
    """Issue point 4: by keyboard, with nothing pressed before."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("hello")
        timeline = await _tab_to_timeline(stage)
        QTest.keyClick(timeline, Qt.Key.Key_A, CONTROL)
        QTest.keyClick(timeline, Qt.Key.Key_A, CONTROL)
        QTest.keyClick(timeline, Qt.Key.Key_C, CONTROL)
        assert await _copied(stage) == "hello\n\na word"
        QTest.keyClick(timeline, Qt.Key.Key_C, CONTROL | SHIFT | Qt.KeyboardModifier.AltModifier)
        assert await _copied(stage) == "hello\n\na *word*"

    act(scene, ["a *word*"])


def test_a_selection_in_a_reply_outlives_the_end_of_its_turn(act: Callable[..., None]) -> None:
    """UX 5: the reply that streamed becomes a message of the history, and what is selected in it stays selected."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("hello")
        timeline = await _tab_to_timeline(stage)
        for _ in range(4):
            QTest.keyClick(timeline, Qt.Key.Key_Right, SHIFT)
        assert timeline.selecting.text() == "The "
        assert timeline.has_reply
        await stage.clock.advance(3)
        await stage.drain()
        assert not timeline.has_reply
        assert timeline.selecting.text() == "The "

    act(scene, ["The beginning", {"wait": 2}, " and the end."])
