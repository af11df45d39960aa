"""The tray over the composer: a thousand messages can wait in it, and each of them can be reached."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from reprise.bridge.loop import SLOW_S
from reprise.domain.messages import user_message
from reprise.domain.sessions import Entry, Queued
from support.aio import Aio
from support.qt import Recorder
from support.window import WindowStage, press, stop, visible

pytestmark = pytest.mark.slow_callbacks
HANG = {"hang": True}


def waits(text: str) -> Entry:
    """A message that waits."""
    return Entry(text, "s", None, datetime(2026, 1, 8, tzinfo=UTC), Queued(user_message(text)))


MANY = tuple(waits(f"message {number}") for number in range(1000))
Act = Callable[..., None]


def lines(stage: WindowStage) -> list[str]:
    """What the tray says, line by line."""
    return [each.text() for each in visible(stage, "trayText")]


def key(stage: WindowStage, pressed: Qt.Key) -> None:
    """Press a key where the focus is."""
    focused = stage.window.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, pressed)


async def opened(stage: WindowStage) -> QWidget:
    """A tray over a window of 760 px with all of `MANY` in it."""
    tray = stage.find("composerTray")
    tray.tell("", MANY)
    await press(stage, "showAllQueuedButton")
    assert isinstance(tray, QWidget)
    return tray


def test_a_few_are_shown_until_more_are_asked_for(act: Act) -> None:
    """I5: four lines and how many more wait; shown fewer again on demand."""

    async def scene(stage: WindowStage) -> None:
        stage.find("composerTray").tell("", MANY[:60])
        assert lines(stage) == [*(f"Next: message {number}" for number in range(4)), "56 more"]
        await press(stage, "showAllQueuedButton")
        assert lines(stage)[-1] == "60 messages wait"
        await press(stage, "showAllQueuedButton")
        assert lines(stage)[-1] == "56 more"

    act(scene)


@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_a_thousand_take_four_tenths_of_the_window_and_as_few_widgets(act: Act, zoom: float) -> None:
    """I5, ux section 4: only lines that are in view exist."""

    async def scene(stage: WindowStage) -> None:
        stage.window.look.set_zoom(zoom)
        tray = await opened(stage)
        shown = len(visible(stage, "removeQueuedButton"))
        assert tray.height() <= 0.4 * stage.window.height()
        assert len(stage.window.findChildren(QWidget, "removeQueuedButton")) == shown
        assert shown >= 3

    act(scene)


def test_the_keyboard_reaches_every_message(act: Act) -> None:
    """I5, ux section 6: from line to line, a page on, to the ends; what it stands on is what goes."""

    async def scene(stage: WindowStage) -> None:
        tray = await opened(stage)
        heard = Recorder(edit=tray.edit_wanted, removed=tray.removed)  # type: ignore[attr-defined]
        stage.window.activateWindow()
        visible(stage, "removeQueuedButton")[0].setFocus()
        for _ in range(30):
            key(stage, Qt.Key.Key_Down)
        key(stage, Qt.Key.Key_Delete)
        key(stage, Qt.Key.Key_End)
        key(stage, Qt.Key.Key_Return)
        key(stage, Qt.Key.Key_Up)
        key(stage, Qt.Key.Key_Delete)
        key(stage, Qt.Key.Key_Home)
        key(stage, Qt.Key.Key_Delete)
        key(stage, Qt.Key.Key_End)
        key(stage, Qt.Key.Key_PageUp)
        visible(stage, "editQueuedButton")[0].setFocus()
        key(stage, Qt.Key.Key_Return)
        rows = len(visible(stage, "removeQueuedButton"))
        assert [entry[1] for entry in heard.seen] == [f"message {number}" for number in (30, 999, 998, 0, 999 - rows)]

    act(scene)


def test_the_wheel_reaches_every_message(act: Act) -> None:
    """I5: the lines take other messages; the last one is the last."""

    async def scene(stage: WindowStage) -> None:
        await opened(stage)
        area = stage.find("queueList")
        here = QPointF(20, 20)
        for _ in range(400):
            turn = QWheelEvent(
                here,
                area.mapToGlobal(here),
                QPoint(),
                QPoint(0, -120),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            )
            QApplication.sendEvent(area, turn)
        assert lines(stage)[-2] == "Next: message 999"

    act(scene)


def test_taking_out_the_last_one_leaves_the_focus_on_the_one_before(act: Act) -> None:
    """ux section 6: the keyboard never loses its place."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        for text in ("one", "two"):
            await stage.send(text)
        stage.window.activateWindow()
        visible(stage, "removeQueuedButton")[1].setFocus()
        key(stage, Qt.Key.Key_Delete)
        await stage.drain()
        assert lines(stage) == ["Next: one"]
        assert stage.window.focusWidget() is visible(stage, "removeQueuedButton")[0]
        key(stage, Qt.Key.Key_Delete)
        await stage.drain()
        assert stage.window.focusWidget() is stage.window.page.composer.editor

    act(scene, [HANG])


def test_messages_can_wait_and_come_and_go(act: Act) -> None:
    """I5: one after the other, until the tray is gone."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        for number in range(20):
            await stage.send(f"message {number}")
        await press(stage, "showAllQueuedButton")
        while visible(stage, "removeQueuedButton"):
            visible(stage, "removeQueuedButton")[0].click()
            await stage.drain()
        assert not stage.find("composerTray").isVisible()

    act(scene, [HANG])


def test_a_huge_message_does_not_hold_the_window_by_its_line(act: Act) -> None:
    """I5: one line shows its beginning, and no more of it is measured."""

    async def scene(stage: WindowStage) -> None:
        stage.find("composerTray").tell("", (waits("word " * 400_000),))
        assert len(lines(stage)[0]) < 1000

    act(scene)


async def a_thousand_wait(stage: WindowStage) -> None:
    """A turn runs, and a thousand messages wait for it."""
    await stage.send("go")
    log, session, now = stage.stage.store.log, stage.conversation.session, stage.clock.utc()
    texts = [Queued(user_message(f"message {number}")) for number in range(1000)]
    # In one transaction: a thousand real ones take as many times the disk's 4 ms.
    await log._database.write(lambda db: [log._insert(db, session.id, session.leaf, text, now) for text in texts])
    await stage.conversation._live._read()
    stage.conversation._look()
    await stage.drain()


def test_stop_gives_a_thousand_back_at_once_and_the_window_goes_on(act: Act, aio: Aio) -> None:
    """D11, design rule 5: one transaction, one change of the tray, and no callback holds the thread for 50 ms."""

    async def scene(stage: WindowStage) -> None:
        await a_thousand_wait(stage)
        changes = Recorder(queue=stage.conversation.queue.changed)
        history = Recorder(history=stage.conversation.history_changed)
        aio.slow.clear()
        await stop(stage)
        text = "\n\n".join(f"message {number}" for number in range(1000))
        assert stage.window.page.composer.text() == text
        assert (await stage.stage.store.drafts.load())[stage.conversation.session_id].text == text
        assert (await stage.stage.history(stage.conversation)).queue == ()
        assert len(changes.seen) == 1
        assert len(history.seen) < 5
        assert [slow.name for slow in aio.slow if slow.cpu_s > SLOW_S] == []

    act(scene, [HANG])
