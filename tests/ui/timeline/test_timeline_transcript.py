"""What a selection says is a slice of the transcript, whatever of the conversation exists at that moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
import shiboken6
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from reprise.domain.deltas import TextDelta
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.timeline import Timeline, TimelineItem
from reprise.ui.timeline.block import Block
from reprise.ui.timeline.inline import units
from reprise.ui.timeline.selection import Position, Selection
from reprise.ui.timeline.stack import Anchor
from support import timeline as make

PIECES = (
    "A paragraph with **bold**, `code` and a [link](https://a.example).\nIts second line.  \nIts third.",
    "## A heading \U0001f469\u200d\U0001f4bb e\u0301",
    "1. one\n2. two\n\n   more of two\n   - inner\n3. ",
    "- [x] done\n- [ ] not done",
    "> quoted\n>\n> - in a list\n> ```\n> code\n> ```",
    "```python\nif x:\n\n    y = 'z'\n```",
    "```\n```",
    "| Name | Count |\n|---|--:|\n| \u4e2d\u6587 | 1 |\n| | **2** |",
    "---",
    "\u0645\u0631\u062d\u0628\u0627 left and right",
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("\n\n".join)
THOUGHTS = st.sampled_from(("", "", "I think.\n\n- so\n- on"))


class Segment(NamedTuple):
    """A block of the transcript: what separates it from the text above, its marker, and what it says."""

    key: str
    block: Block
    joint: str
    prefix: str
    said: str


class End(NamedTuple):
    """A position: its segment, and how much of what that says is before it."""

    segment: int
    before: int


@st.composite
def conversations(draw: st.DrawFn) -> list[TimelineItem]:
    """Up to eight messages; some replies have thoughts before them."""
    items = []
    for at in range(draw(st.integers(1, 8))):
        text = draw(TEXTS)
        is_prompt = draw(st.booleans())
        items.append(make.prompt(f"m{at}", text) if is_prompt else make.reply(f"m{at}", text, thinking=draw(THOUGHTS)))
    return items


def _segments(timeline: Timeline) -> list[Segment]:
    """All of the transcript, read from every block."""
    stack = timeline.scroller.stack
    found: list[Segment] = []
    for message in range(len(stack)):
        view = stack.view(message)
        view.read_to(1 << 30)
        for block in view.blocks:
            if block.selectable:
                said = block.plain(0, block.length())
                found.append(Segment(view.item.key, block, block.joint, block.prefix, said))
    return found


def _slice(segments: list[Segment], one: End, other: End) -> str:
    """The transcript between two ends: messages that say something, without what only separates blocks at an edge."""
    if one == other:
        return ""
    start, (high, last) = sorted((one, other))
    low, first = start
    is_within = low == high
    if not is_within and first == len(segments[low].said):
        low, first = low + 1, 0
    if not is_within and last == 0:
        high, last = high - 1, len(segments[high - 1].said)
    texts: dict[str, str] = {}
    for at in range(low, high + 1):
        segment = segments[at]
        said = segment.said[first if at == low else 0 : last if at == high else None]
        # A marker comes along with its text's beginning, unless the selection is only part of that text.
        is_marked = at > start.segment or said == segment.said
        joint = segment.joint if segment.key in texts else ""
        marked = (segment.prefix if is_marked else "") + said
        texts[segment.key] = texts.get(segment.key, "") + joint + marked
    return "\n\n".join(text for text in texts.values() if text)


def _ends(segments: list[Segment], data: st.DataObject) -> tuple[Selection, str]:
    """Two positions, between two letters each, and what is between them."""
    positions, ends = [], []
    for _ in range(2):
        at = data.draw(st.integers(0, len(segments) - 1))
        block = segments[at].block
        letters = data.draw(st.integers(0, len(block.words)))
        offset = units(block.words[:letters])
        positions.append(Position(segments[at].key, block.place, offset))
        ends.append(End(at, len(block.plain(0, offset))))
    return Selection(*positions), _slice(segments, *ends)


@pytest.fixture
def timelines(qapp: QApplication) -> Iterator[list[Timeline]]:
    """Keeps the timelines of all examples: the collector, which runs in any thread, must not be what ends one."""
    made: list[Timeline] = []
    yield made
    for timeline in made:
        shiboken6.delete(timeline)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(conversations(), st.data())
def test_any_two_positions_select_the_slice_of_the_transcript_between_them(
    timelines: list[Timeline], items: list[TimelineItem], data: st.DataObject
) -> None:
    """Issue point 4: whichever end was first, and whatever was scrolled, opened, or made anew since."""
    timeline = make.make(width=600, height=300)
    timelines.append(timeline)
    timeline.set_items(items)
    for at, item in enumerate(items):
        if len(item.message.parts) > 1 and data.draw(st.booleans()):
            timeline.toggle(at, 0)
    segments = _segments(timeline)
    if not segments:
        return
    selection, expected = _ends(segments, data)
    timeline.selecting.select(selection)
    assert timeline.selecting.text() == expected
    timeline.go_to(Anchor(data.draw(st.integers(0, len(items) - 1)), 0, 0))
    timeline.set_theme(load_theme(make.RESOURCES, Scheme.DARK, data.draw(st.sampled_from((1.0, 1.5)))))
    assert timeline.selecting.text() == expected
    timeline.scroll_by(data.draw(st.integers(-2000, 2000)))
    assert timeline.selecting.text() == expected
    timeline.hide()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, TEXTS, st.data())
def test_what_is_selected_in_a_live_reply_stays_selected_to_its_end(
    timelines: list[Timeline], first: str, rest: str, data: st.DataObject
) -> None:
    """UX 5: selection survives streaming; blocks that are closed keep their words."""
    timeline = make.make(width=600, height=300)
    timelines.append(timeline)
    timeline.set_items([make.prompt("p", "why?")])
    timeline.begin_reply("live", "Model")
    timeline.feed(TextDelta(f"{first}\n\nAn end.\n\n"))
    make.spin(20)
    closed = _segments(timeline)[:-1]
    selection, expected = _ends(closed, data)
    timeline.selecting.select(selection)
    assert timeline.selecting.text() == expected
    timeline.feed(TextDelta(rest))
    make.spin(20)
    assert timeline.selecting.text() == expected
    timeline.finish_reply(make.reply("r", f"{first}\n\nAn end.\n\n{rest}"))
    assert timeline.selecting.text() == expected
    timeline.hide()
