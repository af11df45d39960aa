"""The real clock."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

_SLICE_S = 0.5  # so that a wake from sleep is noticed at once, not when the old timer fires


class BootClock:
    """`ports.Clock` on the boot clock: it runs during sleep (on Linux; the monotonic clock elsewhere)."""

    _id = getattr(time, "CLOCK_BOOTTIME", None)

    def now(self) -> float:
        """Seconds since boot."""
        return time.monotonic() if self._id is None else time.clock_gettime(self._id)

    def utc(self) -> datetime:
        """The wall clock."""
        return datetime.now(UTC)

    async def sleep_until(self, due_at: float) -> None:
        """Return at or after `due_at`."""
        while (left_s := due_at - self.now()) > 0:  # noqa: ASYNC110 - time itself is awaited, there is no event
            await asyncio.sleep(min(left_s, _SLICE_S))
