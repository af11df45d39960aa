"""What stands around a turn in the window: fallback, earlier attempts, other chats, policies, reports."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from reprise.bridge.session_row import Mark
from reprise.ui.attempt_details import Details
from reprise.ui.controls import Button, Kind
from reprise.ui.pending_card import Offer, PendingCard
from reprise.ui.words import Sentence
from support.window import LARGE, SMALL, WindowStage, press, stop, texts, visible

pytestmark = pytest.mark.slow_callbacks
LIMITED = {"fail": {"kind": "rate_limit", "status": 429, "message": "slow down", "request_id": "req-7"}}
DOWN = {"fail": {"kind": "server", "status": 503, "message": "down"}}
REFUSED = {"fail": {"kind": "bad_request", "status": 400, "message": "no"}}
HANG = {"hang": True}


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
        assert visible(stage, "toastText")[0].text() == "“go” is in the trash."
        await press(stage, "toastButton")
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
        assert visible(stage, "pendingCard")
        assert not visible(stage, "retryBanner")

    act(scene, ["fine"], [LIMITED])


def test_choosing_a_model_while_a_retry_waits_lets_it_try_at_once(act: Callable[..., None]) -> None:
    """N4: with another model, from the header as well."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        assert visible(stage, "retryBanner")
        stage.window.header.model_chosen.emit(LARGE)
        await stage.drain()
        assert not visible(stage, "retryBanner")
        assert await texts(stage) == ["go", "fine"]

    act(scene, [LIMITED], ["fine"])


def test_what_was_interrupted_is_said_quietly_at_the_next_start(act: Callable[..., None]) -> None:
    """Crash and restart: a quiet banner with Show and Retry, gone with either."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        key = stage.conversation.session_id
        stage.window.sessions.tell_interrupted((key,))
        assert not stage.window.notices.isVisible()  # it is answered: nothing is left to go on with
        await stage.send("again")
        await stop(stage)
        stage.window.sessions.tell_interrupted((key,))
        banner = stage.window.notices
        assert banner.isVisible()
        assert banner.sentence.text().startswith("Reprise ended before a reply came.")
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
        assert await texts(stage) == ["one", "two", "fine"]
        (attempt,) = view.item(0).attempts
        assert [part.text for part in attempt.parts] == ["half an answer"]
        assert view.item(1).attempts == ()

    act(scene, ["half an answer", REFUSED], ["fine"])


def test_an_absurd_wait_still_leaves_a_card_to_act_on(act: Callable[..., None]) -> None:
    """D3: whatever a provider asks for, the window says it and offers Retry."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        (card,) = visible(stage, "pendingCard")
        assert "asks for a wait of" in card.title.text()
        assert visible(stage, "retryButton")
        await press(stage, "waitUntilButton")
        assert visible(stage, "retryBanner")
        await stop(stage)
        assert visible(stage, "pendingCard")

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
        (other,), (retry,) = visible(stage, "otherModelButton"), visible(stage, "retryButton")
        assert (other.kind, retry.kind) == (Kind.PRIMARY, Kind.FRAMED)
        assert other.x() < retry.x()

    act(scene, [{"fail": {"kind": kind, "status": 400, "message": "no"}}])


def test_the_report_is_copied_from_the_card(act: Callable[..., None]) -> None:
    """N9: Copy report stands in Details."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("my secret prompt")
        await press(stage, "detailsButton")
        await press(stage, "copyReportButton")
        report = QGuiApplication.clipboard().text()
        assert "bad_request, status 400" in report
        assert "secret" not in report

    act(scene, [REFUSED])
