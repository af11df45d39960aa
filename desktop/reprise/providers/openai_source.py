"""The body of one reply on the OpenAI-compatible wire, whatever form it has, as lists of deltas."""

from __future__ import annotations

import asyncio
from enum import Enum, auto
from typing import Protocol

from reprise.domain.deltas import Delta
from reprise.domain.failures import CompletionError, Failure, FailureKind
from reprise.providers.http_failures import Exchange
from reprise.providers.openai_reply import ReplyReader
from reprise.providers.provider_words import is_markup, parse_json
from reprise.providers.sse import BOM, MAX_EVENT_BYTES, ServerEvent, SseDecoder


class _Form(Enum):
    """What the body turned out to be; its first bytes tell, whatever the content type says."""

    UNKNOWN = auto()
    EVENTS = auto()
    JSON = auto()
    PAGE = auto()


class Body(Protocol):
    """A response body: `http.Reply`, or recorded bytes."""

    exchange: Exchange

    async def read(self, at_most_s: float | None = None) -> bytes:
        """The next bytes, ``b""`` at the end; CompletionError when it breaks, TimeoutError after `at_most_s`."""

    async def drain(self) -> None:
        """Take in what is left of a complete reply."""


class ReplySource:
    """The body of a reply as lists of deltas."""

    def __init__(self, reply: Body, grace_s: float, *, ends_without_finish: bool) -> None:
        self._reply = reply
        self._grace_s = grace_s
        self._ends_without_finish = ends_without_finish
        self._reader = ReplyReader(reply.exchange)
        self._decoder = SseDecoder()
        self._form = _Form.UNKNOWN
        self._head = bytearray()
        self._first_bytes = b""
        self._grace_until: float | None = None
        self._is_over = False
        self._failure: Failure | None = None

    async def pull(self) -> list[Delta] | None:
        """The next deltas (maybe none), None once the reply is complete; raises CompletionError in its place."""
        if self._is_over:
            if self._failure is not None:
                raise CompletionError(self._failure)
            if self._reader.is_done:
                await self._reply.drain()
            return None
        try:
            chunk = await self._read()
            deltas = self._take(chunk)
        except CompletionError as error:
            # What is held back comes first, then the failure; one that comes after the end is none.
            deltas = self._reader.end()
            self._end(None if self._reader.is_complete else error.failure)
            return deltas
        if self._reader.failure is not None:
            self._end(self._reader.failure)
        elif self._reader.is_done:
            self._end(None if self._is_whole() else self._protocol("The server ended an empty reply."))
        elif not chunk:
            deltas += self._reader.end()
            self._end(None if self._is_whole() else self._cut_off())
        return deltas

    def _end(self, failure: Failure | None) -> None:
        self._is_over = True
        self._failure = failure

    async def _read(self) -> bytes:
        """The next bytes; a complete reply is waited on for a short while only, then it has ended."""
        if not self._reader.is_complete:
            return await self._reply.read()
        now = asyncio.get_running_loop().time()
        if self._grace_until is None:
            self._grace_until = now + self._grace_s
        try:
            return await self._reply.read(max(0.0, self._grace_until - now))
        except TimeoutError:
            return b""

    def _take(self, chunk: bytes) -> list[Delta]:
        if not self._first_bytes.strip():
            self._first_bytes = chunk[:400]
        if self._form is not _Form.UNKNOWN:
            return self._feed(chunk)
        self._head += chunk
        self._form = _form_of(bytes(self._head), at_end=not chunk)
        if self._form is _Form.UNKNOWN:
            # Blank lines keep a connection alive while the request queues; nothing is lost with them.
            self._head = bytearray() if not self._head.strip() else self._head
            return []
        head, self._head = bytes(self._head), bytearray()
        return self._feed(head) if chunk else self._feed(head) + self._feed(b"")

    def _feed(self, chunk: bytes) -> list[Delta]:
        match self._form:
            case _Form.JSON:
                return self._json(chunk)
            case _Form.PAGE:
                return self._page()
            case _:
                return self._events(self._decoder.feed(chunk) if chunk else self._decoder.flush())

    def _events(self, events: list[ServerEvent]) -> list[Delta]:
        deltas: list[Delta] = []
        for event in events:
            deltas += self._reader.read_event(event)
            if self._reader.is_done or self._reader.failure is not None:
                break
        return deltas

    def _json(self, chunk: bytes) -> list[Delta]:
        """A reply that was not streamed, or an error in its place; nothing is known before its end."""
        self._head += chunk
        if len(self._head) > MAX_EVENT_BYTES:
            raise CompletionError(self._protocol("The server sent one reply that is too large to take in."))
        if chunk:
            return []
        try:
            value = parse_json(self._head.decode("utf-8", "replace").removeprefix("\ufeff"))
        except ValueError as error:
            raise CompletionError(
                self._protocol("The server's reply is not readable JSON; it may have been cut.")
            ) from error
        return self._reader.read_value(value)

    def _page(self) -> list[Delta]:
        # However often it is asked, a wrong address answers with its page: not retryable (behaviour D1).
        words = f"A web page came instead of a reply from {self._reply.exchange.url} - check the address."
        raise CompletionError(self._reply.exchange.failure(FailureKind.PROTOCOL, words, should_retry=False))

    def _is_whole(self) -> bool:
        """Complete by its finish reason, or with something in it by an end that counts as one."""
        reader = self._reader
        may_end = reader.is_done or self._form is _Form.JSON or self._ends_without_finish
        return reader.finish_reason is not None or (may_end and reader.has_content)

    def _cut_off(self) -> Failure:
        """Why the end of the body is no end of a reply (behaviour D10, F54, F59)."""
        if self._reader.has_content:
            return self._protocol("The reply was cut off: the stream ended without a finish reason.")
        head = self._first_bytes.decode("utf-8", "replace").strip()
        if not head:
            return self._protocol("The server closed the stream without sending anything.")
        return self._protocol("The server sent no reply, only something else.", None if is_markup(head) else head)

    def _protocol(self, words: str, detail: str | None = None) -> Failure:
        return self._reply.exchange.failure(FailureKind.PROTOCOL, words, detail=detail)


def _form_of(head: bytes, *, at_end: bool) -> _Form:
    text = head.removeprefix(BOM).lstrip()
    if not text or (BOM.startswith(head) and not at_end):
        return _Form.EVENTS if at_end else _Form.UNKNOWN
    match text[:1]:
        case b"{" | b"[":
            return _Form.JSON
        case b"<":
            return _Form.PAGE
        case _:
            return _Form.EVENTS
