"""A reply under construction."""

from __future__ import annotations

import pytest

from reprise.domain.deltas import (
    Delta,
    FinishDelta,
    Partial,
    RecastDelta,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageDelta,
)
from reprise.domain.messages import TextPart, ThinkingPart, ToolCallPart, Usage


def built(*deltas: Delta) -> Partial:
    partial = Partial()
    for delta in deltas:
        partial.append(delta)
    return partial


def test_text_and_reasoning_never_mix_and_reasoning_comes_first() -> None:
    """F56, F61."""
    partial = built(TextDelta("An"), ThinkingDelta("hm"), TextDelta("swer"), ThinkingDelta("m"))
    assert (partial.text, partial.thinking) == ("Answer", "hmm")
    assert partial.parts() == (ThinkingPart("hmm"), TextPart("Answer"))


def test_call_fragments_merge_by_slot() -> None:
    """L7: the last non-empty id and name win, arguments concatenate, slots may interleave."""
    partial = built(
        ToolCallDelta(1, "b", "write", '{"x"'),
        ToolCallDelta(0, "a", "rea", ""),
        ToolCallDelta(1, "", "", ": 1}"),
        ToolCallDelta(0, "", "read", "{"),
        ToolCallDelta(0, "a2", "", "}"),
    )
    assert partial.tool_calls == (ToolCallPart("a2", "read", "{}"), ToolCallPart("b", "write", '{"x": 1}'))


def test_a_call_without_a_name_is_none_and_one_without_an_id_gets_one() -> None:
    """L7: no arguments are an empty object; an id is never empty."""
    partial = built(ToolCallDelta(0, "a", "", "{}"), ToolCallDelta(1, "", "ping"))
    assert partial.tool_calls == (ToolCallPart("call_1", "ping", "{}"),)


def test_the_last_usage_and_the_last_finish_reason_count() -> None:
    """L11: usage is cumulative."""
    partial = built(UsageDelta(Usage(5, 1)), FinishDelta("stop"), UsageDelta(Usage(5, 9)))
    assert (partial.usage, partial.finish_reason) == (Usage(5, 9), "stop")


def test_recast_makes_all_text_so_far_reasoning() -> None:
    """F56: the mark that ends the reasoning came late."""
    partial = built(TextDelta("let me see"), RecastDelta(), TextDelta("Answer"))
    assert (partial.text, partial.thinking) == ("Answer", "let me see")


@pytest.mark.parametrize(
    ("deltas", "empty"),
    [
        ([], True),
        ([TextDelta(" \n")], True),
        ([ThinkingDelta("  ")], True),
        ([ToolCallDelta(0, "a", "", "{}")], True),
        ([UsageDelta(Usage(1, 1)), FinishDelta("stop")], True),
        ([TextDelta(" "), TextDelta("x")], False),
        ([ThinkingDelta("x")], False),
        ([ToolCallDelta(0, "", "ping")], False),
    ],
)
def test_what_counts_as_nothing_written(deltas: list[Delta], empty: bool) -> None:
    """L12, F54."""
    assert built(*deltas).is_empty is empty


def test_a_long_reply_is_joined_only_when_it_is_asked_for() -> None:
    """F64: appending costs the same however much is there; counted, not timed."""

    class Counted(str):
        joined = 0

        def __add__(self, other: str) -> str:
            Counted.joined += 1
            return Counted(str.__add__(self, other))

        def __radd__(self, other: str) -> str:
            Counted.joined += 1
            return Counted(other.__add__(self))

    pieces = 2_000
    partial = Partial()
    for _ in range(pieces):
        partial.append(TextDelta(Counted("ab")))
        partial.append(ThinkingDelta(Counted("cd")))
        partial.append(ToolCallDelta(0, "a", "write", Counted("ef")))
    assert Counted.joined == 0
    assert len(partial.text) == len(partial.thinking) == len(partial.tool_calls[0].arguments) == 2 * pieces


def test_a_reply_may_begin_with_what_was_said_before() -> None:
    """N8, F61: text and reasoning go on where they broke off; calls nobody answered are not taken over."""
    partial = Partial((ThinkingPart("hm"), TextPart("Once "), ToolCallPart("1", "ping", "{}")))
    partial.append(TextDelta("upon"))
    partial.append(ThinkingDelta("m"))
    assert partial.parts() == (ThinkingPart("hmm"), TextPart("Once upon"))


def test_a_recast_leaves_what_was_said_before_alone() -> None:
    """F56: only what arrived since turned out to be reasoning."""
    partial = Partial((TextPart("Once "),))
    for delta in (TextDelta("let me see"), RecastDelta(), TextDelta("upon"), RecastDelta(), TextDelta("a time")):
        partial.append(delta)
    assert partial.parts() == (ThinkingPart("let me seeupon"), TextPart("Once a time"))
