"""Sheets over the window come and go without a trace."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks


@pytest.mark.parametrize("command", ["shortcuts", "about", "settings", "palette"])
def test_a_stopped_turn_has_its_card_after_a_sheet_was_open(act: Callable[..., None], command: str) -> None:
    """What a sheet takes along when it goes must not be the window's own widgets."""

    async def scene(stage: WindowStage) -> None:
        stage.window.commands.action(command).trigger()
        await stage.drain()
        over = stage.window.focusWidget()
        assert over is not None
        for _ in range(4):
            QTest.keyClick(stage.window.focusWidget() or stage.window, Qt.Key.Key_Tab)
        QTest.keyClick(stage.window.focusWidget() or stage.window, Qt.Key.Key_Escape)
        await stage.drain()
        await stage.send("go")
        QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Escape)
        await stage.drain()
        cards = [card for card in stage.window.findChildren(QWidget, "pendingCard") if card.isVisible()]
        assert len(cards) == 1
        assert stage.window.sidebar.isVisible()

    act(scene, ["half an answer", {"hang": True}])
