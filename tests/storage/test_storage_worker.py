"""The storage thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

from reprise.domain.ports import LogError
from reprise.storage.worker import Priority, Worker


def test_writes_go_before_reads_and_reads_before_the_rest() -> None:
    """Design section 6: a priority queue; equal ones run in the order they came."""

    async def main() -> None:
        worker, gate, done = Worker(), threading.Event(), []
        async with asyncio.TaskGroup() as group:
            group.create_task(worker.run(Priority.WRITE, gate.wait))
            await asyncio.sleep(0)
            for priority in (Priority.BACKGROUND, Priority.READ, Priority.WRITE):
                for name in "ab":
                    group.create_task(worker.run(priority, lambda what=(priority, name): done.append(what)))
            await asyncio.sleep(0)
            gate.set()
        assert done == [(priority, name) for priority in sorted(Priority)[:3] for name in "ab"]
        assert await worker.close(10)

    asyncio.run(main())


def test_cancelling_the_caller_never_cancels_the_job() -> None:
    """Design section 4: writes are shielded from cancellation: done or not done, never half."""

    async def main() -> None:
        worker, gate, done = Worker(), threading.Event(), []
        task = asyncio.get_running_loop().create_task(worker.run(Priority.WRITE, lambda: (gate.wait(), done.append(1))))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not done
        gate.set()
        assert await worker.close(10)
        assert done == [1]

    asyncio.run(main())


def test_an_exception_reaches_the_caller_and_the_thread_goes_on() -> None:
    async def main() -> None:
        worker = Worker()
        with pytest.raises(ZeroDivisionError):
            await worker.run(Priority.READ, lambda: 1 // 0)
        assert await worker.run(Priority.READ, lambda: 2) == 2
        assert await worker.close(10)

    asyncio.run(main())


def test_an_error_nobody_waits_for_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        worker, gate = Worker(), threading.Event()
        task = asyncio.get_running_loop().create_task(worker.run(Priority.WRITE, lambda: gate.wait() and 1 // 0))
        await asyncio.sleep(0)
        task.cancel()
        gate.set()
        await worker.close(10)

    asyncio.run(main())
    assert "nobody waits for" in caplog.text


def test_closing_does_what_is_queued_first_and_refuses_what_comes_later() -> None:
    async def main() -> None:
        worker, done = Worker(), []
        async with asyncio.TaskGroup() as group:
            group.create_task(worker.run(Priority.BACKGROUND, lambda: done.append("queued")))
            await asyncio.sleep(0)
            assert await worker.close(10, lambda: done.append("last"))
        assert done == ["queued", "last"]
        assert await worker.close(10)
        with pytest.raises(LogError, match="closed"):
            await worker.run(Priority.READ, lambda: None)

    asyncio.run(main())


def test_a_disk_that_hangs_does_not_hold_the_exit() -> None:
    """Design rule 4: closing is bounded, and the thread is one that nothing joins."""
    gate = threading.Event()

    async def main() -> None:
        worker = Worker("hanging")
        task = asyncio.get_running_loop().create_task(worker.run(Priority.WRITE, gate.wait))
        await asyncio.sleep(0)
        assert await worker.close(0.05) is False
        task.cancel()

    asyncio.run(main())
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "hanging")
    assert thread.daemon
    gate.set()
    thread.join(10)


def test_settled_says_whether_anything_was_going_on() -> None:
    async def main() -> None:
        worker = Worker()
        assert await worker.settled() is False
        task = asyncio.get_running_loop().create_task(worker.run(Priority.READ, lambda: None))
        await asyncio.sleep(0)
        assert await worker.settled() is True
        assert task.done()
        assert await worker.close(10)

    asyncio.run(main())
