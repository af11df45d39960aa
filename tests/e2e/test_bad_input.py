"""Bad input is one clear sentence in the window; nothing is lost and nothing is printed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from reprise.app.options import Options
from reprise.app.paths import resources_dir
from reprise.app.prepare import Prepared, prepare
from reprise.app.program import Program
from reprise.app.stop_request import StopRequest
from reprise.bridge.signals import until
from reprise.domain.messages import Role
from reprise.domain.sessions import messages
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.window import MainWindow
from support.aio import Aio
from support.clock import ManualClock
from support.process import refusal, reply
from support.program import ProgramStage
from support.qt import until_shown
from support.wire_server import Play, WireServer

PAGE = Play(
    (b"<!doctype html><html><body>Sign in to the hotel's network</body></html>",), 200, {"content-type": "text/html"}
)


@pytest.fixture(autouse=True)
def nothing_on_stderr(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Trouble is for the window: a person's terminal stays empty, above all of tracebacks."""
    yield
    assert capfd.readouterr().err == ""


async def pending_after(folder: Path, url: str) -> tuple[str, ProgramStage]:
    """Send a prompt to `url`, which cannot answer; what the card says."""
    stage = await ProgramStage.open(folder, url, ManualClock(), overrides={"retry.policy": "off"})
    finished = asyncio.ensure_future(until(stage.conversation.turn_finished))
    await asyncio.sleep(0)
    stage.type_and_send("precious words")
    await finished
    await stage.clock.drain()
    return stage.widget("pendingCard").accessibleName(), stage


async def stored(stage: ProgramStage) -> list[tuple[Role, str]]:
    """The chat as it is on disk."""
    history = await stage.parts.store.sessions.load(stage.conversation.session_id)
    return [(message.role, message.text) for message in messages(history.branch)]


@pytest.mark.slow_callbacks  # a window is built in the test's own task
@pytest.mark.parametrize(
    ("play", "words"),
    [
        (refusal(401, "Incorrect API key provided"), "key"),
        (PAGE, "web page"),
        (refusal(404, "model 'test' not found"), "404"),
        (Play(end="refuse"), "closed"),
    ],
    ids=["wrong-key", "web-page", "no-model", "closed"],
)
def test_a_refusal_is_a_sentence_and_the_prompt_is_kept(aio: Aio, tmp_path: Path, play: Play, words: str) -> None:
    """Behaviour D1, L1: the turn is pending, the prompt on disk, and the card says what happened."""

    async def story() -> None:
        async with WireServer({"a": play}) as server:
            said, stage = await pending_after(tmp_path, server.url("a"))
            assert words in said
            assert "\n" not in said
            assert await stored(stage) == [(Role.USER, "precious words")]
            await stage.close()

    aio(story(), timeout_s=30)


@pytest.mark.slow_callbacks
def test_a_refused_port_is_a_sentence_and_the_prompt_is_kept(aio: Aio, tmp_path: Path) -> None:
    async def story() -> None:
        async with WireServer({}) as server:
            url = server.url("a")
        said, stage = await pending_after(tmp_path, url)
        assert "refused the connection" in said
        assert await stored(stage) == [(Role.USER, "precious words")]
        assert stage.conversation.pending is not None
        await stage.close()

    aio(story(), timeout_s=30)


@pytest.mark.slow_callbacks
def test_a_wrong_key_is_mended_in_the_card(aio: Aio, tmp_path: Path) -> None:
    """The needs-you card: its first button opens the key field, and Save and retry ends the trouble."""

    async def story() -> None:
        async with WireServer({"a": [refusal(401, "Incorrect API key provided"), reply("yes")]}) as server:
            _, stage = await pending_after(tmp_path, server.url("a"))
            stage.widget("enterKeyButton").click()
            finished = asyncio.ensure_future(until(stage.conversation.turn_finished))
            await asyncio.sleep(0)
            QTest.keyClicks(stage.widget("keyField"), "right-key")
            stage.widget("saveKeyButton").click()
            await finished
            assert stage.conversation.pending is None
            assert [seen.headers.get("authorization") for seen in server.requests] == [None, "Bearer right-key"]
            await stage.close()

    aio(story(), timeout_s=30)
    for path in tmp_path.rglob("*"):  # a key for this run is nowhere on the disk
        assert not path.is_file() or b"right-key" not in path.read_bytes()


@pytest.mark.slow_callbacks
@pytest.mark.parametrize("case", ["file", "address"])
def test_a_start_that_cannot_go_on_says_so_in_the_window(
    aio: Aio,
    qapp: QApplication,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: str,
) -> None:
    """A data folder that is a file, a malformed address: a sentence in a working window, and what is typed stays."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # the program sets its own
    file = tmp_path / "file"
    file.write_text("mine", "utf-8")
    options = {
        "file": Options(data_dir=file, provider_kind="echo"),
        "address": Options(data_dir=tmp_path / "data", provider_url="localhost:8080"),
    }[case]
    words = {"file": "is a file", "address": "must start with http"}[case]
    prepared: Prepared = prepare(options)

    async def story() -> None:
        window = MainWindow(resources_dir(), load_theme(resources_dir(), Scheme.LIGHT))
        window.show()
        program = Program(qapp, prepared, window, StopRequest())
        running = asyncio.ensure_future(program.run())
        window.complete()  # the program does so in its first step; here the bar is waited for before that
        await until_shown(window.notices)
        assert words in window.notices.accessibleName()
        window.page.composer.set_text("precious words")
        window.page.composer.button.click()
        assert window.page.composer.editor.toPlainText() == "precious words"
        window.close()
        assert await running == 0

    aio(story(), timeout_s=30)
    if prepared.lock is not None:
        prepared.lock.release()
    assert file.read_text("utf-8") == "mine"
