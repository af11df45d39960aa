"""A second start of the program with the same data: the first window comes back to the person."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from reprise.app.options import Options
from reprise.app.paths import resources_dir
from reprise.app.prepare import prepare
from reprise.app.program import Program
from reprise.app.stop_request import StopRequest
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window import MainWindow
from support.aio import Aio
from support.process import reprise


@pytest.mark.slow_callbacks  # a window is built in the test's own task
@pytest.mark.parametrize("put_away", ["showMinimized", "hide"])
def test_a_second_start_brings_the_first_window_back(
    aio: Aio, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put_away: str
) -> None:
    """A person who starts the program again looks for its window, wherever it went."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # the program sets its own
    prepared = prepare(Options(data_dir=tmp_path, provider_kind="echo"))

    async def story() -> None:
        window = MainWindow(resources_dir(), load_theme(resources_dir(), Scheme.LIGHT))
        window.show()
        running = asyncio.ensure_future(Program(qapp, prepared, window, StopRequest()).run())
        getattr(window, put_away)()
        second = await reprise("--data-dir", str(tmp_path), "--provider-kind", "echo")
        assert (second.code, second.out, second.err) == (0, "", "")
        assert window.isVisible()
        assert not window.isMinimized()
        window.close()
        assert await running == 0

    aio(story(), timeout_s=30)
    assert prepared.lock is not None
    prepared.lock.release()
