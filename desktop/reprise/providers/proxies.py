"""Which proxy a request goes through, by the usual environment variables; a broken one is a sentence, never a crash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from reprise.providers.endpoint import is_loopback


class ProxyProblem(ValueError):
    """A proxy variable that cannot be used; the text names it and says what is wrong."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy to use: its URL with user and password when it has them, and the variable that names it."""

    url: str
    variable: str


def proxy_for(scheme: str, host: str, port: int | None, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy for a server, None for a direct connection.

    ``https_proxy``, ``http_proxy``, then ``all_proxy``, lower case before upper; ``no_proxy`` takes hosts out. This
    machine is never reached through a proxy, which could not reach it or would reach itself. Raises ProxyProblem for
    a value that is no http or https proxy, so that what is shown can name the variable to mend.
    """
    if is_loopback(host):
        return None
    variable, value = _value((f"{scheme}_proxy", "all_proxy"), environ)
    if not value or _is_excepted(host, port, _value(("no_proxy",), environ)[1]):
        return None
    return Proxy(_checked(variable, value), variable)


def _value(names: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, str]:
    for name in names:
        for variant in (name, name.upper()):
            # A web server's CGI hands a request's "Proxy" header over as HTTP_PROXY.
            if variant == "HTTP_PROXY" and "REQUEST_METHOD" in environ:
                continue
            if value := environ.get(variant, "").strip():
                return variant, value
    return "", ""


def _checked(variable: str, value: str) -> str:
    url = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ProxyProblem(f"The proxy in {variable} cannot be read: {error}.") from error
    if parts.scheme.startswith("socks"):
        raise ProxyProblem(
            f"The proxy in {variable} is a SOCKS proxy, which is not supported; set an http:// one or unset it."
        )
    if parts.scheme not in ("http", "https"):
        raise ProxyProblem(
            f"The proxy in {variable} has the unknown scheme {parts.scheme}://; use http:// or https://."
        )
    if not parts.hostname or port == 0 or any(char.isspace() or not char.isprintable() for char in url):
        raise ProxyProblem(f"The proxy in {variable} has no usable host and port; it looks like http://host:8080.")
    return url


def _is_excepted(host: str, port: int | None, no_proxy: str) -> bool:
    host = host.lower().rstrip(".")
    for piece in no_proxy.replace(",", " ").split():
        name, _, its_port = piece.rpartition(":") if piece.count(":") == 1 else (piece, "", "")
        if its_port and its_port != str(port):
            continue
        name = name.lower().strip("[]").rstrip(".")
        bare = name.removeprefix("*").removeprefix(".")
        if name == "*" or (bare and (host == bare or host.endswith(f".{bare}"))) or _in_network(host, name):
            return True
    return False


def _in_network(host: str, network: str) -> bool:
    if "/" not in network:
        return False
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False  # a name, or no network: then it excepts nothing
