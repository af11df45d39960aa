"""The life of a turn in the window: what the card, the notes, the composer and the sidebar offer, and that it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from reprise.bridge.session_row import Mark
from reprise.ui.attempt_details import Details
from reprise.ui.controls import Button, Kind
from reprise.ui.pending_card import Offer, PendingCard
from reprise.ui.tray import Tray
from reprise.ui.words import Sentence
from support.window import LARGE, SMALL, WindowStage

pytestmark = pytest.mark.slow_callbacks
LIMITED = {"fail": {"kind": "rate_limit", "status": 429, "message": "slow down", "request_id": "req-7"}}
DOWN = {"fail": {"kind": "server", "status": 503, "message": "down"}}
REFUSED = {"fail": {"kind": "bad_request", "status": 400, "message": "no"}}
HANG = {"hang": True}


def _shown(stage: WindowStage, name: str) -> list[Any]:
    return [each for each in stage.window.findChildren(QWidget, name) if each.isVisible()]


async def _press(stage: WindowStage, name: str) -> None:
    (button,) = _shown(stage, name)
    button.click()
    await stage.drain()


async def _texts(stage: WindowStage) -> list[str]:
    return [message.text for message in await stage.stage.stored(stage.conversation)]


async def _stop(stage: WindowStage) -> None:
    QTest.keyClick(stage.window.page.composer.editor, Qt.Key.Key_Escape)
    await stage.drain()


def _labels(stage: WindowStage) -> list[str]:
    """What the notes on the timeline say and offer."""
    view = stage.window.page.findChild(QWidget, "timeline")
    notes = [placed.view.item.note for placed in view.scroller.placed]
    return list(dict.fromkeys(note for note in notes if note))


def test_a_stopped_reply_offers_what_is_safe(act: Callable[..., None]) -> None:
    """D6: Retry, Keep partial, Take back; the words that arrived are counted."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        await _stop(stage)
        (card,) = _shown(stage, "pendingCard")
        assert card.title.text() == "Stopped. The 3 words so far are kept."
        for name in ("retryButton", "keepPartialButton", "takeBackButton"):
            assert _shown(stage, name)
        assert not _shown(stage, "otherModelButton")
        await _press(stage, "keepPartialButton")
        assert not _shown(stage, "pendingCard")
        assert await _texts(stage) == ["go", "half an answer"]
        assert "Kept as it was when it ended." in _labels(stage)[0]

    act(scene, ["half an answer", HANG])


def test_take_back_returns_the_prompt_to_the_composer(act: Callable[..., None]) -> None:
    """D6: the prompt leaves the branch and is in the composer, ahead of what was typed meanwhile."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        await _stop(stage)
        stage.window.page.composer.set_text("typed")
        await _press(stage, "takeBackButton")
        assert stage.window.page.composer.text() == "go\n\ntyped"
        assert await _texts(stage) == []
        assert not _shown(stage, "pendingCard")

    act(scene, [HANG])


def test_a_failed_turn_can_be_answered_by_another_model(act: Callable[..., None]) -> None:
    """N4: with another model."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        (button,) = _shown(stage, "otherModelButton")
        button.click()
        entries = [action for action in button.findChildren(QWidget)[0].actions() if "Qwen3" in action.text()]
        assert len(entries) == 1
        stage.window.findChild(QWidget, "pendingCard").model_wanted.emit(LARGE)
        await stage.drain()
        assert await _texts(stage) == ["go", "fine"]
        assert stage.conversation.model == LARGE

    act(scene, [REFUSED], ["fine"])


def test_edit_from_the_card_sends_a_second_version_of_the_prompt(act: Callable[..., None]) -> None:
    """B9, N2: the old prompt stays as a version; what was being typed is there again."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        composer.set_text("a draft")
        await _press(stage, "editPromptButton")
        assert composer.text() == "go"
        assert composer.is_editing
        assert "Editing a prompt" in _shown(stage, "trayText")[0].text()
        composer.set_text("go on")
        composer.button.click()
        await stage.drain()
        assert await _texts(stage) == ["go on", "fine"]
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
        await _press(stage, "cancelEditButton")
        assert composer.text() == ""
        assert await _texts(stage) == ["go", "fine"]
        assert not _shown(stage, "trayText")

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
        assert await _texts(stage) == ["go", "two"]
        assert view.item(1).place == (2, 2)
        commands.action("previousBranch").trigger()
        await stage.drain()
        assert await _texts(stage) == ["go", "one"]
        assert view.item(1).place == (1, 2)
        assert not commands.action("previousBranch").isEnabled()
        assert commands.action("nextBranch").isEnabled()

    act(scene, ["one"], ["two"])


def test_a_regenerate_that_fails_leaves_the_reply_and_says_why(act: Callable[..., None]) -> None:
    """D20: the old reply stays, nothing is pending, and the failure is told."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        stage.window.commands.action("regenerate").trigger()
        await stage.drain()
        assert await _texts(stage) == ["go", "one"]
        assert not _shown(stage, "pendingCard")
        assert _shown(stage, "composerNote")[0].text().startswith("There is no other version.")
        assert not stage.window.commands.action("retry").isEnabled()

    act(scene, ["one"], [REFUSED])


def test_keep_and_continue_are_offered_while_a_retry_waits(act: Callable[..., None]) -> None:
    """D5: both are offered during the wait too, under the dimmed partial."""

    async def scene(stage: WindowStage) -> None:
        view = stage.window.page.findChild(QWidget, "timeline")
        await stage.send("go")
        assert _shown(stage, "retryBanner")
        assert any("[Keep](keep)" in note and "[Continue from here](continue)" in note for note in _labels(stage))
        view.note_link.emit("", "continue")
        await stage.drain()
        assert await _texts(stage) == ["go", "half an answer and the rest"]
        assert not _shown(stage, "retryBanner")

    act(scene, ["half an answer", DOWN], [" and the rest"])


def test_a_cut_reply_can_be_continued_from_its_note(act: Callable[..., None]) -> None:
    """D9: "Cut at the output limit - Continue"; one reply holds both halves."""

    async def scene(stage: WindowStage) -> None:
        view = stage.window.page.findChild(QWidget, "timeline")
        await stage.send("go")
        assert any("Cut at the output limit." in note and "(continue)" in note for note in _labels(stage))
        view.note_link.emit(view.item(1).key, "continue")
        await stage.drain()
        assert await _texts(stage) == ["go", "the first half, the second half"]
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
        assert [each.text() for each in _shown(stage, "trayText")] == ["Next: and then", "After this reply: later"]
        _shown(stage, "removeQueuedButton")[0].click()
        await stage.drain()
        assert [each.text() for each in _shown(stage, "trayText")] == ["After this reply: later"]
        await _stop(stage)
        assert composer.text() == "later"
        assert not _shown(stage, "trayText")

    act(scene, [HANG])


def test_stop_keeps_what_was_queued_ahead_of_what_is_being_typed(act: Callable[..., None]) -> None:
    """D11, I5, F112: Stop returns the queue to the composer, ahead of the draft, joined by blank lines."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        for text in ("one", "two"):
            await stage.send(text)
        composer.set_text("three")
        await _stop(stage)
        assert composer.text() == "one\n\ntwo\n\nthree"

    act(scene, [HANG])


def test_a_queued_message_comes_back_to_be_edited(act: Callable[..., None]) -> None:
    """I5: it can be pulled back into the composer."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        await stage.send("and then")
        await _press(stage, "editQueuedButton")
        assert stage.window.page.composer.text() == "and then"
        assert not _shown(stage, "trayText")

    act(scene, [HANG])


def test_the_fallback_is_named_and_one_click_goes_back(act: Callable[..., None]) -> None:
    """D13, N7, R29: shown on the reply, with the way back to the first model."""

    async def scene(stage: WindowStage) -> None:
        stage.catalog.second = LARGE
        view = stage.window.page.findChild(QWidget, "timeline")
        await stage.send("go")
        for _ in range(3):
            await stage.clock.advance(20)
        note = view.item(1).note
        assert "Answered by the fallback, because Mistral Small 3.2 could not." in note
        assert "[Back to Mistral Small 3.2](back)" in note
        assert stage.window.header.picker.text() == "Qwen3 32B"
        view.note_link.emit(view.item(1).key, "back")
        await stage.drain()
        assert stage.conversation.model == SMALL
        assert "(back)" not in view.item(1).note

    act(scene, [DOWN], [DOWN], [DOWN], [DOWN], ["fine"])


def test_earlier_attempts_are_under_the_reply_with_their_report(act: Callable[..., None]) -> None:
    """D5, N9: how many, what each said, and a report without the prompt."""

    async def scene(stage: WindowStage) -> None:
        view = stage.window.page.findChild(QWidget, "timeline")
        await stage.send("my secret prompt")
        await stage.clock.advance(5)
        item = view.item(1)
        assert len(item.attempts) == 1
        assert "request req-7" in item.attempts[0].note
        action = item.attempts[0].note.rpartition("(")[2].rstrip(")")
        view.note_link.emit(item.key, action)
        report = QGuiApplication.clipboard().text()
        assert "rate_limit, status 429" in report
        assert "req-7" in report
        assert "secret" not in report

    act(scene, [LIMITED], ["fine"])


def test_all_pending_chats_are_retried_from_one_entry(act: Callable[..., None]) -> None:
    """N3: retry of several pending sessions, staggered."""

    async def scene(stage: WindowStage) -> None:
        for text in ("one", "two"):
            stage.window.deeds.new_chat()
            await stage.send(text)
        assert [row.mark for row in stage.library.rows()] == [Mark.PENDING, Mark.PENDING]
        assert stage.window.commands.action("retryAll").isEnabled()
        stage.window.commands.action("retryAll").trigger()
        await stage.drain()
        await stage.clock.advance(3)
        assert [row.session.pending for row in stage.library.rows()] == [False, False]
        assert not stage.window.commands.action("retryAll").isEnabled()

    act(scene, [REFUSED], [REFUSED], ["fine"], ["fine"])


def test_a_chat_in_the_trash_can_be_had_back(act: Callable[..., None]) -> None:
    """UX 3: Move to Trash, with Undo; its turn is ended."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        stage.window.commands.action("trash").trigger()
        await stage.drain()
        assert stage.library.rows() == []
        assert not stage.conversation.is_stored
        assert _shown(stage, "toastText")[0].text() == "“go” is in the trash."
        await _press(stage, "toastButton")
        assert [row.session.title for row in stage.library.rows()] == ["go"]

    act(scene, [HANG])


def test_a_chat_can_have_a_retry_policy_of_its_own(act: Callable[..., None]) -> None:
    """D2: per session, checked in the menu."""

    async def scene(stage: WindowStage) -> None:
        commands = stage.window.commands
        await stage.send("go")
        assert commands.action("policyDefault").isChecked()
        commands.action("policyOff").trigger()
        await stage.drain()
        assert commands.action("policyOff").isChecked()
        await stage.send("again")
        assert _shown(stage, "pendingCard")
        assert not _shown(stage, "retryBanner")

    act(scene, ["fine"], [LIMITED])


def test_choosing_a_model_while_a_retry_waits_lets_it_try_at_once(act: Callable[..., None]) -> None:
    """N4: with another model, from the header as well."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        assert _shown(stage, "retryBanner")
        stage.window.header.model_chosen.emit(LARGE)
        await stage.drain()
        assert not _shown(stage, "retryBanner")
        assert await _texts(stage) == ["go", "fine"]

    act(scene, [LIMITED], ["fine"])


def test_what_was_interrupted_is_said_quietly_at_the_next_start(act: Callable[..., None]) -> None:
    """Crash and restart: a quiet banner with Show and Retry, gone with either."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        key = stage.conversation.session_id
        stage.window.sessions.tell_interrupted((key,))
        assert not stage.window.notices.isVisible()  # it is answered: nothing is left to go on with
        await stage.send("again")
        await _stop(stage)
        stage.window.sessions.tell_interrupted((key,))
        banner = stage.window.notices
        assert banner.isVisible()
        assert banner.sentence.text().startswith("Reprise ended before a reply was complete.")
        buttons = [each for each in banner.findChildren(QWidget) if getattr(each, "text", lambda: "")() == "Show"]
        buttons[0].click()
        assert not banner.isVisible()

    act(scene, ["fine"], [HANG])


def test_what_a_failed_turn_had_said_stays_with_its_prompt_when_another_follows(act: Callable[..., None]) -> None:
    """D5: "n earlier attempts" opens them also where no reply ever came."""

    async def scene(stage: WindowStage) -> None:
        view = stage.window.page.findChild(QWidget, "timeline")
        await stage.send("one")
        await stage.send("two")
        assert await _texts(stage) == ["one", "two", "fine"]
        (attempt,) = view.item(0).attempts
        assert [part.text for part in attempt.parts] == ["half an answer"]
        assert view.item(1).attempts == ()

    act(scene, ["half an answer", REFUSED], ["fine"])


def test_an_absurd_wait_still_leaves_a_card_to_act_on(act: Callable[..., None]) -> None:
    """D3: whatever a provider asks for, the window says it and offers Retry."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        (card,) = _shown(stage, "pendingCard")
        assert "asks for a wait of" in card.title.text()
        assert _shown(stage, "retryButton")
        await _press(stage, "waitUntilButton")
        assert _shown(stage, "retryBanner")
        await _stop(stage)
        assert _shown(stage, "pendingCard")

    later = {"kind": "rate_limit", "status": 429, "message": "later", "retry_after_s": 366 * 86_400}
    act(scene, [{"fail": later}])


def test_a_turn_that_was_interrupted_offers_all_there_is(act: Callable[..., None]) -> None:
    """UX 2: the program's end was not the person's stop: another model and another wording are offered, too."""

    async def scene(stage: WindowStage) -> None:
        offer = Offer(stage.catalog.models()[1:2], can_edit=True, can_keep=True, can_go_on=True)
        card = PendingCard(stage.window.look, Sentence("Closed."), Details(None, "", "", ()), offer=offer)
        found = {button.objectName() for button in card.findChildren(Button)}
        names = {"otherModelButton", "editPromptButton", "takeBackButton", "keepPartialButton", "continueButton"}
        assert names <= found
        card.deleteLater()

    act(scene)


def test_a_running_chat_can_be_stopped_from_the_list(act: Callable[..., None]) -> None:
    """N10: per-session Stop, without opening the chat."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        key = stage.conversation.session_id
        stage.window.deeds.new_chat()
        stage.window.sessions.open_menu(key, stage.window.pos())
        menu = stage.find("sessionMenu")
        (stop,) = [action for action in menu.actions() if action.text() == "Stop"]
        stop.trigger()
        menu.hide()
        await stage.drain()
        assert stage.library.row(key).mark is Mark.PENDING

    act(scene, [HANG])


@pytest.mark.parametrize("kind", ["quota", "context_length", "content_filter"])
def test_where_trying_again_cannot_help_another_model_comes_first(act: Callable[..., None], kind: str) -> None:
    """UX 2, needs you: the first button is the fix."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        (other,), (retry,) = _shown(stage, "otherModelButton"), _shown(stage, "retryButton")
        assert (other.kind, retry.kind) == (Kind.PRIMARY, Kind.FRAMED)
        assert other.x() < retry.x()

    act(scene, [{"fail": {"kind": kind, "status": 400, "message": "no"}}])


def test_the_report_is_copied_from_the_card(act: Callable[..., None]) -> None:
    """N9: Copy report stands in Details."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("my secret prompt")
        await _press(stage, "detailsButton")
        await _press(stage, "copyReportButton")
        report = QGuiApplication.clipboard().text()
        assert "bad_request, status 400" in report
        assert "secret" not in report

    act(scene, [REFUSED])
