"""One process per data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from pytestqt.qtbot import QtBot

from reprise.app.instance import Answer, InstanceLock, InstanceServer, Told, hand_over, take_or_hand_over

OTHER = (
    "import sys; from pathlib import Path; from PySide6.QtCore import QCoreApplication; app = QCoreApplication([]);"
    "from reprise.app.instance import InstanceLock; lock = InstanceLock(Path(sys.argv[1]) / 'lock');"
    "print(lock.take(), lock.holder())"
)
LATER = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from reprise.app.instance import Refused, hand_over
app = QCoreApplication([])
try:
    asks = sys.argv[3] if len(sys.argv) > 3 else None
    print(hand_over(Path(sys.argv[1]), sys.argv[2] or None, 15_000, asks=asks).name)
except Refused as refusal:
    print("REFUSED", refusal)
"""


class Owner:
    """A first process that listens, and keeps what it is to answer."""

    def __init__(self, root: Path) -> None:
        self.heard: list[str | None] = []
        self.answers: list[Answer] = []
        self.server = InstanceServer(root, self._hear)

    def _hear(self, say: str | None, answer: Answer) -> None:
        self.heard.append(say)
        self.answers.append(answer)


def later_start(root: Path, say: str) -> subprocess.Popen[str]:
    """A second process that hands `say` over and prints how that ended."""
    return subprocess.Popen([sys.executable, "-c", LATER, str(root), say], stdout=subprocess.PIPE, text=True)


def said_by(process: subprocess.Popen[str]) -> str:
    """What it printed, once it has ended."""
    return process.communicate(timeout=1)[0].strip()


def test_the_second_start_is_told_who_holds_the_folder(qapp: object, tmp_path: Path) -> None:
    lock = InstanceLock(tmp_path / "lock")
    assert lock.take()
    second = subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], capture_output=True, text=True, check=True)
    assert second.stdout.split() == ["False", str(os.getpid())]
    lock.release()
    third = subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], capture_output=True, text=True, check=True)
    assert third.stdout.split()[0] == "True"


@pytest.mark.parametrize(("refusal", "said"), [(None, "HEARD"), ("The disk is full.", "REFUSED The disk is full.")])
@pytest.mark.parametrize("say", ["hello", ""], ids=["a prompt", "only the window"])
def test_a_second_start_hears_what_became_of_its_prompt(
    qtbot: QtBot, tmp_path: Path, say: str, refusal: str | None, said: str
) -> None:
    """It waits for the answer, which comes once the prompt is on disk, or cannot be."""
    owner = Owner(tmp_path)
    second = later_start(tmp_path, say)
    qtbot.waitUntil(lambda: owner.heard == [say or None], timeout=15_000)
    assert second.poll() is None
    owner.answers[0](refusal)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=15_000)
    assert said_by(second) == said
    assert len(owner.heard) == 1
    owner.server.close()


def test_a_prompt_whose_sender_has_given_up_is_not_sent(qtbot: QtBot, tmp_path: Path) -> None:
    """The first process was stopped for a while: what waited for it was kept by those who gave up."""
    lock = InstanceLock(tmp_path / "lock")
    assert lock.take()
    owner = Owner(tmp_path)
    for _ in range(3):  # no events are processed meanwhile: nobody reads
        assert take_or_hand_over(InstanceLock(tmp_path / "lock"), tmp_path, "hello", 120) is Told.SILENT
    last = later_start(tmp_path, "the one that waits")
    qtbot.waitUntil(lambda: bool(owner.answers), timeout=15_000)
    owner.answers[0](None)
    qtbot.waitUntil(lambda: last.poll() is not None, timeout=15_000)
    assert said_by(last) == "HEARD"
    assert owner.heard == ["the one that waits"]
    owner.server.close()
    lock.release()


def test_an_answer_nobody_waits_for_is_no_error(qtbot: QtBot, tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    second = later_start(tmp_path, "hello")
    qtbot.waitUntil(lambda: bool(owner.answers), timeout=15_000)
    second.kill()
    second.communicate(timeout=5)
    third = later_start(tmp_path, "")
    qtbot.waitUntil(lambda: len(owner.answers) == 2, timeout=15_000)
    for answer in owner.answers:
        answer(None)
    qtbot.waitUntil(lambda: third.poll() is not None, timeout=15_000)
    assert said_by(third) == "HEARD"
    owner.server.close()


def asked_back(qtbot: QtBot, owner: Owner) -> QLocalSocket:
    """A start that has said its prompt, and was asked whether to go ahead."""
    server = owner.server.findChild(QLocalServer)
    assert isinstance(server, QLocalServer)
    link = QLocalSocket()
    link.connectToServer(server.fullServerName())
    link.write(b'{"say": "hello"}\n')
    qtbot.waitUntil(link.canReadLine, timeout=5_000)
    link.readLine()
    return link


def test_one_that_gave_up_after_its_last_word_is_not_heard(qtbot: QtBot, tmp_path: Path) -> None:
    """The first process was stopped between the question and the word to go ahead."""
    owner = Owner(tmp_path)
    link = asked_back(qtbot, owner)
    link.write(b"go ahead\n")
    link.disconnectFromServer()
    waits = asked_back(qtbot, owner)
    assert owner.heard == []
    waits.write(b"go ahead\ngo ahead\n")
    qtbot.waitUntil(lambda: owner.heard != [], timeout=5_000)
    assert owner.heard == ["hello"]
    owner.server.close()


def test_an_owner_that_ends_meanwhile_sends_nothing(qtbot: QtBot, tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    link = asked_back(qtbot, owner)
    owner.server.close()
    with qtbot.waitSignal(link.disconnected, timeout=5_000):
        link.write(b"go ahead\n")
    assert owner.heard == []


def test_nobody_listening_is_noticed(qapp: object, tmp_path: Path) -> None:
    assert hand_over(tmp_path, "hello", 1000) is Told.NOBODY


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


@pytest.mark.parametrize(
    ("mine", "asks", "said"),
    [(None, "openai http://a m", "REFUSED"), ("openai http://a m", "echo", "REFUSED"), ("echo", "echo", "HEARD")],
)
def test_a_prompt_goes_to_the_provider_that_was_chosen_or_nowhere(
    qtbot: QtBot, tmp_path: Path, mine: str | None, asks: str, said: str
) -> None:
    """Design rule 13's spirit: a window that asks somebody else does not send it."""
    heard: list[str | None] = []

    def on_start(say: str | None, answer: Answer) -> None:
        heard.append(say)
        answer(None)

    server = InstanceServer(tmp_path, on_start, asks=mine)
    second = subprocess.Popen(
        [sys.executable, "-c", LATER, str(tmp_path), "hello", asks], stdout=subprocess.PIPE, text=True
    )
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=15_000)
    assert said_by(second).startswith(said)
    assert heard == (["hello"] if said == "HEARD" else [])
    server.close()
