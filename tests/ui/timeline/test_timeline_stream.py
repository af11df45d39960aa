"""The live reply: what is shown while it grows, and that its end changes nothing that was right."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import TextDelta, ThinkingDelta
from reprise.domain.messages import ToolCallPart
from reprise.ui.timeline import Timeline
from reprise.ui.timeline.code import CodeBlock
from reprise.ui.timeline.lines import FoldBlock, NoteBlock
from reprise.ui.timeline.live import LiveReply
from reprise.ui.timeline.markdown import Prose, parse
from support import corpus
from support import timeline as make
from support.spec_examples import examples

LEFT = Qt.MouseButton.LeftButton
HARD = (
    """Intro with `code` and **bold**.

- one
- two
  - nested `x`

  more of two
- [x] done

1. first

2. loose second

> a quote
>
> - with a list

```python
def f(x):
    '''doc
    string'''
    return x + 1  # comment
```

| a | b |
|---|--:|
"""
    + "".join(f"| row {at} | {at * 7} |\n" for at in range(44))
    + """
text after [link](https://example.org), \u4e2d\u6587 \U0001f600.

````
```
````
"""
)


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


def _stream(timeline: Timeline, text: str, seed: int = 1, *, frames: bool = True) -> None:
    rng = random.Random(seed)
    at = 0
    while at < len(text):
        size = rng.choice((1, 3, 4, 9, 40))
        timeline.feed(TextDelta(text[at : at + size]))
        at += size
        if frames:
            timeline._streaming.flush()
            if rng.random() < 0.02:
                make.settled(timeline)
    timeline._streaming.flush()


@pytest.mark.parametrize(
    "text",
    [
        *(HARD, corpus.reply(5000, 3), corpus.reply(5000, 4), "```python\nopen = True", "half a | table\n|--"),
        *("half a [link](https://ex", "half **an em", "a `co", "![an im", "1. a\n2", "| a | b", "x\n\n<!-- a"),
    ],
)
def test_a_streamed_reply_has_the_pixels_of_a_reply_shown_at_once(view: Timeline, qtbot: QtBot, text: str) -> None:
    """Performance table: streamed pixels == one-shot pixels, at the end and page by page from the top."""
    _stream(view, text)
    _is_as_at_once(view, qtbot, text)


@pytest.mark.parametrize("part", range(4))
def test_the_examples_of_the_specifications_stream_to_the_pixels_of_a_reply_shown_at_once(
    view: Timeline, qtbot: QtBot, part: int
) -> None:
    """Performance table: streamed pixels == one-shot pixels. A quarter of the examples in one reply."""
    texts = sorted({each.markdown for name in ("commonmark", "gfm") for each in examples(name)})
    whole = [text for text in texts if "]:" not in text and _ends_itself(text)]
    text = "\n\nNext.\n\n".join(whole[part::4])
    _stream(view, text)
    _is_as_at_once(view, qtbot, text)


def _ends_itself(text: str) -> bool:
    """False of a fence without its end, which would take in all the others."""
    last = parse(f"{text}\n\nNext.")[-1]
    return isinstance(last, Prose) and last.rich.text == "Next."


def _is_as_at_once(view: Timeline, qtbot: QtBot, text: str) -> None:
    view.finish_reply(make.reply("r", text))
    other = make.make(height=900)
    qtbot.addWidget(other)
    other.set_items([make.prompt("p", "Go on"), make.reply("r", text)])
    assert make.settled(view) == make.settled(other)
    for at in range(0, other.verticalScrollBar().maximum() + 1, other.verticalScrollBar().pageStep()):
        view.verticalScrollBar().setValue(at)
        other.verticalScrollBar().setValue(at)
        assert make.settled(view) == make.settled(other)


def test_a_frame_of_the_stream_leaves_no_trace_of_the_frame_before(view: Timeline) -> None:
    """Shifting what stays and painting what is below gives what painting everything gives."""
    text = corpus.reply(2500, 9)
    for at in range(0, len(text), 60):
        view.feed(TextDelta(text[at : at + 60]))
        view._streaming.flush()
        shown = make.on_screen(view)
        view.viewport().update()
        assert make.on_screen(view) == shown


def test_finishing_keeps_the_blocks_that_are_right(view: Timeline) -> None:
    """No flicker: the same blocks go on, with their layouts."""
    text = corpus.reply(3000, 5)
    _stream(view, text)
    before = _live(view).blocks[1:-1]
    tops = {placed.block: placed.top for placed in view.scroller.placed}
    view.finish_reply(make.reply("r", text))
    after = view.scroller.stack.view(1).blocks
    assert all(block in after for block in before)
    assert not view.has_reply
    moved = {placed.top - tops[placed.block] for placed in view.scroller.placed if placed.block in tops}
    assert moved == {0}


def test_finishing_while_reading_above_moves_nothing(view: Timeline) -> None:
    """UX 5: a finished stream never moves the line being read."""
    text = corpus.reply(6000, 6)
    _stream(view, text, frames=False)
    view.scroll_by(-800)
    before = [(placed.index, placed.top) for placed in view.scroller.placed]
    view.finish_reply(make.reply("r", text, note="Cut at the output limit. [Continue](continue)"))
    assert [(placed.index, placed.top) for placed in view.scroller.placed] == before


def test_deltas_wait_for_one_flush_a_frame(view: Timeline) -> None:
    """F64, design 3: buffer, one 16 ms single-shot timer."""
    for _ in range(50):
        view.feed(TextDelta("word "))
    assert _live(view).text == ""
    make.spin(40)
    assert _live(view).text == "word " * 50


def test_a_frame_repaints_only_the_tail(view: Timeline) -> None:
    """Performance: the tail rect is painted, nothing else."""
    _stream(view, "paragraph\n\n" * 5 + "tail")
    make.spin(30)
    seen: list[int] = []

    class Watcher(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() is QEvent.Type.Paint:
                seen.append(event.rect().top())  # type: ignore[attr-defined]
            return False

    watcher = Watcher()
    view.viewport().installEventFilter(watcher)
    tail_top = view.scroller.placed[-1].top
    view.feed(TextDelta(" grows"))
    make.spin(40)
    view.viewport().removeEventFilter(watcher)
    assert len(seen) == 1
    assert tail_top - 12 <= seen[0] <= tail_top


def test_the_caret_stands_right_after_the_last_letter(view: Timeline) -> None:
    """Picture 02."""
    start = _live(view).caret()
    assert start is not None
    assert start[1] == 16
    _stream(view, "abc")
    caret = _live(view).caret()
    assert caret is not None
    index, x, top, _ = caret
    assert index == len(_live(view).blocks) - 1
    assert x == pytest.approx(16 + view.fontMetrics().horizontalAdvance("abc"), abs=8)
    assert top == 0


def test_wait_text_stands_beside_the_caret_and_later_under_the_text(view: Timeline) -> None:
    """UX 2: waiting for the first byte, stalled."""
    view.set_wait_text("Waiting for Model, 7 s")
    assert not isinstance(_live(view).blocks[-1], NoteBlock)
    _stream(view, "text")
    assert isinstance(_live(view).blocks[-1], NoteBlock)
    view.set_wait_text(None)
    assert not isinstance(_live(view).blocks[-1], NoteBlock)


def test_a_failed_partial_is_dimmed_until_the_next_attempt_speaks(view: Timeline) -> None:
    """F67, UX 2: the partial stays, dimmed, with its note; the first delta of the next attempt replaces it."""
    _stream(view, "first attempt")
    view.fail_reply("Cut off. [Keep](keep)")
    failed = _live(view)
    assert failed.is_dimmed
    assert isinstance(failed.blocks[-1], NoteBlock)
    assert failed.caret() is None
    view.begin_reply("next", "Other")
    assert _live(view) is failed
    view.feed(TextDelta("second"))
    make.spin(40)
    assert _live(view).text == "second"
    assert _live(view).item.key == "next"
    view.finish_reply(make.reply("r", "second"))
    assert [item.key for item in view.scroller.stack.items] == ["p", "r"]


@pytest.mark.parametrize("text", ["see [the docs](https://exa", "and **so", "- a\n- [", "2 *", "a\n\n1"])
def test_a_failed_partial_shows_its_last_marks_as_they_stand(view: Timeline, text: str) -> None:
    """Nothing the model said is held back from a reply that has ended."""
    _stream(view, text)
    view.fail_reply("Cut off.")
    other = make.make()
    other.set_items([make.reply("r", text)])
    said = [block.plain(0, 10**6) for block in other.scroller.stack.view(0).blocks]
    assert [block.plain(0, 10**6) for block in _live(view).blocks[:-1]] == said
    other.close()


def test_an_empty_attempt_leaves_nothing(view: Timeline) -> None:
    """Nothing was said, so nothing is dimmed."""
    view.fail_reply("Refused.")
    assert not view.has_reply


def test_a_note_action_names_its_reply(view: Timeline, qtbot: QtBot) -> None:
    """*Keep* and *Continue from here* are the caller's business."""
    _stream(view, "first attempt")
    view.fail_reply("Cut off. [Keep](keep)")
    note = view.scroller.placed[-1]
    hit = next(hit for x in range(0, 760, 5) if (hit := note.block.hit(x, 10)) is not None)
    assert hit.rect is not None
    at = hit.rect.center().toPoint()
    at.setX(at.x() + view.column_left)
    at.setY(at.y() + note.top)
    with qtbot.waitSignal(view.note_link) as caught:
        qtbot.mouseClick(view.viewport(), LEFT, pos=at)
    assert caught.args == ["live", "keep"]


def test_thinking_is_one_line_until_it_is_opened(view: Timeline) -> None:
    """UX 1: collapsed, "Thinking" while it runs."""
    view.feed(ThinkingDelta("let me see\n\nmore"))
    make.spin(40)
    folds = [block for block in _live(view).blocks if isinstance(block, FoldBlock)]
    assert [fold.label for fold in folds] == ["Thinking"]
    view.toggle(1, 0)
    texts = [block.plain(0, 99) for block in _live(view).blocks if block.in_thinking]
    assert texts == ["let me see", "more"]
    view.feed(TextDelta("Answer"))
    make.spin(40)
    label = next(block.label for block in _live(view).blocks if isinstance(block, FoldBlock))
    assert label.startswith("Thought for ")
    view.finish_reply(make.reply("r", "Answer", thinking="let me see\n\nmore"))
    assert any(block.in_thinking for block in view.scroller.stack.view(1).blocks)


def test_a_tool_call_is_one_line_and_opens_to_its_arguments(view: Timeline) -> None:
    """UX 1: one line with the name; arguments folded."""
    call = ToolCallPart("c1", "read_file", '{"path": "a.py"}')
    view.finish_reply(make.reply("r", "Reading", more=(call,)))
    blocks = view.scroller.stack.view(1).blocks
    assert isinstance(blocks[-1], FoldBlock)
    view.toggle(1, blocks[-1].fold)
    opened = view.scroller.stack.view(1).blocks[-1]
    assert isinstance(opened, CodeBlock)
    assert opened.text == '{"path": "a.py"}'


def test_code_gets_its_colours_while_idle_and_exactly_when_it_closes(view: Timeline) -> None:
    """Colours by pygments in idle slices."""
    _stream(view, "```python\ndef f():\n    return 'x'\n", frames=False)
    make.settled(view)
    block = next(block for block in _live(view).blocks if isinstance(block, CodeBlock))
    assert block.is_open
    assert block._colors[0][0] == (0, 3, "syn_keyword")
    _stream(view, "```\n", frames=False)
    make.settled(view)
    assert not block.is_open
    assert (11, 3, "syn_string") in block._colors[1]


def test_the_message_at_the_end_replaces_whatever_was_streamed(view: Timeline) -> None:
    """L5, F67: it alone stands there, once, whatever the deltas had built."""
    _stream(view, "hal a rep")
    view.finish_reply(make.reply("r", "half a reply"))
    assert not view.has_reply
    assert [item.key for item in view.scroller.stack.items] == ["p", "r"]
    blocks = [placed.block for placed in view.scroller.placed if placed.message == 1]
    assert [text for block in blocks if (text := block.plain(0, block.length()))] == ["half a reply"]
