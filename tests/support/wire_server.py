"""A loopback server that plays replies byte for byte: chunks, delays, and the ways a connection can end."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_LONG = "{{600 KiB of x}}"
_DATE = re.compile(r"\{\{http_date:\+(\d+)\}\}")


@dataclass(frozen=True)
class Play:
    """One reply. `end` is what follows its chunks.

    ``close`` ends the body and the connection, ``keep`` ends the body only, ``cut`` closes the connection in
    mid-body, ``reset`` resets it, ``hang`` stays silent until the client goes; ``refuse`` closes without any reply.
    """

    chunks: tuple[bytes, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    delays_s: tuple[float, ...] = ()
    end: str = "close"


@dataclass(frozen=True)
class Case:
    """A recorded reply and the outcomes that are right for it."""

    id: str
    title: str
    play: Play
    expect: dict[str, Any]
    expect_alt: tuple[dict[str, Any], ...] = ()
    error_alt: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class Seen:
    """A request as it arrived; header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def load_cases(path: Path, kind: str = "openai") -> dict[str, Case]:
    """The cases of one kind, by id; long bodies stand in the file as a mark."""
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    return {row["id"]: _case(row) for row in rows if row["kind"] == kind}


def _case(row: dict[str, Any]) -> Case:
    chunks = [base64.b64decode(chunk) for chunk in row["chunks"]]
    expect = row["expect"]
    if expect["text"] == _LONG:
        expect = {**expect, "text": "x" * row["long_chars"]}
        body = b"".join(chunks).replace(_LONG.encode(), expect["text"].encode())
        chunks = [body[at : at + 16384] for at in range(0, len(body), 16384)]
    play = Play(
        tuple(chunks),
        row["status"],
        row["headers"],
        tuple(delay / 1000 for delay in row.get("delay_ms_before") or ()),
        row["end"],
    )
    return Case(
        row["id"], row["title"], play, expect, tuple(row.get("expect_alt", ())), tuple(row.get("error_alt", ()))
    )


class WireServer:
    """Plays `plays` by the first piece of the path: ``http://127.0.0.1:PORT/NAME/v1/...``.

    `requests` is what arrived, `connections` how many were opened, `gone` is set when a client leaves a hanging one,
    `written_at` when (monotonic) each chunk went out.
    A list of plays is played one a request, the last one for ever. `drops_reused`: a second request on a kept
    connection finds it closed.
    """

    def __init__(self, plays: Mapping[str, Play | list[Play]], *, drops_reused: bool = False, ssl: Any = None) -> None:
        self.requests: list[Seen] = []
        self.connections = 0
        self.gone = asyncio.Event()
        self.written_at: list[float] = []
        self._came = asyncio.Condition()
        self._plays = {name: list(play) if isinstance(play, list) else [play] for name, play in plays.items()}
        self._drops_reused = drops_reused
        self._ssl = ssl
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    def url(self, name: str) -> str:
        scheme = "https" if self._ssl else "http"
        return f"{scheme}://127.0.0.1:{self.port}/{name}/v1"

    async def arrived(self, count: int) -> None:
        """Wait until `count` requests came in."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.requests) >= count)

    async def wrote(self, count: int) -> None:
        """Wait until `count` chunks went out."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.written_at) >= count)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._ssl)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        served = 0
        try:
            while (seen := await _request(reader)) is not None:
                served += 1
                if served > 1 and self._drops_reused:
                    return
                async with self._came:
                    self.requests.append(seen)
                    self._came.notify_all()
                if not await self._play(self._next(seen), reader, writer):
                    return
        except OSError:
            self.gone.set()
        except asyncio.CancelledError:
            writer.transport.abort()  # the test is over; ending quietly keeps the stream's own callback quiet
        finally:
            writer.close()

    def _next(self, seen: Seen) -> Play:
        queue = self._plays.get(seen.path.strip("/").split("/")[0], [Play(status=404, headers={})])
        return queue.pop(0) if len(queue) > 1 else queue[0]

    async def _play(self, play: Play, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection serves on."""
        if play.end == "refuse":
            return False
        headers = "".join(f"{name}: {_dated(value)}\r\n" for name, value in play.headers.items())
        closing = "" if play.end == "keep" else "connection: close\r\n"
        head = f"HTTP/1.1 {play.status} X\r\n{headers}transfer-encoding: chunked\r\n{closing}\r\n"
        writer.write(head.encode("latin-1"))
        await writer.drain()
        for number, chunk in enumerate(play.chunks):
            await asyncio.sleep(play.delays_s[number] if play.delays_s else 0)
            if chunk:
                writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                self.written_at.append(time.monotonic())
                await writer.drain()
                async with self._came:
                    self._came.notify_all()
        match play.end:
            case "close" | "keep":
                writer.write(b"0\r\n\r\n")
                await writer.drain()
            case "reset":
                await asyncio.sleep(0.05)  # what was sent arrives first
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
            case "hang":
                await reader.read()
                self.gone.set()
        return play.end == "keep"


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ", 2)
    return Seen(method, path, headers, body)


def _dated(value: str) -> str:
    return _DATE.sub(lambda found: formatdate(time.time() + int(found[1]), usegmt=True), value)
