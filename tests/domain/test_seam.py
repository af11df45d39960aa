"""The seam of a reply that goes on: what is repeated is left out, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from reprise.domain.seam import COUNTS_FROM, LINE_COUNTS_FROM, LOOKS_BACK, Seam


def joined(before: str, pieces: Sequence[str], *, prefilled: bool = False) -> str:
    """All of it, none of it passed by halves of characters."""
    seam = Seam(before, prefilled=prefilled)
    passed = [*(seam.feed(piece) for piece in pieces), seam.end()]
    for piece in passed:
        piece.encode()  # raises for a half
    return before + "".join(passed)


def chunked(text: str, cuts: Sequence[int]) -> list[str]:
    """`text` in pieces, cut at these places between UTF-16 units, as JSON escapes can cut it."""
    data = text.encode("utf-16-le")
    places = sorted({0, len(data), *(cut * 2 % (len(data) + 2) for cut in cuts)})
    return [data[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(places)]


CUTS = st.lists(st.integers(0, 5000), max_size=30)
CLUSTERS = st.lists(
    st.sampled_from(
        ["e\u0301", "👩\u200d💻", "👍🏽", "🇫🇷", "❤\ufe0f", "क्षि", "\u0301", "\u200d", "a", "bc ", "\n", "😀"]
    ),
    max_size=40,
).map("".join)
STORY = "".join(f"Sentence number {n} of the story is here.\n" for n in range(40)) + "And then the fox ran into the"


def test_a_continuation_that_repeats_nothing_passes_at_once() -> None:
    """N8, L4: nothing is held back that cannot be a repetition."""
    seam = Seam("Once upon a time")
    assert seam.feed(" there") == " there"
    assert seam.feed(" was a fox.") == " was a fox."
    assert seam.end() == ""


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("Once upon a time there", "upon a time there was a fox", "Once upon a time there was a fox"),
        ("One.\nTwo", "Two and three", "One.\nTwo and three"),
        ("The fox", "The fox ran", "The fox ran"),
        (STORY, STORY + " woods.", STORY + " woods."),
        (STORY, "the fox ran into the woods.", STORY + " woods."),
        ("for x in range(10", "range(10):", "for x in range(10range(10):"),
        ("a\n  ", "  b", "a\n    b"),
        ("if (x) {\n}", "}\nDone.", "if (x) {\n}}\nDone."),
        ("a\n1.", "1. one", "a\n1.1. one"),
        ("", "Hello", "Hello"),
        ("  ", "  Hello", "    Hello"),
    ],
    ids=[
        "tail",
        "last line",
        "all of it",
        "all of a long one",
        "long tail",
        "short",
        "indent",
        "brace",
        "number",
        "nothing",
        "blank",
    ],
)
def test_what_is_repeated_is_left_out(before: str, after: str, whole: str) -> None:
    """N8: a tail from 12 characters on, the whole last line, or all of it; whatever the chunks."""
    assert joined(before, [after]) == whole
    assert joined(before, list(after)) == whole


def test_text_that_only_looked_like_a_repetition_passes_whole() -> None:
    """N8: held back while it could be one, then nothing is missing."""
    seam = Seam("Once upon a time there")
    assert seam.feed("upon a time ") == ""
    assert seam.feed("of plenty") == "upon a time of plenty"


def test_the_end_lets_go_of_what_was_held_back() -> None:
    """N8: a reply that is complete loses nothing, except what it did repeat."""
    seam = Seam("Once upon a time there")
    assert seam.feed("upon a time") == ""
    assert seam.end() == "upon a time"
    assert seam.end() == ""


@given(st.text(max_size=600), st.text(max_size=80), CUTS)
@example("ab" * 300, "c", [])
def test_nothing_is_lost_when_nothing_is_repeated(before: str, after: str, cuts: list[int]) -> None:
    """N8: what passes is the continuation, character for character."""
    tails = [before[-size:] for size in range(COUNTS_FROM, LOOKS_BACK + 1) if size <= len(before)]
    tails += [before, before.rpartition("\n")[2]]
    assume(not any(tail.strip() and after.startswith(tail) for tail in tails))
    assert joined(before, chunked(after, cuts)) == before + after


@given(st.text(min_size=COUNTS_FROM, max_size=1200), st.integers(COUNTS_FROM, LOOKS_BACK), st.text(max_size=40), CUTS)
def test_a_repeated_tail_of_any_length_vanishes_in_any_chunks(
    before: str, size: int, rest: str, cuts: list[int]
) -> None:
    """N8: as long as the longest repetition is this tail; how it is cut changes nothing."""
    tail = before[-size:]
    whole = joined(before, chunked(tail + rest, cuts))
    assert whole == joined(before, [tail + rest])
    # A tail that repeats within itself may be repeated further: then more is left out, never less.
    assert len(whole) <= len(before) + len(rest)
    assert (before + rest).endswith(whole[len(before) :])


@given(st.text(alphabet="ab\n", min_size=1, max_size=900), st.text(alphabet="ab\n", max_size=30), CUTS)
def test_a_continuation_that_begins_from_the_first_word_is_joined(before: str, rest: str, cuts: list[int]) -> None:
    """N8: some providers say all of a prefilled reply again."""
    assume(len(before.strip()) >= LINE_COUNTS_FROM)  # letters there are
    assert joined(before, chunked(before + rest, cuts)) == before + rest


def test_a_provider_that_goes_on_in_mid_text_loses_no_character_of_its_own() -> None:
    """N8: with prefill the next letter is the next letter, whatever the line before looks like."""
    assert joined("one two three four\nabc", ["abc"], prefilled=True) == "one two three four\nabcabc"
    assert (
        joined("a list of\nthings: x", ["a list of\nthings: x and y"], prefilled=True) == "a list of\nthings: x and y"
    )


@given(CLUSTERS, st.integers(0, 500), CUTS, st.booleans())
def test_a_text_that_breaks_off_anywhere_goes_on_as_itself(
    text: str, at: int, cuts: list[int], all_again: bool
) -> None:
    """N8: in mid-emoji, before an accent, between the halves of a character; said on or said again from the start."""
    at %= len(text) + 1
    before, after = text[:at], text[at:]
    assume(not after.startswith(before))
    if all_again and len(before.strip()) >= LINE_COUNTS_FROM and any(char.isalnum() for char in before):
        after = text
    assert joined(before, chunked(after, cuts), prefilled=True) == text


@given(CLUSTERS, CLUSTERS, st.integers(COUNTS_FROM, LOOKS_BACK), CUTS)
def test_a_repeated_tail_of_joined_characters_is_not_doubled(said: str, rest: str, size: int, cuts: list[int]) -> None:
    """N8: wherever the tail begins, wherever the text broke off, and however the continuation is cut."""
    before = f"What was said: {said}"
    tail = before[-size:]
    whole = joined(before, chunked(tail + rest, cuts))
    assert whole == joined(before, [tail + rest])
    assert (before + rest).endswith(whole[len(before) :])
    if not said:
        assert whole == before + rest


def test_half_a_character_is_compared_with_its_other_half() -> None:
    """N8: it is neither a reason to say it all twice nor shown by itself."""
    seam = Seam("Once upon a time 😀")
    assert seam.feed("upon a time \ud83d") == ""
    assert seam.feed("\ude00 there") == " there"
    assert seam.feed(" was\ud83d") == " was"
    assert seam.feed("\ude00") == "😀"
