"""What went wrong below HTTP, told from exception types and operating system errors (behaviour R34), in words."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

_WORDS: dict[int, str] = {
    errno.ECONNREFUSED: "{host} refused the connection - is the server running, and is the port right?",
    errno.ENETUNREACH: "There is no way to {host} from this network.",
    errno.EHOSTUNREACH: "{host} cannot be reached from this network.",
    errno.ETIMEDOUT: "{host} did not answer in time.",
    errno.EACCES: "The system does not allow a connection to {host}.",
    errno.EADDRNOTAVAIL: "There is no way to {host} from this computer.",
}
_NO_CONNECTION = "No connection to {host}."


def connect_words(error: BaseException, host: str) -> str:
    """One sentence for a connection to `host` (``name:port``) that could not be made."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of {host} is not trusted: {_plain(cause.verify_message) or 'verification failed'}."
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return f"No secure connection to {host}: {_ssl_reason(cause)}. Is it https?"
    for cause in causes:
        if isinstance(cause, socket.gaierror | UnicodeError):
            return f"Cannot find {host.rpartition(':')[0] or host} - check the address."
    codes = {cause.errno for cause in causes if isinstance(cause, OSError) and cause.errno}
    words = next((_WORDS[code] for code in _WORDS if code in codes), _NO_CONNECTION)
    return words.format(host=host)


def broken_words(error: BaseException, host: str, *, answered: bool) -> str:
    """One sentence for a connection to `host` that broke; `answered` once something of the reply had arrived."""
    reset = any(isinstance(cause, ConnectionResetError | BrokenPipeError) for cause in _causes(error))
    how = "broke" if reset else "was closed"
    if answered:
        return f"The connection to {host} {how} in the middle of the reply."
    return f"The connection to {host} {how} before the reply began."


def _causes(error: BaseException) -> Iterator[BaseException]:
    """`error` and everything that led to it, groups unfolded; each once."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
        waiting += [inner for inner in (cause.__cause__, cause.__context__) if inner is not None]


def _plain(text: str) -> str:
    return text.strip().rstrip(".")


def _ssl_reason(error: ssl.SSLError) -> str:
    return (error.reason or "the handshake failed").replace("_", " ").lower()
