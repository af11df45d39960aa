"""Which proxy, if any."""

from __future__ import annotations

import pytest

from reprise.providers.proxies import ProxyProblem, proxy_for


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ({"https_proxy": "http://p:1", "HTTPS_PROXY": "http://q:1"}, "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, None),
        ({"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ({"all_proxy": "http://p:1", "https_proxy": "http://q:1"}, "http://q:1"),
        ({"HTTPS_PROXY": "p:3128"}, "http://p:3128"),
        ({"HTTPS_PROXY": "http://user:pw@p:1"}, "http://user:pw@p:1"),
        ({"HTTPS_PROXY": "  "}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": ".example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "*.example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "other, API.EXAMPLE:443"}, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "api.example:80"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "i.example,10.0.0.0/8,[::1],/"}, "http://p:1"),
        # Broken, but not used for this server.
        ({"HTTP_PROXY": "socks5://p:1"}, None),
        ({"HTTPS_PROXY": "socks5://p:1", "NO_PROXY": "api.example"}, None),
    ],
)
def test_the_usual_variables(environ: dict[str, str], url: str | None) -> None:
    """Lower case before upper, the scheme's own before all_proxy, no_proxy takes hosts out."""
    proxy = proxy_for("https", "api.example", 443, environ)
    assert (proxy and proxy.url) == url


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "127.0.0.2"])
def test_this_machine_is_never_reached_through_a_proxy(host: str) -> None:
    """Not even through a broken one."""
    assert proxy_for("http", host, 8080, {"HTTP_PROXY": "socks5://127.0.0.1:9", "ALL_PROXY": "nonsense://"}) is None


def test_a_network_can_be_excepted() -> None:
    """no_proxy with a prefix length, as curl and Go take it."""
    environ = {"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}
    assert proxy_for("http", "10.1.2.3", None, environ) is None
    assert proxy_for("http", "11.1.2.3", None, environ) is not None


def test_a_cgi_request_header_is_no_proxy() -> None:
    """HTTP_PROXY comes from the request's own header under CGI."""
    assert proxy_for("http", "h.example", None, {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "POST"}) is None


@pytest.mark.parametrize(
    "value",
    [
        "socks5://127.0.0.1:9",
        "socks5h://x:1",
        "socks://x:1",
        "ftp://x",
        "http://",
        "http://x:port",
        "http://x:0",
        "http://a b",
    ],
)
def test_a_broken_proxy_is_one_sentence_that_names_the_variable(value: str) -> None:
    """Clear words, and the program starts."""
    with pytest.raises(ProxyProblem, match=r"^The proxy in ALL_PROXY .*\.$"):
        proxy_for("https", "api.example", None, {"ALL_PROXY": value})
