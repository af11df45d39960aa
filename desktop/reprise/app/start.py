"""From a parsed command line to a running window, and its exit code."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reprise.app.display import has_display
from reprise.app.instance import InstanceLock, hand_over
from reprise.app.options import Options
from reprise.app.paths import DataDir, UnusableDataDir, default_data_dir, open_data_dir, resources_dir

if TYPE_CHECKING:
    from reprise.ui.window import MainWindow

EXIT_USAGE = 2


class Exit(Exception):
    """The start ends here with `code`; `str(error)` is for standard error, if anything."""

    def __init__(self, code: int, sentence: str = "") -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(slots=True)
class Prepared:
    """What is known before the first paint. `data` is None when the folder cannot be used; `problems` are sentences."""

    options: Options
    data: DataDir | None = None
    lock: InstanceLock | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def start(options: Options) -> int:
    """Check what can be checked, show the window, run until it closes."""
    # Until the data folder has a log, what is logged goes nowhere: standard error is for sentences.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        _check_interpreter()
        overrides = _overrides(options)
        if not has_display(os.environ):
            os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

        from PySide6.QtWidgets import QApplication

        app = QApplication(["reprise"])
        app.setApplicationName("reprise")
        app.setApplicationDisplayName("Reprise")
        app.setDesktopFileName("reprise")
        prepared = prepare(options, overrides)
    except Exit as end:
        if str(end):
            print(end, file=sys.stderr)  # noqa: T201
        return end.code

    app.setQuitOnLastWindowClosed(False)
    window = _first_window(prepared)

    from reprise.app.program import Program
    from reprise.bridge.loop import run

    program = Program(app, prepared, window)
    try:
        return run(app, program.run)
    finally:
        if prepared.lock is not None:
            prepared.lock.release()


def _first_window(prepared: Prepared) -> MainWindow:
    from reprise.app.first_paint import show_painted
    from reprise.ui.theme import Scheme, load_theme
    from reprise.ui.window import MainWindow

    resources = resources_dir()
    state = prepared.data.state if prepared.data is not None else None
    window = MainWindow(resources, load_theme(resources, Scheme.LIGHT), state)
    show_painted(window)
    return window


def prepare(options: Options, overrides: Mapping[str, Any] | None = None) -> Prepared:
    """Look at the address and take the data folder. Raises Exit when this start is not to go on.

    What a person can read in a window is a problem of the result instead.
    """
    prepared = Prepared(options, overrides=overrides or {})
    _check_address(prepared)
    _take_data_dir(prepared)
    return prepared


def _check_interpreter() -> None:
    import PySide6

    if sys.version_info < (3, 12) and PySide6.__version_info__[:3] == (6, 12, 0):
        raise Exit(
            EXIT_USAGE, "PySide6 6.12.0 crashes under Python 3.11: install pyside6-essentials<6.12 or use Python 3.12."
        )


def _overrides(options: Options) -> dict[str, Any]:
    if not options.overrides:
        return {}
    # This imports pydantic before the first paint: a wrong key has to end the start, so it is known first.
    from reprise.domain.settings import parse_override

    try:
        return dict(parse_override(text) for text in options.overrides)
    except ValueError as error:
        raise Exit(EXIT_USAGE, f"--set: {error}") from error


def _check_address(prepared: Prepared) -> None:
    url = prepared.options.provider_url
    if url is None:
        return
    from reprise.providers.endpoint import base_url, key_for

    try:
        base_url(url)
        key_for(url, os.environ)
    except ValueError as error:
        _refuse(prepared, str(error), error)


def _take_data_dir(prepared: Prepared) -> None:
    options = prepared.options
    try:
        data = open_data_dir(options.data_dir or default_data_dir())
        lock = InstanceLock(data.lock)
        taken = lock.take()
    except (UnusableDataDir, OSError) as error:
        _refuse(prepared, str(error), error)
        return
    if taken:
        prepared.data, prepared.lock = data, lock
        return
    holder = lock.holder()
    busy = f"Reprise already runs with the data folder {data.root} (process {holder})."
    if options.quit_when_done:
        raise Exit(EXIT_USAGE, busy)
    if hand_over(data.root, options.say):
        raise Exit(0)
    _refuse(prepared, f"{busy} It does not answer.", None)


def _refuse(prepared: Prepared, sentence: str, cause: BaseException | None) -> None:
    """A sentence in the window, or the end of a run that has nobody to read it."""
    if prepared.options.quit_when_done:
        raise Exit(EXIT_USAGE, sentence) from cause
    prepared.problems.append(sentence)
