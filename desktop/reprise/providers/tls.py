"""The TLS context, made once, off the window's thread."""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Lock, Thread

_CA_FILES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)
"""Where distributions keep the bundle when Python's own OpenSSL looks elsewhere (python-build-standalone does)."""


class _Shared:
    """The one context of the process, or the future of it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: Future[ssl.SSLContext] | None = None

    def future(self, bundled: Callable[[], ssl.SSLContext]) -> Future[ssl.SSLContext]:
        with self._lock:
            if self._made is None or (self._made.done() and self._made.exception() is not None):
                self._made = Future()
                # Waiting for it must not cancel it: others may wait too.
                self._made.set_running_or_notify_cancel()
                # A daemon: a certificate store that hangs must not keep the program from ending (design rule 4).
                Thread(target=_make, args=(self._made, bundled), name="tls", daemon=True).start()
            return self._made


_SHARED = _Shared()


async def tls_context(bundled: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """The context every https client shares: the system's certificates, else `bundled` ones.

    Reading them takes some 40 ms, so it is done on a daemon thread, when the first https request needs it. Raises
    OSError (ssl.SSLError too) when no certificates can be read; the next call tries again.
    """
    return await asyncio.wrap_future(_SHARED.future(bundled))


def no_tls_context() -> ssl.SSLContext:
    """A context for plain http: it trusts nobody, should a connection ever become https."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _make(future: Future[ssl.SSLContext], bundled: Callable[[], ssl.SSLContext]) -> None:
    try:
        future.set_result(_new_context(bundled))
    except BaseException as error:  # noqa: BLE001  handed to whoever awaits the future
        future.set_exception(error)


def _new_context(bundled: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    if sys.platform != "linux":
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # On Linux the system's store is OpenSSL's own, and truststore would read it again for every connection, 40 ms each
    # on the window's thread. `SSL_CERT_FILE` and `SSL_CERT_DIR` count here as everywhere.
    paths = ssl.get_default_verify_paths()
    if paths.cafile or (paths.capath and any(Path(paths.capath).glob("*.0"))):
        return ssl.create_default_context()
    found = next((path for path in _CA_FILES if Path(path).is_file()), None)
    return bundled() if found is None else ssl.create_default_context(cafile=found)
