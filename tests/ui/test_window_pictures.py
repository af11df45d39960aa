"""The window in each of its states, as a picture in each scheme, with what every picture must hold.

``REPRISE_PICTURES=FOLDER pytest tests/ui/test_window_pictures.py`` keeps them: ``FOLDER/pending-dark.png`` and so on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from reprise.ui.theme import Scheme
from support.clock import ManualClock
from support.pictures import (
    area,
    cut_off,
    cut_words,
    off_edge,
    overlapping,
    pale_words,
    settle,
    shown,
    small_targets,
    take,
)
from support.scenes import (
    CARD,
    FRAME,
    HALF,
    HANG,
    LEAD,
    REPLY,
    STATES,
    WRITING,
    State,
    asked_again,
    conversation,
    settings_retry,
    sidebar,
)
from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks
PAGE = "https://openrouter.ai/settings/credits"
TOO_LONG = {"fail": {"kind": "context_length", "status": 400, "message": "maximum context length is 8192 tokens"}}
UNPAID = {"fail": {"kind": "quota", "status": 402, "message": "Insufficient credits"}}
SHORT = "Inside a quoted field a line break is data."


async def too_long(stage: WindowStage) -> None:
    """The chat became too long for its model."""
    await asked_again(stage)
    await stage.send("And what if the file is empty?")


async def shortened(stage: WindowStage) -> None:
    """Its first messages are not sent any more."""
    await too_long(stage)
    stage.find("shortenMenu", QMenu).actions()[0].trigger()


async def unpaid(stage: WindowStage) -> None:
    """The account is empty, and its page is known."""
    models = tuple(replace(info, billing_page=PAGE) for info in stage.catalog.models())
    stage.catalog.models = lambda: models
    await asked_again(stage)


async def left_behind(stage: WindowStage) -> None:
    """Several replies were not complete when the program ended."""
    for text in ("Explain lifetimes to a C programmer", "Trip to Lyon in October"):
        stage.library.new_chat()
        await stage.send(text)
        stage.conversation.stop()
        await stage.drain()
    stage.window.sessions.tell_interrupted(tuple(row.session.id for row in stage.library.rows()))


async def settings_providers(stage: WindowStage) -> None:
    """The end of the Retry page; one provider has a schedule of its own."""
    await settings_retry(stage)
    stage.preferences.set_value("retry.per_provider", {"openrouter": "exponential"})
    await settle(stage)
    page = stage.window.deeds._settings.retry_page
    page.parentWidget().parentWidget().ensureWidgetVisible(page.rows[-1])


async def settings_model(stage: WindowStage) -> None:
    """Settings at their first page."""
    await conversation(stage)
    stage.window.commands.action("settings").trigger()


def opened(command: str, typed: str = "") -> Callable[[WindowStage], Coroutine[Any, Any, None]]:
    """What a command opens over a conversation; `typed` goes into it."""

    async def scene(stage: WindowStage) -> None:
        await conversation(stage)
        stage.window.commands.action(command).trigger()
        await stage.drain()
        if typed:
            QTest.keyClicks(stage.find("paletteField"), typed)

    return scene


async def sidebar_over(stage: WindowStage) -> None:
    """The list of chats, over the page where there is no room beside it."""
    await sidebar(stage)
    stage.window.toggle_sidebar()


HELD = next(state for state in STATES if state.name == "sidebar")
FURTHER = (
    State("too-long", too_long, ([LEAD], [SHORT], [TOO_LONG]), (*FRAME, *WRITING, *CARD, "shortenButton")),
    State("shortened", shortened, ([LEAD], [SHORT], [TOO_LONG], [HALF, HANG]), (*FRAME, *WRITING, "timeline")),
    State("unpaid", unpaid, ([LEAD], [UNPAID]), (*FRAME, *WRITING, *CARD, "billingButton")),
    State("left-behind", left_behind, ([HALF, HANG], [HALF, HANG]), (*FRAME, *WRITING, *CARD, "bootBanner")),
    State("settings-providers", settings_providers, ([REPLY],), ("settingsDialog",)),
    State("settings-model", settings_model, ([REPLY],), ("settingsDialog",)),
    State("palette", opened("palette", "retry"), ([REPLY],), ("palette", "paletteField")),
    State("shortcuts", opened("shortcuts"), ([REPLY],), ("shortcutsSheet",)),
)
NARROW = tuple(
    state
    for state in (*STATES, *FURTHER, replace(HELD, name="sidebar-over", scene=sidebar_over))
    if state.size[0] > 720 and state.zoom == 1
)
"""The states of the wide window at 100 %: each must be whole in a narrow one, too."""


def keep_at(tmp_path: Path) -> Path:
    """Where the pictures go."""
    return Path(os.environ.get("REPRISE_PICTURES", tmp_path))


def run(act: Callable[..., None], state: State, scene: Callable[[WindowStage], Coroutine[Any, Any, None]]) -> None:
    """Let a scene play in the state's world."""
    clock = ManualClock(utc=datetime(2026, 1, 8, 12, 0, tzinfo=UTC))
    act(scene, *state.attempts, clock=clock, **dict(state.options))


@pytest.mark.usefixtures("stillness")
@pytest.mark.parametrize("state", (*STATES, *FURTHER), ids=lambda state: state.name)
def test_a_state_s_pictures(act: Callable[..., None], tmp_path: Path, state: State) -> None:
    """ux sections 1, 2 and 6, tokens sections 2 to 6: all of it is there, in the window, whole and readable."""

    async def scene(stage: WindowStage) -> None:
        window = stage.window
        window.resize(*state.size)
        window.look.set_zoom(state.zoom)
        await state.scene(stage)
        for scheme in Scheme:
            window.look.choose_scheme(scheme)
            await settle(stage)
            image = take(stage, keep_at(tmp_path) / f"{state.name}-{scheme}.png")
            widgets = [shown(stage, name) for name in state.shows]
            outside = [each.objectName() for each in widgets if not window.rect().contains(area(each))]
            assert (scheme, outside) == (scheme, [])
            assert (scheme, overlapping(widgets)) == (scheme, [])
            assert (scheme, cut_words(stage)) == (scheme, [])
            assert (scheme, cut_off(stage)) == (scheme, [])
            assert (scheme, small_targets(stage)) == (scheme, [])
            assert (scheme, pale_words(stage, image)) == (scheme, [])
            assert (scheme, off_edge(stage)) == (scheme, [])

    run(act, state, scene)


@pytest.mark.usefixtures("stillness")
@pytest.mark.parametrize(("width", "zoom"), [(360, 1.0), (560, 2.0)], ids=["360", "560-200"])
@pytest.mark.parametrize("state", NARROW, ids=lambda state: state.name)
def test_a_state_is_whole_in_a_narrow_window(
    act: Callable[..., None], tmp_path: Path, state: State, width: int, zoom: float
) -> None:
    """ux sections 1 and 6: nothing is cut off at 360 pixels, and at twice the size in the least there is then."""

    async def scene(stage: WindowStage) -> None:
        window = stage.window
        window.resize(width, 760)
        window.look.set_zoom(zoom)
        await state.scene(stage)
        assert window.width() == width
        for scheme in Scheme:
            window.look.choose_scheme(scheme)
            await settle(stage)
            take(stage, keep_at(tmp_path) / f"{state.name}-{width}-{scheme}.png")
            assert (scheme, cut_words(stage)) == (scheme, [])
            assert (scheme, cut_off(stage)) == (scheme, [])
            assert (scheme, small_targets(stage)) == (scheme, [])
            assert (scheme, off_edge(stage)) == (scheme, [])

    run(act, state, scene)
