"""Selecting with the mouse over more than what is in view, and while text comes and goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import TextDelta
from reprise.ui.theme import Scheme, load_theme
from reprise.ui.timeline import Timeline
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.selection import Position, Selection
from reprise.ui.timeline.stack import Anchor
from support import timeline as make

LEFT = Qt.MouseButton.LeftButton
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    """Two hundred short messages, at the end."""
    timeline = make.make(height=400)
    qtbot.addWidget(timeline)
    timeline.set_items(
        [(make.reply if at % 2 else make.prompt)(f"m{at}", f"Message {at} says so.") for at in range(200)]
    )
    QGuiApplication.clipboard().clear()
    return timeline


def _at(view: Timeline, text: str, x: float, y: int = 11) -> QPoint:
    """A point of the line that says `text`."""
    placed = next(placed for placed in view.scroller.placed if text in placed.block.words)
    return QPoint(round(view.column_left + x), placed.top + y)


def _end_of(view: Timeline, text: str) -> QPoint:
    return _at(view, text, 740)


def test_dragging_beyond_the_edge_scrolls_and_selects_on(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4: drag with auto-scroll, up as far as it is held there; it ends with the release."""
    port = view.viewport()
    qtbot.mousePress(port, LEFT, pos=_end_of(view, "Message 199"))
    qtbot.mouseMove(port, QPoint(view.column_left, -60))
    assert view.dragging.is_scrolling
    qtbot.waitUntil(lambda: view.scroller.placed[0].message < 190)
    qtbot.mouseRelease(port, LEFT, pos=QPoint(view.column_left, -60))
    assert not view.dragging.is_scrolling
    lines = view.selecting.text().split("\n\n")
    first = 200 - len(lines)
    assert first < 192
    assert lines[1:] == [f"Message {at} says so." for at in range(first + 1, 200)]


def test_a_drag_that_comes_back_into_the_page_scrolls_no_more(view: Timeline, qtbot: QtBot) -> None:
    port = view.viewport()
    qtbot.mousePress(port, LEFT, pos=_end_of(view, "Message 199"))
    qtbot.mouseMove(port, QPoint(view.column_left, -60))
    qtbot.mouseMove(port, QPoint(view.column_left, 60))
    assert not view.dragging.is_scrolling
    qtbot.mouseRelease(port, LEFT, pos=QPoint(view.column_left, 60))


def test_a_click_with_shift_goes_on_from_the_last_click(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4: shift-click, in the same view and after scrolling away."""
    qtbot.mouseClick(view.viewport(), LEFT, pos=_at(view, "Message 197", 16))
    qtbot.mouseClick(view.viewport(), LEFT, SHIFT, pos=_end_of(view, "Message 198"))
    assert view.selecting.text() == "Message 197 says so.\n\nMessage 198 says so."
    view.go_to(Anchor(20, 0, 0))
    qtbot.mouseClick(view.viewport(), LEFT, SHIFT, pos=_at(view, "Message 21", 16))
    assert view.selecting.text().startswith("Message 21 says so.\n\nMessage 22")
    assert view.selecting.text().endswith("\n\nMessage 196 says so.")


def test_dragging_on_from_a_double_click_takes_whole_words_either_way(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 4: by words, in the direction that is dragged."""
    port = view.viewport()
    placed = next(placed for placed in view.scroller.placed if "Message 198" in placed.block.words)
    start = _at(view, "Message 198", placed.block.caret(placed.block.words.index("says") + 2)[0])
    qtbot.mousePress(port, LEFT, pos=start)
    # The second press alone: `mouseDClick` releases the button at once, and there is no drag without it.
    kind, none = QEvent.Type.MouseButtonDblClick, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(port, QMouseEvent(kind, start.toPointF(), port.mapToGlobal(start), LEFT, LEFT, none))
    assert view.selecting.text() == "says"
    qtbot.mouseMove(port, _at(view, "Message 199", 40))
    assert view.selecting.text() == "says so.\n\nMessage"
    qtbot.mouseMove(port, _at(view, "Message 197", 40))
    assert view.selecting.text() == "Message 197 says so.\n\nMessage 198 says"
    qtbot.mouseRelease(port, LEFT, pos=start)


def test_a_click_on_text_clears_the_selection_and_a_right_click_keeps_it(view: Timeline, qtbot: QtBot) -> None:
    view.selecting.select_message(199)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.RightButton, pos=_at(view, "Message 198", 60))
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.RightButton, pos=_at(view, "Message 198", 60))
    assert view.selecting.text() == "Message 199 says so."
    qtbot.mouseClick(view.viewport(), LEFT, pos=_at(view, "Message 198", 60))
    assert view.selecting.text() == ""


def _far_away(view: Timeline) -> None:
    for message in (150, 100, 50, 0):
        view.go_to(Anchor(message, 0, 0))
        view.scroll_by(4000)
    view.jump_to_start()
    assert view.scroller.stack.peek(198) is None


def _restyled(view: Timeline) -> None:
    view.set_theme(load_theme(make.RESOURCES, Scheme.DARK, 1.5))


def _narrower(view: Timeline) -> None:
    view.resize(300, 400)


def _longer(view: Timeline) -> None:
    view.append_item(make.prompt("m200", "One more."))


@pytest.mark.parametrize("change", [_far_away, _restyled, _narrower, _longer], ids=lambda each: each.__name__)
def test_a_selection_outlives_its_blocks(view: Timeline, qtbot: QtBot, change: Callable[[Timeline], None]) -> None:
    """Issue point 4: blocks that are destroyed and made again, at another size, among other messages."""
    start = Position("m197", view.scroller.stack.view(197).blocks[-1].place, 8)
    view.selecting.select(Selection(start, start._replace(key="m198", offset=11)))
    change(view)
    assert view.selecting.text() == "197 says so.\n\nMessage 198"
    view.go_to(Anchor(197, 0, 0))
    assert view.selecting.text() == "197 says so.\n\nMessage 198"


def test_a_selection_whose_end_goes_away_stops_where_the_text_stops(view: Timeline) -> None:
    """Another branch: what is left of what was selected stays selected, and nothing else comes in."""
    start = Position("m197", view.scroller.stack.view(197).blocks[-1].place, 8)
    view.selecting.select(Selection(start, Position.end_of("m199")))
    view.update_items([*view.scroller.stack.items[:198], make.prompt("other", "Another prompt.")])
    assert view.selecting.text() == "197 says so."


def test_dragging_while_a_reply_streams_keeps_to_the_text(qtbot: QtBot) -> None:
    """UX 5: words that come under a drag join nothing; the drag goes on with them there."""
    timeline = make.make(height=400)
    qtbot.addWidget(timeline)
    timeline.set_items([make.prompt("p", "why?")])
    timeline.begin_reply("live", "Model")
    timeline.feed(TextDelta("The beginning of it.\n\n"))
    make.spin(40)
    port = timeline.viewport()
    qtbot.mousePress(port, LEFT, pos=_at(timeline, "The beginning", 16))
    qtbot.mouseMove(port, _end_of(timeline, "The beginning"))
    timeline.feed(TextDelta("More of it.\n\nAnd more.\n\n"))
    make.spin(40)
    assert timeline.selecting.text() == "The beginning of it."
    qtbot.mouseMove(port, _end_of(timeline, "More of it"))
    qtbot.mouseRelease(port, LEFT, pos=_end_of(timeline, "More of it"))
    assert timeline.selecting.text() == "The beginning of it.\n\nMore of it."


def test_copy_of_a_code_box_is_pressed_while_text_streams_below_it(qtbot: QtBot) -> None:
    """Field report: pressing, 200 ms of stream, releasing copies."""
    timeline = make.make(height=600)
    qtbot.addWidget(timeline)
    timeline.set_items([make.prompt("p", "why?")])
    timeline.begin_reply("live", "Model")
    timeline.feed(TextDelta("```\na\tb  c\n\nd\n```\n\n"))
    make.spin(40)
    placed = next(placed for placed in timeline.scroller.placed if isinstance(placed.block, CodeBlock))
    hit = next(hit for x in range(760, 0, -5) if (hit := placed.block.hit(x, 15)) is not None)
    assert hit.rect is not None
    at = QPoint(timeline.column_left, placed.top) + hit.rect.center().toPoint()
    qtbot.mousePress(timeline.viewport(), LEFT, pos=at)
    for _ in range(5):
        timeline.feed(TextDelta("a word and another "))
        make.spin(20)
    with qtbot.waitSignal(timeline.copied) as caught:
        qtbot.mouseRelease(timeline.viewport(), LEFT, pos=at)
    assert caught.args == ["code"]
    assert QGuiApplication.clipboard().text() == "a\tb  c\n\nd"


def test_a_long_conversation_is_copied_in_steps(view: Timeline, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copying holds nothing up: what takes long is collected between other things, and says so meanwhile."""
    monkeypatch.setattr("reprise.ui.timeline.copying._AT_ONCE_S", 0)
    monkeypatch.setattr("reprise.ui.timeline.copying._SLICE_S", 0)
    view.selecting.select_all()
    told: list[bool] = []
    view.copying.connect(told.append)
    with qtbot.waitSignal(view.copied):
        assert view.copy_selection()
        assert told == [True]
        assert QGuiApplication.clipboard().text() == ""
    assert told == [True, False]
    assert QGuiApplication.clipboard().text() == "\n\n".join(f"Message {at} says so." for at in range(200))
