"""The event loop: asyncio on Qt's, with an orderly end and a name for everything that holds up the window."""

from __future__ import annotations

import asyncio
import heapq
import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future
from contextvars import Context
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QCoreApplication, Qt, QTimer

# After PySide6: qasync takes the Qt binding that is loaded already, and any it finds when none is.
from qasync import QEventLoop

_T = TypeVar("_T")
logger = logging.getLogger("reprise.loop")

SLOW_S = 0.05
"""A callback that holds the thread longer than this is logged by name (three frames and a bit: a visible hitch)."""

GRACE_S = 1.5
"""How long shutting down may take once Qt has quit or main has returned; the whole of Quit is at most 2 s."""

ALARM_NAME = "reprise.loop.alarm"
BLOCKING_NAME = "reprise-blocking"


@dataclass(frozen=True, slots=True)
class SlowCallback:
    """A callback that held the thread: its name, the time it took, and the processor time of that (both seconds)."""

    name: str
    wall_s: float
    cpu_s: float


class DaemonExecutor(Executor):
    """A few daemon threads for calls that may never return (name lookups, the keychain).

    Neither closing the loop nor leaving the interpreter waits for them, which `ThreadPoolExecutor` cannot do.
    """

    def __init__(self, max_workers: int = 8) -> None:
        self._max_workers = max_workers
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._closed = False

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Run ``fn(*args, **kwargs)`` on one of the threads. RuntimeError once shut down."""
        future: Future[_T] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - whatever it is belongs to the one who awaits the future
                future.set_exception(error)
            else:
                future.set_result(result)

        with self._lock:
            if self._closed:
                raise RuntimeError("the executor is shut down")
            self._jobs.put(job)
            if self._idle:
                self._idle -= 1
            elif self._threads < self._max_workers:
                self._threads += 1
                threading.Thread(target=self._work, name=f"{BLOCKING_NAME}-{self._threads}", daemon=True).start()
        return future

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            # Neither the job nor its arguments may live on in a thread that waits.
            del job
            with self._lock:
                self._idle += 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work and let idle threads end. Never waits, whatever `wait` says; that is its purpose."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for _ in range(self._threads):
                self._jobs.put(None)


class Loop(QEventLoop):  # type: ignore[misc]
    """qasync's loop, mended.

    - `run_until_complete` spins no events after the end, where callbacks would run with no loop marked as running, and
      runs on for `GRACE_S` when Qt quits first, so that the code that shuts down can finish.
    - A cancelled timer is forgotten. qasync starts a Qt timer per `call_later` and keeps it until it is due: with a
      timeout around every read of a stream that is one dead timer of minutes per read. Here one precise Qt timer serves
      a heap of handles.
    - A callback that takes longer than `SLOW_S` is logged by name and told to `slow_callbacks`.
    - Blocking calls run on daemon threads.
    """

    def __init__(self, app: QCoreApplication) -> None:
        super().__init__(app)
        self.slow_callbacks: list[Callable[[SlowCallback], None]] = []
        self._due: list[asyncio.TimerHandle] = []
        self._dropped = 0
        self._end_by: float | None = None
        self._alarm = QTimer()
        self._alarm.setObjectName(ALARM_NAME)
        self._alarm.setSingleShot(True)
        self._alarm.setTimerType(Qt.TimerType.PreciseTimer)
        self._alarm.timeout.connect(self._ring)
        self.set_default_executor(DaemonExecutor())

    # -- running and ending

    def run_until_complete(self, future: Any) -> Any:
        """Run until `future` is done and return its result. RuntimeError when the loop had to end before it was."""
        task = asyncio.ensure_future(future, loop=self)
        task.add_done_callback(self._stop)
        try:
            if self._end_by is None:
                self.run_forever()
            if not task.done():
                self._run_at_most(GRACE_S if self._end_by is None else self._end_by - self.time())
        finally:
            task.remove_done_callback(self._stop)
        if not task.done():
            raise RuntimeError("the event loop ended before its task did")
        return task.result()

    def _run_at_most(self, seconds: float) -> None:
        guard = self.call_later(max(0.0, seconds), self.stop)
        try:
            self.run_forever()
        finally:
            guard.cancel()

    def _stop(self, _: object) -> None:
        self.stop()

    def end_within(self, seconds: float) -> None:
        """From now on every run of this loop is bounded, so that a task which ignores its end cannot hold the exit."""
        self._end_by = self.time() + seconds

    def close(self) -> None:
        """Release everything; nothing is waited for."""
        self._alarm.stop()
        self._due.clear()
        super().close()

    # -- callbacks

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Run `callback` after `delay` seconds, never early; 0 or less is the next turn of the loop."""
        if delay > 0:
            return self.call_at(self.time() + delay, callback, *args, context=context)
        handle: asyncio.Handle = super().call_later(0, self._timed, callback, *args, context=context)
        return handle

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run `callback` at `when` seconds of `time()`, never early."""
        handle = asyncio.TimerHandle(when, self._timed, (callback, *args), self, context)
        heapq.heappush(self._due, handle)
        if self._due[0] is handle:
            self._set_alarm()
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self._dropped += 1
        if self._dropped > 64 and self._dropped > len(self._due) // 2:
            self._due = [kept for kept in self._due if not kept.cancelled()]
            heapq.heapify(self._due)
            self._dropped = 0

    def _set_alarm(self) -> None:
        delay_ms = math.ceil((self._due[0].when() - self.time()) * 1000)
        self._alarm.start(min(max(0, delay_ms), 0x7FFFFFFF))

    def _ring(self) -> None:
        now = self.time()
        ready: list[asyncio.TimerHandle] = []
        while self._due and (self._due[0].cancelled() or self._due[0].when() <= now):
            handle = heapq.heappop(self._due)
            if handle.cancelled():
                self._dropped = max(0, self._dropped - 1)
            else:
                ready.append(handle)
        if self._due:
            self._set_alarm()
        for handle in ready:
            if not handle.cancelled():
                handle._run()

    def _timed(self, callback: Callable[..., Any], *args: Any) -> None:
        began, began_cpu = time.monotonic(), time.thread_time()
        try:
            callback(*args)
        finally:
            took = time.monotonic() - began
            if took > SLOW_S:
                self._report(SlowCallback(_name_of(callback), took, time.thread_time() - began_cpu))

    def _report(self, slow: SlowCallback) -> None:
        logger.warning("%s held the window for %.0f ms", slow.name, slow.wall_s * 1000)
        for listener in tuple(self.slow_callbacks):
            listener(slow)


def _name_of(callback: Callable[..., Any]) -> str:
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        coro = owner.get_coro()
        return f"{owner.get_name()} ({getattr(coro, '__qualname__', repr(coro))})"
    return getattr(callback, "__qualname__", repr(callback))


def run(app: QCoreApplication, main: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run `main` on a new loop over `app` and return its exit code.

    Tasks left over when it returns are cancelled and get `GRACE_S` to end; what does not end is logged and left.
    """
    loop = Loop(app)
    runner = asyncio.Runner(loop_factory=lambda: loop)
    try:
        return runner.run(main())
    finally:
        loop.end_within(GRACE_S)
        left = asyncio.all_tasks(loop)
        try:
            runner.close()
        except RuntimeError:
            names = ", ".join(sorted(task.get_name() for task in left if not task.done()))
            logger.warning("left running at exit: %s", names or "nothing that has a name")
