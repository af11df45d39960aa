"""Opens stored chats in the window and measures what that costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QEvent, QObject

from reprise.ui.timeline import Timeline
from support.window import WindowStage

PAGE_BYTES = 4096


class FirstPaint(QObject):
    """Says when the timeline is painted with a message in it."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self._timeline = timeline
        self.seen = asyncio.Event()
        timeline.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Whoever waits is woken once the event is over, and so the page painted.
        if event.type() is QEvent.Type.Paint and self._timeline.item(0) is not None:
            self.seen.set()
        return False


@dataclass
class Lags:
    """How long the loop kept a task waiting that always wants its turn (s): by the clock, and what it computed then."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)


@asynccontextmanager
async def watched() -> AsyncIterator[Lags]:
    """Measures the loop's lags meanwhile."""
    lags, over = Lags(), asyncio.Event()

    async def beat() -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        while not over.is_set():
            await asyncio.sleep(0)
            now, spent = time.perf_counter(), time.thread_time()
            lags.wall_s.append(now - wall)
            lags.cpu_s.append(spent - cpu)
            wall, cpu = now, spent

    task = asyncio.create_task(beat())
    await asyncio.sleep(0)
    try:
        yield lags
    finally:
        over.set()
        await task


async def show_end(stage: WindowStage, session: str) -> float:
    """Open a chat that is not in memory; seconds until its end is painted."""
    stage.library.new_chat()
    if (kept := stage.library._live.pop(session, None)) is not None:
        kept.reading.stop()
        kept.deleteLater()
    await stage.drain()
    painted = FirstPaint(stage.find("timeline"))
    began = time.perf_counter()
    stage.library.open(session)
    await painted.seen.wait()
    return time.perf_counter() - began


async def show_whole(stage: WindowStage, session: str) -> None:
    """Open a chat and wait until all of it is on the timeline; its id says how many messages that is."""
    await show_end(stage, session)
    stack = stage.find("timeline").scroller.stack
    while len(stack.items) < int(session):  # noqa: ASYNC110 - nothing tells of it, since nobody is to feel it
        await asyncio.sleep(0.001)


def resident() -> int:
    """The memory of this process in bytes; needs /proc."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES
