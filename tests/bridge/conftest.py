"""Scenes on a stage of their own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from support.aio import Aio
from support.bridge import BridgeStage
from support.countdown import Stage

Scene = Callable[[BridgeStage], Coroutine[Any, Any, None]]


@pytest.fixture
def play(aio: Aio, tmp_path: Path) -> Callable[..., None]:
    """Runs a scene on a fresh stage with these replies and closes it: ``play(scene, says("hi"), delays=(5.0,))``."""

    def run(scene: Scene, *replies: Any, **options: Any) -> None:
        async def whole() -> None:
            stage = await BridgeStage.open(tmp_path, *replies, **options)
            try:
                await scene(stage)
            finally:
                await stage.close()

        aio(whole())

    return run


@pytest.fixture
def played(aio: Aio) -> Callable[[Callable[[Stage], Coroutine[Any, Any, None]]], None]:
    """Runs a scene on a fresh retry manager and closes it."""

    def play(scene: Callable[[Stage], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            stage = Stage()
            try:
                await scene(stage)
            finally:
                await stage.scope.close()

        aio(main())

    return play
