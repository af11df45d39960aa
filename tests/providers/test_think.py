"""Reasoning inside the answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.domain.deltas import Partial, TextDelta
from reprise.domain.surrogates import SurrogateJoiner, whole
from reprise.providers.think import ThinkSplitter


def split(*pieces: str, has_field: bool = False) -> tuple[str, str]:
    splitter, partial = ThinkSplitter(), Partial()
    if has_field:
        splitter.reasoning_came()
    for delta in [delta for piece in pieces for delta in splitter.feed(piece)] + splitter.flush():
        partial.append(delta)
    return partial.thinking, partial.text


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("Answer", "", "Answer"),
        ("<think>plan</think>\n\nAnswer", "plan", "Answer"),
        ("<think>\nplan\n\nmore\n</think>\n\nAnswer", "plan\n\nmore", "Answer"),
        ("\n<think>plan</think>Answer", "plan", "Answer"),
        ("<think>\n\n</think>\n\nAnswer", "", "Answer"),
        ("<think>long plan", "long plan", ""),
        ("<think>a < b </thin", "a < b </thin", ""),
        ("Wrap it in `<think>` and `</think>`.", "", "Wrap it in `<think>` and `</think>`."),
        ("Use <think> and </think> there.", "", "Use <think> and </think> there."),
        ("Close with `</think>` always.", "", "Close with `</think>` always."),
        ("```\n</think>\n```", "", "```\n</think>\n```"),
        ("<think>a</think>Use </think> there.", "a", "Use </think> there."),
        ("I add them.</think>4", "I add them.", "4"),
        ("I add `x`.\n</think>\n\n4 </think>", "I add `x`.\n", "4 </think>"),
        ("a < b <t", "", "a < b <t"),
        ("<thinking>no tag</thinking>", "", "<thinking>no tag</thinking>"),
        ("  spaced", "", "  spaced"),
        ("<", "", "<"),
        ("", "", ""),
    ],
)
def test_tags_wherever_the_deltas_are_cut(text: str, thinking: str, answer: str) -> None:
    """Only a leading tag opens reasoning, and cuts change nothing."""
    assert split(text) == (thinking, answer)
    assert split(*text) == (thinking, answer)
    for cut in range(len(text)):
        assert split(text[:cut], text[cut:]) == (thinking, answer)


def test_text_that_cannot_be_a_tag_is_not_held_back() -> None:
    """`a <` waits for one more delta, not for the end."""
    splitter = ThinkSplitter()
    assert splitter.feed("a <") == [TextDelta("a ")]
    assert splitter.feed(" b") == [TextDelta("< b")]


def test_a_closing_tag_is_text_where_reasoning_has_a_field_of_its_own() -> None:
    """Nothing is moved when the provider tells reasoning apart itself."""
    assert split("Say </think> now.", has_field=True) == ("", "Say </think> now.")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<think>", "</think>", "<th", "ink>", "a", " ", "`", "\n", "<"]), max_size=12))
def test_cuts_never_matter(pieces: list[str]) -> None:
    """Any sequence of tags and text, whole and by characters."""
    text = "".join(pieces)
    assert split(text) == split(*text) == split(*pieces)


def test_a_pair_split_over_two_deltas_is_joined_and_a_lone_half_is_replaced() -> None:
    joiner = SurrogateJoiner()
    assert joiner.feed("a\ud83d") == "a"
    assert joiner.feed("\ude00b") == "😀b"
    assert joiner.feed("c\ud83d") == "c"
    assert joiner.feed("d") == "\ufffdd"
    assert joiner.feed("\ude00") == "\ufffd"
    assert joiner.feed("\ud83d") == ""
    assert joiner.flush() == "\ufffd"
    assert joiner.flush() == ""
    assert whole("a\ud83dc") == "a\ufffdc"


@settings(deadline=None)
@given(st.lists(st.text(st.characters(categories=["Cs", "Ll"])), max_size=6))
def test_what_leaves_the_joiner_can_be_stored(pieces: list[str]) -> None:
    """Always encodable, and the same wherever it was cut."""
    joiner = SurrogateJoiner()
    text = "".join(joiner.feed(piece) for piece in pieces) + joiner.flush()
    assert text.encode().decode() == text
    assert text == whole("".join(pieces))
