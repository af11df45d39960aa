"""A server written by others that breaks on purpose."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

# A process of its own: the package's fixture would leave the server's threads in ours.
SERVER = """
import sys
from llmock.testing import LLMockServer
with LLMockServer() as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


class Breaker:
    """The server, told what to do next."""

    def __init__(self, url: str) -> None:
        self.url = url

    def will(self, behaviour: str, /, *, times: int | None = 1, **how: Any) -> None:
        """Add a behaviour for the next `times` requests (None = all)."""
        self._ask("scenario", {"behaviors": [{"type": behaviour, "times": times, **how}]})

    def breaks(self, kind: str, **how: Any) -> None:
        """The next stream breaks after two chunks."""
        self.will("stream_fault", kind=kind, after_chunks=2, **how)

    def reset(self) -> None:
        """Forget every behaviour."""
        self._ask("reset", {})

    def verdict(self) -> Any:
        """What it thinks of the client so far."""
        return self._ask("verdict")

    def _ask(self, name: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}/_llmock/{name}", data, {"content-type": "application/json"})  # noqa: S310  loopback
        with urlopen(request, timeout=10) as response:  # noqa: S310  loopback
            return json.loads(response.read() or b"null")


@contextmanager
def running() -> Iterator[Breaker]:
    """The server, until the context is left."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        yield Breaker(child.stdout.readline().decode().strip())
        child.stdin.close()
