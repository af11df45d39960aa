"""Opening a chat from the disk in the real window: ratios taken in one run; guards are twice the goal."""

from __future__ import annotations

import asyncio
import gc
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.aio import Aio
from support.long_chats import fill
from support.opening import Lags, show_end, show_whole, watched
from support.window import WindowStage

pytestmark = [pytest.mark.bench, pytest.mark.slow_callbacks, pytest.mark.timeout(300)]
HOLD_S = 0.05
FAST = Path("/dev/shm") if Path("/dev/shm").is_dir() else None  # noqa: S108

STORED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from PySide6.QtWidgets import QApplication
app = QApplication([])
from support.aio import Aio
from support.opening import resident, show_whole
from support.window import WindowStage
before = resident()
async def main():
    stage = await WindowStage.open(Path(sys.argv[2]))
    await show_whole(stage, sys.argv[3])
    print(resident() - before, flush=True)
    os._exit(0)
aio = Aio(app)
aio.begin()
aio(main(), 120)
"""
"""Opens a chat from the disk in a window of its own; says what that added."""

SHOWN = """
import os, sys
sys.path.insert(0, sys.argv[1])
from PySide6.QtWidgets import QApplication
app = QApplication([])
from support import timeline as make
from support.opening import resident
items = make.conversation(int(sys.argv[3]))
before = resident()
timeline = make.make(1000, 800)
timeline.set_items(items)
make.settled(timeline)
print(resident() - before, flush=True)
os._exit(0)
"""
"""Shows messages that are in memory already; says what the timeline added."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder where the disk is not the point."""
    with tempfile.TemporaryDirectory(dir=FAST) as made:
        yield Path(made)


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def test_opening_a_stored_chat_of_ten_thousand_messages_costs_what_a_thousand_cost(aio: Aio, folder: Path) -> None:
    """Goal: open 10,000 / open 1,000 <= 1.2, from the click to the painted end."""
    times: dict[str, list[float]] = {"1000": [], "10000": []}

    async def main() -> None:
        await fill(folder, 1000, 10000)
        stage = await WindowStage.open(folder)
        for at in range(12):
            for session in times:
                taken = await show_end(stage, session)
                times[session] += [taken] if at else []
        await stage.close()

    aio(main(), 240)
    small, large = (statistics.median(times[session]) for session in ("1000", "10000"))
    print(
        f"\nopen 10,000 / 1,000 stored messages: {large / small:.2f}"
        f" ({large * 1e3:.0f} ms / {small * 1e3:.0f} ms; goal 1.2)"
    )
    assert large / small <= 2.4


def test_reading_the_rest_of_ten_thousand_messages_never_holds_the_window(aio: Aio, folder: Path) -> None:
    """Goal: the loop is never held for more than 50 ms, with the garbage collector at work as in the program.

    What the tests before left on the heap is kept from the collector. By the clock, which others' work makes late, the
    guard is eight times that, or four times the lag of the same loop at rest.
    """
    idle, reading = Lags(), Lags()
    whole_s = 0.0

    async def main() -> None:
        nonlocal idle, reading, whole_s
        await fill(folder, 1000, 10000)
        stage = await WindowStage.open(folder)
        await show_whole(stage, "1000")
        gc.collect()
        gc.freeze()
        gc.enable()
        async with watched() as idle:
            await asyncio.sleep(2)
        began = time.perf_counter()
        async with watched() as reading:
            await show_whole(stage, "10000")
        whole_s = time.perf_counter() - began
        gc.disable()
        gc.unfreeze()
        await stage.close()

    aio(main(), 240)
    held, late = max(reading.cpu_s), max(reading.wall_s)
    print(
        f"\nreading 10,000 messages: {whole_s:.1f} s, loop held for at most {held * 1e3:.0f} ms of work (goal 50 ms),"
        f" p99 {_share(reading.cpu_s, 0.99) * 1e3:.1f} ms; late by {late * 1e3:.0f} ms,"
        f" at rest {max(idle.wall_s) * 1e3:.0f} ms"
    )
    assert held <= 2 * HOLD_S
    assert late <= max(8 * HOLD_S, 4 * max(idle.wall_s))


def test_what_a_turn_tells_costs_the_same_in_a_long_chat(aio: Aio, folder: Path) -> None:
    """Goal: an event of a turn at 10,000 messages / at 10 <= 1.2."""
    costs: dict[str, list[float]] = {"10": [], "10000": []}

    async def main() -> None:
        await fill(folder, 10, 10000)
        stage = await WindowStage.open(folder)
        for _ in range(2):
            for session, spent in costs.items():
                await show_whole(stage, session)
                await stage.drain()
                for _ in range(30):
                    began = time.process_time()
                    stage.conversation.history_changed.emit()
                    spent.append(time.process_time() - began)
        await stage.close()

    aio(main(), 240)
    few, many = (statistics.median(costs[session]) for session in ("10", "10000"))
    print(f"\na turn's event at 10,000 / at 10 messages: {many / few:.2f} ({many * 1e3:.1f} ms / {few * 1e3:.1f} ms)")
    assert many / few <= 2.4


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
def test_ten_thousand_messages_take_little_more_memory_than_ten(aio: Aio, folder: Path) -> None:
    """Goal: memory the timeline adds with 10,000 messages / with 10 <= 1.5, their text not counted.

    With it, in the window and from the disk, a message takes what it says and some 2 kB beside it.
    """
    aio(fill(folder, 10, 10000), 60)
    shown, stored = ({size: _added(code, folder, size) for size in ("10", "10000")} for code in (SHOWN, STORED))
    ratio = shown["10000"] / shown["10"]
    each_kb = (stored["10000"] - stored["10"]) / 10000 / 1000
    print(
        f"\nmemory the timeline adds with 10,000 / with 10 messages: {ratio:.2f}"
        f" ({shown['10000'] / 2**20:.0f} MB / {shown['10'] / 2**20:.0f} MB; goal 1.5)"
        f"\nwindow and chat from the disk: {stored['10000'] / 2**20:.0f} MB / {stored['10'] / 2**20:.0f} MB,"
        f" {each_kb:.1f} kB a message"
    )
    assert ratio <= 3
    assert each_kb <= 6


def _added(code: str, folder: Path, size: str) -> float:
    """Bytes, the median of three processes."""
    tests = Path(__file__).resolve().parents[1]
    said = [
        subprocess.run(
            [sys.executable, "-c", code, str(tests), str(folder), size],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for _ in range(3)
    ]
    return statistics.median(int(text.split()[-1]) for text in said)
