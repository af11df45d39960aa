"""A link in the timeline: what it says before it opens."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from reprise.ui.timeline import Timeline
from support import timeline as make

LEFT = Qt.MouseButton.LeftButton
LEADS = ["evil.example", "https://evil.example/login"]


@pytest.fixture
def timeline(qtbot: QtBot) -> Timeline:
    """An empty timeline."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    return timeline


def _link_at(timeline: Timeline) -> QPoint:
    placed = timeline.scroller.placed[-1]
    return next(
        QPoint(round(timeline.column_left + x), round(placed.top + y))
        for y in range(4, round(placed.block.height), 6)
        for x in range(4, 200, 6)
        if (hit := placed.block.hit(x, y)) is not None and hit.kind == "link"
    )


def _said() -> list[str]:
    """The lines of the tooltip."""
    return [line for line in re.split("<[^>]*>", QToolTip.text()) if line]


@pytest.mark.parametrize("text", ["{} and text", "| a |\n|---|\n| {} |"])
def test_a_link_says_its_real_host_at_once_and_opens_by_a_click(timeline: Timeline, qtbot: QtBot, text: str) -> None:
    """In a paragraph and in a table."""
    timeline.set_items([make.reply("r", text.format("[log in](https://evil.example/login)"))])
    at = _link_at(timeline)
    qtbot.mouseMove(timeline.viewport(), at)
    assert _said() == LEADS
    with qtbot.waitSignal(timeline.link_activated) as caught:
        qtbot.mouseClick(timeline.viewport(), LEFT, pos=at)
    assert caught.args == ["https://evil.example/login"]


def test_a_link_that_came_under_the_pointer_unseen_opens_by_the_second_click(timeline: Timeline, qtbot: QtBot) -> None:
    """The host is shown before anything opens, by touch too."""
    timeline.set_items([make.reply("r", "[log in](https://evil.example/login)")])
    opened: list[str] = []
    timeline.link_activated.connect(opened.append)
    at = _link_at(timeline)
    qtbot.mouseClick(timeline.viewport(), LEFT, pos=at)
    assert opened == []
    assert _said() == LEADS
    qtbot.mouseClick(timeline.viewport(), LEFT, pos=at)
    assert opened == ["https://evil.example/login"]
