"""Whatever bytes a server sends, the end is a reply or one typed failure."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.domain.deltas import Partial
from reprise.domain.failures import CompletionError, FailureKind
from reprise.providers.http_failures import Exchange
from reprise.providers.openai_source import ReplySource
from support.wire_server import load_cases

BODIES = [
    b"".join(case.play.chunks)
    for case in load_cases(Path(__file__).parents[1] / "data" / "wire" / "cases.jsonl").values()
    if sum(map(len, case.play.chunks)) <= 4096
]


class Memory:
    """A body out of memory."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.exchange = Exchange("http://memory/v1", status=200)
        self._pieces = pieces

    async def read(self, at_most_s: float | None = None) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    async def drain(self) -> None:
        self._pieces.clear()


def settle(pieces: list[bytes]) -> str:
    """How a body ends: ``done`` or a failure's kind. Anything but a CompletionError escapes and fails the test."""

    async def run() -> str:
        source = ReplySource(Memory([piece for piece in pieces if piece]), 0.1, ends_without_finish=False)
        partial = Partial()
        try:
            while (deltas := await source.pull()) is not None:
                for delta in deltas:
                    partial.append(delta)
        except CompletionError as error:
            assert error.failure.message
            assert error.failure.kind is not FailureKind.BUG
            return str(error.failure.kind)
        finally:
            for part in partial.parts():
                repr(part).encode()
            partial.text.encode()
            partial.thinking.encode()
        return "done"

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(run())
    finally:
        loop.close()


FIELDS = ("choices", "delta", "message", "content", "error", "usage", "tool_calls", "function", "name", "arguments")
MORE = ("finish_reason", "reasoning", "reasoning_details", "index", "id", "type", "text", "code", "x_groq", "refusal")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FIELDS, *MORE]), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=30), max_size=8))
def test_any_bytes(pieces: list[bytes]) -> None:
    """Never an exception of another kind, never a hang."""
    settle(pieces)


@settings(deadline=None)
@given(st.sampled_from(BODIES), st.data())
def test_recorded_bodies_with_bytes_changed(body: bytes, data: st.DataObject) -> None:
    """Near misses reach further than noise."""
    at = data.draw(st.integers(0, len(body)))
    until = data.draw(st.integers(at, min(len(body), at + 20)))
    cut = data.draw(st.integers(0, len(body)))
    changed = body[:at] + data.draw(st.binary(max_size=6)) + body[until:]
    settle([changed[:cut], changed[cut:]])


@settings(deadline=None)
@given(st.lists(JSON, max_size=4))
def test_any_json_in_any_event(values: list[Any]) -> None:
    """Fields of every wrong type."""
    settle([f"data: {json.dumps(value)}\n\n".encode() for value in values] + [b"data: [DONE]\n\n"])


@settings(deadline=None)
@given(JSON)
def test_any_json_in_place_of_a_stream(value: Any) -> None:
    """The same for a reply that is not streamed."""
    settle([json.dumps(value).encode()])
