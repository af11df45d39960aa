"""Scrolling: the end is followed only from the end, and the line being read never moves."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import TextDelta
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.timeline import Timeline
from support import timeline as make
from support.qt import Recorder


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    """A timeline with forty messages."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items(make.conversation(40))
    return timeline


def _wheel(timeline: Timeline, notches: float, *, x: int = 0) -> None:
    at = QPointF(400, 300)
    event = QWheelEvent(
        at,
        timeline.mapToGlobal(at),
        QPoint(),
        QPoint(x, round(notches * 120)),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(timeline.viewport(), event)


def _where(timeline: Timeline) -> tuple[int, int, int]:
    """The first block whose beginning is in view."""
    placed = next(placed for placed in timeline.scroller.placed if placed.top >= 0)
    return placed.message, placed.index, placed.top


def test_it_opens_at_the_end_and_says_so(view: Timeline) -> None:
    """UX 5."""
    assert view.is_at_tail
    assert view.scroller.placed[-1].message == 39
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()


def test_the_slightest_scroll_up_lets_go(view: Timeline) -> None:
    """UX 5: one pixel is enough."""
    recorder = Recorder(tail=view.at_tail_changed)
    view.begin_reply("live", "Model")
    view.scroll_by(-1)
    assert recorder.seen == [("tail", False)]
    before = _where(view)
    view.feed(TextDelta("line\n\n" * 30))
    make.spin(40)
    assert _where(view) == before
    assert not view.is_at_tail


def test_jump_to_latest_follows_again(view: Timeline) -> None:
    """UX 5."""
    view.scroll_by(-500)
    view.jump_to_latest()
    assert view.is_at_tail
    view.begin_reply("live", "Model")
    view.feed(TextDelta("line\n\n" * 30))
    make.spin(40)
    assert view.is_at_tail
    assert view.scroller.end + view.scroller.stack.foot == view.viewport().height()


def test_scrolling_down_to_the_end_takes_hold_of_it(view: Timeline) -> None:
    """The reader is at the bottom again."""
    view.scroll_by(-300)
    _wheel(view, -1)
    assert not view.is_at_tail
    _wheel(view, -5)
    assert view.is_at_tail


def test_wheel_up_and_down_again_comes_back_to_the_same_pixel(view: Timeline) -> None:
    """Heights measured on the way move nothing."""
    view.scroll_by(-700)
    start = _where(view)
    for _ in range(120):
        _wheel(view, 1)
    for _ in range(120):
        _wheel(view, -1)
    assert _where(view) == start


def test_a_wheel_step_leaves_no_trace_of_the_frame_before(view: Timeline) -> None:
    """What is shifted looks as if it were painted anew, at the fading edge too."""
    for notches in (1, 1, -0.3, 2, -1, -4, 3):
        _wheel(view, notches)
        shown = make.on_screen(view)
        view.viewport().update()
        assert make.on_screen(view) == shown


def test_what_is_measured_above_moves_nothing_in_view(view: Timeline) -> None:
    """Each step up shows the same blocks, shifted by exactly the step."""
    view.scroll_by(-200)
    for _ in range(80):
        before = {placed.block: placed.top for placed in view.scroller.placed}
        view.scroll_by(-90)
        after = {placed.block: placed.top for placed in view.scroller.placed}
        shifts = {after[block] - before[block] for block in before if block in after}
        assert shifts == {90}


@pytest.mark.parametrize("width", [560, 700, 1180])
def test_a_resize_keeps_the_line_being_read(view: Timeline, width: int) -> None:
    """UX 5: the line at the top stays at its height, though everything above and below is broken anew."""
    view.scroll_by(-2345)
    placed = next(placed for placed in view.scroller.placed if placed.top + placed.block.height > 0)
    offset = placed.block.offset_at(16, 1 - placed.top) if placed.top < 0 else 0
    before = placed.top + placed.block.line_top(offset)
    view.resize(width, 640)
    same = next(other for other in view.scroller.placed if other.block is placed.block)
    assert same.top + same.block.line_top(offset) == before


def test_a_resize_at_the_end_stays_at_the_end(view: Timeline) -> None:
    """UX 5."""
    view.resize(600, 500)
    assert view.is_at_tail
    assert view.scroller.end + view.scroller.stack.foot == view.viewport().height()


def test_a_new_theme_keeps_the_line_being_read(view: Timeline) -> None:
    """A scheme that changes at dusk moves nothing."""
    view.scroll_by(-1500)
    before = _where(view)
    view.set_theme(load_theme(make.RESOURCES, Scheme.DARK))
    assert _where(view) == before


def test_short_conversations_stand_at_the_top(qtbot: QtBot) -> None:
    """Nothing is pushed to the lower edge."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items([make.prompt("p", "Hello")])
    assert timeline.scroller.placed[0].top == 20 + 10
    assert timeline.is_at_tail


def test_home_end_and_pages_by_keyboard(view: Timeline, qtbot: QtBot) -> None:
    """UX 6: everything works from the keyboard."""
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert _where(view)[:2] == (0, 0)
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert not view.is_at_tail
    assert view.verticalScrollBar().value() > 400
    qtbot.keyClick(view, Qt.Key.Key_Down)
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.is_at_tail


def test_the_scroll_bar_reaches_every_message(view: Timeline) -> None:
    """The handle's scale covers guesses and measured heights alike."""
    bar = view.verticalScrollBar()
    bar.setValue(0)
    assert _where(view)[0] == 0
    bar.setValue(bar.maximum() // 2)
    assert 5 < view.scroller.placed[0].message < 35
    assert not view.is_at_tail
    bar.setValue(bar.maximum())
    assert view.is_at_tail


def test_only_messages_in_view_have_blocks(qtbot: QtBot) -> None:
    """Design 5: only the visible blocks are materialised."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items(make.conversation(3000))
    made = set(timeline.scroller.stack._views)
    assert made == {f"m{at}" for at in range(3000 - len(made), 3000)}
    assert 0 < len(made) < 15


def test_blocks_out_of_view_for_long_are_dropped(qtbot: QtBot) -> None:
    """Memory does not grow with what was scrolled past."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items(make.conversation(400))
    for _ in range(900):
        timeline.scroll_by(-400)
    assert 0 < len(timeline.scroller.stack._views) <= 64


class _Card(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.label = QLabel("some words that will need to be broken over several lines " * 4)
        self.label.setWordWrap(True)
        QVBoxLayout(self).addWidget(self.label)


def test_a_card_stands_under_the_last_message_on_the_outer_edge(view: Timeline) -> None:
    """Tokens 4: 16 px under what it answers, as wide as the column, as tall as it wants to be."""
    card = _Card()
    view.set_card(card)
    assert (card.x(), card.width()) == (view.column_left, 760)
    assert card.y() == view.scroller.end + 16
    assert card.height() == card.heightForWidth(760)
    view.resize(560, 640)
    assert (card.x(), card.width(), card.height()) == (16, 528, card.heightForWidth(528))
    assert view.is_at_tail


def test_a_card_scrolls_along_and_grows_in_place(view: Timeline) -> None:
    """It belongs to the conversation."""
    card = _Card()
    view.set_card(card)
    top, height = card.y(), card.height()
    view.scroll_by(-50)
    assert card.y() == top + 50
    view.jump_to_latest()
    card.label.setText("more " * 300)
    make.spin(20)
    assert card.height() > height
    assert card.y() + card.height() <= view.viewport().height()
    view.set_card(None)
    assert card.parent() is None
    assert card.isHidden()


def test_an_item_is_added_at_the_end(view: Timeline) -> None:
    """The list is the caller's."""
    view.append_item(make.prompt("new", "One more"))
    assert view.scroller.placed[-1].view.item.key == "new"


def test_the_side_margin_grows_with_the_zoom(qtbot: QtBot) -> None:
    """Tokens 4: margins of the column are at least 16, which is a length like every other."""
    timeline = make.make(width=560, zoom=1.5)
    qtbot.addWidget(timeline)
    assert (timeline.column_left, timeline.column_width) == (24, 512)


def test_opening_thinking_keeps_its_line_in_place(qtbot: QtBot) -> None:
    """UX 1: thinking opens in place."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items([make.reply("r", "text\n\n" * 60, thinking="first\n\nsecond", thought_s=8.2)])
    qtbot.keyClick(timeline, Qt.Key.Key_Home)
    fold = timeline.scroller.placed[1]
    assert fold.block.label == "Thought for 8 s"  # type: ignore[attr-defined]
    at = QPoint(timeline.column_left + 60, fold.top + 10)
    qtbot.mouseClick(timeline.viewport(), Qt.MouseButton.LeftButton, pos=at)
    opened = timeline.scroller.placed
    assert opened[1].top == fold.top
    assert [placed.block.plain(0, 99) for placed in opened[2:4]] == ["first", "second"]
    qtbot.mouseClick(timeline.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert timeline.scroller.placed[2].block.plain(0, 99) == "text"
