"""Awaiting what must not be left half done, whatever cancels the caller meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def settle(work: Coroutine[Any, Any, T]) -> tuple[T, asyncio.CancelledError | None]:
    """Await `work` to its end, through any number of cancels (behaviour C4).

    Returns its result and the newest cancel, which the caller raises once it has taken note of the result. Raises
    what `work` raised; with a cancel on top, the cancel, caused by it.
    """
    future = asyncio.ensure_future(work)
    cancel: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as newest:
            cancel = newest
    if cancel is not None and (error := future.exception()) is not None:
        raise cancel from error
    return future.result(), cancel


def cancels() -> int:
    """How often the running task was cancelled so far."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def hides_cancel(error: Exception, cancelled_before: int) -> bool:
    """Whether `error` is what somebody made of a cancel of this task since `cancels` said `cancelled_before`."""
    # The count alone does not tell: before Python 3.13 a failing TaskGroup leaves it raised.
    cause: BaseException | None = error if cancels() > cancelled_before else None
    while cause is not None and not isinstance(cause, asyncio.CancelledError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
