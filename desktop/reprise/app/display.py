"""Is there a screen? A set but dead DISPLAY counts as none."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

_X11_TCP_BASE = 6000
_CONNECT_S = 1.0


def has_display(environ: Mapping[str, str]) -> bool:
    """True when a window can be shown on a real or virtual screen."""
    if sys.platform in ("win32", "darwin"):
        return True
    return _wayland_answers(environ) or _x11_answers(environ.get("DISPLAY", ""))


def _wayland_answers(environ: Mapping[str, str]) -> bool:
    name = environ.get("WAYLAND_DISPLAY", "")
    if not name:
        return False
    return _unix_answers(str(Path(environ.get("XDG_RUNTIME_DIR", ""), name)))


def _x11_answers(display: str) -> bool:
    match = re.fullmatch(r"(?:(?P<protocol>\w+)/)?(?P<host>[^:]*):(?P<number>\d+)(?:\.\d+)?", display)
    if match is None:
        return False
    number = int(match["number"])
    if match["host"] in ("", "unix"):
        path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - the place X servers listen at
        return _unix_answers("\0" + path) or _unix_answers(path)
    import socket

    try:
        with socket.create_connection((match["host"].strip("[]"), _X11_TCP_BASE + number), _CONNECT_S):
            return True
    except OSError:
        return False


def _unix_answers(address: str) -> bool:
    import socket  # takes long, and where the platform is given nobody asks

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_S)
        try:
            probe.connect(address)
        except OSError:
            return False
        return True
