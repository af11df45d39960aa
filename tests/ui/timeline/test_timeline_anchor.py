"""What comes before, changes or gets measured anywhere never moves the line being read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import TextDelta
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.timeline import Timeline, TimelineItem
from support import timeline as make

ALL = make.conversation(160)
SHOWN = 40


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[Timeline]:
    """The end of a conversation."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items(ALL[-SHOWN:])
    yield timeline
    timeline.close()


def _line(timeline: Timeline) -> tuple[str, int, int, int]:
    """The first line in view: its message, block, offset in the text, and height in the viewport."""
    placed = next(placed for placed in timeline.scroller.placed if placed.top + placed.block.height > 0)
    offset = placed.block.offset_at(placed.block.sheet.inset, 1 - placed.top) if placed.top < 0 else 0
    top = placed.top + (placed.block.line_top(offset) if placed.top < 0 else 0)
    return placed.view.item.key, placed.index, offset, round(top)


def _height_of(timeline: Timeline, key: str, index: int, offset: int) -> int | None:
    """Where that line is now; None when it is out of view."""
    for placed in timeline.scroller.placed:
        if (placed.view.item.key, placed.index) == (key, index):
            return round(placed.top + (placed.block.line_top(offset) if offset else 0))
    return None


def test_older_messages_move_nothing_at_the_end(view: Timeline) -> None:
    """UX 5: nothing is painted for them either."""
    picture = make.settled(view)
    before = view.verticalScrollBar().maximum()
    for start in range(len(ALL) - SHOWN, 0, -24):
        view.prepend_items(ALL[max(0, start - 24) : start])
    assert view.is_at_tail
    assert view.verticalScrollBar().maximum() > 3 * before
    assert make.on_screen(view) == picture
    assert [view.item(at) for at in range(len(ALL))] == ALL


def test_older_messages_move_nothing_at_the_first_one(view: Timeline) -> None:
    """It was the first of all and had the page's margin above it; its text stays, the margin does not."""
    view.scroll_by(-1)
    view.scroller.go_to(view.scroller.stack.anchor._replace(message=0, block=0, into=5))
    view._changed()
    before = _line(view)
    view.prepend_items(ALL[:-SHOWN])
    assert _line(view) == before


def test_who_went_to_the_start_is_taken_to_what_comes_before_it(view: Timeline) -> None:
    """UX 5: by key or by the bar's handle; scrolling from there ends it."""
    view.jump_to_start()
    view.prepend_items(ALL[80:-SHOWN])
    assert view.scroller.placed[0].view.item.key == ALL[80].key
    view.scroll_by(30)
    before = _line(view)
    view.prepend_items(ALL[40:80])
    assert _line(view) == before
    view.verticalScrollBar().setValue(0)
    view.prepend_items(ALL[:40])
    assert view.scroller.placed[0].view.item.key == ALL[0].key


def test_a_selection_stays_on_its_words(view: Timeline) -> None:
    """What is selected is copied as before, also after older messages came."""
    view.scroll_by(-400)
    placed = next(placed for placed in view.scroller.placed if placed.top > 50)
    at = view.viewport().rect().topLeft()
    at.setX(view.column_left + 40)
    at.setY(placed.top + 8)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    words = view.selecting.text()
    assert words
    view.prepend_items(ALL[:-SHOWN])
    assert view.selecting.text() == words


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("prepend", "scroll", "jump", "resize", "theme", "stream", "finish", "note", "append")),
        st.integers(0, 1_000_000),
    ),
    min_size=1,
    max_size=14,
)


class Reading:
    """Somebody who reads while things happen."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.first = len(ALL) - SHOWN
        self.number = 0
        timeline.resize(920, 640)
        timeline.set_theme(load_theme(make.RESOURCES, Scheme.LIGHT))
        timeline.set_items(ALL[self.first :])

    def move(self, step: str, number: int) -> bool:
        """What the reader does to be elsewhere; False for what happens beside it."""
        bar = self.timeline.verticalScrollBar()
        if step == "scroll":
            self.timeline.scroll_by(number % 3000 - 1800)
        elif step == "jump":
            bar.setValue(1 + number % max(1, bar.maximum() - 1))
        return step in ("scroll", "jump")

    def happen(self, step: str, number: int) -> None:
        """What must not be felt."""
        timeline = self.timeline
        items = timeline.scroller.stack.items
        match step:
            case "prepend":
                start = max(0, self.first - number % 30)
                timeline.prepend_items(ALL[start : self.first])
                self.first = start
            case "resize":
                timeline.resize(500 + number % 700, 640)
            case "theme":
                timeline.set_theme(load_theme(make.RESOURCES, (Scheme.LIGHT, Scheme.DARK)[number % 2]))
            case "stream":
                if not timeline.has_reply:
                    timeline.begin_reply("live", "Model")
                timeline.feed(TextDelta("More *text*.\n\n" * (number % 20 + 1)))
                timeline._streaming.flush()
            case "finish" if timeline.has_reply:
                timeline.finish_reply(self._fresh("# The end\n\nof it"))
            case "note":
                at = number % len(items)
                timeline.update_items([replace(items[at], note="a late note"), *items[at + 1 :]], at)
            case "append" if not timeline.has_reply:
                timeline.append_item(self._fresh("A paragraph.\n\n" * (number % 9 + 1)))
        timeline.viewport().grab()

    def _fresh(self, text: str) -> TimelineItem:
        self.number += 1
        return make.reply(f"n{self.number}", text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_line_being_read_never_moves(view: Timeline, steps: list[tuple[str, int]]) -> None:
    """UX 5: whatever happens above and below it, in any order; who is at the end stays there."""
    reading = Reading(view)
    for step, number in steps:
        if reading.move(step, number):
            continue
        followed, before = view.is_at_tail, _line(view)
        reading.happen(step, number)
        if followed:
            assert view.is_at_tail
            assert view.scroller.end + view.scroller.stack.foot == view.viewport().height()
        elif not view.is_at_tail:
            assert _height_of(view, *before[:3]) == before[3]
