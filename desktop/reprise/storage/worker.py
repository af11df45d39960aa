"""The storage thread: one queue, ordered by priority, in front of whatever may block on the disk."""

from __future__ import annotations

import asyncio
import itertools
import logging
import queue
import threading
from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar

from reprise.domain.ports import LogError

T = TypeVar("T")

_log = logging.getLogger("reprise.storage")


class Priority(IntEnum):
    """What goes first: a turn's writes, then what a window waits for, then the rest. Equal ones run in order."""

    WRITE = 0
    READ = 1
    BACKGROUND = 2
    CLOSE = 3


class Worker:
    """Runs jobs one after the other on a daemon thread of its own, started by the first job.

    Neither the event loop's end nor the interpreter's joins the thread, so a disk that hangs cannot hold the exit.
    """

    def __init__(self, name: str = "reprise-storage") -> None:
        self._name = name
        self._queue: queue.PriorityQueue[tuple[int, int, Callable[[], bool]]] = queue.PriorityQueue()
        self._order = itertools.count()
        self._thread: threading.Thread | None = None
        self._waiting = 0
        self._delivered = False
        self._closed = False

    async def run(self, priority: Priority, job: Callable[[], T]) -> T:
        """Run `job` on the storage thread and return what it returns or raise what it raises.

        Cancelling the caller ends the waiting only: the job is done whole or, while it is queued, later. Raises
        LogError once the worker is closed.
        """
        if self._closed:
            raise LogError("The store is closed.")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._submit(priority, job, future)
        return await future

    async def settled(self) -> bool:
        """Wait until everything asked for so far is done; False when nothing was asked for since the last call.

        For drivers of a manual clock, which must not let time pass while the thread still works.
        """
        delivered, self._delivered = self._delivered, False
        if not self._waiting or self._closed:
            return delivered
        await self.run(Priority.BACKGROUND, lambda: None)
        self._delivered = False
        return True

    async def close(self, timeout_s: float, last: Callable[[], None] = lambda: None) -> bool:
        """Do what is queued, then `last`, then end the thread; False when that took longer than `timeout_s`.

        What is not done by then goes on behind, as long as the process lives. Further calls return True at once.
        """
        if self._closed:
            return True
        self._closed = True
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._submit(Priority.CLOSE, last, future)
        done, _ = await asyncio.wait({future}, timeout=timeout_s)
        if not done:
            _log.warning("storage did not close within %s s", timeout_s)
            return False
        if self._thread is not None:
            # The job was its last: what is left of the thread is its return.
            self._thread.join(timeout_s)
        future.result()
        return True

    def _submit(self, priority: Priority, job: Callable[[], T], future: asyncio.Future[T]) -> None:
        loop = asyncio.get_running_loop()
        self._waiting += 1

        def work() -> bool:
            result: Any = None
            error: BaseException | None = None
            try:
                result = job()
            except Exception as raised:  # noqa: BLE001 - every error belongs to the awaiting caller
                error = raised
            try:
                loop.call_soon_threadsafe(self._deliver, future, result, error)
            except RuntimeError:
                _log.debug("the loop ended before a storage job did", exc_info=error)
            return priority is Priority.CLOSE

        self._queue.put((priority, next(self._order), work))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            _, _, work = self._queue.get()
            if work():
                return

    def _deliver(self, future: asyncio.Future[T], result: T, error: BaseException | None) -> None:
        self._waiting -= 1
        self._delivered = True
        if future.done():
            if error is not None:
                _log.error("a storage job nobody waits for any more failed", exc_info=error)
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)
