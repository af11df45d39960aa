"""A person is faster than the disk: second presses, and further keys while something is being stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from reprise.domain.sessions import Entry
from support.window import WindowStage, texts, visible

pytestmark = pytest.mark.slow_callbacks
REFUSED = {"fail": {"kind": "bad_request", "status": 400, "message": "no"}}


@pytest.mark.parametrize("again", ["the same prompt", "another prompt", "the command"])
def test_an_edit_that_is_not_finished_is_never_overwritten(act: Callable[..., None], again: str) -> None:
    """B9: never overwrite text being typed."""

    async def scene(stage: WindowStage) -> None:
        composer, view = stage.window.page.composer, stage.window.deeds._view
        await stage.send("one")
        await stage.send("two")
        first, last = (entry.id for entry in stage.conversation.history.branch[::2])
        view.edit(last)
        composer.set_text("two, long and careful")
        if again == "the command":
            stage.window.commands.action("editLast").trigger()
        else:
            view.edit(last if again == "the same prompt" else first)
        await stage.drain()
        assert composer.text() == "two, long and careful"
        composer.button.click()
        await stage.drain()
        assert (await texts(stage))[2] == "two, long and careful"

    act(scene, ["fine"], ["fine"], ["fine"])


def test_what_is_typed_on_while_an_edit_is_stored_is_the_next_text(act: Callable[..., None]) -> None:
    """B9: the edit ends with what was sent; nothing typed is lost, and the composer is free."""

    async def scene(stage: WindowStage) -> None:
        composer = stage.window.page.composer
        await stage.send("go")
        stage.window.deeds._view.edit_last()
        composer.set_text("go on")
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
        QTest.keyClicks(composer.editor, "!")
        await stage.drain()
        assert await texts(stage) == ["go on", "fine"]
        assert not composer.is_editing
        assert composer.text() == "go on!"

    act(scene, ["fine"], ["fine"])


def test_taking_a_prompt_back_twice_gives_it_back_once(act: Callable[..., None]) -> None:
    """D6: the second press comes before the first is on disk."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        (button,) = visible(stage, "takeBackButton")
        button.click()
        button.click()
        await stage.drain()
        assert stage.window.page.composer.text() == "go"
        await stage.send("go")
        (button,) = visible(stage, "takeBackButton")
        button.click()
        await stage.drain()
        assert stage.window.page.composer.text() == "go"

    act(scene, [REFUSED], [REFUSED])


def test_a_fork_of_a_chat_that_is_still_read_has_all_of_it(act: Callable[..., None]) -> None:
    """B11: what is copied is what is stored, not what is shown already."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        key = stage.conversation.session_id
        stage.window.deeds.new_chat()
        stage.library._live.pop(key)
        stage.library.open(key)
        stage.window.turns.fork()
        await stage.drain()
        assert stage.conversation.session_id != key
        assert await texts(stage) == ["go", "fine"]

    act(scene, ["fine"])


def test_a_chat_that_is_opened_as_its_reply_gets_stored_shows_it_once(act: Callable[..., None]) -> None:
    """D5: the log has the reply before anybody is told of it."""

    async def scene(stage: WindowStage) -> None:
        view, live = stage.window.deeds._view, stage.conversation._live
        finish_round = live.finish_round

        async def finish_and_open(*arguments: Any, **options: Any) -> Entry:
            entry = await finish_round(*arguments, **options)
            view.show(stage.conversation)
            return entry

        live.finish_round = finish_and_open  # type: ignore[method-assign]
        await stage.send("go")
        assert [item.message.text for item in view.timeline.scroller.stack.items] == ["go", "fine"]
        assert not view.timeline.has_reply

    act(scene, ["fine"])


def test_a_chat_that_is_opened_as_its_attempt_fails_shows_what_it_said(act: Callable[..., None]) -> None:
    """D5: dimmed under the prompt, as if it had been shown all the time."""

    async def scene(stage: WindowStage) -> None:
        view, live = stage.window.deeds._view, stage.conversation._live
        fail_attempt = live.fail_attempt

        async def fail_and_open(*arguments: Any, **options: Any) -> Entry:
            entry = await fail_attempt(*arguments, **options)
            view.show(stage.conversation)
            return entry

        live.fail_attempt = fail_and_open  # type: ignore[method-assign]
        await stage.send("go")
        reply = view.timeline.scroller.stack.live
        assert reply is not None
        assert reply.failed
        assert reply.text == "half"

    act(scene, ["half", REFUSED])
