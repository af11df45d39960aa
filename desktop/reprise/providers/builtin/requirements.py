"""Can the built-in model run on this machine? Asked without loading its engine into the window's process."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_MACHINES = {
    "linux": frozenset({"x86_64", "aarch64"}),
    "darwin": frozenset({"x86_64", "arm64"}),
    "win32": frozenset({"AMD64"}),
}


def _has_engine() -> bool:
    return importlib.util.find_spec("xllamacpp") is not None


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides; the defaults ask this machine."""

    system: str = sys.platform
    architecture: str = field(default_factory=platform.machine)
    cpuinfo: Path = Path("/proc/cpuinfo")
    has_engine: Callable[[], bool] = _has_engine
    loads: Callable[[str], bool] = _loads


def why_unavailable(machine: Machine | None = None) -> str | None:
    """One sentence saying why the built-in model cannot run here, None when it can (as far as can be told)."""
    machine = machine or Machine()
    if machine.architecture not in _MACHINES.get(machine.system, frozenset()):
        return f"The built-in model does not run on {machine.system} {machine.architecture}."
    if not machine.has_engine():
        return "The built-in model is not installed: its engine, the Python package xllamacpp, is missing."
    if machine.system != "linux":
        return None
    if machine.architecture == "x86_64" and not _has_avx2(machine.cpuinfo):
        return "The built-in model needs a processor with AVX2, which this one lacks."
    if not machine.loads("libgomp.so.1"):
        return "The built-in model needs the system library libgomp.so.1, which is missing (Debian: libgomp1)."
    return None


def _has_avx2(cpuinfo: Path) -> bool:
    """Unknown counts as yes: a sandbox may hide the file, and the child reports a wrong guess as a failure."""
    try:
        lines = cpuinfo.read_text("utf-8", "replace").splitlines()
    except OSError:
        return True
    flags = [line.partition(":")[2].split() for line in lines if line.startswith("flags")]
    return not flags or "avx2" in flags[0]
