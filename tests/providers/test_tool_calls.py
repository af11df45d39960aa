"""Fragments of tool calls."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from reprise.domain.deltas import Partial
from reprise.providers.tool_calls import ToolCallMerger
from reprise.providers.wire_models import WireToolCall


def fragment(index: int | None = None, id_: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    return {"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}


def merge(*events: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    merger, partial = ToolCallMerger(), Partial()
    for event in events:
        for delta in merger.feed([WireToolCall.model_validate(item) for item in event]):
            partial.append(delta)
    for delta in merger.flush():
        partial.append(delta)
    return [(call.id, call.name, call.arguments) for call in partial.tool_calls]


F = fragment


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        # L7: pieces by index, interleaved.
        (
            [[F(0, "a", "f", "")], [F(1, "b", "g", "")], [F(1, arguments="{}")], [F(0, arguments="{}")]],
            [("a", "f", "{}"), ("b", "g", "{}")],
        ),
        # Whole calls that all claim index 0.
        ([[F(0, "a", "f", "{}")], [F(0, "b", "f", "{}")]], [("a", "f", "{}"), ("b", "f", "{}")]),
        # Id and name repeated with every piece.
        ([[F(0, "a", "f", '{"x"')], [F(0, "a", "f", ":1}")]], [("a", "f", '{"x":1}')]),
        # The name in pieces, and a name that grows.
        ([[F(0, "a", "get_", "")], [F(0, None, "weather", "{}")]], [("a", "get_weather", "{}")]),
        ([[F(0, "a", "get_", "")], [F(0, None, "get_weather", "{}")]], [("a", "get_weather", "{}")]),
        # The name comes late; an index that starts at 1 leaves no empty call.
        ([[F(0, "a", "", "")], [F(0, "", "f", "{}")]], [("a", "f", "{}")]),
        ([[F(1, "a", "f", "{}")]], [("a", "f", "{}")]),
        # Index missing everywhere.
        ([[F(None, "a", "f", '{"x"')], [F(None, None, None, ":1}")]], [("a", "f", '{"x":1}')]),
        ([[F(None, "a", "f", "{}"), F(None, "b", "f", "{}")]], [("a", "f", "{}"), ("b", "f", "{}")]),
        # The id comes after the name.
        ([[F(0, None, "f", "")], [F(0, "a", None, "{}")]], [("a", "f", "{}")]),
        # A fresh id with every piece of one call.
        ([[F(0, "a", "f", '{"x"')], [F(0, "b", None, ":1}")]], [("a", "f", '{"x":1}')]),
        # Pieces of an earlier call found again by its id.
        ([[F(None, "a", "f", '{"x"')], [F(None, "b", "g", "{}")], [F(None, "a", None, ":1}")]],
         [("a", "f", '{"x":1}'), ("b", "g", "{}")]),
        # Arguments as an object.
        ([[F(0, "a", "f", {"x": 1})]], [("a", "f", '{"x": 1}')]),
        # L7: no name, no call; no arguments are an empty object.
        ([[F(0, "a", None, "{}")]], []),
        ([[F(0, "a", "f")]], [("a", "f", "{}")]),
        # A character cut between two pieces.
        ([[F(0, "a", "f", '{"x":"\ud83d')], [F(0, arguments='\ude00"}')]], [("a", "f", '{"x":"😀"}')]),
        ([[F(0, "a", "f", '"\ud83d')]], [("a", "f", '"\ufffd')]),
    ],
)  # fmt: skip
def test_which_fragment_belongs_to_which_call(events: list[Any], calls: list[tuple[str, str, str]]) -> None:
    """L7."""
    assert merge(*events) == calls


def test_calls_without_ids_get_their_own() -> None:
    """A made-up id is not empty and differs from call to call, also without any index."""
    calls = merge([F(None, None, "f", "{}"), F(None, None, "f", "{}")], [F(0, None, "g", "{}")])
    assert [call[1:] for call in calls] == [("f", "{}"), ("f", "{}"), ("g", "{}")]
    assert len({call[0] for call in calls}) == 3
    assert all(call[0] for call in calls)


def test_long_arguments_take_linear_time() -> None:
    """F64: ten times the pieces take about ten times as long, not a hundred."""

    def seconds(pieces: int) -> float:
        merger = ToolCallMerger()
        fragments = [WireToolCall.model_validate(F(0, "a", "f", "x" * 20)) for _ in range(pieces)]
        started = time.process_time()
        for item in fragments:
            merger.feed([item])
        return time.process_time() - started

    seconds(100)
    assert seconds(20_000) < 40 * max(seconds(2_000), 0.001)


def test_the_whole_text_arrives() -> None:
    """F64's other half: nothing is lost on the way."""
    text = json.dumps({"text": "word " * 20_000})
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    assert merge([F(0, "a", "f", "")], *[[F(0, arguments=piece)] for piece in pieces]) == [("a", "f", text)]
