"""Task scopes: every task of the window process has an owner that ends it and reports what it raised."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")
logger = logging.getLogger("reprise.tasks")


class TaskScope:
    """Owns tasks; holds the only `create_task` of the window process (a TaskGroup inside an awaited call aside)."""

    def __init__(self, name: str, on_error: Callable[[str, BaseException], None] | None = None) -> None:
        """`on_error(task name, exception)` is told of every task that raised; it is logged in any case."""
        self.name = name
        self._on_error = on_error
        self._tasks: set[asyncio.Task[Any]] = set()
        self._writes: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """True once `close` began: nothing can be started any more."""
        return self._closed

    @property
    def running(self) -> tuple[str, ...]:
        """The names of the tasks that run, sorted."""
        return tuple(sorted(task.get_name() for task in self._tasks))

    def start(self, coro: Coroutine[Any, Any, _T], *, name: str, writes: bool = False) -> asyncio.Task[_T]:
        """Run `coro` as a task of this scope. RuntimeError once the scope is closed.

        One that `writes` what a person did is not cancelled by `close` but waited for: a task cancelled before its
        first step would have written nothing.
        """
        if self._closed:
            coro.close()
            raise RuntimeError(f"{self.name} is closed: {name} cannot start")
        task = asyncio.create_task(coro, name=f"{self.name}/{name}")
        self._tasks.add(task)
        if writes:
            self._writes.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._writes.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        logger.error("task %s failed", task.get_name(), exc_info=error)
        if self._on_error is not None:
            self._on_error(task.get_name(), error)

    async def close(self, timeout_s: float = 1.0) -> None:
        """End every task within `timeout_s`: writes are seen through, the rest is cancelled; what stays is logged."""
        self._closed = True
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks - self._writes:
            task.cancel()
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=timeout_s)
            for task in left:
                logger.warning("task %s did not end within %.1f s", task.get_name(), timeout_s)
