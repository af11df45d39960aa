"""What stands below a message: its actions, its place among its alternatives, the attempts before it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from reprise.domain.messages import TextPart
from reprise.ui.timeline import Timeline, TimelineItem
from reprise.ui.timeline.item import EarlierAttempt, MessageAction
from reprise.ui.timeline.lines import FoldBlock, NoteBlock
from support import timeline as make

LEFT = Qt.MouseButton.LeftButton
EDIT = MessageAction("edit", "edit", "Edit")
AGAIN = MessageAction("regenerate", "regenerate", "Regenerate")


def _two(**reply: object) -> list[TimelineItem]:
    prompt = replace(make.prompt("p", "what?"), actions=(EDIT,), time="14:02")
    return [prompt, replace(make.reply("r", "The **answer**."), actions=(AGAIN,), **reply)]  # type: ignore[arg-type]


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items(_two(place=(2, 3)))
    return timeline


def _names(view: Timeline, message: int) -> list[str]:
    return [slot.hit.value for slot in view.message_actions.slots(message) if slot.hit is not None]


def test_a_prompt_can_be_copied_and_edited_and_a_reply_regenerated(view: Timeline, qtbot: QtBot) -> None:
    """UX 1: hover shows the message's actions, and pressing one names the message and the action."""
    assert _names(view, 0) == ["copy", "edit"]
    assert _names(view, 1) == ["previous", "next", "copy", "regenerate"]
    for message, name, key in ((0, "edit", "p"), (1, "regenerate", "r")):
        button = view.message_actions.button(message, name)
        assert button is not None
        with qtbot.waitSignal(view.action_wanted) as caught:
            qtbot.mouseClick(view.viewport(), LEFT, pos=button.center())
        assert caught.args == [key, name]


def test_the_arrows_ask_for_the_versions_beside_this_one(view: Timeline, qtbot: QtBot) -> None:
    """N1: 2/3, one back, one forth."""
    assert [slot.text for slot in view.message_actions.slots(1) if slot.text] == ["2/3"]
    for name, by in (("previous", -1), ("next", 1)):
        button = view.message_actions.button(1, name)
        assert button is not None
        with qtbot.waitSignal(view.branch_wanted) as caught:
            qtbot.mouseClick(view.viewport(), LEFT, pos=button.center())
        assert caught.args == ["r", by]


def test_buttons_do_not_overlap_and_stay_in_their_gap(view: Timeline) -> None:
    """Tokens 4: actions live in the gaps, so they never touch text."""
    for message in (0, 1):
        slots = view.message_actions.slots(message)
        bottom = view.scroller.bottom_of(message)
        assert bottom is not None
        below = [placed.top for placed in view.scroller.placed if placed.message == message + 1]
        assert all(left.rect.right() < right.rect.left() + 1 for left, right in pairwise(slots))
        assert all(slot.rect.top() >= bottom for slot in slots)
        assert all(slot.rect.bottom() <= below[0] for slot in slots if below)


def test_the_place_is_seen_without_the_pointer_and_the_actions_only_with_it(view: Timeline) -> None:
    """N1: alternatives are not hidden behind a hover; what is only for the pointer is."""

    def inked() -> int:
        image = view.viewport().grab().toImage()
        rects = [slot.rect for slot in view.message_actions.slots(1)]
        row = rects[0].united(rects[-1])
        page = view.sheet.color("page").rgb()
        return sum(
            image.pixelColor(x, y).rgb() != page
            for x in range(row.left(), row.right())
            for y in range(row.top(), row.bottom())
        )

    view.pointer.leave()
    alone = inked()
    assert alone > 0
    view.pointer.hover(QPointF(view.message_actions.slots(1)[0].rect.center() - QPoint(0, 30)))
    assert inked() > alone


def test_earlier_attempts_are_folded_under_the_reply_and_open_in_place(qtbot: QtBot) -> None:
    """D5: "2 earlier attempts" opens what they had said and what became of them; the line above stays."""
    attempts = (
        EarlierAttempt("14:02:03 · Server error (503) [Copy report](report:a)", (TextPart("half of it"),)),
        EarlierAttempt("14:02:09 · Stopped"),
    )
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items(_two(attempts=attempts))
    fold = next(placed for placed in timeline.scroller.placed if isinstance(placed.block, FoldBlock))
    assert isinstance(fold.block, FoldBlock)
    assert fold.block.label == "2 earlier attempts"
    at = QPoint(timeline.column_left + 40, fold.top + 10)
    qtbot.mouseClick(timeline.viewport(), LEFT, pos=at)
    assert next(p.top for p in timeline.scroller.placed if isinstance(p.block, FoldBlock)) == fold.top
    blocks = [placed.block for placed in timeline.scroller.placed if placed.message == 1]
    notes = [block for block in blocks if isinstance(block, NoteBlock)]
    assert len(notes) == 2
    assert any(block.plain(0, block.length()) == "half of it" and block.in_thinking for block in blocks)
    note = next(placed for placed in timeline.scroller.placed if placed.block is notes[0])
    hit = next(hit for x in range(700, 0, -4) if (hit := notes[0].hit(x, 8)) is not None)
    assert hit.rect is not None
    with qtbot.waitSignal(timeline.note_link) as caught:
        place = hit.rect.center() + QPointF(timeline.column_left, note.top)
        qtbot.mouseClick(timeline.viewport(), LEFT, pos=place.toPoint())
    assert caught.args == ["r", "report:a"]


def test_copying_a_reply_leaves_out_the_attempts_before_it(qtbot: QtBot) -> None:
    """F46: abandoned attempts are no part of the reply."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    timeline.set_items(_two(attempts=(EarlierAttempt("Stopped", (TextPart("half of it"),)),)))
    button = timeline.message_actions.button(1, "copy")
    assert button is not None
    qtbot.mouseClick(timeline.viewport(), LEFT, pos=button.center())
    assert QGuiApplication.clipboard().text() == "The **answer**."


def test_what_changes_in_place_keeps_the_line_being_read(qtbot: QtBot) -> None:
    """UX 5: a new sibling, a note or a fold above never moves the line being read."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    items = [item for n in range(12) for item in (make.prompt(f"p{n}", "a?"), make.reply(f"r{n}", "word " * 200))]
    timeline.set_items(items)
    timeline.scroll_by(-900)
    first = next(placed for placed in timeline.scroller.placed if placed.top >= 0)
    changed = [replace(item, note="A note.", place=(1, 2)) if item.label else item for item in items]
    timeline.update_items(changed)
    again = next(p for p in timeline.scroller.placed if (p.message, p.index) == (first.message, first.index))
    assert again.top == first.top
    assert not timeline.is_at_tail


def test_another_branch_replaces_only_what_differs(qtbot: QtBot) -> None:
    """N1: what the two branches share stays; the end is followed when it was."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    items = [make.prompt("p", "a?"), make.reply("r", "one")]
    timeline.set_items(items)
    timeline.begin_reply("live", "m")
    timeline.update_items([items[0], make.reply("r2", "two"), make.prompt("q", "b?")])
    assert not timeline.has_reply
    assert timeline.is_at_tail
    shown = [placed.block.plain(0, 99) for placed in timeline.scroller.placed if placed.block.selectable]
    assert shown == ["a?", "two", "b?"]


def test_a_live_reply_survives_a_change_above_it(qtbot: QtBot) -> None:
    """A regenerated reply streams on while the notes above it change."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    items = [make.prompt("p", "a?"), make.reply("r", "one")]
    timeline.set_items(items)
    timeline.begin_reply("live", "m")
    timeline.update_items([items[0], replace(items[1], place=(1, 2))])
    assert timeline.has_reply
