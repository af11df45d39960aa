"""A second start of the program with the same data: the first window comes back to the person."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from reprise.app.options import Options
from reprise.app.paths import DATABASE, resources_dir
from reprise.app.prepare import prepare
from reprise.app.program import Program
from reprise.app.stop_request import StopRequest
from reprise.bridge.signals import until
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window import MainWindow
from support.aio import Aio
from support.process import finish, reprise, start


def first_window() -> MainWindow:
    """A window as the program's start shows it."""
    window = MainWindow(resources_dir(), load_theme(resources_dir(), Scheme.LIGHT))
    window.show()
    return window


@pytest.mark.slow_callbacks  # a window is built in the test's own task
@pytest.mark.parametrize("put_away", ["showMinimized", "hide"])
def test_a_second_start_brings_the_first_window_back(
    aio: Aio, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put_away: str
) -> None:
    """A person who starts the program again looks for its window, wherever it went."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # the program sets its own
    prepared = prepare(Options(data_dir=tmp_path, provider_kind="echo"))

    async def story() -> None:
        window = first_window()
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


@pytest.mark.slow_callbacks  # a window is built in the test's own task
def test_a_prompt_handed_over_is_on_disk_when_the_second_start_ends(
    aio: Aio, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    prepared = prepare(Options(data_dir=tmp_path, provider_kind="echo"))

    async def story() -> None:
        window = first_window()
        running = asyncio.ensure_future(Program(qapp, prepared, window, StopRequest()).run())
        second = await reprise("--data-dir", str(tmp_path), "--say", "hand this over")
        assert (second.code, second.out, second.err) == (0, "", "")
        with closing(sqlite3.connect(f"file:{tmp_path / DATABASE}?mode=ro", uri=True)) as base:
            assert "hand this over" in "\n".join(base.iterdump())
        window.close()
        assert await running == 0
        window.deleteLater()  # it shows a reply on its way

    aio(story(), timeout_s=30)
    assert prepared.lock is not None
    prepared.lock.release()


@pytest.mark.slow_callbacks  # a window is built in the test's own task
def test_a_prompt_the_first_window_cannot_send_stays_with_the_second_start(
    aio: Aio, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says why, shows its own window, and does not exit 0."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    prepared = prepare(Options(data_dir=tmp_path, overrides=("chat.provider=own",)))

    async def story() -> None:
        window = first_window()
        running = asyncio.ensure_future(Program(qapp, prepared, window, StopRequest()).run())
        second = await start("--data-dir", str(tmp_path), "--say", "precious words")
        assert second.stderr is not None
        assert b"the window runs unseen" in await second.stderr.readline()
        second.send_signal(signal.SIGTERM)
        assert (await finish(second)).code == 2
        window.close()
        assert await running == 0

    aio(story(), timeout_s=30)
    assert prepared.lock is not None
    prepared.lock.release()


@pytest.mark.slow_callbacks  # a window is built in the test's own task
def test_what_was_to_be_said_is_in_the_window_that_cannot_send_it(
    aio: Aio, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is lost neither to the window nor, by its exit code, to whoever started it."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    (tmp_path / "file").write_text("mine", "utf-8")
    prepared = prepare(Options(data_dir=tmp_path / "file", say="precious words"))

    async def story() -> None:
        window = first_window()
        running = asyncio.ensure_future(Program(qapp, prepared, window, StopRequest()).run())
        editor = window.page.composer.editor
        while not editor.toPlainText():
            await until(editor.textChanged)
        assert editor.toPlainText() == "precious words"
        assert not editor.isReadOnly()
        window.close()
        assert await running == 2

    aio(story(), timeout_s=30)
