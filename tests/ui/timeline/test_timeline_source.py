"""Copying as Markdown: whole blocks as they were written, parts of blocks with what marks them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from reprise.domain.deltas import TextDelta
from reprise.ui.timeline import Timeline
from reprise.ui.timeline.markdown import Leaf, located, parse
from reprise.ui.timeline.selection import Position, Selection
from reprise.ui.timeline.source import Chosen, markdown_of
from support import corpus
from support import timeline as make

TEXT = """# A *fine* title

Some **bold words** and `code` with [a link](https://a.example "t").

1. one
2. two has `x`

   more of two
   - inner

> quoted text
> goes on

~~~python
if x:
    y = "```"
~~~

| Name | Count |
|:--|--:|
| *apple* | 1 |
| b | 2 |

The end."""


@pytest.fixture
def view(qtbot: QtBot) -> Timeline:
    timeline = make.make(height=1200)
    qtbot.addWidget(timeline)
    timeline.set_items([make.prompt("p", "Tell *me*.\n\n- so"), make.reply("r", TEXT)])
    return timeline


def _at(view: Timeline, text: str, *, end: bool = False) -> Position:
    """Before or behind a text that is seen."""
    for placed in view.scroller.placed:
        if (at := placed.block.words.find(text)) >= 0:
            return Position(placed.view.item.key, placed.block.place, at + (len(text) if end else 0))
    raise AssertionError(text)


def _copied(view: Timeline, first: str, last: str) -> str:
    view.selecting.select(Selection(_at(view, first), _at(view, last, end=True)))
    assert view.copy_markdown()
    return make.copied(view)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("A fine title", "A fine title", "# A *fine* title"),
        ("fine", "title", "*fine* title"),
        ("words", "and", "**words** and"),
        ("with ", "a li", "with [a li](https://a.example)"),
        ("Some", "inner", TEXT[TEXT.index("Some") : TEXT.index("\n\n> quoted")]),
        ("bold", "one", "**bold words** and `code` with [a link](https://a.example).\n\n1. one"),
        ("two has", "more of two", "2. two has `x`\n\n   more of two"),
        ("quoted", "text goes", "> quoted text goes"),
        ("text", "goes on", "text goes on"),
        ("if x:", "    y", "```python\nif x:\n    y\n```"),
        ('"```"', '"```"', '````python\n"```"\n````'),
        ("if x", '"```"', TEXT[TEXT.index("~~~") : TEXT.index("\n\n| Name")]),
        ("b\t", "2", "| Name | Count |\n|:--|--:|\n| b | 2 |"),
        ("apple", "apple", "*apple*"),
        ("b\t2", "The end", "| Name | Count |\n|:--|--:|\n| b | 2 |\n\nThe end"),
        ("A fine", "The end.", TEXT),
    ],
)
def test_what_is_selected_is_copied_with_its_marks(view: Timeline, first: str, last: str, expected: str) -> None:
    """Issue point 4: a part of a block is Markdown that says the same."""
    assert _copied(view, first, last) == expected


def test_the_host_beside_a_link_is_no_part_of_what_was_written(view: Timeline) -> None:
    """Issue points 4 and 6: it is said by the window, not by the model."""
    view.set_items([make.reply("r", "See [bank.example](https://evil.example), then go on.")])
    assert any("(evil.example)" in placed.block.words for placed in view.scroller.placed)
    assert _copied(view, "bank", "then") == "[bank.example](https://evil.example), then"
    assert _copied(view, "evil.example)", "then") == ", then"


def test_a_prompt_is_copied_as_it_was_typed_and_messages_are_a_line_apart(view: Timeline) -> None:
    """A prompt is no Markdown of ours: what it says is what it is."""
    assert _copied(view, "me*", "A fine title") == "me*.\n\n- so\n\n# A *fine* title"


def test_everything_is_every_message_s_source(view: Timeline) -> None:
    view.selecting.select_all()
    assert view.copy_markdown()
    assert make.copied(view) == f"Tell *me*.\n\n- so\n\n{TEXT}"


def test_signs_that_would_be_marks_are_escaped(view: Timeline) -> None:
    """What is copied reads as it was seen, not as something else."""
    view.set_items([make.reply("r", r"a \*star\* and 2 \< 3 \[x\] then `more`")])
    assert _copied(view, "star", "then") == r"star\* and 2 \< 3 \[x\] then"


def test_a_live_reply_is_copied_as_markdown_too(view: Timeline) -> None:
    """Whatever it says up to now."""
    view.set_items([])
    view.begin_reply("live", "Model")
    view.feed(TextDelta("It is **bold** and\n\n- more"))
    make.spin(40)
    assert _copied(view, "bold", "more") == "**bold** and\n\n- more"
    view.selecting.select_all()
    assert view.copy_markdown()
    assert make.copied(view) == "It is **bold** and\n\n- more"


def test_opened_thoughts_are_copied_as_they_were_thought(view: Timeline) -> None:
    """What is open is part of what is seen, and so of what is selected."""
    view.set_items([make.reply("r", "So **it** is.", thinking="Well, *maybe*.\n\n- one")])
    view.toggle(0, 0)
    assert _copied(view, "maybe", "it") == "*maybe*.\n\n- one\n\nSo **it**"


@pytest.mark.parametrize("number", range(1, 12, 2))
def test_every_leaf_knows_its_lines(number: int) -> None:
    """Whole blocks are cut from the source: their lines say the same alone, and are in order."""
    text = corpus.message(number)
    found = located(text)
    lines = text.split("\n")
    assert [leaf for leaf, _, _ in found] == parse(text)
    for _, first, end in found:
        assert 0 <= first < end <= len(lines)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40).map(lambda number: corpus.message(2 * number + 1)), st.data())
def test_whole_blocks_copied_as_markdown_read_as_the_same_blocks(text: str, data: st.DataObject) -> None:
    """Round trip: what is pasted is what was seen."""
    leaves = parse(text)
    first = data.draw(st.integers(0, len(leaves) - 1))
    last = data.draw(st.integers(first, len(leaves) - 1))
    copied = markdown_of(text, [Chosen(number, 0, 1, 1) for number in range(first, last + 1)])
    again = parse(copied)
    assert [_words(leaf) for leaf in again] == [_words(leaf) for leaf in leaves[first : last + 1]]


def _words(leaf: Leaf) -> object:
    """What a leaf says, wherever it stands."""
    return next(
        (getattr(leaf, name) for name in ("rich", "text", "rows") if hasattr(leaf, name)),
        type(leaf),
    )
