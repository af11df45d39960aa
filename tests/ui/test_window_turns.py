"""The life of a turn in the window: what the card, the notes, the composer and the sidebar offer, and that it works."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from reprise.ui.tray import Tray
from support.window import LARGE, WindowStage, press, stop, texts, visible

pytestmark = pytest.mark.slow_callbacks
LIMITED = {"fail": {"kind": "rate_limit", "status": 429, "message": "slow down", "request_id": "req-7"}}
DOWN = {"fail": {"kind": "server", "status": 503, "message": "down"}}
REFUSED = {"fail": {"kind": "bad_request", "status": 400, "message": "no"}}
HANG = {"hang": True}


def _labels(stage: WindowStage) -> list[str]:
    """What the notes on the timeline say and offer."""
    view = stage.window.page.findChild(QWidget, "timeline")
    notes = [placed.view.item.note for placed in view.scroller.placed]
    return list(dict.fromkeys(note for note in notes if note))


def test_a_stopped_reply_offers_what_is_safe(act: Callable[..., None]) -> None:
    """D6: Retry, Keep partial, Take back; the words that arrived are counted."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        await stop(stage)
        (card,) = visible(stage, "pendingCard")
        assert card.title.text() == "Stopped. The 3 words so far are kept."
        for name in ("retryButton", "keepPartialButton", "takeBackButton"):
            assert visible(stage, name)
        assert not visible(stage, "otherModelButton")
        await press(stage, "keepPartialButton")
        assert not visible(stage, "pendingCard")
        assert await texts(stage) == ["go", "half an answer"]
        assert "Kept as it was when it ended." in _labels(stage)[0]

    act(scene, ["half an answer", HANG])


def test_take_back_returns_the_prompt_to_the_composer(act: Callable[..., None]) -> None:
    """D6: the prompt leaves the branch and is in the composer, ahead of what was typed meanwhile."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        await stop(stage)
        stage.window.page.composer.set_text("typed")
        await press(stage, "takeBackButton")
        assert stage.window.page.composer.text() == "go\n\ntyped"
        assert await texts(stage) == []
        assert not visible(stage, "pendingCard")

    act(scene, [HANG])


def test_a_failed_turn_can_be_answered_by_another_model(act: Callable[..., None]) -> None:
    """N4: with another model."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        (button,) = visible(stage, "otherModelButton")
        button.click()
        entries = [action for action in button.findChildren(QWidget)[0].actions() if "Qwen3" in action.text()]
        assert len(entries) == 1
        stage.window.findChild(QWidget, "pendingCard").model_wanted.emit(LARGE)
        await stage.drain()
        assert await texts(stage) == ["go", "fine"]
        assert stage.conversation.model == LARGE

    act(scene, [REFUSED], ["fine"])


def test_edit_from_the_card_sends_a_second_version_of_the_prompt(act: Callable[..., None]) -> None:
    """B9, N2: the old prompt stays as a version; what was being typed is there again."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        composer.set_text("a draft")
        await press(stage, "editPromptButton")
        assert composer.text() == "go"
        assert composer.is_editing
        assert "Editing a prompt" in visible(stage, "trayText")[0].text()
        composer.set_text("go on")
        composer.button.click()
        await stage.drain()
        assert await texts(stage) == ["go on", "fine"]
        assert composer.text() == "a draft"
        assert not composer.is_editing
        assert not stage.window.findChild(Tray, "composerTray").isVisible()

    act(scene, [REFUSED], ["fine"])


def test_up_in_an_empty_composer_edits_the_last_prompt_and_the_cross_gives_it_up(act: Callable[..., None]) -> None:
    """UX 3: Edit Last Prompt."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        QTest.keyClick(composer.editor, Qt.Key.Key_Up)
        await stage.drain()
        assert composer.text() == "go"
        await press(stage, "cancelEditButton")
        assert composer.text() == ""
        assert await texts(stage) == ["go", "fine"]
        assert not visible(stage, "trayText")

    act(scene, ["fine"])


def test_regenerate_makes_a_second_version_and_alt_left_goes_back(act: Callable[..., None]) -> None:
    """D20, N1: Ctrl+Shift+R, 2/2, Alt+Left, 1/2."""

    async def scene(stage: WindowStage) -> None:
        commands = stage.window.commands
        view = stage.window.page.findChild(QWidget, "timeline")
        await stage.send("go")
        assert not commands.action("previousBranch").isEnabled()
        commands.action("regenerate").trigger()
        await stage.drain()
        assert await texts(stage) == ["go", "two"]
        assert view.item(1).place == (2, 2)
        commands.action("previousBranch").trigger()
        await stage.drain()
        assert await texts(stage) == ["go", "one"]
        assert view.item(1).place == (1, 2)
        assert not commands.action("previousBranch").isEnabled()
        assert commands.action("nextBranch").isEnabled()

    act(scene, ["one"], ["two"])


def test_a_version_that_is_pending_is_shown_with_what_was_said_under_it(act: Callable[..., None]) -> None:
    """N1, D5: the partial is the branch's, as the card is."""

    async def scene(stage: WindowStage) -> None:
        view = stage.window.deeds._view
        await stage.send("go")
        view.edit_last()
        await stage.send("go on")
        assert not view.timeline.has_reply
        stage.conversation.step_branch(stage.conversation.history.branch[0].id, -1)
        await stage.drain()
        live = view.timeline._stack.live
        assert live is not None
        assert live.failed
        assert live.text == "half"
        stage.conversation.step_branch(stage.conversation.history.branch[0].id, 1)
        await stage.drain()
        assert not view.timeline.has_reply

    act(scene, ["half", REFUSED], ["fine"])


def test_a_regenerate_that_fails_leaves_the_reply_and_says_why(act: Callable[..., None]) -> None:
    """D20: the old reply stays, nothing is pending, and the failure is told."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        stage.window.commands.action("regenerate").trigger()
        await stage.drain()
        assert await texts(stage) == ["go", "one"]
        assert not visible(stage, "pendingCard")
        assert visible(stage, "composerNote")[0].text().startswith("There is no other version.")
        assert not stage.window.commands.action("retry").isEnabled()

    act(scene, ["one"], [REFUSED])


def test_keep_and_continue_are_offered_while_a_retry_waits(act: Callable[..., None]) -> None:
    """D5: both are offered during the wait too, under the dimmed partial."""

    async def scene(stage: WindowStage) -> None:
        view = stage.window.page.findChild(QWidget, "timeline")
        await stage.send("go")
        assert visible(stage, "retryBanner")
        assert any("[Keep](keep)" in note and "[Continue from here](continue)" in note for note in _labels(stage))
        view.note_link.emit("", "continue")
        await stage.drain()
        assert await texts(stage) == ["go", "half an answer and the rest"]
        assert not visible(stage, "retryBanner")

    act(scene, ["half an answer", DOWN], [" and the rest"])


def test_a_cut_reply_can_be_continued_from_its_note(act: Callable[..., None]) -> None:
    """D9: "Cut at the output limit - Continue"; one reply holds both halves."""

    async def scene(stage: WindowStage) -> None:
        view = stage.window.page.findChild(QWidget, "timeline")
        await stage.send("go")
        assert any("Cut at the output limit." in note and "(continue)" in note for note in _labels(stage))
        view.note_link.emit(view.item(1).key, "continue")
        await stage.drain()
        assert await texts(stage) == ["go", "the first half, the second half"]
        assert view.item(1).place is None

    act(scene, ["the first half", {"finish": "length"}], [", the second half"])


def test_messages_sent_meanwhile_are_listed_and_delivered(act: Callable[..., None]) -> None:
    """I4, I5: Enter steers, Alt+Enter follows up; each can be taken off."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        await stage.send("and then")
        assert composer.text() == ""
        composer.set_text("later")
        QTest.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
        await stage.drain()
        assert [each.text() for each in visible(stage, "trayText")] == ["Next: and then", "After this reply: later"]
        visible(stage, "removeQueuedButton")[0].click()
        await stage.drain()
        assert [each.text() for each in visible(stage, "trayText")] == ["After this reply: later"]
        await stop(stage)
        assert composer.text() == "later"
        assert not visible(stage, "trayText")

    act(scene, [HANG])


def test_stop_keeps_what_was_queued_ahead_of_what_is_being_typed(act: Callable[..., None]) -> None:
    """D11, I5, F112: Stop returns the queue to the composer, ahead of the draft, joined by blank lines."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        for text in ("one", "two"):
            await stage.send(text)
        composer.set_text("three")
        await stop(stage)
        assert composer.text() == "one\n\ntwo\n\nthree"

    act(scene, [HANG])
