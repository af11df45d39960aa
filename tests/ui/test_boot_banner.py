"""What the last life of the program left behind is said quietly, with what can be done about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reprise.ui.controls import Button
from support.clock import ManualClock
from support.window import WindowStage, press, texts, visible

pytestmark = pytest.mark.slow_callbacks
HANG = {"hang": True}
HALF = ["one two three", HANG]
DOWN = {"fail": {"kind": "server", "status": 503, "message": "down"}}
Act = Callable[..., None]


def buttons(stage: WindowStage) -> list[str]:
    """What the banner offers, as it stands; empty when there is none."""
    if not stage.window.notices.isVisible():
        return []
    found = [each for each in stage.window.notices.findChildren(Button) if each.isVisible() and each.text()]
    return [each.text() for each in sorted(found, key=lambda each: each.x())]


async def choose(stage: WindowStage, text: str) -> None:
    """Press one of them."""
    (button,) = [each for each in stage.window.notices.findChildren(Button) if each.isVisible() and each.text() == text]
    button.click()
    await stage.drain()


async def closed_in_the_middle(stage: WindowStage) -> None:
    """One life: a reply is on its way when the program closes."""
    await stage.send("go")


async def next_start(stage: WindowStage) -> None:
    """What a start does once the window is filled."""
    stage.window.sessions.tell_interrupted(stage.stage.store.interrupted)
    await stage.drain()


def test_resume_goes_on_from_what_had_arrived(act: Act) -> None:
    """D5, D8, UX 2: at the next start, in the chat it is about; nothing is sent before."""

    async def resumed(stage: WindowStage) -> None:
        await next_start(stage)
        assert buttons(stage) == ["Resume", "Retry", "Show"]
        said = "Reprise ended before a reply was complete. What arrived is here; nothing is sent yet."
        assert stage.window.notices.sentence.text() == said
        assert not stage.conversation.is_stored
        await choose(stage, "Resume")
        assert buttons(stage) == []
        assert await texts(stage) == ["go", "one two three four"]

    act(closed_in_the_middle, HALF)
    act(resumed, [" four"])


def test_retry_asks_from_the_prompt_again_and_what_had_arrived_stays_an_earlier_attempt(act: Act) -> None:
    """D5, D8: nothing the model said is lost by it."""

    async def retried(stage: WindowStage) -> None:
        await next_start(stage)
        await choose(stage, "Retry")
        assert await texts(stage) == ["go", "fine"]
        (earlier,) = stage.find("timeline").item(1).attempts
        assert [part.text for part in earlier.parts] == ["one two three"]

    act(closed_in_the_middle, HALF)
    act(retried, ["fine"])


def test_show_opens_the_chat_and_sends_nothing(act: Act) -> None:
    """D8."""

    async def showed(stage: WindowStage) -> None:
        await next_start(stage)
        await choose(stage, "Show")
        assert await texts(stage) == ["go"]
        assert visible(stage, "pendingCard")
        assert not stage.conversation.is_busy

    act(closed_in_the_middle, HALF)
    act(showed)


def test_where_nothing_had_arrived_there_is_nothing_to_resume(act: Act) -> None:
    """D8: the prompt is there."""

    async def told(stage: WindowStage) -> None:
        await next_start(stage)
        assert buttons(stage) == ["Retry", "Show"]
        said = "Reprise ended before a reply came. Your prompt is here; nothing is sent yet."
        assert stage.window.notices.sentence.text() == said

    act(closed_in_the_middle, [HANG])
    act(told)


def test_a_retry_that_fell_due_meanwhile_asks_first(act: Act) -> None:
    """D8: a scheduled retry whose time passed while the program was closed is never fired unasked."""

    async def waits(stage: WindowStage) -> None:
        await stage.send("go")
        assert stage.conversation.retry_manager.is_counting

    async def due(stage: WindowStage) -> None:
        await next_start(stage)
        assert buttons(stage) == ["Resume", "Retry", "Show"]
        said = "A retry fell due while Reprise was closed. Nothing is sent until you choose."
        assert stage.window.notices.sentence.text() == said
        await choose(stage, "Show")
        assert await texts(stage) == ["go"]

    clock = ManualClock()
    act(waits, ["half", DOWN], clock=clock)
    later = ManualClock(utc=clock.utc().replace(year=clock.utc().year + 1))
    act(due, clock=later)


def test_several_are_said_in_one_line_and_retried_in_a_row(act: Act) -> None:
    """D3, D8: two seconds apart, since they share a provider."""

    async def two(stage: WindowStage) -> None:
        await stage.send("one")
        stage.library.new_chat()
        await stage.send("two")

    async def told(stage: WindowStage) -> None:
        await next_start(stage)
        assert buttons(stage) == ["Resume all", "Retry all", "Show"]
        assert stage.window.notices.sentence.text().startswith("Reprise ended before 2 replies were complete.")
        await choose(stage, "Retry all")
        assert buttons(stage) == []
        assert sorted(row.session.pending for row in stage.library.rows()) == [False, True]
        await stage.clock.advance(2)
        assert [row.session.pending for row in stage.library.rows()] == [False, False]

    act(two, HALF, HALF)
    act(told, ["fine"], ["fine"])


def test_several_are_resumed_in_a_row_each_from_what_had_arrived(act: Act) -> None:
    """D3, D5, D8: two seconds apart; one in which nothing had arrived is asked from its prompt again."""

    async def three(stage: WindowStage) -> None:
        for text in ("one", "two", "three"):
            stage.library.new_chat()
            await stage.send(text)

    async def told(stage: WindowStage) -> None:
        await next_start(stage)
        await choose(stage, "Resume all")
        assert buttons(stage) == []
        for _ in range(2):
            await stage.clock.advance(2)
        read = {}
        for row in stage.library.rows():
            stage.library.open(row.session.id)
            read[row.session.title] = (await texts(stage))[1]
        assert read == {"one": "one two three, go on", "two": "one two three, go on", "three": "fine"}

    act(three, HALF, HALF, [HANG])
    act(told, ["fine"], [", go on"], [", go on"])


def test_the_banner_goes_when_the_turn_is_taken_up_elsewhere(act: Act) -> None:
    """ux section 2: what it says is true as long as it stands."""

    async def told(stage: WindowStage) -> None:
        await next_start(stage)
        stage.library.open(stage.library.rows()[0].session.id)
        await stage.drain()
        assert buttons(stage)
        await press(stage, "retryButton")
        assert buttons(stage) == []

    async def trashed(stage: WindowStage) -> None:
        await stage.send("more")
        stage.conversation.stop()
        await stage.drain()
        stage.window.sessions.tell_interrupted((stage.conversation.session_id,))
        await stage.drain()
        assert buttons(stage)
        stage.library.trash(stage.conversation.session_id)
        await stage.drain()
        assert buttons(stage) == []

    act(closed_in_the_middle, HALF)
    act(told, [HANG])
    act(trashed, [HANG])


def test_it_is_said_at_the_start_after_and_not_for_ever(act: Act) -> None:
    """ux section 2: quiet; what was there to be seen is told by the sidebar alone."""

    async def ignored(stage: WindowStage) -> None:
        await next_start(stage)
        assert buttons(stage)
        await stage.clock.advance(60)
        await stage.send("something else")

    async def silent(stage: WindowStage) -> None:
        await next_start(stage)
        assert buttons(stage) == []
        assert sorted(row.session.pending for row in stage.library.rows()) == [False, True]

    act(closed_in_the_middle, HALF)
    act(ignored, ["fine"])
    act(silent)
