"""The retry story in the window: banner, card, Esc and Ctrl+R."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks
LIMITED = {"fail": {"kind": "rate_limit", "status": 429, "message": "slow down"}}
REFUSED = {"fail": {"kind": "auth", "status": 401, "message": "No auth credentials found"}}
DOWN = {"fail": {"kind": "server", "status": 503, "message": "upstream is down"}}
HANG = {"hang": True}


def card(stage: WindowStage) -> Any:
    """The pending card, if one is shown."""
    found = [each for each in stage.window.findChildren(QWidget, "pendingCard") if not each.isHidden()]
    return found[0] if found else None


def test_the_banner_counts_the_seconds_down(act: Callable[..., None]) -> None:
    """F10, R9, R48, N4, ux section 2: plain cause, retry n of N, live seconds."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        banner, text = stage.find("retryBanner"), stage.find("retryBannerText")
        assert banner.isVisible()
        assert text.text() == "Rate limited (429). Retry 1 of 3 in 5 s"
        assert card(stage) is None
        await stage.clock.advance(2)
        assert text.text().endswith("in 3 s")
        stage.find("extendRetryButton").click()
        await stage.drain()
        assert text.text().endswith("in 1 min 3 s")
        stage.find("retryNowButton").click()
        await stage.drain()
        assert not banner.isVisible()
        assert [message.text for message in await stage.stage.stored(stage.conversation)] == ["go", "fine"]

    act(scene, [LIMITED], ["fine"])


def test_esc_cancels_the_wait_and_ctrl_r_completes_the_turn(act: Callable[..., None]) -> None:
    """D7, R9, B3, ux section 3."""

    async def scene(stage: WindowStage) -> None:
        window, retry = stage.window, stage.window.commands.action("retry")
        assert not retry.isEnabled()
        assert "Nothing waits to be retried." in retry.toolTip()
        await stage.send("go")
        assert retry.isEnabled()
        QTest.keyClick(window.page.composer.editor, Qt.Key.Key_Escape)
        await stage.drain()
        assert not stage.find("retryBanner").isVisible()
        assert card(stage) is not None
        assert retry.isEnabled()
        for _ in range(3):  # C4: further Escs change nothing
            QTest.keyClick(window.page.composer.editor, Qt.Key.Key_Escape)
        await stage.drain()
        assert window.isVisible()
        QTest.keyClick(window.page.composer.editor, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
        await stage.drain()
        assert card(stage) is None
        assert not retry.isEnabled()
        assert [message.text for message in await stage.stage.stored(stage.conversation)] == ["go", "fine"]

    act(scene, [LIMITED], ["fine"])


def test_stop_keeps_what_is_there_and_says_so(act: Callable[..., None]) -> None:
    """D5, D6, ux section 2."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Escape)
        await stage.drain()
        assert card(stage).title.text() == "Stopped. The 3 words so far are kept."
        assert stage.window.deeds._view.timeline.has_reply
        stage.find("retryButton").click()
        await stage.drain()
        assert card(stage) is None

    act(scene, ["one two three", HANG], ["fine"])


def test_details_list_the_attempts_with_times(act: Callable[..., None]) -> None:
    """R9, R48, ux section 2: status, the provider's words, attempts."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        await stage.clock.advance(60)
        shown = card(stage)
        assert shown.title.text() == "OpenRouter is still busy after 3 retries."
        stage.find("detailsButton").click()
        details = stage.find("attemptDetails")
        said = [child.accessibleName() for child in details.findChildren(QWidget)]
        assert any("429 Too Many Requests" in text for text in said)
        assert any(text.startswith("4, ") and text.endswith("gave up") for text in said)
        stage.find("detailsButton").click()

    act(scene, *[[LIMITED]] * 4)


@pytest.mark.parametrize("failures", [1, 3])
def test_after_a_cancelled_wait_nothing_says_that_the_program_gave_up(act: Callable[..., None], failures: int) -> None:
    """D6, N19: after the first wait as after the last one there is; the attempt says what ended it."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        for delay in (5, 10)[: failures - 1]:
            await stage.clock.advance(delay)
        QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Escape)
        await stage.drain()
        stage.find("detailsButton").click()
        said = [child.accessibleName() for child in card(stage).findChildren(QWidget)]
        assert any(text.startswith(f"{failures}, ") and text.endswith("wait cancelled") for text in said)
        assert any(text.endswith("You cancelled the wait for the next try.") for text in said)
        assert not any("gave up" in text or "have ended" in text for text in said)

    act(scene, *[[LIMITED]] * failures)


def test_a_refused_key_is_asked_for_inside_the_card(act: Callable[..., None]) -> None:
    """ux section 2: the fix is the first button, and Save and retry ends the trouble."""

    async def scene(stage: WindowStage) -> None:
        keys: list[str] = []
        stage.window.key_entered.connect(keys.append)
        await stage.send("go")
        assert card(stage).title.text() == "OpenRouter did not accept the API key."
        stage.find("enterKeyButton").click()
        field = stage.find("keyField")
        QTest.keyClicks(field, " sk-test ")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await stage.drain()
        assert keys == ["sk-test"]
        assert [message.text for message in await stage.stage.stored(stage.conversation)] == ["go", "fine"]

    act(scene, [REFUSED], ["fine"])


def test_esc_in_the_key_field_brings_the_buttons_back(act: Callable[..., None]) -> None:
    """D7: innermost first."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        stage.find("enterKeyButton").click()
        QTest.keyClick(stage.find("keyField"), Qt.Key.Key_Escape)
        await stage.drain()
        assert card(stage).key_line is None
        assert stage.find("enterKeyButton").isVisible()

    act(scene, [REFUSED])


def test_a_wait_over_the_cap_is_asked_about_with_the_clock_time(act: Callable[..., None]) -> None:
    """D3: nothing waits silently."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        text = card(stage).title.text()
        assert "2 h 37 min" in text
        assert "until" in text
        assert stage.find("retryButton").text() == "Retry now"
        stage.find("waitUntilButton").click()
        await stage.drain()
        assert stage.find("retryBanner").isVisible()
        await stage.clock.jump(9420)
        assert [message.text for message in await stage.stage.stored(stage.conversation)] == ["go", "fine"]

    long = {"fail": {"kind": "rate_limit", "status": 429, "message": "later", "retry_after_s": 9420}}
    act(scene, [long], ["fine"])


def test_waiting_and_silence_are_said_by_the_clock(act: Callable[..., None]) -> None:
    """ux section 2: "waiting for <model>, 7 s" and "no data for 20 s"."""

    async def scene(stage: WindowStage) -> None:
        view = stage.window.deeds._view
        said: list[str | None] = []
        await stage.send("go")
        await stage.clock.advance(7)
        assert view._silence._tick.isActive()
        assert view._silence._tick.interval() == 1000
        view._silence._tick.timeout.emit()
        said.append(view.timeline._stack.live.wait_text)
        await stage.clock.advance(3)
        await stage.clock.advance(21)
        view._silence._tick.timeout.emit()
        said.append(view.timeline._stack.live.wait_text)
        assert said == ["Waiting for Mistral Small 3.2, 7 s", "No data for 21 s. Stop keeps what is here."]
        stage.conversation.stop()
        await stage.drain()
        assert not view._silence._tick.isActive()

    act(scene, [{"wait": 10}, "some words", HANG])


def test_the_partial_stands_dimmed_until_the_next_attempt_speaks(act: Callable[..., None]) -> None:
    """D5."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        timeline = stage.window.deeds._view.timeline
        assert timeline.has_reply
        assert "Cut off after 2 words" in timeline._stack.live.item.note
        await stage.clock.advance(5)
        assert not timeline.has_reply
        assert timeline._stack.items[-1].message.text == "whole reply"

    act(scene, ["half reply", LIMITED], ["whole reply"])


def test_a_pending_turn_is_shown_again_after_a_switch(act: Callable[..., None]) -> None:
    """D8: what is pending comes from the log."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        stage.window.deeds.escape()
        await stage.drain()
        session = stage.conversation.session_id
        stage.library.new_chat()
        await stage.drain()
        assert card(stage) is None
        stage.library.open(session)
        await stage.drain()
        assert card(stage) is not None

    act(scene, [LIMITED])


def test_a_partial_stays_while_later_attempts_say_nothing(act: Callable[..., None]) -> None:
    """D5: only the next attempt's first delta replaces it; the card counts its words."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        for _ in range(3):
            await stage.clock.advance(20)
        shown = card(stage)
        assert shown is not None
        assert "3 words" in shown.accessibleName()
        live = stage.find("timeline")._stack.live
        assert live is not None
        assert not live.is_empty

    act(scene, ["Three words arrived", LIMITED], [LIMITED], [LIMITED], [LIMITED])


def test_a_partial_stays_when_its_chat_is_opened_while_the_next_attempt_is_silent(act: Callable[..., None]) -> None:
    """D5: only the first delta replaces it; going to another chat and back does not."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        await stage.clock.advance(5)
        session = stage.conversation.session_id
        stage.library.new_chat()
        await stage.drain()
        stage.library.open(session)
        await stage.drain()
        live = stage.find("timeline")._stack.live
        assert live is not None
        assert live.text == "Three words arrived"
        assert live.failed
        stage.window.deeds.escape()
        await stage.drain()
        assert stage.find("timeline")._stack.live is live

    act(scene, ["Three words arrived", LIMITED], [HANG])


def test_without_chats_the_sidebar_keeps_its_rows_at_the_ends(act: Callable[..., None]) -> None:
    async def scene(stage: WindowStage) -> None:
        sidebar = stage.window.sidebar
        assert sidebar.new_chat.y() < 20
        assert sidebar.settings.geometry().bottom() > sidebar.height() - 20

    act(scene)


def test_a_new_turn_clears_the_older_card_and_banner(act: Callable[..., None]) -> None:
    """D20: neither a card behind a failure nor a banner of a countdown outlives the message that follows it."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        assert card(stage) is not None
        await stage.send("and now")
        assert card(stage) is None
        assert not stage.find("retryBanner").isVisible()
        await stage.clock.advance(1)
        assert stage.find("retryBanner").isVisible()
        stage.window.deeds.escape()
        await stage.drain()
        assert card(stage) is not None
        await stage.send("third")
        assert card(stage) is None
        assert not stage.find("retryBanner").isVisible()

    down = {"fail": {"kind": "server", "status": 503, "message": "down"}}
    act(scene, [REFUSED], [{"wait": 1}, down], ["fine", HANG])


def test_details_say_why_it_is_or_is_not_tried_again(act: Callable[..., None]) -> None:
    """N19: beside the status and the provider's words."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        stage.find("detailsButton").click()
        said = [child.accessibleName() for child in stage.find("attemptDetails").findChildren(QWidget)]
        assert "Again: Not by itself: trying again would end the same way." in said

    act(scene, [REFUSED])


def test_a_chat_behind_another_says_so_in_the_banner_and_in_the_list(act: Callable[..., None]) -> None:
    """N6: and once the provider answers the other chat, this one counts down or goes on."""

    async def scene(stage: WindowStage) -> None:
        made = []
        for text in ("first", "second", "third"):
            stage.library.new_chat()
            await stage.send(text)
            made.append(stage.conversation.session_id)
            await stage.clock.advance(1)
        await stage.clock.advance(4)
        banner, rows = stage.find("retryBannerText"), stage.window.sidebar.list.model()

        def said() -> list[str]:
            return [rows.data(rows.index_of(each), Qt.ItemDataRole.AccessibleTextRole) for each in made]

        assert banner.text() == "OpenRouter does not answer. Another chat is trying; this one goes on after it."
        assert not stage.find("extendRetryButton").isVisible()
        behind = "waits for another chat's retry"
        assert said() == ["first, is being answered", f"second, {behind}", f"third, {behind}"]
        await stage.clock.advance(3)
        assert banner.text() == "Waiting for its turn. Goes on in 2 s"
        assert said() == ["first, unread", "second, unread", "third, retries in 2 seconds"]

    act(scene, [DOWN], [DOWN], [DOWN], [{"wait": 5}, "here"], ["here"], ["here"], delays=(5.0,) * 3)
