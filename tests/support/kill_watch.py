"""What a kill costs of a stream, fairly measured on a busy machine."""

from __future__ import annotations

import time
from pathlib import Path

from support.wire_server import WireServer


def starved_s(pid: int) -> float:
    """How long a process's first thread, the window's, was ready to run so far and no processor took it."""
    _ran, waited_ns, _times = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(waited_ns) / 1e9


class KillWatch:
    """Follows the chunks that a server writes to a program.

    For as long as the window's thread was ready to run and others had the processors, it could neither read nor save:
    that is taken off, and next to nothing on a quiet machine.
    """

    def __init__(self, server: WireServer, pid: int) -> None:
        self._server = server
        self._pid = pid
        self._starved = [starved_s(pid)]

    async def wrote(self, count: int) -> float:
        """Wait until the server wrote this many chunks, the next after those of the last call; when that was."""
        await self._server.wrote(count)
        at = time.monotonic()
        self._starved.append(starved_s(self._pid))
        return at

    def lost_s(self, kept: int, at: float) -> float:
        """What is gone when only `kept` chunks outlive the moment `at`, which is that of the last look."""
        written_at = self._server.written_at
        if kept >= len(written_at):
            return 0.0
        starved = self._starved[-1] - self._starved[min(kept, len(self._starved) - 1)]
        return max(0.0, at - written_at[kept] - starved)
