"""Scenes on a stage of their own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from support.aio import Aio
from support.engine import EngineStage

Scene = Callable[[EngineStage], Coroutine[Any, Any, None]]


@pytest.fixture
def play(aio: Aio, tmp_path: Path) -> Callable[[Scene], None]:
    """Runs a scene on a fresh stage and closes it."""

    def run(scene: Scene) -> None:
        async def whole() -> None:
            stage = await EngineStage.open(tmp_path)
            try:
                await scene(stage)
            finally:
                await stage.close()

        aio(whole())

    return run
