"""Task scopes: nothing is lost, nothing outlives its owner; and what a test may not leave behind."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from reprise.bridge.tasks import TaskScope
from support.aio import Aio
from support.guards import leftovers


def test_what_a_task_raises_is_logged_and_reported(aio: Aio, caplog: pytest.LogCaptureFixture) -> None:
    """Design rule 5."""
    told: list[tuple[str, BaseException]] = []

    async def fails() -> None:
        raise ValueError("broken")

    async def main() -> None:
        scope = TaskScope("window", lambda name, error: told.append((name, error)))
        task = scope.start(fails(), name="job")
        await asyncio.wait({task})
        await asyncio.sleep(0)

    with caplog.at_level(logging.ERROR, "reprise.tasks"):
        aio(main())
    assert [(name, str(error)) for name, error in told] == [("window/job", "broken")]
    assert "window/job" in caplog.text


def test_closing_sees_a_write_through_even_one_that_has_not_begun(aio: Aio) -> None:
    """A draft kept in the moment of closing is on the disk (behaviour N11)."""
    written: list[str] = []

    async def write() -> None:
        await asyncio.sleep(0.01)
        written.append("draft")

    async def main() -> None:
        scope = TaskScope("window")
        scope.start(write(), name="draft", writes=True)
        await scope.close()
        assert scope.running == ()

    aio(main())
    assert written == ["draft"]


def test_closing_cancels_every_task_and_waits_for_its_end(aio: Aio) -> None:
    """What a task must save it can still save."""
    saved: list[str] = []

    async def work(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            saved.append(name)

    async def main() -> None:
        scope = TaskScope("window")
        scope.start(work("a"), name="a")
        scope.start(work("b"), name="b")
        await asyncio.sleep(0)
        assert scope.running == ("window/a", "window/b")
        await scope.close()
        assert scope.running == ()
        assert scope.is_closed

    aio(main())
    assert sorted(saved) == ["a", "b"]


def test_closing_gives_up_on_a_task_that_does_not_end(aio: Aio, caplog: pytest.LogCaptureFixture) -> None:
    """It is named, and the program goes on."""

    async def main() -> None:
        released = asyncio.Event()

        async def stubborn() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await released.wait()

        scope = TaskScope("window")
        task = scope.start(stubborn(), name="stubborn")
        await asyncio.sleep(0)
        await scope.close(timeout_s=0.02)
        released.set()
        await asyncio.wait({task})

    with caplog.at_level(logging.WARNING, "reprise.tasks"):
        aio(main())
    assert "window/stubborn" in caplog.text


def test_a_closed_scope_starts_nothing(aio: Aio) -> None:
    """A late click is an error that shows, not a task nobody owns."""

    async def job() -> None:
        raise AssertionError("must not run")

    async def main() -> None:
        scope = TaskScope("window")
        await scope.close()
        with pytest.raises(RuntimeError, match="closed"):
            scope.start(job(), name="job")

    aio(main())


def test_a_task_may_close_its_own_scope(aio: Aio) -> None:
    """It is not cancelled by that, and does not wait for itself."""

    async def main() -> None:
        scope = TaskScope("window")

        async def last() -> str:
            await scope.close()
            return "done"

        assert await scope.start(last(), name="last") == "done"

    aio(main())


def test_a_task_left_behind_fails_its_test(aio: Aio) -> None:
    """The guard of the `aio` fixture itself."""

    async def main() -> None:
        aio.keep = asyncio.create_task(asyncio.Event().wait(), name="forgotten")  # type: ignore[attr-defined]

    aio(main())
    with pytest.raises(pytest.fail.Exception, match="forgotten"):
        aio.end(slow_allowed=False)


def test_a_thread_and_a_timer_left_behind_are_named(aio: Aio) -> None:
    """The guard around every test itself."""
    before, release = leftovers(), threading.Event()
    thread = threading.Thread(target=release.wait, name="forgotten")
    timer = QTimer()
    timer.setObjectName("forgotten")
    thread.start()
    timer.start(60_000)
    left = sorted(leftovers(other_than=before).values())
    release.set()
    thread.join()
    timer.stop()
    assert left == ["thread forgotten", "timer of forgotten (60000 ms)"]
    assert leftovers(other_than=before) == {}


def test_tests_have_a_home_of_their_own_and_no_network(private_surroundings: Path) -> None:
    """The guards of every test: nobody's files, nobody's keys, nobody's network."""
    assert Path.home() == private_surroundings
    assert "OPENAI_API_KEY" not in os.environ
    with socket.socket() as sock, pytest.raises(RuntimeError, match="only this machine"):
        sock.connect(("192.0.2.1", 80))
