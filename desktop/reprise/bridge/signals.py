"""Waiting for a signal from a coroutine, and listeners that are no QObjects."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import Qt, SignalInstance

T = TypeVar("T")

logger = logging.getLogger("reprise.signals")


class Listeners(Generic[T]):
    """Callables that are told of something; each may leave at any time, and what one raises is logged (D19)."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[T], None]] = {}

    def add(self, listener: Callable[[T], None]) -> Callable[[], None]:
        """Tell `listener` from now on; returns what ends it, which may be called more than once."""
        ticket = object()
        self._listeners[ticket] = listener

        def leave() -> None:
            self._listeners.pop(ticket, None)

        return leave

    def tell(self, news: T) -> None:
        """Tell every listener that is there now and still is when its turn comes."""
        for ticket, listener in tuple(self._listeners.items()):
            if ticket not in self._listeners:
                continue
            try:
                listener(news)
            except Exception:
                logger.exception("a listener raised")


async def until(signal: SignalInstance, *, timeout_s: float | None = None) -> tuple[Any, ...]:
    """The arguments of the next emission of `signal`. Raises TimeoutError after `timeout_s`."""
    emitted: asyncio.Future[tuple[Any, ...]] = asyncio.get_running_loop().create_future()

    def settle(*args: Any) -> None:
        if not emitted.done():
            emitted.set_result(args)

    signal.connect(settle, Qt.ConnectionType.SingleShotConnection)
    try:
        async with asyncio.timeout(timeout_s):
            return await emitted
    finally:
        # Once emitted the connection is gone by itself, and so may be the sender (a dialog that deletes itself).
        if not emitted.done() or emitted.cancelled():
            signal.disconnect(settle)
