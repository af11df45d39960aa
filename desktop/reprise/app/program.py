"""The window process from its first paint to its end."""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from reprise.app.logs import to_file
from reprise.app.prepare import EXIT_USAGE
from reprise.app.stop_request import SIGNALS
from reprise.app.terminal import tell
from reprise.ui.boot_banner import Notice
from reprise.ui.window import MainWindow

if TYPE_CHECKING:
    from reprise.app.prepare import Prepared
    from reprise.app.stop_request import StopRequest

_log = logging.getLogger("reprise.app")


class Program:
    """Runs a painted window to the exit code."""

    def __init__(self, app: QApplication, prepared: Prepared, window: MainWindow, stop: StopRequest) -> None:
        self._app = app
        self._prepared = prepared
        self._closing = asyncio.Event()
        self._window = window
        self._stop = stop

    async def run(self) -> int:
        """Start everything behind the window; returns the exit code."""
        self._window.closing.connect(self._closing.set)
        self._app.aboutToQuit.connect(self._closing.set)
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            with suppress(NotImplementedError):  # the loop has no handlers for them on Windows
                loop.add_signal_handler(number, self._closing.set)
        if self._stop.asked:
            self._closing.set()
        sys.excepthook = _log_exception
        self._keep_log()
        self._window.complete()
        try:
            return await self._live()
        finally:
            self._window.shut()

    def _keep_log(self) -> None:
        # What is logged without a data folder goes nowhere: standard error is for sentences.
        logging.getLogger().addHandler(logging.NullHandler())
        if self._prepared.data is not None:
            try:
                to_file(self._prepared.data.logs)
            except OSError as error:
                _log.warning("no log is kept: %s", error)

    async def _live(self) -> int:
        prepared = self._prepared
        for sentence in prepared.problems:
            self._show_problem(sentence)
        if prepared.data is None:
            return await self._without_data(prepared.problems[-1])
        # Off the window's thread: with all it imports it takes longer than the window took to appear.
        await asyncio.get_running_loop().run_in_executor(None, importlib.import_module, "reprise.app.live")

        from reprise.app.live import LiveProgram, Unusable

        live = LiveProgram(self._window, prepared.options, prepared.data, self._closing)
        try:
            return await live.run(prepared.overrides)
        except Unusable as problem:
            if prepared.options.quit_when_done:
                tell(str(problem))
                return problem.code
            self._show_problem(str(problem))
            return await self._without_data(str(problem))

    async def _without_data(self, sentence: str) -> int:
        """A window that says why nothing can be sent, and keeps what is typed or was to be said; the exit code."""
        self._window.set_builtin_state("unusable", sentence=sentence)
        composer = self._window.page.composer
        composer.submitted.connect(lambda _text: self._window.page.say(sentence))
        if (unsaid := self._prepared.options.say) is not None:
            composer.set_text("\n\n".join(text for text in (unsaid, composer.text()) if text))  # typed meanwhile
        await self._closing.wait()
        return 0 if unsaid is None else EXIT_USAGE

    def _show_problem(self, sentence: str) -> None:
        self._window.add_notice(Notice(sentence, lasting=self._prepared.data is None))


def _log_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _log.critical("uncaught", exc_info=(kind, error, trace))
