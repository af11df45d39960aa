"""Events of the OpenAI-compatible wire as deltas."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from reprise.domain.deltas import Delta, FinishDelta, ThinkingDelta, UsageDelta
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import Usage, stops_short
from reprise.domain.surrogates import SurrogateJoiner, whole
from reprise.providers.http_failures import Exchange, failure_in_stream, failure_of_finish, kind_of_words
from reprise.providers.provider_words import clean, parse_json, redact
from reprise.providers.sse import ServerEvent
from reprise.providers.think import ThinkSplitter
from reprise.providers.tool_calls import ToolCallMerger
from reprise.providers.wire_models import WireChoice, WireChunk, WireMessage, WireToolCall, WireUsage

_LOG = logging.getLogger("reprise.providers")
_ERROR_NAMES = ("error", "errors", "detail", "error_msg")
_FINE_CODES = (None, 0, "0", 200, "200", "")


class ReplyReader:
    """Events in, deltas out, one reply.

    `is_done` is set by ``[DONE]``, `finish_reason` by the first non-empty finish reason: either makes the reply
    complete (wire rule). `failure` is what the reply turned out to be after the deltas already returned: to be raised
    once they are delivered, because a partial stays visible (behaviour D5).
    """

    def __init__(self, exchange: Exchange) -> None:
        self.is_done = False
        self.finish_reason: str | None = None
        self.failure: Failure | None = None
        self.has_content = False
        self._exchange = exchange
        self._splitter = ThinkSplitter()
        self._calls = ToolCallMerger()
        self._text = SurrogateJoiner()
        self._thinking = SurrogateJoiner()
        self._usage = Usage()
        self._choice: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether what came is a whole reply."""
        return self.is_done or self.finish_reason is not None

    def read_event(self, event: ServerEvent) -> list[Delta]:
        """The deltas of one event; what is no event of a reply gives none."""
        data = event.data.strip().removeprefix("\ufeff")
        # An empty event, a keep-alive, or a comment that a proxy wrapped into data.
        if not data or data == "null" or data.startswith(":"):
            return []
        if data.strip('"').upper() == "[DONE]":
            self.is_done = True
            return self._held()
        try:
            value = parse_json(data)
        except ValueError:
            failure = self._unreadable(event.name, data)
            return [] if self.is_complete else self._fail(failure)
        return self.read_value(value, is_error=event.name == "error")

    def read_value(self, value: Any, *, is_error: bool = False) -> list[Delta]:
        """The deltas of one JSON value: a chunk, a whole reply, or an error in any of its shapes."""
        was_complete = self.is_complete
        deltas: list[Delta] = []
        if isinstance(value, dict):
            deltas = list(self._chunk(WireChunk.model_validate(value)))
        # What goes wrong after a complete reply does not spoil it.
        if was_complete:
            return deltas
        if (error := _error_of(value, is_error)) is not None:
            return deltas + self._fail(failure_in_stream(self._exchange, error))
        if self.finish_reason is not None:
            self.failure = failure_of_finish(self._exchange, self.finish_reason)
        return deltas

    def end(self) -> list[Delta]:
        """What was held back, once nothing more comes."""
        return self._held(broke_off=not self.is_complete)

    def _fail(self, failure: Failure) -> list[Delta]:
        self.failure = failure
        return self._held(broke_off=True)

    def _unreadable(self, name: str, data: str) -> Failure:
        shown = redact(clean(data[:200]), self._exchange.secrets)
        _LOG.warning("unreadable event from %s: %s", self._exchange.url, shown)
        is_prose = not data.startswith(("{", "["))
        if is_prose and (name == "error" or kind_of_words(data)[0] is not FailureKind.UNKNOWN):
            return failure_in_stream(self._exchange, data)
        words = "The server sent an event that cannot be read."
        return self._exchange.failure(FailureKind.PROTOCOL, words, detail=shown)

    def _chunk(self, chunk: WireChunk) -> Iterator[Delta]:
        for choice in chunk.choices:
            # One reply was asked for; a server that sends more alternatives all the same is read by its first.
            if self._choice is None:
                self._choice = choice.index or 0
            if (choice.index or 0) == self._choice:
                yield from self._one(choice)
            yield from self._count(choice.usage)
        yield from self._count(chunk.usage)
        yield from self._count(chunk.x_groq.usage if chunk.x_groq else None)

    def _one(self, choice: WireChoice) -> Iterator[Delta]:
        if choice.delta is not None:
            yield from self._message(choice.delta)
        elif choice.message is not None and not self.has_content:
            yield from self._message(choice.message, is_whole=True)
        elif choice.text:
            yield from self._say(choice.text)
        reason = whole(choice.finish_reason or "").strip()
        if reason and reason != self.finish_reason:
            self.finish_reason = reason
            yield from self._held(broke_off=stops_short(reason))
            yield FinishDelta(reason)

    def _message(self, message: WireMessage, *, is_whole: bool = False) -> Iterator[Delta]:
        text, thought = _parts(message.content)
        # The same thought may come under two names: the first that says something counts.
        thought = _thought(message) or thought
        if thought:
            self._splitter.reasoning_came()
            if joined := self._thinking.feed(thought):
                self.has_content = True
                yield ThinkingDelta(joined)
        yield from self._say(text)
        yield from self._say(message.refusal or "")
        calls = message.tool_calls
        if message.function_call is not None and not calls:
            calls = (WireToolCall.model_construct(index=0, function=message.function_call),)
        if is_whole:
            calls = tuple(call.model_copy(update={"index": place}) for place, call in enumerate(calls))
        for delta in self._calls.feed(calls):
            self.has_content = True
            yield delta

    def _say(self, text: str) -> Iterator[Delta]:
        if joined := self._text.feed(text):
            self.has_content = True
            yield from self._splitter.feed(joined)

    def _held(self, *, broke_off: bool = False) -> list[Delta]:
        deltas: list[Delta] = []
        if thought := self._thinking.flush(broke_off=broke_off):
            deltas.append(ThinkingDelta(thought))
        if text := self._text.flush(broke_off=broke_off):
            deltas += self._splitter.feed(text)
        return [*deltas, *self._splitter.flush(), *self._calls.flush()]

    def _count(self, usage: WireUsage | None) -> Iterator[Delta]:
        """Cumulative counts; zeros stand for "not yet", as some servers send before the end."""
        if usage is None:
            return
        counted = Usage(
            usage.prompt_tokens or usage.input_tokens or self._usage.input,
            usage.completion_tokens or usage.output_tokens or self._usage.output,
        )
        if counted != self._usage:
            self._usage = counted
            yield UsageDelta(counted)


def _error_of(value: Any, is_error: bool) -> Any:
    """The error in a JSON value that came in place of a chunk or beside one, None when there is none."""
    match value:
        case dict():
            if value.get("error") or is_error or value.get("object") == "error" or value.get("type") == "error":
                return value
            match value.get("base_resp"):
                case {"status_code": code} as state if code not in _FINE_CODES:
                    return state
            if "choices" in value or value.get("code") in (0, "0", 200, "200"):
                return None
            telling = any(value.get(name) for name in _ERROR_NAMES) or isinstance(value.get("message"), str)
            return value if telling else None
        case list():
            found = (_error_of(item, is_error) for item in value[:5])
            return next((error for error in found if error is not None), None)
        case str() if is_error:
            return value
        case _:
            return None


def _parts(content: Any) -> tuple[str, str]:
    """Answer and reasoning of a content: a string, or a list of typed parts, as some services send it."""
    if isinstance(content, str):
        return content, ""
    text: list[str] = []
    thought: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        match part:
            case str():
                text.append(part)
            case {"type": "text" | "output_text", "text": str() as piece}:
                text.append(piece)
            case {"type": "thinking" | "reasoning", **rest}:
                thought.append(_plain(rest.get("thinking") or rest.get("reasoning") or rest.get("text")))
            case _:
                continue
    return "".join(text), "".join(thought)


def _thought(message: WireMessage) -> str:
    named = _plain(message.reasoning_content) or _plain(message.reasoning)
    return named or "".join(_plain(part.get("text") or part.get("summary")) for part in message.reasoning_details)


def _plain(value: Any) -> str:
    """The text of a string, of a part, or of a list of parts."""
    match value:
        case str():
            return value
        case {"text": str() as text} | {"content": str() as text}:
            return text
        case list():
            return "".join(_plain(part) for part in value if not isinstance(part, list))
        case _:
            return ""
