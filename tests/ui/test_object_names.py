"""The object names of ux section 7: tests and people who script the window rely on them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from reprise.ui.boot_banner import Notice
from support.engine import FakeTools, pong
from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks
LIMITED = {"fail": {"kind": "rate_limit", "status": 429, "message": "slow down"}}
CALL = {"tool_call": {"name": "look", "arguments": {}}}
LONG = "\n\n".join(f"Paragraph {number}." for number in range(200))

ACTIONS = """
actionNewChat actionCloseWindow actionQuit actionUndo actionRedo actionCut actionCopy actionPaste actionSelectAll
actionCopyLastReply actionSettings actionSidebar actionPalette actionZoomIn actionZoomOut actionZoomReset
actionFullScreen actionSchemeLight actionSchemeDark actionSchemeSystem actionSend actionNewLine actionStop actionRetry
actionModel actionRename actionPreviousSession actionNextSession actionJumpToLatest actionShortcuts actionMenu
actionAbout
"""


async def talk(stage: WindowStage) -> None:
    await stage.send("go")


async def read_back(stage: WindowStage) -> None:
    await stage.send("go")
    bar = stage.find("timeline").verticalScrollBar()
    bar.setValue(bar.minimum())
    await stage.drain()


async def be_told(stage: WindowStage) -> None:
    stage.window.add_notice(Notice("Something is wrong."))


async def open_settings(stage: WindowStage) -> None:
    stage.window.commands.action("settings").trigger()


async def open_palette(stage: WindowStage) -> None:
    stage.window.commands.action("palette").trigger()


@pytest.mark.parametrize(
    ("reach", "names", "attempts", "options"),
    [
        (talk, "mainWindow sidebar sessionList timeline composer sendButton modelPicker", [["fine"]], {}),
        (read_back, "jumpToLatest", [[LONG]], {}),
        (be_told, "bootBanner", [], {}),
        (
            talk,
            "retryBanner retryBannerText retryNowButton extendRetryButton cancelRetryButton",
            [[LIMITED]],
            {},
        ),
        (talk, "pendingCard retryButton detailsButton", [[LIMITED]], {"delays": ()}),
        (talk, "approvalCard", [[CALL]], {"tools": FakeTools(look=pong)}),
        (open_settings, "settingsDialog", [], {}),
        (open_palette, "palette", [], {}),
        (talk, ACTIONS, [["fine"]], {}),
    ],
    ids=["window", "scrolled", "notice", "counting", "pending", "asking", "settings", "palette", "actions"],
)
def test_what_is_there_has_its_name(
    act: Callable[..., None],
    reach: Callable[[WindowStage], Awaitable[None]],
    names: str,
    attempts: list[list[Any]],
    options: dict[str, Any],
) -> None:
    """ux section 7."""

    async def scene(stage: WindowStage) -> None:
        await reach(stage)
        shown = {widget.objectName() for widget in stage.window.findChildren(QWidget) if widget.isVisible()}
        there = shown | {stage.window.objectName()} | {a.objectName() for a in stage.window.findChildren(QAction)}
        assert set(names.split()) - there == set()
        stage.conversation.stop()
        await stage.drain()

    act(scene, *attempts, **options)
