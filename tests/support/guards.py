"""Guards around every test: the network stays on this machine, and nothing is left running."""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest


def _is_here(family: int, address: object) -> bool:
    if family not in (socket.AF_INET, socket.AF_INET6) or not isinstance(address, tuple):
        return True
    host = str(address[0]).partition("%")[0]
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def loopback_only() -> Iterator[None]:
    """Let sockets connect to this machine only; anything else is a RuntimeError where it is tried."""
    real_connect, real_connect_ex = socket.socket.connect, socket.socket.connect_ex

    def check(sock: socket.socket, address: object) -> None:
        if not _is_here(sock.family, address):
            raise RuntimeError(f"a test tried to reach {address!r}: only this machine may be reached")

    def connect(self: socket.socket, address: object) -> None:
        check(self, address)
        real_connect(self, address)

    def connect_ex(self: socket.socket, address: object) -> int:
        check(self, address)
        return real_connect_ex(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        yield


def _threads() -> dict[int, str]:
    # The daemon threads of the session's loop live as long as it does; they are there for calls that never return.
    return {
        id(thread): f"thread {thread.name}"
        for thread in threading.enumerate()
        if thread.is_alive() and not thread.name.startswith("reprise-blocking")
    }


def _timers() -> dict[int, str]:
    if "PySide6.QtCore" not in sys.modules:
        return {}
    from PySide6.QtCore import QCoreApplication, QEvent, QTimer
    from shiboken6 import Shiboken

    # Outside a running loop Qt keeps what `deleteLater` marked, with its timers.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    found = {}
    for wrapper in Shiboken.getAllValidWrappers():
        if isinstance(wrapper, QTimer) and wrapper.isActive() and wrapper.objectName() != "reprise.loop.alarm":
            owner = wrapper.parent()
            name = wrapper.objectName() or (type(owner).__name__ if owner is not None else "no owner")
            found[id(wrapper)] = f"timer of {name} ({wrapper.interval()} ms)"
    return found


def leftovers(other_than: Mapping[int, str] | None = None, patience_s: float = 0.0) -> dict[int, str]:
    """What runs now beside `other_than`, by identity; waits up to `patience_s` for threads that are about to end."""
    known = other_than or {}
    give_up_at = time.monotonic() + patience_s
    while True:
        left = {key: name for key, name in {**_threads(), **_timers()}.items() if key not in known}
        if not left or time.monotonic() >= give_up_at:
            return left
        for thread in threading.enumerate():
            if id(thread) in left:
                thread.join(max(0.0, give_up_at - time.monotonic()))
        if not any(name.startswith("thread") for name in left.values()):
            return left
