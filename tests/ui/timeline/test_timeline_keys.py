"""The keyboard over the timeline: going from message to message, and selecting without a mouse."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from reprise.ui.timeline import Timeline
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.stack import Anchor
from support import timeline as make

Key, LEFT = Qt.Key, Qt.MouseButton.LeftButton
NONE, SHIFT, CONTROL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)
REPLY = """Two words and more.

1. one
2. two

```
first line
second line
```

| Name | Count |
|---|---|
| a | b |"""
SAID = "Two words and more.\n\n1. one\n2. two\n\nfirst line\nsecond line\n\nName\tCount\na\tb"


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    """A prompt and a reply, reached with Tab; the keys are about the prompt."""
    timeline = make.make(height=500)
    qtbot.addWidget(timeline)
    timeline.set_items([make.prompt("p", "Why is that?\nSay it."), make.reply("r", REPLY)])
    timeline.activateWindow()
    timeline.setFocus(Qt.FocusReason.TabFocusReason)
    timeline.focus.choose(0, by_key=True)
    return timeline


@pytest.fixture
def long_view(qtbot: QtBot) -> Timeline:
    """Forty messages, the last one longer than the page; the focus is on it."""
    timeline = make.make(height=400)
    qtbot.addWidget(timeline)
    timeline.set_items(
        [*(make.prompt(f"m{at}", f"Message {at}.") for at in range(39)), make.reply("m39", "a\n\n" * 60)]
    )
    timeline.activateWindow()
    timeline.setFocus(Qt.FocusReason.TabFocusReason)
    timeline.focus.choose(39, by_key=True)
    return timeline


def _press(qtbot: QtBot, view: Timeline, key: Qt.Key, held: Qt.KeyboardModifier = SHIFT, times: int = 1) -> str:
    for _ in range(times):
        qtbot.keyClick(view, key, held)
    return view.selecting.text()


def test_up_and_down_go_from_message_to_message_and_mark_where_they_are(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 7: Tab to the timeline, Up and Down by message; the ring is in the focus colour."""
    assert view.focus.marked == 0
    _press(qtbot, view, Key.Key_Down, NONE)
    assert view.focus.marked == 1
    rect = view.focus.rect(1)
    assert rect is not None
    ring = QPoint(round(view.column_left + rect.center().x()), round(rect.top()) - 3)
    image = view.viewport().grab().toImage()
    assert image.pixelColor(ring) == view.sheet.color("focus")
    _press(qtbot, view, Key.Key_Up, NONE)
    assert view.focus.marked == 0
    assert view.viewport().grab().toImage().pixelColor(ring) != view.sheet.color("focus")


def test_the_ring_comes_with_the_keyboard_only(view: Timeline, qtbot: QtBot) -> None:
    """Tokens: focus is shown where the keyboard led there."""
    at = view.scroller.placed[-1]
    qtbot.mouseClick(view.viewport(), LEFT, pos=QPoint(view.column_left + 30, at.top + 8))
    assert view.focus.message == 1
    assert view.focus.marked == -1
    _press(qtbot, view, Key.Key_Up, NONE)
    assert view.focus.marked == 0


def test_up_shows_the_rest_of_a_long_message_before_it_leaves_it(long_view: Timeline, qtbot: QtBot) -> None:
    """Nothing is jumped over: the message before comes when the top of this one is in view."""
    assert long_view.focus.marked == 39
    presses = 0
    while long_view.focus.marked == 39:
        assert presses < 200
        before = long_view.scroller.placed[0]
        _press(qtbot, long_view, Key.Key_Up, NONE)
        presses += 1
        assert long_view.scroller.placed[0].top != before.top or long_view.scroller.placed[0].message != before.message
    assert long_view.focus.marked == 38
    assert presses > 20


def test_down_and_up_bring_the_message_into_view(long_view: Timeline, qtbot: QtBot) -> None:
    """Issue point 7: each message that is reached can be read."""
    long_view.go_to(Anchor(10, 0, 0))
    long_view.focus.choose(12, by_key=True)
    for key, expected in ((Key.Key_Down, range(13, 30)), (Key.Key_Up, range(28, 5, -1))):
        for message in expected:
            _press(qtbot, long_view, key, NONE)
            assert long_view.focus.marked == message
            rect = long_view.focus.rect(message)
            assert rect is not None
            assert rect.top() >= 0
            assert rect.bottom() <= long_view.viewport().height()


def test_a_message_that_was_scrolled_away_hands_the_focus_to_what_is_in_view(long_view: Timeline, qtbot: QtBot) -> None:
    """Up and Down go on from where the reader is."""
    long_view.go_to(Anchor(5, 0, 0))
    _press(qtbot, long_view, Key.Key_Up, NONE)
    shown = [placed.message for placed in long_view.scroller.placed]
    assert long_view.focus.marked == shown[-1]


def test_shift_and_an_arrow_begin_at_the_focused_message(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4: by keyboard, by characters, words, lines and to the ends of a line."""
    assert _press(qtbot, view, Key.Key_Right, times=3) == "Why"
    assert _press(qtbot, view, Key.Key_Left) == "Wh"
    assert _press(qtbot, view, Key.Key_Right, SHIFT | CONTROL) == "Why "
    assert _press(qtbot, view, Key.Key_End) == "Why is that?"
    assert _press(qtbot, view, Key.Key_Home) == ""
    assert _press(qtbot, view, Key.Key_Down) == "Why is that?"
    view.focus.go(1)
    view.selecting.select(None)
    assert _press(qtbot, view, Key.Key_Right, SHIFT | CONTROL, times=2) == "Two words "


def test_shift_and_an_arrow_go_through_lists_code_and_tables_and_back(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4: across blocks, one character at a time, to the end and back again."""
    view.focus.choose(1, by_key=True)
    seen: list[str] = []
    while not seen or len(seen) < 2 or seen[-1] != SAID:
        seen.append(_press(qtbot, view, Key.Key_Right))
        assert len(seen) <= 2 * len(SAID)
    assert all(len(one) <= len(other) for one, other in pairwise(seen))
    for _ in range(2 * len(SAID)):
        if not _press(qtbot, view, Key.Key_Left):
            break
    assert view.selecting.text() == ""


def test_shift_and_down_go_line_by_line_and_with_ctrl_by_paragraphs(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4: the column is kept through short lines and other kinds of blocks."""
    view.focus.choose(1, by_key=True)
    _press(qtbot, view, Key.Key_Right, times=9)
    assert view.selecting.text() == "Two words"
    assert _press(qtbot, view, Key.Key_Down).startswith("Two words and more.\n\n1. on")
    assert _press(qtbot, view, Key.Key_Up) == "Two words"
    assert _press(qtbot, view, Key.Key_Down, SHIFT | CONTROL) == "Two words and more."
    assert _press(qtbot, view, Key.Key_Down, SHIFT | CONTROL) == "Two words and more.\n\n1. one"
    assert _press(qtbot, view, Key.Key_Down, SHIFT | CONTROL, times=2) == SAID[: SAID.index("\nsecond")]
    assert _press(qtbot, view, Key.Key_Up, SHIFT | CONTROL) == SAID[: SAID.index("first")].rstrip()


def test_ctrl_shift_home_and_end_reach_the_ends_of_the_conversation(long_view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4; what is reached is in view."""
    long_view.go_to(Anchor(20, 0, 0))
    long_view.focus.choose(21, by_key=True)
    said = _press(qtbot, long_view, Key.Key_Home, SHIFT | CONTROL)
    assert said.split("\n\n") == [f"Message {at}." for at in range(21)]
    assert long_view.scroller.placed[0].message == 0
    said = _press(qtbot, long_view, Key.Key_End, SHIFT | CONTROL)
    assert said.startswith("Message 21.")
    assert said.count("\n\n") == 77
    assert long_view.scroller.placed[-1].message == 39


def test_selecting_on_with_the_arrows_keeps_the_caret_in_view(long_view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4: the caret is a line where the selection ends, and the page goes with it."""
    long_view.go_to(Anchor(10, 0, 0))
    long_view.focus.choose(10, by_key=True)
    for _ in range(20):
        _press(qtbot, long_view, Key.Key_Down)
        selection = long_view.selecting.selection
        assert selection is not None
        (placed,) = [each for each in long_view.scroller.placed if each.view.item.key == selection.head.key]
        x, top, height = placed.block.caret(selection.head.offset)
        assert placed.top + top >= 0
        assert placed.top + top + height <= long_view.viewport().height()
    image = long_view.viewport().grab().toImage()
    at = QPoint(round(long_view.column_left + x), round(placed.top + top + 1))
    assert image.pixelColor(at) == long_view.sheet.color("text")


def test_the_caret_scrolls_wide_code_sideways(view: Timeline, qtbot: QtBot) -> None:
    view.set_items([make.reply("r", "```\n" + "wide " * 60 + "\n```")])
    _press(qtbot, view, Key.Key_End)
    block = view.scroller.placed[-1].block
    assert isinstance(block, CodeBlock)
    assert 0 < block.caret(300)[0] < view.column_width
    assert block.side.offset > 0
    _press(qtbot, view, Key.Key_Home)
    assert block.side.offset == 0


def test_ctrl_a_takes_the_message_and_again_everything_and_esc_nothing(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4."""
    assert _press(qtbot, view, Key.Key_A, CONTROL) == "Why is that?\nSay it."
    assert _press(qtbot, view, Key.Key_A, CONTROL) == f"Why is that?\nSay it.\n\n{SAID}"
    assert _press(qtbot, view, Key.Key_Escape, NONE) == ""


def test_ctrl_c_copies_what_is_seen_and_with_shift_and_alt_its_markdown(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4: copy as plain text and as Markdown."""
    view.focus.choose(1, by_key=True)
    _press(qtbot, view, Key.Key_A, CONTROL)
    _press(qtbot, view, Key.Key_C, CONTROL)
    assert make.copied(view) == SAID
    _press(qtbot, view, Key.Key_C, CONTROL | SHIFT | Qt.KeyboardModifier.AltModifier)
    assert make.copied(view) == REPLY


def test_right_to_left_layouts_go_back_with_the_right_arrow(view: Timeline, qtbot: QtBot) -> None:
    """UX 6: a cursor goes the way its arrow points."""
    view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert _press(qtbot, view, Key.Key_Left, times=3) == "Why"
    assert _press(qtbot, view, Key.Key_Right) == "Wh"
