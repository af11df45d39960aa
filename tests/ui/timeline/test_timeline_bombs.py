"""A reply that asks for too much: what is parsed, laid out and coloured at once has bounds, whatever a model writes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QTextLayout
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import TextDelta
from reprise.ui.timeline import Timeline, message_view
from reprise.ui.timeline.block import Block
from reprise.ui.timeline.bounds import (
    CODE_LENGTH,
    CODE_RUNS,
    COLUMNS,
    LAYOUT_LENGTH,
    LAYOUT_SPANS,
    LINES,
    part_rows,
    pieces,
)
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.incremental import Splitter
from reprise.ui.timeline.inline import Rich, Span, Style, plain, units
from reprise.ui.timeline.markdown import Gap, Leaf, Prose, Table, parse
from reprise.ui.timeline.prose import ProseBlock
from reprise.ui.timeline.table import TableBlock
from support import timeline as make


def _row(count: int, cell: str) -> str:
    return "|" + "|".join([cell] * count) + "|\n"


def _table(columns: int, rows: int) -> str:
    return _row(columns, "head") + _row(columns, "--") + _row(columns, "1") * rows


PYTHON = "x = f(a[1], 'b') + "
BOMBS = {
    "columns": _table(3000, 3),
    "rows": _table(3, 2000),
    "rows of many columns": _table(64, 40),
    "a row too long": _table(2, 2) + "|" + "word " * 4000 + "|b|\n|c|d|\n",
    "prose": "word next " * 4000,
    "no spaces": "\u4e2d\u6587" * 9000,
    "emoji": "\U0001f469\u200d\U0001f4bb" * 6000,
    "lines": "word next\n" * 2000,
    "images": "![" * 10_000,
    "entities": "&amp;" * 10_000,
    "emphasis": "**a*" * 10_000,
    "links": "[a](https://example.org/) " * 3000,
    "items": "- " * 10_000,
    "indented items": "\n".join("  " * depth + "- a" for depth in range(200)),
    "quote": "> word *next*\n" * 3000,
    "code": f"```python\n{PYTHON * 2000}\n```",
}


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    """An empty timeline."""
    timeline = make.make()
    qtbot.addWidget(timeline)
    return timeline


def _read(timeline: Timeline) -> None:
    timeline.viewport().grab()
    while not timeline.reader.is_idle:
        make.spin()


def _blocks(timeline: Timeline) -> list[Block]:
    return timeline.scroller.stack.view(0).blocks


def _texts(leaves: list[Leaf]) -> list[Rich]:
    found = []
    for leaf in leaves:
        if isinstance(leaf, Prose):
            found.append(leaf.rich)
        elif isinstance(leaf, Table):
            found.extend(cell for row in (leaf.head, *leaf.rows) for cell in row)
    return found


@pytest.mark.parametrize("name", BOMBS)
def test_no_text_of_a_reply_is_longer_than_one_layout_may_be(name: str) -> None:
    """Bounded by what one layout gets, in units and in format ranges."""
    for rich in _texts(parse(BOMBS[name])):
        assert units(rich.text) <= 2 * LAYOUT_LENGTH
        assert len(rich.spans) <= LAYOUT_SPANS + 1


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("size", [997, 7919])
def test_a_bomb_in_pieces_is_the_bomb_in_one(name: str, size: int) -> None:
    """Performance table: incremental parse == full parse, beyond the bounds too."""
    text = BOMBS[name]
    splitter = Splitter()
    for at in range(0, len(text), size):
        splitter.feed(text[at : at + size])
    assert splitter.finish() == parse(text)


def test_a_table_lays_out_sixty_four_columns_and_counts_the_others(view: Timeline) -> None:
    """A line below says how many are missing; copying the message gives all."""
    text = _table(1000, 2)
    view.set_items([make.reply("r", text)])
    (block,) = [block for block in _blocks(view) if isinstance(block, TableBlock)]
    assert {len(row) for row in block._rows} == {COLUMNS}
    assert block.leaf.more == 936
    less = TableBlock(view.sheet, parse(_table(COLUMNS, 2))[0], None)  # type: ignore[arg-type]
    assert block.height == less.measure(view.column_width) + view.sheet.px(30)
    view.select_all()
    view.copy_markdown()
    assert make.copied(view) == text.rstrip("\n")


def test_only_the_columns_in_sight_are_laid_out(view: Timeline) -> None:
    """A cell of one look is measured by its font and laid out when it is painted."""
    view.set_items([make.reply("r", _table(60, 3))])
    make.settled(view)
    (block,) = [block for block in _blocks(view) if isinstance(block, TableBlock)]
    made = [column for column, cell in enumerate(block._rows[1]) if cell._layout is not None]
    assert made == list(range(len(made)))
    assert 0 < len(made) < 30


def test_a_table_whose_rows_differ_in_columns_is_none(view: Timeline) -> None:
    """The cut to 64 columns makes no table of what was none."""
    assert not any(isinstance(leaf, Table) for leaf in parse(_row(200, "a") + _row(100, "--") + _row(200, "1")))


def test_escaped_pipes_are_no_columns() -> None:
    """The cut falls on the pipes that part cells."""
    (leaf,) = parse(_row(70, "a\\|b") + _row(70, "--"))
    assert isinstance(leaf, Table)
    assert [cell.text for cell in leaf.head] == ["a|b"] * COLUMNS
    assert leaf.more == 6


@pytest.mark.parametrize(("columns", "rows"), [(1, 30), (10, 30), (20, 15), (64, 4), (100_000, 4)])
def test_a_part_of_a_wide_table_has_fewer_rows(columns: int, rows: int) -> None:
    """Cells of one block are bounded, not its rows alone."""
    assert part_rows(columns) == rows


def test_a_long_paragraph_is_cut_between_words_and_copied_whole(view: Timeline) -> None:
    """Several layouts stand below each other without a gap; the text is what it was."""
    text = ("word next " * 4000).strip()
    view.set_items([make.reply("r", text)])
    _read(view)
    parts = [block for block in _blocks(view) if isinstance(block, ProseBlock)]
    assert len(parts) > 3
    assert all(part.text.rich.text.endswith(" ") for part in parts[:-1])
    assert [part.gap for part in parts[1:]] == [0] * (len(parts) - 1)
    view.select_all()
    assert view.selecting.text() == text


def test_links_and_looks_go_on_over_a_cut() -> None:
    """A span that is cut is two spans; padding of inline code keeps its place."""
    text = "a" * (LAYOUT_LENGTH - 3) + " bold words here"
    start = LAYOUT_LENGTH - 2
    rich = Rich(text, (Span(start - 4, units(text), Style.BOLD, "https://example.org/"),), (start + 6,))
    first, second = pieces(rich)
    assert first.text + second.text == text
    assert [span.href for part in (first, second) for span in part.spans] == ["https://example.org/"] * 2
    assert (first.spans[0].end, second.spans[0].start) == (units(first.text), 0)
    assert second.pads == (start + 6 - units(first.text),)


def test_a_cut_never_falls_into_what_is_drawn_as_one() -> None:
    """Pairs of units, joined emoji and letters with marks stay whole."""
    for cluster in ("\U0001f469\u200d\U0001f4bb", "e\u0301", "\U0001f600"):
        for shift in range(5):
            text = "x" * shift + cluster * 9000
            parts = pieces(plain(text))
            assert len(parts) > 1
            assert "".join(part.text for part in parts) == text
            assert all(part.text.startswith(cluster) for part in parts[1:])


@pytest.mark.parametrize("line", ["word next\n", "> word next\n"])
def test_a_paragraph_or_quote_of_many_lines_goes_on_in_another(line: str) -> None:
    """What is complete is frozen, so that a frame parses the last lines only."""
    splitter = Splitter()
    splitter.feed(line * (3 * LINES))
    assert len(splitter.frozen) == 2


def test_what_stands_below_a_heavy_block_is_parsed_as_ever() -> None:
    """The work is bounded block by block, item by item and row by row."""
    *_, last = parse("![" * 10_000 + "\n\n**bold**")
    assert isinstance(last, Prose)
    assert [span.style for span in last.rich.spans] == [Style.BOLD]
    *_, item = parse("- " + "![" * 10_000 + "\n- **bold**")
    assert isinstance(item, Prose)
    assert [span.style for span in item.rich.spans] == [Style.BOLD]


def test_a_heavy_block_is_its_own_source() -> None:
    """Shown as plain text, nothing of it is lost."""
    leaves = parse(BOMBS["images"])
    assert "".join(rich.text for rich in _texts(leaves)) == BOMBS["images"]
    assert [leaf.frame.gap is Gap.PART for leaf in leaves] == [False, *[True] * (len(leaves) - 1)]


def _ranges(block: CodeBlock) -> list[tuple[int, int]]:
    return [(len(layout.text()), len(layout.formats())) for layout in block._layouts.values()]


def test_a_long_line_of_code_is_laid_out_in_pieces_without_colours(view: Timeline) -> None:
    """Its copy is byte for byte; the lines around it keep their colours."""
    code = f"a = 1\n{PYTHON * 2000}\nb = 2"
    view.set_items([make.reply("r", f"```python\n{code}\n```")])
    _read(view)
    make.settled(view)
    (block,) = [block for block in _blocks(view) if isinstance(block, CodeBlock)]
    sizes = _ranges(block)
    assert all(length <= CODE_LENGTH for length, _ in sizes)
    assert [count > 0 for _, count in sizes] == [True, *[False] * (len(sizes) - 2), True]
    assert block.text == code
    assert block.plain(0, block.length()) == code
    view.select_all()
    assert view.selecting.text() == code


def test_a_line_of_very_many_colours_has_none(view: Timeline) -> None:
    """Format ranges are what a layout is slow with."""
    view.set_items([make.reply("r", f"```python\n{PYTHON * 100}\n{PYTHON}1\n```")])
    make.settled(view)
    (block,) = [block for block in _blocks(view) if isinstance(block, CodeBlock)]
    counts = [count for _, count in _ranges(block)]
    assert counts[0] == 0
    assert 0 < counts[1] <= CODE_RUNS


def test_a_growing_line_of_code_lays_out_its_last_piece_only(view: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pieces that are full keep their layouts from frame to frame."""
    view.begin_reply("live", "Model")
    view.feed(TextDelta("```python\n" + PYTHON * 2000))
    view._streaming.flush()
    view.viewport().grab()
    made: list[int] = []
    begin = QTextLayout.beginLayout
    monkeypatch.setattr(QTextLayout, "beginLayout", lambda layout: (made.append(len(layout.text())), begin(layout)))
    view.feed(TextDelta(PYTHON))
    view._streaming.flush()
    view.viewport().grab()
    assert len(made) <= 2
    assert max(made) <= CODE_LENGTH


def test_a_wrapped_line_in_pieces_has_the_rows_it_is_painted_in(view: Timeline) -> None:
    """Rows of letters of one width are counted, not laid out."""
    block = CodeBlock(view.sheet, parse("a")[0].frame, [PYTHON * 1000, "end"], "")
    block.toggle_wrap()
    block.measure(view.column_width)
    assert not block._layouts
    rows = sum(block._line(at).lineCount() for at in range(len(block._shown)))
    assert block._tops[-1] == rows
    start = len(block.lines[0]) + 1
    assert block.paragraph_at(5000) == (0, start - 1)
    assert block.offset_at(0, block.line_top(start) + 1) == start


def test_the_beginning_of_a_long_message_is_there_before_the_rest(
    view: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored message is read in steps; none of them is all of it."""
    monkeypatch.setattr(message_view, "AT_ONCE_S", 0)
    text = "".join(f"Paragraph {at} of *many*.\n\n" for at in range(3000))
    view.set_items([make.reply("r", text)])
    message = view.scroller.stack.view(0)
    assert message.is_reading
    begun = len(message.blocks)
    assert 0 < begun < 1000
    _read(view)
    assert len(message.blocks) == len(parse(text)) + 1
    assert view.is_at_tail


def test_a_line_being_read_stays_while_the_message_is_read_and_the_theme_changes(
    view: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps add below; what was read is not read again."""
    monkeypatch.setattr(message_view, "AT_ONCE_S", 0)
    text = "".join(f"Paragraph {at} of *many*.\n\n" for at in range(3000))
    view.set_items([make.reply("r", text)])
    view.verticalScrollBar().setValue(600)
    anchor = view.scroller.stack.anchor
    _read(view)
    assert view.scroller.stack.anchor == anchor
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() - 300)
    anchor = view.scroller.stack.anchor
    assert anchor.block > 2000
    view.set_theme(view.sheet.theme)
    assert view.scroller.stack.anchor.block == anchor.block


def test_a_link_below_the_layouts_cut_is_found_where_it_is_painted(view: Timeline) -> None:
    """Spans of a part count from the part's beginning."""
    view.set_items([make.reply("r", "word " * 2000 + "[there](https://example.org/)")])
    _read(view)
    block = _blocks(view)[-1]
    x, y, _ = block.end_point()
    hit = block.hit(QPointF(x - 4, y).x(), y + 4)
    assert hit is not None
    assert hit.value == "https://example.org/"


def test_rows_out_of_sight_have_no_cells_and_are_copied_all_the_same(view: Timeline) -> None:
    """Parts of a table make their cells when they are looked at, and let go of them after."""
    view.set_items([make.reply("r", _row(2, "head") + _row(2, "--") + "".join(f"|{at}|b|\n" for at in range(900)))])
    _read(view)
    parts = [block for block in _blocks(view) if isinstance(block, TableBlock)]
    assert len(parts) == 30
    assert sum(bool(part._texts) for part in parts) < 6
    view.select_all()
    assert view.selecting.text() == "head\thead\n" + "\n".join(f"{at}\tb" for at in range(900))
    height = parts[-1].height
    parts[-1].release()
    assert parts[-1].measure(view.column_width) == height
