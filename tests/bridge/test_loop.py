"""The loop: timers, blocking calls, slow callbacks, and an end that nothing can hold up."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject, QTimer, Signal

from reprise.bridge.loop import DaemonExecutor, SlowCallback
from reprise.bridge.signals import until
from support.aio import Aio


class Sender(QObject):
    happened = Signal(str, int)


def run_python(program: str, *, timeout_s: float = 20.0) -> tuple[int, str, float]:
    """Run a program in a process of its own: exit code, both outputs, seconds from its line ``started`` to its end."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    lines, began = [], time.monotonic()
    for line in process.stdout:
        lines.append(line)
        if line.strip() == "started":
            began = time.monotonic()
    code = process.wait(timeout=timeout_s)
    process.stdout.close()
    return code, "".join(lines), time.monotonic() - began


def test_one_loop_runs_many_coroutines(aio: Aio) -> None:
    """Design rule 2."""

    async def number(value: int) -> int:
        await asyncio.sleep(0)
        return value

    assert [aio(number(value)) for value in range(20)] == list(range(20))


def test_timers_never_ring_early_and_ring_in_due_order(aio: Aio) -> None:
    """A Qt timer of the coarse kind may be 5 % early; a clock built on it would count a wait as over too soon."""
    rung: list[tuple[float, float]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        for delay in (0.06, 0.02, 0.04, 0.02):
            when = loop.time() + delay
            loop.call_at(when, lambda when=when: rung.append((when, loop.time())))
        loop.call_later(0.1, done.set_result, None)
        await done

    aio(main())
    assert len(rung) == 4
    assert all(at >= when for when, at in rung)
    assert [when for when, _ in rung] == sorted(when for when, _ in rung)


def test_cancelled_timers_are_forgotten(aio: Aio) -> None:
    """A timeout around every read of a long stream may not leave a timer per read behind."""

    async def main() -> None:
        for _ in range(1000):
            async with asyncio.timeout(600):
                await asyncio.sleep(0)

    aio(main())
    assert len(aio.loop._due) < 200


def test_until_returns_what_the_signal_carried(aio: Aio) -> None:
    """Design rule 2: a future on a signal."""
    sender = Sender()

    async def main() -> tuple[object, ...]:
        asyncio.get_running_loop().call_soon(sender.happened.emit, "twice", 2)
        return await until(sender.happened)

    assert aio(main()) == ("twice", 2)


def test_until_gives_up_and_leaves_no_connection(aio: Aio) -> None:
    """A wait that timed out or was cancelled listens no more."""
    sender = Sender()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await until(sender.happened, timeout_s=0.01)

    aio(main())
    assert sender.receivers("2happened(QString,int)") == 0


def test_until_outlives_a_sender_that_deletes_itself(aio: Aio) -> None:
    """A dialog that deletes itself when closed is no error."""
    sender = Sender()

    async def main() -> None:
        def leave() -> None:
            sender.happened.emit("bye", 0)
            sender.deleteLater()

        QTimer.singleShot(0, leave)
        await until(sender.happened)
        await asyncio.sleep(0.01)

    aio(main())


@pytest.mark.slow_callbacks
def test_a_slow_callback_is_logged_by_name(aio: Aio, caplog: pytest.LogCaptureFixture) -> None:
    """Design rule 5."""

    async def lazy_bones() -> None:
        time.sleep(0.06)  # noqa: ASYNC251 - holding the thread is the point

    async def main() -> None:
        await asyncio.create_task(lazy_bones(), name="reader")

    told: list[SlowCallback] = []
    aio.loop.slow_callbacks.append(told.append)
    with caplog.at_level(logging.WARNING, "reprise.loop"):
        aio(main())
    aio.loop.slow_callbacks.remove(told.append)
    assert any("reader" in record.message and "lazy_bones" in record.message for record in caplog.records)
    assert [slow.name for slow in told if "reader" in slow.name]


def test_blocking_calls_run_on_daemon_threads_and_answer(aio: Aio) -> None:
    """Design rule 4."""

    async def main() -> list[tuple[bool, int]]:
        def call(value: int) -> tuple[bool, int]:
            return threading.current_thread().daemon, value

        return await asyncio.gather(*(asyncio.to_thread(call, value) for value in range(30)))

    assert aio(main()) == [(True, value) for value in range(30)]


def test_an_exception_of_a_blocking_call_reaches_the_caller(aio: Aio) -> None:
    """Nothing is swallowed on the way back from a thread."""

    def fails() -> None:
        raise OSError("no such host")

    async def main() -> None:
        with pytest.raises(OSError, match="no such host"):
            await asyncio.to_thread(fails)

    aio(main())


def test_a_shut_down_executor_takes_no_work_and_waits_for_none() -> None:
    """Shutting down returns at once while a call hangs; the idle threads end."""
    executor, never = DaemonExecutor(), threading.Event()
    try:
        executor.submit(never.wait)
        assert executor.submit(lambda: 7).result(timeout=2) == 7
        began = time.monotonic()
        executor.shutdown(wait=True)
        assert time.monotonic() - began < 0.5
        with pytest.raises(RuntimeError):
            executor.submit(print)
    finally:
        never.set()


PROGRAM = """
import asyncio, logging, threading
from PySide6.QtWidgets import QApplication
from PySide6.QtCore import QTimer
from reprise.bridge.loop import run
logging.basicConfig(level=logging.WARNING)
app = QApplication([])
app.setQuitOnLastWindowClosed(False)
"""


@pytest.fixture
def ends() -> Callable[[str], tuple[int, str, float]]:
    """Runs the body of a `main` in a fresh process with our `run`."""

    def call(body: str) -> tuple[int, str, float]:
        code = textwrap.dedent(PROGRAM) + textwrap.dedent(body) + "\nraise SystemExit(run(app, main))\n"
        return run_python(code)

    return call


def test_quitting_takes_at_most_two_seconds_while_a_lookup_never_answers(
    ends: Callable[[str], tuple[int, str, float]],
) -> None:
    """Design rule 4: blocking calls neither hold the loop's end nor the interpreter's."""
    code, words, took = ends(
        """
        async def main():
            lookup = asyncio.ensure_future(asyncio.to_thread(threading.Event().wait))
            await asyncio.sleep(0.05)
            print("started", flush=True)
            lookup.cancel()
            return 3
        """
    )
    print(f"quit after {took * 1000:.0f} ms")
    assert (code, "Traceback" in words) == (3, False)
    assert took < 2.0


def test_a_task_that_ignores_its_end_is_named_and_left(ends: Callable[[str], tuple[int, str, float]]) -> None:
    """Quit takes at most 2 s whatever hangs."""
    code, words, took = ends(
        """
        async def stubborn():
            while True:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    pass
        async def main():
            global kept
            kept = asyncio.create_task(stubborn(), name="stubborn")
            await asyncio.sleep(0.05)
            print("started", flush=True)
            return 0
        """
    )
    assert code == 0
    assert "left running at exit: stubborn" in words
    assert took < 2.5


def test_when_qt_quits_first_the_shutdown_still_finishes(ends: Callable[[str], tuple[int, str, float]]) -> None:
    """A session manager ends Qt's loop under us; what must be saved still is."""
    code, words, took = ends(
        """
        async def main():
            asked = asyncio.Event()
            app.aboutToQuit.connect(asked.set)
            QTimer.singleShot(50, app.quit)
            await asked.wait()
            print("started", flush=True)
            await asyncio.sleep(0.1)
            print("saved", flush=True)
            return 0
        """
    )
    assert (code, "saved" in words, "Traceback" in words) == (0, True, False)
    assert took < 2.0
