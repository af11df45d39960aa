"""What a retry schedule comes to, said wherever one is chosen: for all providers, for one, for one chat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtWidgets import QMenu

from reprise.domain.messages import ModelRef
from reprise.domain.models import ModelInfo
from reprise.domain.retry import PolicyName, RetryPolicy, policy
from reprise.ui.schedules import preview_of, sum_of
from support.window import WindowStage

pytestmark = pytest.mark.slow_callbacks
SPARE = ModelInfo(ModelRef("spare", "large"), "Large", "Spare server")


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (policy(PolicyName.STEADY), "5, 10, 15 … 80 s: 10 retries over 6 min 20 s"),
        (policy(PolicyName.EXPONENTIAL, max_retries=4), "1, 2, 4, 8 s: 4 retries over 15 s"),
        (policy(PolicyName.STEADY, max_retries=1), "5 s: 1 retry over 5 s"),
        (RetryPolicy((30.0, 90.0, 120.0)), "30 s, 1 min 30 s, 2 min: 3 retries over 4 min"),
        (policy(PolicyName.OFF), "No retries by itself"),
    ],
)
def test_a_schedule_is_previewed_in_one_line(shown: RetryPolicy, line: str) -> None:
    """D2: every wait, or the first and the last of many, and their sum."""
    assert preview_of(shown) == line


def test_a_schedule_that_may_be_shorter_says_at_most() -> None:
    """D2: jitter only ever shortens a wait."""
    assert sum_of(policy(PolicyName.STEADY, jitter=True)) == "10 retries over at most 6 min 20 s"


def retry_page(stage: WindowStage) -> Any:
    """The open Retry page."""
    stage.window.commands.action("settings").trigger()
    return stage.find("settingsDialog").retry_page


def own_rows(page: Any) -> list[tuple[str, str, str]]:
    """The rows of single providers, as they stand: name, schedule, what is said beside it."""
    controls = {shown.choice: shown for shown in page._own.values()}
    placed = [page.column.itemAt(place).widget() for place in range(page.column.count())]
    rows = [row for row in placed if row is not None and getattr(row, "control", None) in controls]
    return [(row.label.text(), row.control.text(), row.explanation.text()) for row in rows]


def test_a_provider_s_own_schedule_is_previewed_beside_it(act: Callable[..., None]) -> None:
    """D2: a provider with a schedule of its own has a preview of its own, true to the numbers above."""

    async def scene(stage: WindowStage) -> None:
        page = retry_page(stage)
        alike = ("OpenRouter", "As above", "the schedule for this provider")
        assert own_rows(page) == [alike, ("Built in", "As above", "the schedule for this provider")]
        page._own["openrouter"].choice._choose("exponential")
        await stage.drain()
        assert own_rows(page)[0] == ("OpenRouter", "Exponential", "1, 2, 4 … 16 s: 5 retries over 31 s")
        page.retries.setValue(3)
        await stage.drain()
        assert own_rows(page)[0][2] == "1, 2, 4 s: 3 retries over 7 s"
        page._own["openrouter"].choice._choose("")
        await stage.drain()
        assert own_rows(page)[0] == alike
        assert stage.preferences.value("retry.per_provider") == {}

    act(scene)


def test_the_rows_of_providers_follow_the_catalogue(act: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """D2: a provider that is added, renamed or removed in Settings is so on the open page at once."""

    async def scene(stage: WindowStage) -> None:
        models = list(stage.catalog.models())
        monkeypatch.setattr(stage.catalog, "models", lambda: tuple(models))
        page = retry_page(stage)
        page._own["openrouter"].choice._choose("off")
        await stage.drain()

        async def change(*now: ModelInfo) -> list[tuple[str, str]]:
            models[:] = now
            stage.preferences.set_value("provider.url", f"http://localhost:{len(now)}")
            await stage.drain()
            assert all(row.control.accessibleName().startswith(row.label.text()) for row in page.rows[-len(now) :])
            return [row[:2] for row in own_rows(page)]

        first, _, built_in = models
        kept = ("OpenRouter", "Off")
        assert await change(first, SPARE, built_in) == [kept, ("Spare server", "As above"), ("Built in", "As above")]
        assert await change(first, replace(SPARE, provider_label="Spare"), built_in) == [
            kept, ("Spare", "As above"), ("Built in", "As above")
        ]  # fmt: skip
        assert await change(first, built_in) == [kept, ("Built in", "As above")]
        page._own["builtin"].choice._choose("steady")
        await stage.drain()
        assert stage.preferences.value("retry.per_provider") == {"openrouter": "off", "builtin": "steady"}

    act(scene)


def test_each_policy_of_a_chat_says_what_it_comes_to(act: Callable[..., None]) -> None:
    """D2: count and sum beside each entry of the menu, and in the palette; the first is that of the settings."""

    async def scene(stage: WindowStage) -> None:
        await stage.send("go")
        stage.preferences.set_value("retry.per_provider", {"openrouter": "off"})
        await stage.drain()
        stage.window.deeds.open_menu()
        chat = stage.find("chatMenu", QMenu)
        chat.aboutToShow.emit()
        entries = [
            action.text().partition("\t")[2] for action in chat.actions() if "policy" in action.objectName().lower()
        ]
        assert entries == [
            "No retries by itself",
            "10 retries over 6 min 20 s",
            "5 retries over 31 s",
            "5 retries over 31 s",
            "No retries by itself",
        ]
        stage.find("mainMenu").hide()
        stage.window.commands.action("palette").trigger()
        rows = {row.text: row.aside for row in stage.find("palette")._rows if not isinstance(row, str)}
        assert rows["Retry Steadily in This Chat"] == "10 retries over 6 min 20 s"

    act(scene, ["fine"])
