"""Half of anything looks sane: what is on screen while a reply arrives stays on screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.ui.timeline.incremental import Splitter
from reprise.ui.timeline.inline import cut
from reprise.ui.timeline.markdown import Code, Leaf, Prose, Rule, Table, parse
from support import corpus
from support.spec_examples import examples

# What begins as something else than it ends as, whoever reads it: only what follows tells.
TURNS = ("&", "]:", "[text](javascript", "===", "--", "2. y", "3) q", "10. ten", "| a | b |", "|---", "| 1 | 2 |")
SURE = [piece for piece in corpus.FRAGMENTS if not piece.startswith(TURNS) and "]:" not in piece]
REPLIES = st.lists(st.sampled_from(SURE), min_size=1, max_size=8).map("\n\n".join)


def _shown(splitter: Splitter) -> list[Leaf]:
    fence = [splitter.fence.shown()] if splitter.fence else []
    return [*splitter.frozen, *splitter.open, *fence]


def _moments(text: str, size: int = 1) -> Iterator[list[Leaf]]:
    splitter = Splitter()
    for at in range(0, len(text), size):
        splitter.feed(text[at : at + size])
        yield _shown(splitter)


def _texts(leaf: Leaf) -> Iterator[str]:
    if isinstance(leaf, Prose):
        yield leaf.rich.plain()
    elif isinstance(leaf, Code):
        yield leaf.text
    elif isinstance(leaf, Table):
        yield from (cell.plain() for row in ([leaf.head] if leaf.part == 0 else []) for cell in row)
        yield from (cell.plain() for row in leaf.rows for cell in row)


def _letters(leaves: Sequence[Leaf]) -> str:
    return "".join(letter for leaf in leaves for text in _texts(leaf) for letter in text if letter.isalnum())


def _kinds(leaves: Sequence[Leaf]) -> list[tuple[type[Leaf], str, int]]:
    return [(type(leaf), leaf.frame.containers, leaf.level if isinstance(leaf, Prose) else 0) for leaf in leaves]


def _outline(leaf: Leaf) -> str:
    """A leaf in one line: its looks as tags, its place before it."""
    place = leaf.frame.containers + "".join(marker for _, marker in leaf.frame.markers)
    if isinstance(leaf, Rule):
        return f"{place}---"
    if isinstance(leaf, Code):
        return f"{place}{leaf.language}:{leaf.text}"
    if isinstance(leaf, Table):
        rows = ["|".join(cell.plain() for cell in row) for row in (leaf.head, *leaf.rows)]
        return f"{place}|{'/'.join(rows)}|"
    out, at = "", 0
    for span in leaf.rich.spans:
        name = "a" if span.href else str(span.style.name).lower()
        out += f"{cut(leaf.rich.text, at, span.start)}<{name}:{cut(leaf.rich.text, span.start, span.end).strip()}>"
        at = span.end
    return f"{place}{'#' * leaf.level}{out}{cut(leaf.rich.text, at, len(leaf.rich.text) * 2)}"


def _film(text: str) -> list[str]:
    """Each different thing that is shown while a text arrives letter by letter."""
    seen: list[str] = []
    for leaves in _moments(text):
        now = " / ".join(map(_outline, leaves))
        if now and now != (seen[-1] if seen else ""):
            seen.append(now)
    return seen


@pytest.mark.parametrize(
    ("text", "film"),
    [
        ("**ab** c", ["<bold:a>", "<bold:ab>", "<bold:ab> c"]),
        ("*a* **b", ["<italic:a>", "<italic:a> <bold:b>"]),
        ("a `b`.", ["a", "a <code:b>", "a <code:b>."]),
        ("~~a~~", ["<strike:a>"]),
        ("***a***", ["<bold|italic:a>"]),
        ("2 * 3 ** 4", ["2", "2 * 3", "2 * 3 ** 4"]),
        ("*.py", ["*.", "*.p", "*.py"]),
        ("[ab](https://x.example)", ["[", "[a", "[ab", "[ab]", "ab", "<a:ab>"]),
        ("[a](https://x.example 'b", ["[", "[a", "[a]", "a"]),
        ("[a] b", ["[", "[a", "[a]", "[a] b"]),
        ("[a](b", ["[", "[a", "[a]", "[a](b"]),
        ("x[0](h", ["x", "x[", "x[0", "x[0]", "x0"]),
        (
            "![ab](https://x.example)",
            ["!", "<muted:[Image: a]>", "<muted:[Image: ab]>", "<muted:[Image: ab (x.example)]>"],
        ),
        ("<https://x.example>", ["<a:https://x>", "<a:https://x.>", "<a:https://x.e>", "<a:https://x.ex>"]),
    ],
)
def test_what_is_open_in_a_line_looks_as_it_will_when_it_is_closed(text: str, film: list[str]) -> None:
    """Half a link and half an emphasis look sane at every moment."""
    assert _film(text)[: len(film)] == film


@pytest.mark.parametrize(
    ("text", "film"),
    [
        ("```py\na\n```\n", ["py:", "py:a"]),
        ("1. ```\n   a\n   ```\n", ["l1.:", "l1.:a"]),
        ("~~~\na\n", [":", ":a"]),
        ("| a |\n|---|\n| b", ["|a|", "|a/b|"]),
        ("| a | b |\n|:-|-:|\n| c", ["|a|", "|a|b|", "|a|b/c||"]),
        ("- [x] a", ["l[x]a"]),
        ("1. a\n2. b", ["l1.a", "l1.a / l2.b"]),
        ("# a", ["#a"]),
        ("a\n\n---\n", ["a", "a / ---"]),
        ("> 1. a", ["ql1.a"]),
    ],
)
def test_a_block_that_has_begun_is_what_it_will_be(text: str, film: list[str]) -> None:
    """An unclosed fence and half a table look sane at every moment."""
    assert _film(text) == film


@settings(max_examples=200, deadline=None)
@given(REPLIES, st.integers(1, 7))
def test_a_word_that_was_shown_stays(text: str, size: int) -> None:
    """At every moment the letters on screen are the first ones of the complete text."""
    full = _letters(parse(text))
    for leaves in _moments(text, size):
        assert full.startswith(_letters(leaves))


@settings(max_examples=200, deadline=None)
@given(REPLIES, st.integers(1, 7))
def test_a_block_that_was_shown_stays_of_its_kind(text: str, size: int) -> None:
    """No paragraph turns into a list, a table or code under the reader."""
    full = _kinds(parse(text))
    for leaves in _moments(text, size):
        kinds = _kinds(leaves)
        assert kinds == full[: len(kinds)]


@pytest.mark.parametrize("part", range(4))
def test_what_is_shown_of_a_reply_that_stops_anywhere_is_all_of_it(part: int) -> None:
    """A reply that fails or is stopped shows its last marks as they stand, and may still go on after that."""
    texts = sorted({each.markdown for name in ("commonmark", "gfm") for each in examples(name)})
    for text in [each for each in texts if "]:" not in each][part::4]:
        splitter = Splitter()
        for at, letter in enumerate(text):
            splitter.feed(letter)
            splitter.reveal()
            full = parse(text[: at + 1])
            assert _letters(_shown(splitter)) == _letters(full)
            assert splitter.fence or _shown(splitter) == full
        assert splitter.finish() == parse(text)
