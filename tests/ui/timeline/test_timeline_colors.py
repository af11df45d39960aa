"""Colours of code come in slices, where they are new, and what still grows waits for what is whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication

from reprise.ui.timeline import highlight
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.highlight import Highlighter, colored_lines
from support.timeline import make, reply, spin

CLOSED = "```python\nx = 1\n```"


class Colored:
    """A highlighter, and what it told: each block with the line from which its colours are new."""

    def __init__(self, qapp: QApplication) -> None:
        self.told: list[tuple[CodeBlock, int]] = []
        self.highlighter = Highlighter(lambda block, line: self.told.append((block, line)), qapp)

    def settle(self, *blocks: CodeBlock) -> None:
        """Ask for these and wait until nothing is left to do."""
        for block in blocks:
            self.highlighter.request(block)
        while not self.highlighter.is_idle:
            spin()


@pytest.fixture
def colored(qapp: QApplication) -> Colored:
    return Colored(qapp)


@pytest.fixture
def fence(qapp: QApplication) -> Callable[..., CodeBlock]:
    """Makes a block of Python, open or closed."""
    timeline = make()
    timeline.set_items([reply("m", CLOSED)])
    found = next(placed.block for placed in timeline.scroller.placed if isinstance(placed.block, CodeBlock))
    sheet, frame = found.sheet, found.frame
    timeline.close()

    def build(count: int, *, is_open: bool) -> CodeBlock:
        return CodeBlock(sheet, frame, [f"x = {at}" for at in range(count)], "python", is_open=is_open)

    return build


def test_an_open_fence_is_told_to_have_changed_only_where_its_colours_are_new(
    colored: Colored, fence: Callable[..., CodeBlock]
) -> None:
    """Goal: a long open fence costs no more per flush than a short one."""
    block = fence(200, is_open=True)
    colored.settle(block)
    first = len(block.lines)
    block.extend(["y = 1", "y = 2"], "", first)
    colored.settle(block)
    (_, before), (_, line) = colored.told
    assert before < line
    assert first - 20 <= line <= first
    assert not block.wants_colors
    assert block._colors[first] == next(colored_lines("python", "y = 1"))


def test_a_slice_of_no_time_still_ends_with_every_line_coloured(
    colored: Colored, fence: Callable[..., CodeBlock], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: event-loop lag; one line a slice is the least there is."""
    monkeypatch.setattr(highlight, "_SLICE_S", 0.0)
    block = fence(30, is_open=True)
    colored.settle(block)
    assert colored.told == [(block, 0)]
    assert block._colors == list(colored_lines("python", block.text))


def test_a_line_that_grew_while_it_was_read_is_read_again(
    colored: Colored, fence: Callable[..., CodeBlock], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamed pixels == one-shot pixels: half of a line gives no colours to the whole of it."""
    monkeypatch.setattr(highlight, "_SLICE_S", 0.0)
    block = fence(9, is_open=True)
    colored.highlighter.request(block)
    while colored.highlighter._current is None:
        spin()
    block.extend([], "x = 'eight'", 8)
    while not colored.highlighter.is_idle:
        spin()
    assert block.colored == 8
    assert block.wants_colors
    colored.settle(block)
    assert block._colors == list(colored_lines("python", block.text))


def test_colours_read_of_an_open_fence_are_dropped_when_it_closes(
    colored: Colored, fence: Callable[..., CodeBlock], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamed pixels == one-shot pixels: a closed fence is read from its beginning."""
    monkeypatch.setattr(highlight, "_SLICE_S", 0.0)
    block = fence(9, is_open=True)
    colored.highlighter.request(block)
    while colored.highlighter._current is None:
        spin()
    block.close('"""\n' + block.text)
    colored.settle(block)
    assert colored.told == [(block, 0)]
    assert block._colors == list(colored_lines("python", block.text))


def test_a_block_that_still_grows_waits_for_one_that_is_whole(
    colored: Colored, fence: Callable[..., CodeBlock]
) -> None:
    """What grows is asked for again and again: whole blocks in view would never have their turn."""
    growing, whole = fence(9, is_open=True), fence(9, is_open=False)
    colored.settle(whole, growing)
    assert colored.told == [(whole, 0), (growing, 0)]
