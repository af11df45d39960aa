"""Screens: is there one, and a private X server for tests."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_SCREEN = "1440x900x24"


def load_has_display(root: Path) -> Callable[[Mapping[str, str]], bool]:
    """The program's own answer to "is there a screen?", from its source: nothing is installed yet."""
    path = root / "desktop" / "reprise" / "app" / "display.py"
    spec = importlib.util.spec_from_file_location("reprise_display", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.has_display  # type: ignore[no-any-return]


def no_display_sentence(environ: Mapping[str, str]) -> str:
    """Why the window is run offscreen."""
    for name in ("WAYLAND_DISPLAY", "DISPLAY"):
        if environ.get(name):
            return f"{name} is set to {environ[name]}, but nothing answers there: running the window offscreen."
    return "There is no display: running the window offscreen."


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


@contextmanager
def private_x_server() -> Iterator[str]:
    """An X server of our own; its display name. It is gone afterwards, also when this process is killed."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", _SCREEN, "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(
        command,
        pass_fds=[writing],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_die_with_parent,
    ) as server:
        os.close(writing)
        with os.fdopen(reading) as answer:
            number = answer.readline().strip()
        try:
            if not number:
                raise RuntimeError("Xvfb did not start")
            yield f":{number}"
        finally:
            server.terminate()
