"""Scenes in a real window."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from support.aio import Aio
from support.window import WindowStage

Scene = Callable[[WindowStage], Coroutine[Any, Any, None]]


@pytest.fixture
def stillness(qapp: QApplication) -> Iterator[None]:
    """The caret does not blink, and the pointer hovers over nothing."""
    before = qapp.cursorFlashTime()
    qapp.setCursorFlashTime(0)
    QCursor.setPos(-100, -100)
    yield
    qapp.setCursorFlashTime(before)


@pytest.fixture
def act(aio: Aio, qtbot: QtBot, tmp_path: Path) -> Callable[..., None]:
    """Runs a scene in a fresh window whose model plays these attempts: ``act(scene, ["hi"], [FAIL])``."""

    def run(scene: Scene, *attempts: list[Any], **options: Any) -> None:
        async def whole() -> None:
            script = json.dumps(list(attempts)) if attempts else ""
            stage = await WindowStage.open(tmp_path, script, **options)
            try:
                await scene(stage)
            finally:
                await stage.close()

        aio(whole())

    return run
