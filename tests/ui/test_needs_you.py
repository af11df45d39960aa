"""The pending card where trying again cannot help: its first button is what mends the trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMenu, QWidget

from reprise.ui.controls import Button, Kind
from support.window import WindowStage, press, texts, visible

pytestmark = pytest.mark.slow_callbacks
PAGE = "https://openrouter.ai/settings/credits"
EMPTY = {"fail": {"kind": "quota", "status": 402, "message": "Pay at https://pay.example.org now"}}
TOO_LONG = {"fail": {"kind": "context_length", "status": 400, "message": "maximum context length is 8192 tokens"}}
HANG = {"hang": True}


def buttons(stage: WindowStage) -> list[tuple[str, Kind]]:
    """The card's buttons as they stand, but Details."""
    (card,) = visible(stage, "pendingCard")
    found = [each for each in card.findChildren(Button) if each.isVisible() and each.objectName() != "detailsButton"]
    return [(each.text(), each.kind) for each in sorted(found, key=lambda each: (each.y(), each.x()))]


def entries(stage: WindowStage) -> list[str]:
    """What the button for a shorter request offers, with about how much that is."""
    return [action.text() for action in stage.find("shortenMenu", QMenu).actions()]


class Desktop(QObject):
    """Takes the addresses that the desktop would open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def take(self, address: QUrl) -> None:
        self.opened.append(address.toString())


@pytest.fixture
def desktop(qapp: QWidget) -> Iterator[Desktop]:
    """The desktop, which opens nothing."""
    taker = Desktop()
    QDesktopServices.setUrlHandler("https", taker, "take")
    yield taker
    QDesktopServices.unsetUrlHandler("https")


def test_an_empty_account_has_its_billing_page_first(
    act: Callable[..., None], desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UX 2: from our own data, never an address that the provider's reply holds; the turn stays pending."""

    async def scene(stage: WindowStage) -> None:
        models = [replace(info, billing_page=PAGE) for info in stage.catalog.models()]
        monkeypatch.setattr(stage.catalog, "models", lambda: tuple(models))
        await stage.send("go")
        assert buttons(stage)[:3] == [
            ("Open billing page", Kind.PRIMARY), ("Retry", Kind.FRAMED), ("Other model", Kind.FRAMED)
        ]  # fmt: skip
        await press(stage, "billingButton")
        assert desktop.opened == [PAGE]
        assert visible(stage, "pendingCard")
        await press(stage, "retryButton")
        assert await texts(stage) == ["go", "fine"]

    act(scene, [EMPTY], ["fine"])


def test_without_a_known_page_an_empty_account_s_first_button_is_another_model(act: Callable[..., None]) -> None:
    """UX 2."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        assert buttons(stage)[0] == ("Other model", Kind.PRIMARY)
        assert not visible(stage, "billingButton")

    act(scene, [EMPTY])


def test_a_chat_that_is_too_long_is_shortened_in_its_card(act: Callable[..., None]) -> None:
    """UX 2, N4: what would be sent and about how much; then it goes on at once, and the timeline says what is left."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("First prompt " * 40)
        await stage.send("and more")
        assert buttons(stage)[0] == ("Shorten context…", Kind.PRIMARY)
        assert entries(stage) == ["This prompt alone\tabout 2 tokens"]
        stage.find("shortenMenu", QMenu).actions()[0].trigger()
        await stage.drain()
        assert not visible(stage, "pendingCard")
        assert await texts(stage) == ["First prompt " * 40, "one", "and more", "two"]
        timeline = stage.find("timeline")
        notes = [timeline.item(place).note for place in range(4)]
        said = "The 2 messages up to here are not sent any more. [Send all again](send-all)"
        assert notes == ["", said, "", ""]

    act(scene, ["one"], [TOO_LONG], ["two"])


def test_the_notice_s_one_click_sends_all_again(act: Callable[..., None]) -> None:
    """UX 2: the notice goes with it, also while a turn runs; so does the command, which says why it cannot."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("first")
        await stage.send("second")
        command = stage.window.commands.action("sendAll")
        assert not command.isEnabled()
        assert "All messages of this chat are sent already." in command.toolTip()
        stage.find("shortenMenu", QMenu).actions()[0].trigger()
        await stage.drain()
        assert stage.conversation.is_busy
        assert command.isEnabled()
        timeline = stage.find("timeline")
        timeline.note_link.emit(timeline.item(1).key, "send-all")
        assert timeline.item(1).note == ""
        assert not command.isEnabled()
        stage.conversation.stop()
        await stage.drain()
        assert (timeline.item(1).note, stage.conversation.left_out) == ("", 0)

    act(scene, ["one"], [TOO_LONG], [HANG])


def test_a_first_prompt_that_is_too_long_has_nothing_to_leave_out(act: Callable[..., None]) -> None:
    """UX 2: then another model is what mends it."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        assert buttons(stage)[0] == ("Other model", Kind.PRIMARY)
        assert not visible(stage, "shortenButton")

    act(scene, [TOO_LONG])
