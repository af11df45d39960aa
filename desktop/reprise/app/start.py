"""From a parsed command line to a running window, and its exit code."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from reprise.app.display import has_display
from reprise.app.options import Options
from reprise.app.paths import resources_dir
from reprise.app.prepare import EXIT_USAGE, Exit, Prepared, prepare
from reprise.app.stop_request import StopRequest
from reprise.app.terminal import tell

if TYPE_CHECKING:
    from reprise.ui.window import MainWindow


def start(options: Options, stop: StopRequest) -> int:
    """Check what can be checked, show the window, run until it closes."""
    try:
        _check_interpreter()
        if "QT_QPA_PLATFORM" not in os.environ and not has_display(os.environ):
            os.environ["QT_QPA_PLATFORM"] = "offscreen"

        from PySide6.QtWidgets import QApplication

        app = QApplication(["reprise", "-style", "fusion"])
        app.setApplicationName("reprise")
        app.setApplicationDisplayName("Reprise")
        app.setDesktopFileName("reprise")
        prepared = prepare(options)
    except Exit as end:
        if str(end):
            tell(str(end))
        return end.code

    if app.platformName() == "offscreen" and not options.quit_when_done:
        tell("There is no display: the window runs unseen. Ctrl+C ends it.")
    app.setQuitOnLastWindowClosed(False)
    window = _first_window(prepared)
    gc.freeze()  # what is there by now is never looked through again
    gc.enable()

    from reprise.app.program import Program
    from reprise.bridge.loop import run

    program = Program(app, prepared, window, stop)
    try:
        return run(app, program.run)
    finally:
        if prepared.lock is not None:
            prepared.lock.release()


def _first_window(prepared: Prepared) -> MainWindow:
    from PySide6.QtGui import QGuiApplication

    from reprise.app.first_paint import show_painted
    from reprise.ui.theme import Scheme, load_theme
    from reprise.ui.window import MainWindow

    resources = resources_dir()
    seen = QGuiApplication.platformName() != "offscreen"  # the size of a window nobody saw is not worth keeping
    state = prepared.data.state if prepared.data is not None and seen else None
    window = MainWindow(resources, load_theme(resources, Scheme.LIGHT), state)
    show_painted(window)
    return window


def _check_interpreter() -> None:
    import PySide6

    if sys.version_info < (3, 12) and PySide6.__version_info__[:3] == (6, 12, 0):
        raise Exit(
            EXIT_USAGE, "PySide6 6.12.0 crashes under Python 3.11: install pyside6-essentials<6.12 or use Python 3.12."
        )
