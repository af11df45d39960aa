"""Text cut down to a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprise.domain.lines import one_line, shortened

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
WHOLE = {
    "a pair of surrogates": "\U0001f600",
    "a family": FAMILY,
    "a flag": FLAG,
    "a flag of tags": SCOTLAND,
    "a skin tone": "\U0001f44d\U0001f3fd",
    "a heart in colour": "\u2764\ufe0f",
    "an accent": "e\u0301",
}


@pytest.mark.parametrize("seen", WHOLE.values(), ids=WHOLE.keys())
def test_what_is_seen_as_one_is_cut_off_whole(seen: str) -> None:
    """F69: wherever the limit falls, the emoji is all there or all gone."""
    for limit in range(12, 40):
        text = "x" * 15 + seen * 3 + "tail" * 10
        cut = shortened(text, limit)
        assert len(cut) <= limit
        assert cut.endswith("…")
        rest = cut.removesuffix("…").removeprefix("x" * 15) if limit > 15 else ""
        assert rest.replace(seen, "").strip("tail") == ""


def test_a_row_of_flags_is_cut_between_two() -> None:
    """F69: two letters each."""
    assert shortened(FLAG * 20, 12) == FLAG * 5 + "…"
    assert shortened("x" + FLAG * 20, 12) == "x" + FLAG * 5 + "…"


def test_marks_without_an_end_are_cut_all_the_same() -> None:
    """F69: a text of nothing else has no better place."""
    assert shortened("e" + "\u0301" * 100, 20) == "e" + "\u0301" * 18 + "…"


@given(st.text(max_size=80), st.integers(2, 60))
def test_a_shortened_text_is_a_beginning_that_fits(text: str, limit: int) -> None:
    """F69: never longer than asked for, and untouched when it fits."""
    cut = shortened(text, limit)
    assert len(cut) <= limit
    assert cut == text if len(text) <= limit else text.startswith(cut.removesuffix("…"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  two\n\tlines ", "two lines"),
        ("\x1b[31mred\x00 alert", "[31mred alert"),
        (f"{FAMILY} at home", f"{FAMILY} at home"),
        ("\u0645\u06cc\u200c\u062e\u0648", "\u0645\u06cc\u200c\u062e\u0648"),
        ("\u200d\u200c \n", ""),
        ("", ""),
    ],
)
def test_a_line_has_no_breaks_and_no_controls(text: str, line: str) -> None:
    """F88: what joins letters or emoji belongs to them and stays."""
    assert one_line(text) == line
