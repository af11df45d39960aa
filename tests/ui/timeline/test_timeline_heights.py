"""Heights with running sums."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from reprise.ui.timeline.heights import Heights

VALUES = st.lists(st.integers(1, 400), min_size=1, max_size=40)


@given(VALUES, st.data())
def test_sums_and_searches_agree_with_plain_addition(values: list[int], data: st.DataObject) -> None:
    """Sets, appends and pops in any order leave sums and finds right."""
    first = values[0]
    heights = Heights()
    heights.reset_all(len(values) // 2, first)
    plain = [first] * (len(values) // 2)
    for value in values[len(values) // 2 :]:
        heights.append(value)
        plain.append(value)
        at = data.draw(st.integers(0, len(plain) - 1))
        heights.set(at, value + 1)
        plain[at] = value + 1
    if len(plain) > 2:
        heights.pop()
        plain.pop()
    tops = [0, *accumulate(plain)]
    assert [heights.top(at) for at in range(len(tops))] == tops
    assert heights.total == tops[-1]
    for at, top in enumerate(tops[:-1]):
        assert heights.find(top) == heights.find(top + plain[at] - 1) == at
    assert heights.find(tops[-1] + 5) == len(plain) - 1


def test_equal_heights_need_no_walk() -> None:
    """Opening a long session sets one guess for all of it."""
    heights = Heights()
    heights.reset_all(1000, 7)
    assert (heights.top(999), heights.total, heights.find(7 * 500)) == (6993, 7000, 500)
