"""Helper processes that cannot outlive the process that started them, however it ended.

The parent holds the write end of the helper's standard input; the helper ends at end-of-file there, and Linux kills
it besides. The helper leads a process group of its own, so that one kill ends it with everything it started and a
Ctrl+C in the terminal reaches the window only.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from typing import IO

_PR_SET_PDEATHSIG = 1
_BLOCK = 1 << 16


def own_command(*arguments: str) -> list[str]:
    """How this program starts itself as a helper, from a checkout, an installed wheel or a frozen bundle."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--model-child", *arguments]
    # -P: a select.py in the folder the window was started from must not shadow the standard library's.
    return [sys.executable, "-P", "-m", "reprise.providers.builtin.child", *arguments]


async def start(
    command: Sequence[str], *, stderr: int | IO[bytes] = PIPE, env: Mapping[str, str] | None = None
) -> Process:
    """Start a helper that holds itself by `hold`; end it with `end`. Raises OSError."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE if stderr == PIPE else DEVNULL,
        stderr=stderr,
        env=env,
        start_new_session=True,
    )


def kill(process: Process) -> None:
    """Kill a helper with everything it started; returns at once."""
    if process.returncode is not None:
        return
    if sys.platform == "win32":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it ended by itself a moment ago


async def end(process: Process) -> None:
    """Kill a helper, and return when nothing of it is left: its pipes are read out, so none stays open."""
    kill(process)
    for stream in (process.stdout, process.stderr):
        while stream is not None and await stream.read(_BLOCK):
            pass
    await process.wait()


def _die_with_parent() -> None:
    """Ask Linux to kill this process when the thread that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def hold() -> None:
    """In the helper: from now on end with the parent. Nothing else may read standard input afterwards."""
    _die_with_parent()
    threading.Thread(target=_watch, name="leash", daemon=True).start()


def _watch() -> None:
    try:
        while os.read(sys.stdin.fileno(), _BLOCK):
            pass
    finally:
        if sys.platform != "win32" and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(0)


def run(command: Sequence[str]) -> int:
    """In the helper: run another program that knows nothing of leashes, and return its exit code."""
    preexec = _die_with_parent if sys.platform == "linux" else None  # safe: this process has no threads yet
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=preexec) as program:  # noqa: S603
        hold()
        return program.wait()
