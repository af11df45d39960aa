"""Awaiting what must not be left half done."""

from __future__ import annotations

import asyncio

import pytest

from reprise.engine.settle import cancels, hides_cancel, settle
from support.aio import Aio


def test_work_goes_to_its_end_through_repeated_cancels(aio: Aio) -> None:
    """C4: the newest cancel is handed back together with the result."""

    async def scene() -> None:
        release = asyncio.Event()

        async def work() -> str:
            await release.wait()
            return "done"

        task = asyncio.create_task(settle(work()))
        for _ in range(3):
            await asyncio.sleep(0)
            task.cancel()
        release.set()
        result, cancel = await task
        assert (result, type(cancel)) == ("done", asyncio.CancelledError)

    aio(scene())


def test_without_a_cancel_there_is_only_the_result(aio: Aio) -> None:
    """The plain case."""

    async def work() -> str:
        return "done"

    assert aio(settle(work())) == ("done", None)


def test_an_error_under_a_cancel_is_the_cancels_cause(aio: Aio) -> None:
    """L16: a store error must not mask that somebody stopped the turn."""

    async def scene() -> None:
        release = asyncio.Event()

        async def work() -> None:
            await release.wait()
            raise OSError("full")

        task = asyncio.create_task(settle(work()))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        release.set()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert isinstance(caught.value.__cause__, OSError)

    aio(scene())


def test_only_an_error_made_of_our_own_cancel_hides_one(aio: Aio) -> None:
    """C11: a failing TaskGroup raises the count on old Pythons without anybody having cancelled."""

    async def scene() -> None:
        before = cancels()

        async def broken() -> None:
            raise OSError("full")

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(broken())
        except ExceptionGroup as error:
            assert not hides_cancel(error, before)

        async def stubborn() -> bool:
            before = cancels()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as cancel:
                error = ConnectionError("gone")
                error.__cause__ = cancel
                return hides_cancel(error, before)
            return False

        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        task.cancel()
        assert await task

    aio(scene())
