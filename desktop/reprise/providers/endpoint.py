"""Where a provider is, what it is called with, and which key may go there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, urlsplit

from reprise.domain.lines import shortened

ENDPOINT_TAILS = ("/chat/completions", "/completions", "/responses", "/messages", "/models")
"""What people paste behind a base URL; it is cut back, or requests would go to this path twice."""

KEY_VARIABLE = "REPRISE_API_KEY"
OWN_KEYS = {"api.openai.com": "OPENAI_API_KEY"}
"""The variables that belong to one host: such a key goes nowhere else."""

_TELLING = ("auth", "key", "token", "secret", "cookie")
_HOST = re.compile(r"[^\s/?#@\\<>\"{}|^`%\x00-\x20]+")


def base_url(text: str) -> str:
    """The base URL meant by `text`: a bare origin gets ``/v1``, any other path is kept, a pasted endpoint is cut back.

    Raises ValueError with one sentence when `text` is no such URL.
    """
    parts = _split(text)
    path = "/" + "/".join(piece for piece in parts.path.split("/") if piece)
    for tail in ENDPOINT_TAILS:
        if path.endswith(tail):
            path = path.removesuffix(tail) or "/"
            break
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{_authority(parts)}{'/v1' if path == '/' else path}{query}"


def _split(text: str) -> SplitResult:
    text = text.strip()
    shown = shortened(text, 100)
    if not text:
        raise ValueError("The address is empty; it looks like https://host/v1.")
    if any(char.isspace() or not char.isprintable() for char in text):
        raise ValueError("The address must not contain spaces or line breaks.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"The address {shown} cannot be read: {error}.") from error
    if parts.username is not None or parts.password is not None:
        raise ValueError("The address must not contain a user name or password; put the key into the key field.")
    if parts.scheme not in ("http", "https") or not text[len(parts.scheme) :].startswith("://"):
        raise ValueError(f"The address {shown} must start with http:// or https://.")
    host = parts.hostname or ""
    if not _HOST.fullmatch(host) or ".." in host or host.startswith("."):
        raise ValueError(f"The address {shown} has no usable host name.")
    if port == 0:
        raise ValueError(f"The address {shown} has port 0; ports go from 1 to 65535.")
    return parts


def _authority(parts: SplitResult) -> str:
    host = parts.hostname or ""
    # A server that listens on every address says so with one nobody can connect to on some systems.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    host = f"[{host}]" if ":" in host else host
    return host if parts.port is None else f"{host}:{parts.port}"


def is_loopback(host: str) -> bool:
    """Whether `host` (a name or an address without brackets) is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def clean_key(key: str) -> str:
    """The key without the white space a paste brings along; raises ValueError when it cannot be sent in a header."""
    key = key.strip()
    if not key.isascii():
        raise ValueError("The key contains a character that is no plain ASCII; copy it again from the provider's page.")
    if any(char.isspace() or not char.isprintable() for char in key):
        raise ValueError("The key contains a space, line break or control character; copy it again.")
    return key


def key_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The key that may go to `url` (a base URL as a person wrote it): design rule 13.

    ``$REPRISE_API_KEY``, else the variable of the service's own host, over https at its own port only. None when there
    is none. Raises ValueError for a malformed URL or a key that cannot be sent; the sentence names the variable.
    """
    parts = urlsplit(base_url(url))
    own = OWN_KEYS.get(parts.hostname or "") if parts.scheme == "https" and parts.port in (None, 443) else None
    for name in (KEY_VARIABLE, own):
        if name is None or not environ.get(name, "").strip():
            continue
        try:
            return clean_key(environ[name])
        except ValueError as error:
            raise ValueError(f"${name}: {error}") from error
    return None


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds (behaviour D17 ``network.*``); there is no limit on a whole reply.

    `first_byte_s` runs until the first byte of the body, `idle_s` is started anew by every byte after it.
    """

    connect_s: float = 10.0
    first_byte_s: float = 600.0
    idle_s: float = 120.0


DEFAULT_TIMEOUTS = Timeouts()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A service as it is called. `base_url` is normalised, the key trimmed; raises ValueError when either is malformed.

    `headers` go along with every request. `keep_alive` off closes the connection after each reply (for servers that
    close kept ones by themselves). `ends_without_finish` marks a service that sends neither a finish reason nor
    ``[DONE]`` (behaviour D10).
    """

    base_url: str
    key: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    keep_alive: bool = True
    ends_without_finish: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", base_url(self.base_url))
        object.__setattr__(self, "key", clean_key(self.key or "") or None)
        for name, value in self.headers:
            if not (name.isascii() and value.isascii() and name.isprintable() and value.isprintable()):
                raise ValueError(f"The header {name!r} must be plain printable ASCII.")

    def url(self, path: str) -> str:
        """The address of `path` (``chat/completions``) under the base URL, its query kept (Azure's API version)."""
        base, mark, query = self.base_url.partition("?")
        return f"{base}/{path}{mark}{query}"

    @property
    def host(self) -> str:
        """The host's name or address, without brackets."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never appear in a message: the key, and the values of headers that carry one."""
        pairs = [*self.headers, *parse_qsl(urlsplit(self.base_url).query)]
        found = [value for name, value in pairs if any(word in name.lower() for word in _TELLING)]
        return tuple(value for value in (self.key, *found) if value)

    def shown(self, path: str) -> str:
        """`url` as it may be shown: without the query, which may carry a key."""
        return self.url(path).partition("?")[0]
