"""The program behind the window, from the opened store to the orderly end."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from reprise.app.builtin_state import ProgressLines, describe
from reprise.app.clock import BootClock
from reprise.app.compose import Composition, compose, fill
from reprise.app.instance import Answer, InstanceServer
from reprise.app.options import Options, asked_provider, version_line
from reprise.app.paths import DataDir
from reprise.app.say import EXIT_UNFINISHED, EXIT_UNUSABLE, SayRun
from reprise.app.terminal import err, out, tell
from reprise.bridge.tasks import TaskScope
from reprise.domain.events import RetryScheduled, RoundLimitAsked, TurnEvent, TurnFinished
from reprise.domain.failures import Failure
from reprise.domain.ports import LogError
from reprise.providers.builtin.supervisor import State
from reprise.ui.boot_banner import Notice
from reprise.ui.window import MainWindow
from reprise.ui.words import failure_sentence

_log = logging.getLogger("reprise.app")

_CLOSE_S = 1.0
_STORE_S = 0.8
_LAST_WORDS_S = 0.8
_SETTLE_S = 0.3  # what moves in the window has come to rest by then


class Unusable(Exception):
    """The data or the models cannot be used; `str(error)` is a sentence, `code` the exit code of a scripted run."""

    code = EXIT_UNUSABLE


class LiveProgram:
    """Everything that runs while the window is open."""

    def __init__(self, window: MainWindow, options: Options, data: DataDir, closing: asyncio.Event) -> None:
        self._window = window
        self._options = options
        self._data = data
        self._closing = closing
        self._clock = BootClock()
        self._scope = TaskScope("program", self._task_failed)
        self._parts: Composition | None = None
        self._server: InstanceServer | None = None
        self._progress = ProgressLines(tell)

    async def run(self, overrides: Mapping[str, Any]) -> int:
        """Run until the window closes or the scripted prompt is done; the exit code. Raises Unusable."""
        try:
            parts = await self._compose(overrides)
            if self._options.quit_when_done:
                return await self._say_and_quit(parts)
            return await self._serve(parts)
        except LogError as error:
            raise Unusable(str(error)) from error
        finally:
            await self._shut_down()

    async def _compose(self, overrides: Mapping[str, Any]) -> Composition:
        _log.info("%s on Python %s", version_line(), sys.version.split()[0])
        parts = await compose(self._options, self._data, overrides, self._clock, self._scope, self._show_builtin)
        self._parts = parts
        self._scope.start(parts.store.run(), name="save what streams")
        self._scope.start(parts.settings.create(), name="settings file", writes=True)
        parts.models.start()
        await asyncio.get_running_loop().run_in_executor(None, _import_rest)
        # A scripted run answers its own prompt and goes on with nobody else's.
        await parts.library.load(resume=not self._options.quit_when_done)
        fill(self._window, parts, self._clock)
        if not any(key.startswith("appearance.") for key in overrides):
            self._window.look.remember()
        return parts

    async def _serve(self, parts: Composition) -> int:
        self._server = InstanceServer(
            self._data.root, partial(self._other_start, parts), asks=asked_provider(self._options)
        )
        if (text := self._options.say) is not None:
            await self._say(parts, text)
        if (picture := self._options.screenshot) is not None:
            await self._take_picture(picture)
        await self._closing.wait()
        return 0

    async def _say(self, parts: Composition, text: str) -> None:
        """Send a prompt; where a picture is wanted, wait until it is answered, or waits itself."""
        settled = asyncio.Event()

        def watch(event: TurnEvent) -> None:
            if isinstance(event, TurnFinished | RetryScheduled | RoundLimitAsked):
                settled.set()

        conversation = parts.library.begin(text)
        unsubscribe = conversation.subscribe(watch)
        if conversation.is_busy and self._options.screenshot is not None:
            waits = [self._scope.start(event.wait(), name="say") for event in (settled, self._closing)]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
        unsubscribe()

    async def _say_and_quit(self, parts: Composition) -> int:
        code = 0
        for problem in parts.preferences.problems():
            tell(problem.sentence)
        if (text := self._options.say) is not None:
            if parts.models.default() is None:
                raise Unusable(parts.models.why_none())
            conversation = parts.library.add_chat()
            say = SayRun(
                conversation,
                out=out(is_json=self._options.json),
                err=err(),
                as_json=self._options.json,
                sentence=_terminal_sentence,
                why_unusable=lambda: parts.models.why_unusable(conversation.model),
            )
            saying = self._scope.start(say.run(text), name="say")
            closing = self._scope.start(self._closing.wait(), name="wait for the end")
            await asyncio.wait({saying, closing}, return_when=asyncio.FIRST_COMPLETED)
            if not saying.done():
                conversation.stop()
                # Nobody may be reading: what is not said by then is in the log.
                await asyncio.wait({saying}, timeout=_LAST_WORDS_S)
            code = saying.result() if saying.done() else EXIT_UNFINISHED
            saying.cancel()
            closing.cancel()
        if (picture := self._options.screenshot) is not None and not await self._take_picture(picture):
            code = code or EXIT_UNFINISHED
        return code

    async def _take_picture(self, path: Path) -> bool:
        await self._clock.sleep_until(self._clock.now() + _SETTLE_S)
        if self._window.grab().save(str(path), "PNG"):
            return True
        tell(f"The picture could not be saved to {path}.")
        return False

    def _other_start(self, parts: Composition, say: str | None, answer: Answer) -> None:
        """The person's window comes forward; a prompt is answered for once it is on disk."""
        self._window.come_forward()
        if say is None:
            answer(None)
            return
        conversation = parts.library.add_chat()

        def stored(_text: str) -> None:
            settle(None)

        def refused(_text: str, failure: Failure) -> None:
            settle(_terminal_sentence(failure))

        def settle(refusal: str | None) -> None:
            conversation.prompt_stored.disconnect(stored)
            conversation.send_refused.disconnect(refused)
            answer(refusal)

        conversation.prompt_stored.connect(stored)
        conversation.send_refused.connect(refused)
        conversation.send(say)

    def _show_builtin(self, state: State) -> None:
        self._window.set_builtin_state(*describe(state))
        if self._options.say is not None:
            self._progress.show(state)

    def _task_failed(self, name: str, error: BaseException) -> None:
        self._window.add_notice(Notice(f"Something in Reprise failed ({name}). The log has the details."))

    async def _shut_down(self) -> None:
        """Save, end and close in at most two seconds, whatever hangs."""
        if self._server is not None:
            self._server.close()
        self._window.page.composer.flush_draft()
        parts = self._parts
        try:
            async with asyncio.timeout(_CLOSE_S):
                if parts is not None:
                    await parts.library.close()
                await self._scope.close(_CLOSE_S)
                if parts is not None:
                    await parts.models.aclose()
        except TimeoutError:
            _log.warning("closing took longer than %.1f s", _CLOSE_S)
        if parts is not None:
            await parts.store.close(_STORE_S)


def _import_rest() -> None:
    """What `MainWindow.attach` and the first reply need, off the window's thread while the built-in model loads."""
    import reprise.providers.openai_compatible
    import reprise.ui.conversation_view  # noqa: F401
    from reprise.ui.timeline.warm_up import warm_up

    warm_up()


def _terminal_sentence(failure: Failure) -> str:
    """A failure for a terminal: the sentence, the next step, and the provider's own words."""
    said = failure_sentence(failure)
    words = "" if failure.message in said.title else failure.message
    return " ".join(part for part in (said.title, said.advice, words) if part)
