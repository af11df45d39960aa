"""Addresses and keys."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.providers.endpoint import Endpoint, base_url, clean_key, is_loopback, key_for


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("https://h", "https://h/v1"),
        ("https://h/", "https://h/v1"),
        ("https://h//", "https://h/v1"),
        ("https://h/v1", "https://h/v1"),
        ("https://h/v1/", "https://h/v1"),
        (" https://h/v1 ", "https://h/v1"),
        ("https://h//v1", "https://h/v1"),
        ("HTTPS://H/v1", "https://h/v1"),
        ("http://h:11434", "http://h:11434/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("http://[::1]:8080/", "http://[::1]:8080/v1"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        ("http://[::]:8080", "http://[::1]:8080/v1"),
        ("https://h/api/paas/v4", "https://h/api/paas/v4"),
        ("https://h/openai/v1", "https://h/openai/v1"),
        ("https://h/api", "https://h/api"),
        ("https://h/V2beta", "https://h/V2beta"),
        ("https://h/v1/chat/completions", "https://h/v1"),
        ("https://h/v1/chat/completions/", "https://h/v1"),
        ("https://h/api/v3/chat/completions", "https://h/api/v3"),
        ("https://h/chat/completions", "https://h/v1"),
        ("https://h/v1/models", "https://h/v1"),
        ("https://h/openai?api-version=1", "https://h/openai?api-version=1"),
        ("https://h/v1#top", "https://h/v1"),
        ("http://bücher.example", "http://bücher.example/v1"),
    ],
)
def test_what_an_address_means(written: str, meant: str) -> None:
    """Bare origin gets /v1, any other path is kept, a pasted endpoint is cut back; it is stable."""
    assert base_url(written) == meant
    assert base_url(meant) == meant


@pytest.mark.parametrize(
    "written",
    [
        "",
        "   ",
        "h:11434",
        "h",
        "//h/v1",
        "/v1",
        "ftp://h",
        "file:///etc/passwd",
        "https:h",
        "https:/h",
        "https://",
        "https:///v1",
        "https://:80",
        "https://h:port",
        "https://h:99999",
        "https://h:0",
        "https://h:-1",
        "https://h h/v1",
        "https://h/v 1",
        "https://h/\x00",
        "https://h\n/v1",
        "http://[::1",
        "http://a..b",
        "http://user:pw@h/v1",
        "javascript:alert(1)",
    ],
)
def test_a_malformed_address_is_one_sentence(written: str) -> None:
    """Issue 2 item 9: usage, not a crash; the sentence shows no password."""
    with pytest.raises(ValueError, match=r"^The address .*\.$") as caught:
        Endpoint(written)
    assert "\n" not in str(caught.value)
    assert "pw" not in str(caught.value)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_an_address_or_one_sentence(text: str) -> None:
    """The same for whatever a person pastes."""
    try:
        meant = base_url(text)
    except ValueError as error:
        assert str(error).startswith("The address")
    else:
        assert base_url(meant) == meant


def test_requests_go_under_the_base_url() -> None:
    """The query of an Azure address stays; what is shown leaves it out, since it may carry a key."""
    endpoint = Endpoint("https://h/openai?api-key=abc&x=1", key=" k ")
    assert endpoint.url("chat/completions") == "https://h/openai/chat/completions?api-key=abc&x=1"
    assert endpoint.shown("chat/completions") == "https://h/openai/chat/completions"
    assert endpoint.secrets == ("k", "abc")
    assert "abc" not in "".join(Endpoint("https://h", "abc", headers=(("x-api-key", "abc"),)).__repr__())


@pytest.mark.parametrize(
    ("host", "is_it"),
    [
        ("localhost", True),
        ("model.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("192.168.1.2", False),
        ("localhost.example", False),
    ],
)
def test_what_is_this_machine(host: str, is_it: bool) -> None:
    """Design rule 13."""
    assert is_loopback(host) is is_it


@pytest.mark.parametrize(
    ("url", "environ", "key"),
    [
        ("https://api.openai.com/v1", {"OPENAI_API_KEY": "own"}, "own"),
        ("https://api.openai.com:443/v1", {"OPENAI_API_KEY": "own"}, "own"),
        ("https://api.openai.com/v1", {"OPENAI_API_KEY": "own", "REPRISE_API_KEY": "ours"}, "ours"),
        ("https://elsewhere.example/v1", {"OPENAI_API_KEY": "own"}, None),
        ("https://api.openai.com.evil.example/v1", {"OPENAI_API_KEY": "own"}, None),
        ("http://api.openai.com/v1", {"OPENAI_API_KEY": "own"}, None),
        ("https://api.openai.com:8443/v1", {"OPENAI_API_KEY": "own"}, None),
        ("https://elsewhere.example/v1", {"REPRISE_API_KEY": " ours\n"}, "ours"),
        ("http://127.0.0.1:8080/v1", {"OPENAI_API_KEY": "own"}, None),
        ("http://127.0.0.1:8080/v1", {"REPRISE_API_KEY": "ours"}, "ours"),
        ("http://127.0.0.1:8080/v1", {"REPRISE_API_KEY": "  "}, None),
    ],
)
def test_a_key_goes_only_where_it_belongs(url: str, environ: dict[str, str], key: str | None) -> None:
    """Design rule 13, P9."""
    assert key_for(url, environ) == key


@pytest.mark.parametrize("key", ["sk-é", "sk a", "sk\tb", "s\x00k", "ключ"])
def test_a_key_that_cannot_be_sent_is_refused_with_the_reason(key: str) -> None:
    """A header takes plain ASCII; the sentence names the variable and never the key."""
    with pytest.raises(ValueError, match="The key contains") as caught:
        clean_key(key)
    assert key not in str(caught.value)
    with pytest.raises(ValueError, match=r"^\$REPRISE_API_KEY: ") as named:
        key_for("https://h", {"REPRISE_API_KEY": key})
    assert key not in str(named.value)
