"""One event loop for all tests, as the program has one: qasync does not survive several in a process."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QCoreApplication

from reprise.bridge.loop import SLOW_S, Loop, SlowCallback

_T = TypeVar("_T")

STALL_S = 0.5
"""A callback this long fails a test even if it only waited: other processes take the processor for less."""


class Aio:
    """Runs a test's coroutines on the session's loop."""

    def __init__(self, app: QCoreApplication) -> None:
        self._runner = asyncio.Runner(loop_factory=lambda: Loop(app))
        loop = self._runner.get_loop()
        assert isinstance(loop, Loop)
        self.loop = loop
        self.slow: list[SlowCallback] = []
        loop.slow_callbacks.append(self.slow.append)

    def __call__(self, coro: Coroutine[Any, Any, _T], timeout_s: float = 10.0) -> _T:
        return self.run(coro, timeout_s)

    def run(self, coro: Coroutine[Any, Any, _T], timeout_s: float = 10.0) -> _T:
        """The result of `coro`; TimeoutError after `timeout_s` seconds."""

        async def bounded() -> _T:
            async with asyncio.timeout(timeout_s):
                return await coro

        return self._runner.run(bounded())

    def begin(self) -> None:
        """A test begins.

        A full collection walks the objects of the whole suite, which would be charged to whatever callback it falls
        into; it waits until the test is over.
        """
        self.slow.clear()
        gc.disable()

    def end(self, *, slow_allowed: bool) -> None:
        """A test ends: fail it for the tasks it left and the callbacks that held the thread."""
        gc.enable()
        left = asyncio.all_tasks(self.loop)
        if left:
            self.run(_cancelled(left))
            names = ", ".join(sorted(f"{task.get_name()} ({task.get_coro().__qualname__})" for task in left))
            pytest.fail(f"left behind: task {names}", pytrace=False)
        # Processor time, because on a busy machine any callback may be kept waiting for a while.
        held = [slow for slow in self.slow if slow.cpu_s > SLOW_S or slow.wall_s > STALL_S]
        if held and not slow_allowed:
            words = ", ".join(f"{slow.name} {slow.wall_s * 1000:.0f} ms" for slow in held)
            pytest.fail(f"held the window's thread: {words}", pytrace=False)

    def close(self) -> None:
        """End the loop."""
        self._runner.close()


async def _cancelled(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=1.0)
