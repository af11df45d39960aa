"""Copying a table."""

from __future__ import annotations

import csv
import io

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import TextDelta
from reprise.ui.timeline import Timeline
from reprise.ui.timeline.table import TableBlock
from support import timeline as make

HEAD = "| Name | Note |\n|:--|--:|"


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    timeline = make.make()
    qtbot.addWidget(timeline)
    QGuiApplication.clipboard().clear()
    return timeline


def _menu(view: Timeline) -> QMenu:
    """The menu over the first table part in view."""
    placed = next(placed for placed in view.scroller.placed if isinstance(placed.block, TableBlock))
    at = QPoint(view.column_left + 40, max(placed.top, 0) + 10)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, view.viewport().mapToGlobal(at))
    QApplication.sendEvent(view.viewport(), event)
    assert view.context_menu.menu is not None
    return view.context_menu.menu


def _copied(view: Timeline, qtbot: QtBot, name: str) -> str:
    menu = _menu(view)
    with qtbot.waitSignal(view.copied) as caught:
        next(action for action in menu.actions() if action.text() == name).trigger()
    menu.close()
    assert caught.args == ["table"]
    return make.copied(view)


def _show(view: Timeline, *rows: str, around: str = "") -> None:
    table = "\n".join([HEAD, *rows])
    view.set_items([make.reply("r", f"{around}\n\n{table}\n\n{around}" if around else table)])


def test_a_table_is_copied_as_csv_with_what_its_marks_mean(view: Timeline, qtbot: QtBot) -> None:
    """Issue point 1: quotes, commas and pipes stay in their cell; what surrounds the table stays away."""
    _show(view, r'| **a**, "b" | x \| y |', "| `c` | |", around="Words.")
    assert _copied(view, qtbot, "Copy table as CSV") == 'Name,Note\n"a, ""b""",x | y\nc,\n'


def test_all_of_a_long_table_is_copied_whatever_is_in_view(view: Timeline, qtbot: QtBot) -> None:
    """Issue points 1 and 3: a table is drawn in parts of thirty rows."""
    rows = [f"| row {at} | {at} |" for at in range(400)]
    _show(view, *rows)
    view.jump_to_start()
    copied = _copied(view, qtbot, "Copy table as CSV")
    assert list(csv.reader(io.StringIO(copied))) == [["Name", "Note"], *([f"row {at}", str(at)] for at in range(400))]
    assert _copied(view, qtbot, "Copy table as Markdown") == "\n".join([HEAD, *rows])


def test_a_table_is_copied_as_markdown_as_it_was_written(view: Timeline, qtbot: QtBot) -> None:
    _show(view, "| **a**   | x |", "| b | [l](https://a.example) |", around="Words.")
    assert _copied(view, qtbot, "Copy table as Markdown") == f"{HEAD}\n| **a**   | x |\n| b | [l](https://a.example) |"


def test_only_the_table_under_the_pointer_is_copied(view: Timeline, qtbot: QtBot) -> None:
    view.set_items([make.reply("r", f"{HEAD}\n| a | 1 |\n\nWords.\n\n{HEAD}\n| b | 2 |")])
    assert _copied(view, qtbot, "Copy table as CSV") == "Name,Note\na,1\n"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd", "'+cmd"),
        ("-2+3+cmd", "'-2+3+cmd"),
        ("-5", "-5"),
        ("+1.5 %", "+1.5 %"),
        ("a=b", "a=b"),
    ],
)
def test_no_cell_becomes_a_formula_and_figures_stay(view: Timeline, qtbot: QtBot, cell: str, written: str) -> None:
    """Model output is untrusted: pasted into a spreadsheet it runs nothing."""
    _show(view, f"| {cell} | x |")
    assert _copied(view, qtbot, "Copy table as CSV") == f"Name,Note\n{written},x\n"


def test_a_table_whose_columns_are_not_all_there_is_offered_as_it_was_written_only(view: Timeline) -> None:
    """F87: of a thousand columns 64 are drawn; a CSV of those would lose the rest silently."""
    view.set_items([make.reply("r", "|".join(["a"] * 100) + "\n" + "|".join(["-"] * 100) + "\n" + "|".join("1" * 100))])
    names = [action.text() for action in _menu(view).actions()]
    assert "Copy table as Markdown" in names
    assert "Copy table as CSV" not in names


def test_a_table_that_still_streams_is_copied_as_far_as_it_came(view: Timeline, qtbot: QtBot) -> None:
    view.begin_reply("live", "Model")
    view.feed(TextDelta(f"{HEAD}\n| a | 1 |\n| b | 2 |\n"))
    make.spin(40)
    assert _copied(view, qtbot, "Copy table as CSV") == "Name,Note\na,1\nb,2\n"
