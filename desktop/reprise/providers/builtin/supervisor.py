"""The life of the built-in model: find or fetch its file, serve it in a child process, start a dead child again."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
from asyncio.subprocess import Process
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.domain.lines import shortened
from reprise.domain.ports import Clock
from reprise.providers.builtin import leash, model_file
from reprise.providers.builtin.fetch import ModelFetchError, Progress, fetch
from reprise.providers.builtin.requirements import why_unavailable

RESTARTS = 3
WITHIN_S = 300.0
LOAD_TIMEOUT_S = 120.0
"""A child that has said nothing by then (loading takes a second) is killed."""

FETCH_PAUSE_S = 30.0
"""After a failed fetch the network may be back by then."""

SENTENCE_CHARS = 160
"""A sentence about a failure is cut there; the log has all of it."""

_KEY_BYTES = 24
_TAIL_BYTES = 4000
_CLOSED = "The built-in model was shut down."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Idle:
    """`run` has not started."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """It cannot run on this machine; final."""

    reason: str


@dataclass(frozen=True, slots=True)
class Fetching:
    """Its file is being fetched: bytes on disk, bytes in all."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Loading:
    """Its file is being checked, or the child is reading it."""


@dataclass(frozen=True, slots=True)
class Ready:
    """It answers at `url` (ending in /v1) to those who send `key`; both change with every start."""

    url: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """It does not run; the next `BuiltinModel.ready` tries again. `command`: what a person can run to help.

    `again_at`: the clock time (s) from which another try may go better.
    """

    sentence: str
    command: str | None = None
    again_at: float = math.inf


State = Idle | Unavailable | Fetching | Loading | Ready | Failed
Fetch = Callable[[Path, Progress], Awaitable[Path]]


def serve_command(model: Path) -> Sequence[str]:
    """How the child is started."""
    return leash.own_command("serve", str(model))


class BuiltinModel:
    """Supervises the built-in model. `run` is started once, by whoever owns tasks; `ready` is for those who ask it.

    `on_state` is called in the event loop with every new state; it must not raise.
    """

    def __init__(
        self,
        models_dir: Path,
        clock: Clock,
        on_state: Callable[[State], None],
        *,
        command: Callable[[Path], Sequence[str]] = serve_command,
        find: Callable[[Path], Path | None] = model_file.find,
        fetch: Fetch = fetch,
        why_unavailable: Callable[[], str | None] = why_unavailable,
    ) -> None:
        self._models_dir = models_dir
        self._clock = clock
        self._on_state = on_state
        self._command = command
        self._find = find
        self._fetch = fetch
        self._why_unavailable = why_unavailable
        self._state: State = Idle()
        self._waiting: list[asyncio.Future[None]] = []
        self._asked = asyncio.Event()
        self._starts: deque[float] = deque()

    @property
    def state(self) -> State:
        """What it does now; what `on_state` was last told, until `run` is cancelled."""
        return self._state

    @property
    def why_not(self) -> str | None:
        """Why it cannot answer now; None while it can, is on its way, or another try may go better."""
        match self._state:
            case Unavailable(reason):
                return reason
            case Failed(sentence, again_at=again_at) if self._clock.now() < again_at:
                return sentence
        return None

    async def run(self) -> None:
        """Keep the model running until cancelled, which kills the child at once. Returns early when Unavailable."""
        try:
            if reason := self._why_unavailable():
                self._set(Unavailable(reason))
                return
            while True:
                self._asked.clear()
                failed = await self._live()
                if failed is not None:
                    self._set(failed)
                    await self._asked.wait()
        except asyncio.CancelledError:
            self._state = Failed(_CLOSED)  # no news for anybody: who cancelled knows it
            self._wake()
            raise

    async def ready(self) -> tuple[str, str]:
        """Wait until the model answers: its base URL and key. Raises CompletionError when it cannot.

        After a failure it is tried once more, unless the child has used up its restarts.
        """
        asked = False
        while True:
            match self._state:
                case Ready(url, key):
                    return url, key
                case Unavailable(reason):
                    raise _unreachable(reason)
                case Failed(sentence) if asked or sentence == _CLOSED or not self._may_start():
                    raise _unreachable(sentence)
                case Failed():
                    asked = True
                    self._asked.set()
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def _set(self, state: State) -> None:
        if state == self._state:
            return
        self._state = state
        _log.info("%s", state)
        self._on_state(state)
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _may_start(self) -> bool:
        """One start and at most three restarts within five minutes."""
        while self._starts and self._starts[0] <= self._clock.now() - WITHIN_S:
            self._starts.popleft()
        return len(self._starts) <= RESTARTS

    async def _live(self) -> Failed | None:
        """One life of the child, from the file on. None = it died and may be started again at once."""
        self._set(Loading())
        try:
            model = await asyncio.to_thread(self._find, self._models_dir)
            if model is None:
                model = await self._fetch(self._models_dir, lambda done, total: self._set(Fetching(done, total)))
        except ModelFetchError as error:
            return Failed(_sentence(str(error)), error.command, self._clock.now() + FETCH_PAUSE_S)
        self._starts.append(self._clock.now())
        self._set(Loading())
        try:
            refused = await self._serve(model)
        except OSError as error:
            refused = f"The built-in model could not be started: {error.strerror or error}."
        if refused is not None:
            return Failed(_sentence(refused), again_at=self._clock.now() + WITHIN_S)
        if self._may_start():
            return None
        words = f"The built-in model stopped {RESTARTS + 1} times within {round(WITHIN_S / 60)} minutes."
        return Failed(words, again_at=self._starts[0] + WITHIN_S)

    async def _serve(self, model: Path) -> str | None:
        """Run the child until it ends. A sentence when it refused to start, None when it died. Raises OSError."""
        key = secrets.token_urlsafe(_KEY_BYTES)
        process = await leash.start(self._command(model))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_log_errors(process))
                timer = group.create_task(self._kill_when_silent(process))
                try:
                    answer = await _exchange(process, key)
                    timer.cancel()
                    if "url" in answer:
                        self._set(Ready(answer["url"], key))
                        await process.wait()
                finally:
                    timer.cancel()
                    leash.kill(process)
        finally:
            await leash.end(process)
        if "error" not in answer:
            return None
        _log.warning("the built-in model's child refused: %s", answer["error"])
        return f"The built-in model could not be loaded: {answer['error']}"

    async def _kill_when_silent(self, process: Process) -> None:
        await self._clock.sleep_until(self._clock.now() + LOAD_TIMEOUT_S)
        _log.warning("the built-in model said nothing for %d s", LOAD_TIMEOUT_S)
        leash.kill(process)


def _unreachable(words: str) -> CompletionError:
    """Nobody was asked: the words are ours, which the window shows as they are, and only a person's retry may help."""
    return CompletionError(Failure(FailureKind.NETWORK, words, retryable=False))


def _sentence(words: str) -> str:
    """Another program's words, whatever they are, as one sentence on one line."""
    line = " ".join(words.split())
    if len(line) > SENTENCE_CHARS:
        return shortened(line, SENTENCE_CHARS)
    return line if line.endswith((".", "?", "…")) else f"{line}."


async def _exchange(process: Process, key: str) -> Mapping[str, str]:
    """Send the key, read the one line: its url or its error; empty when the child ended without one."""
    if process.stdin is None or process.stdout is None:
        return {}
    process.stdin.write(key.encode() + b"\n")
    try:
        answer = json.loads(await process.stdout.readline())
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


async def _log_errors(process: Process) -> None:
    """Keep the child's standard error flowing; its end goes to the log, the rest only when debugging."""
    tail = b""
    while process.stderr is not None and (block := await process.stderr.read(_TAIL_BYTES)):
        _log.debug("child: %s", block.decode("utf-8", "replace").rstrip())
        tail = (tail + block)[-_TAIL_BYTES:]
    if tail:
        _log.warning("the built-in model's child ended; its last words: %s", tail.decode("utf-8", "replace").rstrip())
