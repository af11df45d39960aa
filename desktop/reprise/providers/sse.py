"""Server-sent events out of bytes, however the network cut them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reprise.domain.failures import CompletionError, Failure, FailureKind

MAX_EVENT_BYTES = 8 * 1024 * 1024
"""An event larger than this is refused: nobody streams one, and it would be kept in memory."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its `data` lines joined by line feeds, and its name (``""`` when it has none)."""

    data: str
    name: str = ""


class SseDecoder:
    """Bytes in, events out; an event comes out with the chunk that ends it.

    CR, LF and CRLF end a line, mixed and cut anywhere; nothing else does, so that U+2028 and the like arrive unchanged.
    Text is UTF-8 whatever the headers say, decoded by whole lines: a character may be cut between two chunks.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._line = bytearray()
        self._data: list[str] = []
        self._data_bytes = 0
        self._name = ""
        self._at_start = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that `chunk` completes.

        Raises CompletionError (protocol) when one event grows over the size cap.
        """
        if not chunk:
            return []
        # A CR ends its line at once, or a live event would wait for the next chunk; its LF may still come.
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        events: list[ServerEvent] = []
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._line += chunk[start : end.start()]
            start = end.end()
            if (event := self._end_line()) is not None:
                events.append(event)
        self._after_cr = chunk.endswith(b"\r")
        self._line += chunk[start:]
        self._check_size()
        return events

    def flush(self) -> list[ServerEvent]:
        """The event that the end of the stream left without its blank line."""
        events = [self._end_line()] if self._line else []
        events.append(self._dispatch())
        return [event for event in events if event is not None]

    def _end_line(self) -> ServerEvent | None:
        self._check_size()
        line = bytes(self._line)
        self._line.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(BOM)
        if not line:
            return self._dispatch()
        if line.startswith(b"{"):
            # A proxy that gives up in mid-stream writes its JSON error without any field name.
            self._add(line)
            return None
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                self._add(value)
            case b"event":
                self._name = value.decode("utf-8", "replace")
            case b"error":
                # Older llama.cpp servers send `error: {...}` in place of `data: {...}`.
                self._name = "error"
                self._add(value)
            case _:
                pass  # comments (an empty field name), id, retry and unknown fields say nothing about the reply
        return None

    def _add(self, value: bytes) -> None:
        self._data.append(value.decode("utf-8", "replace"))
        self._data_bytes += len(value)
        self._check_size()

    def _dispatch(self) -> ServerEvent | None:
        event = ServerEvent("\n".join(self._data), self._name) if self._data else None
        self._data = []
        self._data_bytes = 0
        self._name = ""
        return event

    def _check_size(self) -> None:
        if self._data_bytes + len(self._line) > self._max_event_bytes:
            megabytes = self._max_event_bytes / (1024 * 1024)
            raise CompletionError(
                Failure(
                    FailureKind.PROTOCOL, f"The server sent one event of more than {megabytes:g} MiB.", retryable=True
                )
            )
