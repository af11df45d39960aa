"""The examples of the CommonMark and GFM specifications mean here what they mean there; where not, it is said why."""

from __future__ import annotations

import pytest

from reprise.ui.timeline import markdown
from reprise.ui.timeline.incremental import Splitter
from reprise.ui.timeline.markdown import parse
from support.outlines import of_html, of_leaves
from support.spec_examples import examples

# Examples that are something else here, by their numbers in the specification, with the reason.
COMMONMARK: dict[str, set[int]] = {
    "raw HTML is text, in blocks": {21, 31, *range(148, 157), *range(158, 192), 308, 309},
    "raw HTML is text, in a line": {
        344,
        475,
        476,
        477,
        524,
        536,
        613,
        614,
        615,
        616,
        617,
        623,
        *range(625, 632),
        642,
        643,
    },
    "a tag in what is expected is no link's target but text": {201, 491, 494},
    "a written-out web address is a link, as in GFM": {602, 608, 611},
}
GFM: dict[str, set[int]] = {
    "raw HTML is text, in blocks": {*range(118, 127), *range(128, 161), 288, 289, 317, 327, 652},
    "raw HTML is text, in a line": {
        *(354, 484, 485, 486, 532, 544),
        *(632, 633, 634, 635, 636, 642, *range(644, 651), 662, 663),
    },
    "a tag in what is expected is no link's target but text": {170, 500, 503},
    "a written-out web address is a link, between angle brackets too": {610, 616, 619},
    "www. without a scheme is no link: nobody said which one": set(range(621, 627)),
    "an address ends before what cannot be one": {627},
    "what a row has beyond the last column is kept": {204},
    "a bare mail address is no link": {629, 630, 631},
}
TEXT = {"commonmark": COMMONMARK, "gfm": GFM}


@pytest.fixture
def any_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address may be a link: the examples' are relative ones."""
    for with_addresses in (False, True):
        monkeypatch.setattr(markdown._parser(with_addresses), "validateLink", lambda _url: True)


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.usefixtures("any_address")
def test_every_example_has_the_structure_the_specification_gives_it(name: str) -> None:
    """Kinds, places, looks and addresses; the differences are exactly those that are listed."""
    listed = set().union(*TEXT[name].values())
    differing = {each.number for each in examples(name) if of_leaves(parse(each.markdown)) != of_html(each.html)}
    assert differing == listed


def _texts() -> list[str]:
    """What both specifications show, once."""
    return sorted({each.markdown for name in TEXT for each in examples(name)})


@pytest.mark.parametrize("part", range(8))
def test_every_cut_of_every_example_ends_in_what_a_full_parse_gives(part: int) -> None:
    """Performance table: incremental parse == full parse, 100 %. An eighth of the examples at a time."""
    differing = []
    for text in _texts()[part::8]:
        full = parse(text)
        for cut in range(1, len(text)):
            splitter = Splitter()
            splitter.feed(text[:cut])
            splitter.feed(text[cut:])
            if splitter.finish() != full:
                differing.append((text, cut))
    assert differing == []


@pytest.mark.parametrize("part", range(4))
def test_every_example_letter_by_letter_ends_in_what_a_full_parse_gives(part: int) -> None:
    """Performance table: incremental parse == full parse, 100 %."""
    differing = []
    for text in _texts()[part::4]:
        splitter = Splitter()
        for letter in text:
            splitter.feed(letter)
        if splitter.finish() != parse(text):
            differing.append(text)
    assert differing == []


@pytest.mark.parametrize(("name", "count"), [("commonmark", 652), ("gfm", 672)])
def test_all_examples_are_there(name: str, count: int) -> None:
    """A file that is cut short would pass for one without differences."""
    assert len(examples(name)) == count
