"""Heights with running sums, growing at both ends."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from reprise.ui.timeline.heights import Heights

STEPS = st.lists(
    st.tuples(st.sampled_from(("append", "prepend", "set", "pop", "reset")), st.integers(0, 40), st.integers(1, 400)),
    max_size=60,
)


def _do(heights: Heights, plain: list[int], step: str, number: int, height: int) -> None:
    """One change, to both."""
    match step:
        case "append":
            heights.append(height)
            plain.append(height)
        case "prepend":
            heights.prepend(number, height)
            plain[:0] = [height] * number
        case "set" if plain:
            at = number % len(plain)
            assert heights.set(at, height) == height - plain[at]
            plain[at] = height
        case "pop" if plain:
            heights.pop()
            plain.pop()
        case "reset":
            heights.reset_all(number, height)
            plain[:] = [height] * number


@given(STEPS)
def test_sums_and_searches_agree_with_plain_addition(steps: list[tuple[str, int, int]]) -> None:
    """Whatever comes, goes and changes, at either end, in any order."""
    heights, plain = Heights(), list[int]()
    for step in steps:
        _do(heights, plain, *step)
        tops = [0, *accumulate(plain)]
        assert [heights[at] for at in range(len(heights))] == plain
        assert [heights.top(at) for at in range(len(tops))] == tops
        assert heights.total == tops[-1]
        for at, top in enumerate(tops[:-1]):
            assert heights.find(top) == heights.find(top + plain[at] - 1) == at
        assert heights.find(tops[-1] + 5) == max(0, len(plain) - 1)


def test_equal_heights_need_no_walk() -> None:
    """Opening a long session sets one guess for all of it."""
    heights = Heights()
    heights.reset_all(1000, 7)
    assert (heights.top(999), heights.total, heights.find(7 * 500)) == (6993, 7000, 500)
