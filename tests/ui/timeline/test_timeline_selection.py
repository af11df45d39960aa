"""Selecting with the mouse and copying; links."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import TextDelta
from reprise.ui.timeline import Timeline
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.selection import Position, Selection
from reprise.ui.timeline.stack import Placed
from support import timeline as make

LEFT = Qt.MouseButton.LeftButton
TEXT = """The first paragraph says `code` and **more**.

1. one item
2. another item

```python
if x:\t# tab\u0020\u0020
    y = "\u4e2d\u6587 \U0001f600"

z
```

| Name | Count |
|---|---|
| a | 1 |
| b | 2 |
"""

CODE = 'if x:\t# tab\u0020\u0020\n    y = "\u4e2d\u6587 \U0001f600"\n\nz'


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    """A timeline with one exchange."""
    timeline = make.make(height=900)
    qtbot.addWidget(timeline)
    timeline.set_items([make.prompt("p", "line one\nline two"), make.reply("r", TEXT)])
    QGuiApplication.clipboard().clear()
    return timeline


def _point(timeline: Timeline, placed: Placed, x: float, y: float = 10) -> QPoint:
    return QPoint(round(timeline.column_left + x), round(placed.top + y))


def _block(timeline: Timeline, text: str) -> Placed:
    return next(placed for placed in timeline.scroller.placed if text in placed.block.plain(0, 10**6))


def _in(placed: Placed, offset: int) -> Position:
    return Position(placed.view.item.key, placed.block.place, offset)


def _drag(qtbot: QtBot, timeline: Timeline, start: QPoint, end: QPoint) -> None:
    port = timeline.viewport()
    qtbot.mousePress(port, LEFT, pos=start)
    qtbot.mouseMove(port, start + QPoint(12, 0))
    qtbot.mouseMove(port, end)
    qtbot.mouseRelease(port, LEFT, pos=end)


def _copied(qtbot: QtBot, timeline: Timeline) -> str:
    qtbot.keyClick(timeline, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    return make.copied(timeline)


def test_dragging_selects_and_ctrl_c_copies_plain_text(view: Timeline, qtbot: QtBot) -> None:
    """Over two paragraphs: no marks of Markdown, list markers kept."""
    first, last = _block(view, "first paragraph"), _block(view, "another")
    _drag(qtbot, view, _point(view, first, 0), _point(view, last, 700))
    expected = "The first paragraph says code and more.\n\n1. one item\n2. another item"
    assert _copied(qtbot, view) == expected


def test_a_selection_goes_from_a_prompt_through_code_and_a_table(view: Timeline, qtbot: QtBot) -> None:
    """Issue: across blocks and messages, whichever end is dragged."""
    start, end = _block(view, "line two"), _block(view, "Name")
    expected = (
        "line two\n\nThe first paragraph says code and more.\n\n1. one item\n2. another item\n\n"
        f"{CODE}\n\nName\tCount\na\t1"
    )
    first, last = _point(view, start, 0), _point(view, end, 755, 44)
    _drag(qtbot, view, first, last)
    assert _copied(qtbot, view) == expected
    qtbot.mouseClick(view.viewport(), LEFT, pos=_point(view, end, 100))
    assert view.selecting.text() == ""
    _drag(qtbot, view, last, first)
    assert _copied(qtbot, view) == expected


def test_double_click_takes_a_word_and_triple_click_the_paragraph(view: Timeline, qtbot: QtBot) -> None:
    """Issue: by mouse."""
    placed = _block(view, "first paragraph")
    at = _point(view, placed, 16 + view.fontMetrics().horizontalAdvance("The fir") * 1.15)
    qtbot.mouseClick(view.viewport(), LEFT, pos=at)
    qtbot.mouseDClick(view.viewport(), LEFT, pos=at)
    assert view.selecting.text() == "first"
    qtbot.mousePress(view.viewport(), LEFT, pos=at)
    assert view.selecting.text() == "The first paragraph says code and more."


def test_ctrl_a_takes_the_message_with_the_focus(view: Timeline, qtbot: QtBot) -> None:
    """The one pressed last, else the newest."""
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert view.selecting.text().endswith("Name\tCount\na\t1\nb\t2")
    qtbot.mouseClick(view.viewport(), LEFT, pos=_point(view, _block(view, "line two"), 30))
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert _copied(qtbot, view) == "line one\nline two"


def test_code_copies_byte_for_byte(view: Timeline, qtbot: QtBot) -> None:
    """By its button and by selecting it."""
    placed = _block(view, "if x")
    assert isinstance(placed.block, CodeBlock)
    hit = next(hit for x in range(760, 0, -5) if (hit := placed.block.hit(x, 15)) is not None)
    assert (hit.kind, hit.rect is not None) == ("copy", True)
    assert hit.rect is not None
    center = hit.rect.center()
    with qtbot.waitSignal(view.copied) as caught:
        qtbot.mouseClick(view.viewport(), LEFT, pos=_point(view, placed, center.x(), center.y()))
    assert caught.args == ["code"]
    assert make.copied(view) == CODE
    view.selecting.select(Selection(_in(placed, 0), _in(placed, placed.block.length())))
    assert _copied(qtbot, view) == CODE


def test_a_selection_survives_streaming_and_scrolling(qtbot: QtBot) -> None:
    """UX 5."""
    timeline = make.make(height=400)
    qtbot.addWidget(timeline)
    timeline.set_items(make.conversation(10))
    timeline.begin_reply("live", "Model")
    timeline.feed(TextDelta("The beginning of it\n\n"))
    make.spin(40)
    placed = _block(timeline, "The beginning")
    timeline.selecting.select(Selection(_in(placed, 4), _in(placed, 13)))
    timeline.feed(TextDelta("more\n\n" * 80))
    make.spin(40)
    timeline.scroll_by(-3000)
    timeline.scroll_by(2500)
    assert timeline.selecting.text() == "beginning"
    timeline.finish_reply(make.reply("r", "The beginning of it\n\n" + "more\n\n" * 80))
    assert timeline.selecting.text() == "beginning"


def test_selected_text_is_painted_in_the_selection_colour(view: Timeline) -> None:
    """Tokens: `selection` behind it."""
    placed = _block(view, "first paragraph")
    before = view.grab().toImage()
    view.selecting.select(Selection(_in(placed, 0), _in(placed, 9)))
    after = view.grab().toImage()
    at = QPoint(view.column_left + 17, placed.top + 1)
    assert before.pixelColor(at).name() == "#ffffff"
    assert after.pixelColor(at) == view.sheet.color("selection")


def test_copy_in_the_gap_copies_the_source_and_moves_no_text(view: Timeline, qtbot: QtBot) -> None:
    """Tokens 4: actions live in gaps that are always there."""
    tops = [placed.top for placed in view.scroller.placed]
    view.pointer.hover(_point(view, _block(view, "first paragraph"), 100).toPointF())
    assert [placed.top for placed in view.scroller.placed] == tops
    button = view.message_actions.button(1, "copy")
    assert button is not None
    qtbot.mouseClick(view.viewport(), LEFT, pos=button.center())
    assert make.copied(view) == TEXT
    prompt_button = view.message_actions.button(0, "copy")
    assert prompt_button is not None
    assert prompt_button.bottom() < view.scroller.placed[2].top


def test_wide_code_scrolls_by_itself_and_wraps_on_demand(qtbot: QtBot) -> None:
    """UX 1: own horizontal scroll, wrap toggle."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items([make.reply("r", "```\n" + "wide " * 60 + "\n```")])
    placed = timeline.scroller.placed[-1]
    assert isinstance(placed.block, CodeBlock)
    assert placed.block.side.needed
    height = placed.block.height
    hit = next(hit for x in range(675, 0, -5) if (hit := placed.block.hit(x, 15)) is not None)
    assert hit.kind == "wrap"
    assert hit.rect is not None
    at = hit.rect.center()
    qtbot.mouseClick(timeline.viewport(), LEFT, pos=_point(timeline, placed, at.x(), at.y()))
    assert not placed.block.side.needed
    assert placed.block.height > height


def test_right_to_left_text_starts_at_the_right(qtbot: QtBot) -> None:
    """UX 6: texts flow right to left where they are."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items([make.reply("r", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645")])
    block = timeline.scroller.placed[-1].block
    assert block.offset_at(740, 10) == 0
    assert block.offset_at(20, 10) == block.length()


def test_the_parser_is_not_imported_before_the_first_item() -> None:
    """Design rule 7."""
    import subprocess
    import sys

    code = (
        "import sys; import reprise.ui.timeline; "
        "print([name for name in ('markdown_it', 'pygments') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
