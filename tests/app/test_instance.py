"""One process per data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reprise.app.instance import InstanceLock, InstanceServer, hand_over

OTHER = (
    "import sys; from pathlib import Path; from PySide6.QtCore import QCoreApplication; app = QCoreApplication([]);"
    "from reprise.app.instance import InstanceLock, hand_over;"
    "root = Path(sys.argv[1]); lock = InstanceLock(root / 'lock');"
    "print(lock.take(), lock.holder(), hand_over(root, 'hello') if len(sys.argv) > 2 else '')"
)


def test_the_second_start_is_told_who_holds_the_folder(qapp: object, tmp_path: Path) -> None:
    lock = InstanceLock(tmp_path / "lock")
    assert lock.take()
    second = subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], capture_output=True, text=True, check=True)
    assert second.stdout.split() == ["False", str(os.getpid())]
    lock.release()
    third = subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], capture_output=True, text=True, check=True)
    assert third.stdout.split()[0] == "True"


def test_a_second_start_hands_its_prompt_to_the_first(qtbot: object, tmp_path: Path) -> None:
    lock = InstanceLock(tmp_path / "lock")
    assert lock.take()
    heard: list[str | None] = []
    server = InstanceServer(tmp_path, heard.append)
    second = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path), "say"],
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.DEVNULL,
    )
    qtbot.waitUntil(lambda: heard == ["hello"], timeout=15_000)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=15_000)  # type: ignore[attr-defined]
    assert second.stdout is not None
    assert second.stdout.read().split()[-1] == "True"
    second.stdout.close()
    server.close()
    lock.release()


def test_nobody_listening_is_noticed(qapp: object, tmp_path: Path) -> None:
    assert not hand_over(tmp_path, "hello")


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"\xff\xfe\x00"])
def test_a_lock_that_names_nobody_is_replaced(qapp: object, tmp_path: Path, content: bytes) -> None:
    """A disk that was full, or a power cut: the folder must open again."""
    (tmp_path / "lock").write_bytes(content)
    lock = InstanceLock(tmp_path / "lock")
    assert lock.take()
    assert lock.holder() == os.getpid()
    lock.release()


def test_a_lock_that_cannot_be_written_is_a_sentence_with_its_path(qapp: object, tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(OSError, match="lock"):
        InstanceLock(tmp_path / "lock").take()
