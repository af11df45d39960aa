"""Reasoning in the live reply: its late end mark, its time, and what pointed into text that goes away."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import Delta, RecastDelta, TextDelta, ThinkingDelta
from reprise.ui.timeline import Timeline
from reprise.ui.timeline.lines import FoldBlock
from reprise.ui.timeline.live import LiveReply
from reprise.ui.timeline.selection import Position, Selection
from support import corpus
from support import timeline as make

LEFT = Qt.MouseButton.LeftButton
ANSWER = corpus.reply(3000, 3)


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    """A timeline with a prompt and a begun reply."""
    timeline = make.make(height=900)
    qtbot.addWidget(timeline)
    timeline.set_items([make.prompt("p", "Go on")])
    timeline.begin_reply("live", "Model")
    return timeline


def _live(timeline: Timeline) -> LiveReply:
    live = timeline.scroller.stack.live
    assert live is not None
    return live


def _streamed(timeline: Timeline, text: str) -> None:
    """Feed this in frames of 50 letters."""
    for at in range(0, len(text), 50):
        _shown(timeline, TextDelta(text[at : at + 50]))


def _shown(timeline: Timeline, *deltas: Delta) -> None:
    """Feed these as one frame."""
    for delta in deltas:
        timeline.feed(delta)
    timeline._streaming.flush()


def _fold_label(timeline: Timeline) -> str:
    return next(block.label for block in _live(timeline).blocks if isinstance(block, FoldBlock))


def _said(timeline: Timeline, *, thinking: bool = False) -> list[str]:
    blocks = _live(timeline).blocks
    return [block.plain(0, 999) for block in blocks if block.selectable and block.in_thinking is thinking]


@pytest.mark.parametrize("in_one_frame", [False, True])
@pytest.mark.parametrize(
    "thought", ["let me see", ANSWER, "```python\nopen = True", "| a | b |\n|---|---|\n| 1 | 2 |\n"]
)
def test_a_late_end_mark_moves_what_was_said_into_the_reasoning(
    view: Timeline, qtbot: QtBot, thought: str, in_one_frame: bool
) -> None:
    """F61: reasoning a template opened is shown as such from its end mark on; at the end it was never the answer."""
    if in_one_frame:
        _shown(view, TextDelta(thought), RecastDelta())
    else:
        _streamed(view, thought)
        _shown(view, RecastDelta())
    assert _live(view).text == ""
    assert _said(view) == [""]
    view.toggle(1, 0)
    assert _said(view, thinking=True)
    view.toggle(1, 0)
    _streamed(view, ANSWER)
    assert _live(view).text == ANSWER
    view.finish_reply(make.reply("r", ANSWER, thinking=thought, thought_s=3))
    other = make.make(height=900)
    qtbot.addWidget(other)
    other.set_items([make.prompt("p", "Go on"), make.reply("r", ANSWER, thinking=thought, thought_s=3)])
    for timeline in (view, other):
        timeline.toggle(1, 0)
        timeline.verticalScrollBar().setValue(0)
    assert make.settled(view) == make.settled(other)
    for timeline in (view, other):
        timeline.jump_to_latest()
    assert make.settled(view) == make.settled(other)


def test_an_answer_in_the_frame_of_the_end_mark_stays_the_answer(view: Timeline) -> None:
    """Order counts within a frame too: what came before the mark was reasoning, what comes after it is said."""
    _shown(view, ThinkingDelta("a "), TextDelta("b "))
    _shown(view, TextDelta("c"), RecastDelta(), TextDelta("Answer"))
    assert _live(view).text == "Answer"
    view.toggle(1, 0)
    assert _said(view, thinking=True) == ["a b c"]


def test_moving_text_into_the_reasoning_leaves_no_trace_on_the_screen(view: Timeline) -> None:
    """What is above comes back into view and nothing of the text that stood there stays."""
    view.set_items([*make.conversation(6), make.prompt("q", "Go on")])
    view.begin_reply("live", "Model")
    _streamed(view, corpus.reply(4000, 9))
    make.on_screen(view)
    _shown(view, RecastDelta())
    shown = make.on_screen(view)
    view.viewport().update()
    assert make.on_screen(view) == shown
    assert view.is_at_tail


def test_text_that_moves_away_under_the_reader_leaves_the_end_in_view(view: Timeline) -> None:
    """What was being read folds up, so the page stands at what is left of the reply."""
    _streamed(view, corpus.reply(6000, 9))
    view.scroll_by(-900)
    _shown(view, RecastDelta())
    assert view.is_at_tail
    assert view.scroller.placed[-1].view is _live(view)


def test_an_end_mark_before_any_word_keeps_the_failed_partial(view: Timeline) -> None:
    """Nothing was said yet, so nothing takes the partial's place."""
    _streamed(view, "first attempt")
    view.fail_reply("Cut off.")
    view.begin_reply("next", "Model")
    _shown(view, RecastDelta())
    assert _live(view).text == "first attempt"
    _shown(view, TextDelta("second"))
    assert _live(view).text == "second"


@pytest.mark.parametrize("how", ["moved", "dropped", "replaced"])
def test_a_selection_in_text_that_goes_away_goes_with_it(view: Timeline, qtbot: QtBot, how: str) -> None:
    """Its places no longer exist: copying or dragging on would read beyond the text."""
    _streamed(view, "one\n\ntwo\n\nthree")
    place = _live(view).blocks[-1].place
    view.selecting.select(Selection(Position("live", place, 0), Position("live", place, 5)))
    at = view.scroller.placed[-1]
    qtbot.mouseDClick(view.viewport(), LEFT, pos=QPoint(view.column_left + 24, at.top + 8))
    assert view.selecting.text() == "three"
    if how == "moved":
        _shown(view, RecastDelta())
    elif how == "dropped":
        view.drop_reply()
    else:
        view.fail_reply("Cut off.")
        view.begin_reply("next", "Model")
        _shown(view, TextDelta("x"))
    assert view.selecting.text() == ""
    qtbot.mouseMove(view.viewport(), QPoint(view.column_left + 60, 40))


def test_reasoning_whose_time_nobody_saw_is_just_thought(view: Timeline) -> None:
    """After a restart, or shown again in one piece, a number of seconds would be made up."""
    _shown(view, ThinkingDelta("let me see"), TextDelta("Answer"))
    assert _live(view).thought_s is None
    assert _fold_label(view) == "Thought"
    view.finish_reply(make.reply("r", "Answer", thinking="let me see"))
    folds = [block for block in view.scroller.stack.view(1).blocks if isinstance(block, FoldBlock)]
    assert [fold.label for fold in folds] == ["Thought"]


def test_the_time_of_reasoning_that_a_late_mark_ended_counts_from_its_first_word(view: Timeline) -> None:
    """It was seen from its beginning, although it passed for the answer."""
    _shown(view, TextDelta("let me see"))
    assert _live(view).thought_s is None
    _shown(view, RecastDelta())
    assert _live(view).thought_s is not None
    assert _fold_label(view) == "Thought for 1 s"
