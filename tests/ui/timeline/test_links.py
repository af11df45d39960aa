"""Only the web and mail are opened, and where a link leads is said as it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QUrl

from reprise.ui.timeline.inline import Rich, Style, cut
from reprise.ui.timeline.links import host_of, is_link, mark_of, tip_of
from reprise.ui.timeline.markdown import Prose, Table, parse

TWIN = "\u0430\u0440\u0440\u04cf\u0435.com"  # letters of one other script that are drawn like "apple"
TWIN_SENT = "xn--80ak6aa92e.com"
REFUSED = [
    *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "java%73cript:alert(1)", "java&#115;cript:x", "java\\script:x"),
    *("file:///etc/passwd", "FILE:///C:/x.exe", "data:text/html,x", "vbscript:x", "ftp://x.example", "ssh://x.example"),
    *("//server.example/share", "\\\\\\\\server\\share", "/\\server.example", "C:\\x.exe", "../../run.sh", "a.html"),
    *("#x", "?x", "<java script:x>", "<https ://x.example>", "ht&#9;tps://x.example", "ht&#10;tps://x.example"),
    *("https:evil.example", "https:/evil.example", "https:///evil.example", "https://", "https:\\\\evil.example"),
    *("https://-a.example", "https://[::g]/", "https://[::1", "https://2130706433/"),
    *("https://0x7f.1/", "https://127.1/"),
    *("mailto:", "mailto:a", "vscode://x/y", "x-apple:y", "tel:112", "about:blank", "blob:x", "smb://server/share"),
]
# What begins with an address as it may be written out in a text, and goes on with what makes another one of it.
BEGINNINGS = {
    "<https://x.example y.example>": "https://x.example",
    "https://a..example": "https://a",
    "https://a%2eexample": "https://a",
    "https://a.example:x": "https://a.example",
    "https://a.example:99999": "https://a.example",
    "https://a\\\\b.example": "https://a",
    "view-source:https://x.example": "https://x.example",
    "mailto:a@b.example?attach=/etc/passwd": "mailto:a@b.example",
    "mailto:a@b.example?x=1&%61ttachment=y": "mailto:a@b.example",
    "mailto:a@b.example,c@d.example": "mailto:a@b.example",
}
FORMS = ["a [label]({}) b", "a <{}> b", "a [label] b\n\n[label]: {}", "a ![label]({}) b", "| a |\n|-|\n| [x]({}) |"]


def _richs(text: str) -> Iterator[Rich]:
    for leaf in parse(text):
        if isinstance(leaf, Prose):
            yield leaf.rich
        elif isinstance(leaf, Table):
            yield from (cell for row in leaf.rows for cell in row)


def _rich(text: str) -> Rich:
    (leaf,) = parse(text)
    assert isinstance(leaf, Prose)
    return leaf.rich


def _marks(text: str) -> list[str]:
    rich = _rich(text)
    return [cut(rich.text, span.start, span.end) for span in rich.spans if span.style & Style.MUTED]


@pytest.mark.parametrize("target", REFUSED)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_web_or_mail_is_text(target: str, form: str) -> None:
    """F89: only safe link schemes, however they are written."""
    richs = list(_richs(form.format(target)))
    assert richs
    assert [span.href for rich in richs for span in rich.spans if span.href] == []


@pytest.mark.parametrize(("target", "beginning"), BEGINNINGS.items())
@pytest.mark.parametrize("form", FORMS)
def test_of_an_address_that_is_refused_no_more_is_a_link_than_is_seen_to_be_one(
    target: str, beginning: str, form: str
) -> None:
    """F89: the label is none, and what is written out leads where it says."""
    for rich in _richs(form.format(target)):
        links = [(cut(rich.text, span.start, span.end), span.href) for span in rich.spans if span.href]
        assert links in ([], [(beginning, beginning)])


@pytest.mark.parametrize("target", ["javascript:alert(1)", "//server.example/share", "data:text/html,x", "../run.sh"])
def test_the_source_of_what_is_no_link_is_seen(target: str) -> None:
    """Nobody has to guess what stood there."""
    assert _rich(f"a [label]({target}) b").text == f"a [label]({target}) b"


@pytest.mark.parametrize("target", ["https://example.org", "HTTP://EXAMPLE.ORG/a?b#c", "mailto:a@b.example?subject=x"])
def test_web_and_mail_are_links(target: str) -> None:
    """In either case of letters."""
    assert _rich(f"[label]({target})").spans[0].href.lower() == target.lower()


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://example.org/a", "example.org"),
        ("https://EXAMPLE.org./", "example.org."),
        ("https://google.com@evil.example/", "evil.example"),
        ("https://google.com:443@evil.example:8443/", "evil.example:8443"),
        ("https://a%40b@evil.example", "evil.example"),
        ("http://example.org:80", "example.org"),
        ("https://example.org:80", "example.org:80"),
        ("https://[2001:db8::1]:8080/", "[2001:db8::1]:8080"),
        ("https://192.0.2.7/", "192.0.2.7"),
        ("https://xn--bcher-kva.example/", "b\u00fccher.example (xn--bcher-kva.example)"),
        ("https://xn--fiqs8s.example/", "\u4e2d\u56fd.example (xn--fiqs8s.example)"),
        (f"https://{TWIN_SENT}/", TWIN_SENT),
        ("https://xn--pypal-4ve.com/", "xn--pypal-4ve.com"),  # one letter of another script
        ("https://xn--99999999999/", "xn--99999999999"),
        ("mailto:a.b@example.org?subject=x", "a.b@example.org"),
    ],
)
def test_the_host_is_the_one_the_request_goes_to(address: str, host: str) -> None:
    """Whatever stands before it, and in which script it is written."""
    assert is_link(address)
    assert host_of(address) == host


def test_a_long_host_keeps_its_end() -> None:
    """The end says whom it belongs to."""
    shown = host_of("https://" + "login.bank.example." * 9 + "evil.example/")
    assert len(shown) == 64
    assert shown.endswith(".evil.example")


def test_a_tooltip_says_the_host_first() -> None:
    """And cuts the rest, not the host."""
    first, second = tip_of("https://evil.example/" + "a" * 999).split("\n")
    assert first == "evil.example"
    assert len(second) == 301


HOSTS = st.text("abz019.-_@:[]%\\/?#\u00fc\u0430\u3002\uff41\u200b\u202e \t", min_size=1, max_size=24)


@settings(max_examples=600, deadline=None)
@given(HOSTS, st.sampled_from(["https://", "http://", "HTTPS://", "https:"]))
@example("google.com\\@evil.example", "https://")
@example("evil.example\u3002com", "https://")
def test_the_host_that_is_shown_is_the_host_that_is_opened(rest: str, scheme: str) -> None:
    """Our reading of an address and Qt's, which opens it, are the same."""
    for leaf in parse(f"[x](<{scheme}{rest}>)"):
        assert isinstance(leaf, Prose)
        for span in leaf.rich.spans:
            if span.href:
                url = QUrl(span.href)
                assert url.isValid()
                opened = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
                assert opened in host_of(span.href) or url.host() in host_of(span.href)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("[https://bank.example](http://evil.example)", " (evil.example)"),
        ("[bank.example](https://evil.example/bank.example)", " (evil.example)"),
        ("[**bank.example** login](https://evil.example)", " (evil.example)"),
        ("[`bank.example`](https://evil.example)", " (evil.example)"),
        ("[www.bank.example/login](https://bank.example.evil.example)", " (bank.example.evil.example)"),
        ("<https://bank.example@evil.example>", " (evil.example)"),
        ("https://bank.example@evil.example", " (evil.example)"),
        ("[help@bank.example](mailto:x@evil.example)", " (x@evil.example)"),
        ("[bank.example](mailto:x@evil.example)", " (x@evil.example)"),
        ("[bank\u3002example](https://evil.example)", " (evil.example)"),
        ("[ba\u200bnk.example](https://evil.example)", " (evil.example)"),
        (f"[{TWIN}](https://{TWIN})", f" ({TWIN_SENT})"),
        (f"https://{TWIN}/x", f" ({TWIN_SENT})"),
        ("[README.zip.example](https://evil.example)", " (evil.example)"),
        ("[//README.md](https://evil.example)", " (evil.example)"),
        ("[192.0.2.7](https://evil.example)", " (evil.example)"),
        ("[bank.xn--p1ai](https://evil.example)", " (evil.example)"),
    ],
)
def test_a_text_that_names_another_host_is_marked_in_place(text: str, mark: str) -> None:
    """What is read is not left to a tooltip."""
    assert _marks(text) == [mark]


@pytest.mark.parametrize(
    "text",
    [
        "[docs](https://example.org)",
        "[https://example.org/a](https://example.org/a?b)",
        "[example.org](https://www.example.org)",
        "[www.example.org.](https://docs.example.org)",
        "[Example.ORG:8080](https://example.org)",
        "[a.b@example.org](mailto:a.b@example.org)",
        "[README.md](https://example.org/README.md)",
        "[`main.py`](https://example.org/main.py)",
        "[version 1.2.3, e.g. this](https://example.org)",
        "<https://example.org/x.html>",
        "https://example.org/a@b.example",
        "[b\u00fccher.example](https://b\u00fccher.example)",
        "https://b\u00fccher.example",
    ],
)
def test_an_honest_text_is_not_marked(text: str) -> None:
    """A mark on everything would be read by nobody."""
    assert _marks(text) == []


def test_a_mark_is_no_link() -> None:
    """It is what we say, not the model."""
    assert [span.href for span in _rich("[bank.example](https://evil.example)").spans] == ["https://evil.example", ""]


@pytest.mark.parametrize("control", ["\u202e", "\u202d", "\u2066", "\u2067"])
def test_beside_a_link_nothing_turns_the_direction(control: str) -> None:
    """A control that would write a host backwards is a visible sign."""
    seen = _rich(f"{control}see [a{control}b`{control}c`](https://example.org)").plain()
    assert seen == "\ufffdsee a\ufffdb\ufffdc"
    assert _rich(f"{control}no link").text == f"{control}no link"


def test_an_address_is_shown_as_it_was_written() -> None:
    """Decoded, it could be taken for another."""
    assert _rich(f"<https://{TWIN_SENT}/%61>").text == f"https://{TWIN_SENT}/%61"


def test_marks_are_for_links_only() -> None:
    """Where nothing can be opened nothing is said."""
    assert mark_of("bank.example", "javascript:alert(1)") == ""
