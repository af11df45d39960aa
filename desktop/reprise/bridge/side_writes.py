"""What a conversation stores beside its turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from reprise.bridge.tasks import TaskScope
from reprise.domain.ports import LogError


class SideWrites:
    """Writes begun by commands that return at once; each ends with `stored` or, when the disk refuses, `refused`."""

    def __init__(self, name: str, scope: TaskScope, stored: Callable[[], None], refused: Callable[[str], None]) -> None:
        """`name` is that of the session; `refused` is given a sentence."""
        self._name = name
        self._scope = scope
        self._stored = stored
        self._refused = refused
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_writing(self) -> bool:
        """True while a write is on its way."""
        return bool(self._tasks)

    def start(self, write: Coroutine[Any, Any, object], name: str, then: Callable[[], None] = lambda: None) -> None:
        """See `write` through, also when the program closes meanwhile, and do `then` before it is told of.

        Nothing once the program has closed.
        """
        if self._scope.is_closed:
            write.close()
            return
        task = self._scope.start(self._see_through(write, then), name=f"{self._name} {name}", writes=True)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _see_through(self, write: Coroutine[Any, Any, object], then: Callable[[], None]) -> None:
        try:
            await write
        except LogError as error:
            self._refused(str(error))
        else:
            then()
            self._stored()
