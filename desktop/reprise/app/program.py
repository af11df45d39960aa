"""The life of the window process: first paint, composition, an orderly end."""

from __future__ import annotations

import asyncio
import importlib
import logging
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget

from reprise.app.builtin_state import ProgressLines, describe
from reprise.app.clock import BootClock
from reprise.app.instance import InstanceServer
from reprise.app.logs import to_file
from reprise.app.options import version_line
from reprise.app.say import EXIT_UNFINISHED, EXIT_UNUSABLE, SayRun
from reprise.bridge.signals import until
from reprise.bridge.tasks import TaskScope
from reprise.domain.failures import Failure
from reprise.domain.ports import LogError
from reprise.ui.boot_banner import Notice
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window import MainWindow
from reprise.ui.words import failure_sentence

if TYPE_CHECKING:
    from reprise.app.compose import Composition
    from reprise.app.paths import DataDir
    from reprise.app.start import Prepared
    from reprise.providers.builtin.supervisor import State

_log = logging.getLogger("reprise.app")

# Imported after the first paint, off the window's thread: together they take longer than the window takes to appear.
_LATE_MODULES = ("reprise.app.compose", "reprise.providers.openai_compatible", "markdown_it", "pygments.lexers")
_CLOSE_S = 1.0
_STORE_S = 0.8
_PAINT_S = 1.0
_SETTLE_S = 0.3  # what moves in the window has come to rest by then


class Program:
    """Runs the window from its first paint to the exit code."""

    def __init__(self, app: QApplication, prepared: Prepared, resources: Path) -> None:
        self._app = app
        self._prepared = prepared
        self._options = prepared.options
        self._clock = BootClock()
        self._closing = asyncio.Event()
        self._parts: Composition | None = None
        self._server: InstanceServer | None = None
        self._progress = ProgressLines(_to_terminal)
        app.setQuitOnLastWindowClosed(False)
        state = prepared.data.state if prepared.data is not None else None
        self._window = MainWindow(resources, load_theme(resources, Scheme.LIGHT), state)

    async def run(self) -> int:
        """Show the window, then everything behind it; returns the exit code."""
        scope = TaskScope("program", self._task_failed)
        self._window.closing.connect(self._closing.set)
        self._app.aboutToQuit.connect(self._closing.set)
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # the loop has no handlers for them on Windows
                loop.add_signal_handler(name, self._closing.set)
        sys.excepthook = _log_exception
        painted = _FirstPaint(self._window)
        self._window.show()
        with suppress(TimeoutError):  # a window that starts minimised or covered is not painted
            await until(painted.seen, timeout_s=_PAINT_S)
        try:
            return await self._live(scope)
        finally:
            await self._shut_down(scope)

    async def _live(self, scope: TaskScope) -> int:
        for sentence in self._prepared.problems:
            self._show_problem(sentence)
        data = self._prepared.data
        if data is None:
            return await self._without_data(self._prepared.problems[-1])
        try:
            _log.info("%s on Python %s", version_line(), sys.version.split()[0])
            parts = await self._compose(data, scope)
        except LogError as error:
            if self._options.quit_when_done:
                _to_terminal(str(error))
                return EXIT_UNUSABLE
            self._show_problem(str(error))
            return await self._without_data(str(error))
        if self._options.quit_when_done:
            return await self._say_and_quit(parts, data, scope)
        self._server = InstanceServer(data.root, self._other_start)
        if (text := self._options.say) is not None:
            parts.library.current.send(text)
        if (picture := self._options.screenshot) is not None:
            await self._take_picture(picture)
        await self._closing.wait()
        return 0

    async def _compose(self, data: DataDir, scope: TaskScope) -> Composition:
        await asyncio.get_running_loop().run_in_executor(None, _import_late, data.logs)
        from reprise.app.compose import compose

        options = self._options
        parts = await compose(options, data, self._prepared.overrides, self._clock, scope, self._show_builtin)
        self._parts = parts
        scope.start(parts.store.run(), name="save what streams")
        if parts.models.starts_builtin and parts.builtin is not None:
            scope.start(parts.builtin.run(), name="built-in model")
        await parts.library.load()
        self._window.attach(parts.library, parts.preferences, parts.models, self._clock)
        self._window.key_entered.connect(parts.models.use_key)
        for problem in parts.preferences.problems():
            self._show_problem(problem.sentence)
        return parts

    async def _without_data(self, sentence: str) -> int:
        """A window that says why nothing can be sent, and keeps what is typed."""
        self._window.page.composer.submitted.connect(lambda _text: self._window.page.say(sentence))
        await self._closing.wait()
        return 0

    async def _say_and_quit(self, parts: Composition, data: DataDir, scope: TaskScope) -> int:
        code = 0
        if (text := self._options.say) is not None:
            if parts.models.default() is None:
                _to_terminal(parts.models.why_none())
                return EXIT_UNUSABLE
            conversation = parts.library.current
            say = SayRun(
                conversation, out=sys.stdout, err=sys.stderr, as_json=self._options.json, sentence=_terminal_sentence
            )
            saying = scope.start(say.run(text), name="say")
            closing = scope.start(self._closing.wait(), name="wait for the end")
            await asyncio.wait({saying, closing}, return_when=asyncio.FIRST_COMPLETED)
            if not saying.done():
                conversation.stop()
            code = await saying
            closing.cancel()
        if (picture := self._options.screenshot) is not None and not await self._take_picture(picture):
            code = code or EXIT_UNFINISHED
        return code

    async def _take_picture(self, path: Path) -> bool:
        await self._clock.sleep_until(self._clock.now() + _SETTLE_S)
        if self._window.grab().save(str(path)):
            return True
        _to_terminal(f"The picture could not be saved to {path}.")
        return False

    def _other_start(self, say: str | None) -> None:
        self._window.show()
        self._window.raise_()
        self._window.activateWindow()
        if say is not None and self._parts is not None:
            self._parts.library.new_chat().send(say)

    def _show_builtin(self, state: State) -> None:
        self._window.set_builtin_state(*describe(state))
        if self._options.quit_when_done:
            self._progress.show(state)

    def _show_problem(self, sentence: str) -> None:
        self._window.add_notice(Notice(sentence, lasting=self._prepared.data is None))

    def _task_failed(self, name: str, error: BaseException) -> None:
        self._show_problem(f"Something in Reprise failed ({name}). The log has the details.")

    async def _shut_down(self, scope: TaskScope) -> None:
        """Save, end and close in at most two seconds, whatever hangs."""
        if self._server is not None:
            self._server.close()
        parts = self._parts
        try:
            async with asyncio.timeout(_CLOSE_S):
                if parts is not None:
                    await parts.library.close()
                await scope.close(_CLOSE_S)
                if parts is not None:
                    await parts.models.aclose()
        except TimeoutError:
            _log.warning("closing took longer than %.1f s", _CLOSE_S)
        if parts is not None:
            await parts.store.close(_STORE_S)
        self._window.shut()


class _FirstPaint(QObject):
    """Tells of a window's first paint, once it is over."""

    seen = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self.seen.emit)
        return False


def _to_terminal(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - standard error is where a terminal's user looks


def _terminal_sentence(failure: Failure) -> str:
    """A failure for a terminal: the sentence, the next step, and the provider's own words."""
    said = failure_sentence(failure)
    words = "" if failure.message in said.title else failure.message
    return " ".join(part for part in (said.title, said.advice, words) if part)


def _import_late(logs: Path) -> None:
    for name in _LATE_MODULES:
        importlib.import_module(name)
    try:
        to_file(logs)
    except OSError as error:
        _log.warning("no log is kept: %s", error)


def _log_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _log.critical("uncaught", exc_info=(kind, error, trace))
