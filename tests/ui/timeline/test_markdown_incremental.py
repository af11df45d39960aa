"""Markdown that arrives in pieces means what it means in one piece."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.ui.timeline.incremental import Splitter
from reprise.ui.timeline.markdown import Code, Leaf, Prose, Table, parse
from support import corpus

SEPARATORS = st.sampled_from(["\n", "\n\n", "\n", "\n\n\n", " ", ""])
DOCUMENTS = st.lists(st.tuples(st.sampled_from(corpus.FRAGMENTS), SEPARATORS), min_size=1, max_size=12).map(
    lambda parts: "".join(piece + separator for piece, separator in parts)
)


def _feed(text: str, sizes: list[int]) -> tuple[Splitter, list[tuple[Leaf, ...]]]:
    splitter, seen, at, turn = Splitter(), [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        splitter.feed(text[at : at + size])
        seen.append(tuple(splitter.frozen))
        at += size
        turn += 1
    return splitter, seen


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS, st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_any_chunking_ends_in_what_a_full_parse_gives(text: str, sizes: list[int]) -> None:
    """Performance table: incremental parse == full parse, 100 %."""
    splitter, _ = _feed(text, sizes)
    assert splitter.finish() == parse(text)


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS.filter(lambda text: "]:" not in text), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_what_is_frozen_never_has_to_change(text: str, sizes: list[int]) -> None:
    """At every moment the frozen leaves are the first ones of the complete text."""
    full = parse(text)
    _, seen = _feed(text, sizes)
    for frozen in seen:
        assert list(frozen) == full[: len(frozen)]


@pytest.mark.parametrize("seed", range(4))
def test_a_long_reply_token_by_token_is_the_full_parse(seed: int) -> None:
    """The corpus of the benchmarks."""
    text = corpus.reply(6000, seed)
    rng = random.Random(seed)
    splitter, _ = _feed(text, [rng.randint(1, 9) for _ in range(64)])
    assert splitter.finish() == parse(text)


def test_an_open_fence_takes_lines_and_is_not_parsed() -> None:
    """Design 5: an open fence appends lines."""
    splitter = Splitter()
    splitter.feed("before\n\n```python\na = 1\nb =")
    assert splitter.fence is not None
    assert (splitter.fence.lines, splitter.fence.partial) == (["a = 1"], "b =")
    assert [type(leaf) for leaf in splitter.frozen] == [Prose]


def test_the_first_ticks_of_a_closing_fence_are_not_shown_as_code() -> None:
    """They would flash up for a frame and vanish."""
    splitter = Splitter()
    splitter.feed("```\ncode\n``")
    assert splitter.fence is not None
    assert splitter.fence.partial == ""


def test_a_long_table_freezes_in_parts_of_thirty_rows() -> None:
    """Design 5: tables in 30-row chunks."""
    splitter = Splitter()
    splitter.feed(corpus.table(random.Random(1), rows=75))
    parts = [leaf for leaf in [*splitter.frozen, *splitter.open] if isinstance(leaf, Table)]
    assert [(len(part.rows), part.part) for part in parts] == [(30, 0), (30, 1), (15, 2)]


def test_a_long_list_keeps_only_its_last_item_open() -> None:
    """Items that are complete are not parsed again."""
    splitter = Splitter()
    splitter.feed("".join(f"{at}. item\n" for at in range(1, 60)))
    assert len(splitter.frozen) == 58
    assert [leaf.frame.markers for leaf in splitter.open] == [((0, "59."),)]


def test_half_a_line_does_not_keep_a_list_open() -> None:
    """Most frames end within a line."""
    splitter = Splitter()
    splitter.feed("".join(f"{at}. item\n" for at in range(1, 60)) + "60. ite")
    assert len(splitter.frozen) == 58
    assert [leaf.frame.markers[0][1] for leaf in splitter.open] == ["59.", "60."]


def test_list_numbers_count_on_whatever_the_source_says() -> None:
    """CommonMark 5.3: only the first number counts."""
    splitter = Splitter()
    for piece in ("1. a\n", "1. b\n", "1. c\n"):
        splitter.feed(piece)
    assert [leaf.frame.markers[0][1] for leaf in splitter.finish()] == ["1.", "2.", "3."]


def test_a_link_defined_after_its_use_is_a_link_in_the_end() -> None:
    """Known limit of incremental parsing: mended by one parse at the end."""
    splitter, _ = _feed("See [docs].\n\nMore.\n\n[docs]: https://example.org/\n", [5])
    first = splitter.finish()[0]
    assert isinstance(first, Prose)
    assert [span.href for span in first.rich.spans] == ["https://example.org/"]


TAGS = st.sampled_from(
    [
        *("<div onclick=x>", "</div>", "<think>", "</think>", "<script>alert(1)</script>", "<img src=x onerror=y>"),
        *("vector<int>", "List<Map<String,V>>", "#include <stdio.h>", "<br>", "<for example>", "5 < 10", "a<b", "<"),
        *(
            "<!-- aside -->",
            "<!-- open",
            "<![CDATA[ data ]]>",
            "<?php echo ?>",
            "<!DOCTYPE html>",
            "<pre>",
            "<svg/onload=a>",
        ),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(TAGS, st.sampled_from([" ", "\n", "\n\n"])), min_size=1, max_size=8))
def test_raw_html_is_text(parts: list[tuple[str, str]]) -> None:
    """A model's HTML is never interpreted and never vanishes, in one line or over several."""
    text = "word " + "".join(piece + separator for piece, separator in parts)
    leaves = parse(text)
    shown = " ".join(leaf.rich.text for leaf in leaves if isinstance(leaf, Prose))
    assert {type(leaf) for leaf in leaves} == {Prose}
    assert shown.replace("#", "").split() == text.replace("#", "").split()


@pytest.mark.parametrize("form", ["# {}", "- {}", "> {}", "**{}**", "| {} |\n|-|", "[{}](https://example.org)"])
def test_raw_html_is_text_wherever_it_stands(form: str) -> None:
    """In headings, lists, quotes, tables and links."""
    (leaf,) = parse(form.format("a <b>c</b> <!-- d --> vector<int>"))
    text = leaf.head[0].text if isinstance(leaf, Table) else leaf.rich.text if isinstance(leaf, Prose) else ""
    assert text == "a <b>c</b> <!-- d --> vector<int>"


def test_a_file_name_is_no_link_but_a_written_address_is() -> None:
    """``main.py`` would be a host in Paraguay."""
    (leaf,) = parse("open main.py or https://example.org/x")
    assert isinstance(leaf, Prose)
    assert [span.href for span in leaf.rich.spans] == ["https://example.org/x"]


def test_a_remote_image_is_words_that_name_its_host() -> None:
    """Nothing is fetched."""
    (leaf,) = parse("![chart](https://evil.example/track.png)")
    assert isinstance(leaf, Prose)
    assert leaf.rich.text == "[Image: chart (evil.example)]"


def test_code_keeps_every_byte() -> None:
    """Trailing spaces, tabs and empty lines included."""
    body = "a \t\n\n  b\\n\n\tc  "
    (leaf,) = parse(f"```\n{body}\n```")
    assert isinstance(leaf, Code)
    assert leaf.text == body


def test_copied_prose_has_no_padding_of_inline_code() -> None:
    """The cells around a chip are drawn, not said."""
    (leaf,) = parse("say `hi` now \U0001f600 `x`")
    assert isinstance(leaf, Prose)
    assert leaf.rich.plain() == "say hi now \U0001f600 x"
