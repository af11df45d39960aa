"""What is said outside the window: when, and through what."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtTest import QTest

from reprise.ui.notifications import content
from support.window import WindowStage

HERE = Path(__file__).resolve().parent
REFUSED = {"fail": {"kind": "bad_request", "status": 400, "message": "no"}}
HANG = {"hang": True}


class Heard(QObject):
    """Stands in for the desktop."""

    opened = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, str, str]] = []

    def show(self, session: str, title: str, words: str) -> None:
        self.said.append((session, title, words))


def listen(stage: WindowStage) -> Heard:
    """Let the window speak to us instead of the desktop."""
    heard = Heard()
    stage.window.sessions._notifications = heard  # type: ignore[assignment]
    heard.opened.connect(stage.window.sessions._open_from_outside)
    return heard


def elsewhere(stage: WindowStage, monkeypatch: pytest.MonkeyPatch, *, active: bool = False) -> None:
    """Another window is in front (offscreen, every window is)."""
    monkeypatch.setattr(stage.window, "isActiveWindow", lambda: active, raising=False)


def test_a_portal_is_told_and_a_press_on_it_comes_back() -> None:
    """Against a real bus: the call's types are what the portal takes, and its signal reaches us."""
    command = ["dbus-run-session", "--", sys.executable, str(HERE / "notify_portal.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.splitlines() == [f"s1 {sorted(content('A title', 'The reply is ready.').items())}", "opened s1"]
    assert done.returncode == 0


@pytest.mark.slow_callbacks
@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (["fine"], "The reply is ready."),
        ([REFUSED], "The provider did not accept the request (400). It can be retried."),
    ],
)
def test_the_end_of_a_turn_is_told_while_the_window_is_not_in_front(
    act: Callable[..., None], monkeypatch: pytest.MonkeyPatch, attempt: list[Any], words: str
) -> None:
    """N10: when a turn ends or fails while the window is inactive."""

    async def scene(stage: WindowStage) -> None:
        elsewhere(stage, monkeypatch)
        heard = listen(stage)
        await stage.send("go")
        assert heard.said == [(stage.conversation.session_id, "go", words)]

    act(scene, attempt)


@pytest.mark.slow_callbacks
def test_nothing_is_told_in_front_of_the_window_nor_of_what_the_person_did(
    act: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """N10: whoever looks at the window needs no notification; a stop was theirs."""

    async def scene(stage: WindowStage) -> None:
        heard = listen(stage)
        elsewhere(stage, monkeypatch, active=True)
        await stage.send("go")
        elsewhere(stage, monkeypatch)
        await stage.send("again")
        QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Escape)
        await stage.drain()
        assert heard.said == []

    act(scene, ["fine"], [HANG])


@pytest.mark.slow_callbacks
def test_notifications_can_be_switched_off(act: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """`notifications.enabled`."""

    async def scene(stage: WindowStage) -> None:
        elsewhere(stage, monkeypatch)
        heard = listen(stage)
        stage.preferences.set_value("notifications.enabled", False)
        await stage.drain()
        await stage.send("go")
        assert heard.said == []

    act(scene, ["fine"])


@pytest.mark.slow_callbacks
def test_a_pressed_notification_opens_its_chat(act: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """N10: it leads to what it is about."""

    async def scene(stage: WindowStage) -> None:
        heard = listen(stage)
        await stage.send("go")
        key = stage.conversation.session_id
        stage.window.deeds.new_chat()
        heard.opened.emit(key)
        await stage.drain()
        assert stage.conversation.session_id == key

    act(scene, ["fine"])


@pytest.mark.slow_callbacks
def test_a_question_is_told_while_the_window_is_not_in_front(
    act: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """N10: whoever is asked hears of it."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        elsewhere(stage, monkeypatch)
        heard = listen(stage)
        key = stage.conversation.session_id
        stage.library.turn_asks.emit(key, 32)
        assert heard.said == [(key, "go", "It asks whether to go on.")]

    act(scene, ["fine"])
