"""What of a session is read, and the reading of the rest behind everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal

from reprise.bridge.live_history import LiveHistory
from reprise.bridge.tasks import TaskScope
from reprise.domain.ports import LogError


class Reading(QObject):
    """Completes a live history in a task of its own; a turn that needs all of it waits for the same pieces.

    Signals:
        extended(): more of what is older was read; nothing else is another.
    """

    extended = Signal()

    def __init__(
        self,
        live: LiveHistory,
        scope: TaskScope,
        done: Callable[[], None],
        refused: Callable[[str], None],
        parent: QObject,
    ) -> None:
        """`refused` is given a sentence when the disk refuses, once: a turn that needs the rest tries again."""
        super().__init__(parent)
        self._live = live
        self._scope = scope
        self._done = done
        self._refused = refused
        self._task: asyncio.Task[None] | None = None
        self._is_over = False
        live.extended = self.extended.emit

    @property
    def is_whole(self) -> bool:
        """True once all of the history is there; until then it begins later, and some alternatives are unknown."""
        return self._live.is_whole

    def forked(self) -> Iterator[str]:
        """Every message, of those known so far, that may have alternatives."""
        return self._live.tree.forked()

    def look(self) -> None:
        """Go on with it if something is missing."""
        live = self._live
        if self._task is not None or self._is_over or self._scope.is_closed or not live.is_loaded or live.is_whole:
            return
        self._task = self._scope.start(self._read(), name=f"{live.session.id} rest")

    def stop(self) -> None:
        """Read no more."""
        self._is_over = True
        if self._task is not None:
            self._task.cancel()

    async def _read(self) -> None:
        try:
            await self._live.complete()
        except LogError as error:
            self._is_over = True
            self._refused(str(error))
        else:
            self._done()
        finally:
            self._task = None
