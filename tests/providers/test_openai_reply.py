"""Requests as JSON, and events of the OpenAI-compatible wire as deltas."""

from __future__ import annotations

import json
from typing import Any

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
from reprise.domain.failures import FailureKind
from reprise.domain.messages import (
    Message,
    ModelRef,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
    user_message,
)
from reprise.domain.models import CompletionRequest, Parameters, ToolSpec
from reprise.providers.http_failures import Exchange
from reprise.providers.openai_reply import ReplyReader
from reprise.providers.openai_request import request_body
from reprise.providers.sse import ServerEvent

MODEL = ModelRef("own", "m")
DEFAULTS = Parameters()


def body(*messages: Message, parameters: Parameters = DEFAULTS, tools: tuple[ToolSpec, ...] = ()) -> Any:
    return json.loads(request_body(CompletionRequest(MODEL, messages, parameters, tools)))


def read(*values: Any, reader: ReplyReader | None = None) -> tuple[Partial, ReplyReader, list[Delta]]:
    reader = reader or ReplyReader(Exchange("http://host/v1/chat/completions", status=200))
    deltas: list[Delta] = []
    for value in values:
        data = value if isinstance(value, str) else json.dumps(value)
        deltas += reader.read_event(ServerEvent(data))
    deltas += reader.end()
    partial = Partial()
    for delta in deltas:
        partial.append(delta)
    return partial, reader, deltas


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_the_conversation_as_messages() -> None:
    """P5: calls and results in OpenAI's form, reasoning and empty messages left out."""
    call = ToolCallPart("c1", "clock", '{"tz":"UTC"}')
    sent = body(
        Message(Role.SYSTEM, (TextPart("Be brief."),)),
        user_message("What time?"),
        Message(Role.ASSISTANT, (ThinkingPart("hm"), call)),
        Message(Role.TOOL, (ToolResultPart("c1", "clock", "12:00"),)),
        Message(Role.ASSISTANT, (ThinkingPart("only thought"),)),
        Message(Role.ASSISTANT, (TextPart("  \n"),)),
        Message(Role.ASSISTANT, (TextPart("Noon."),)),
        user_message("Thanks 😀"),
    )
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What time?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": '{"tz":"UTC"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "12:00"},
        {"role": "assistant", "content": "Noon."},
        {"role": "user", "content": "Thanks 😀"},
    ]


def test_arguments_that_do_not_parse_are_not_replayed() -> None:
    """W100, W101, F63: a strict server would refuse the whole conversation."""
    sent = body(Message(Role.ASSISTANT, (ToolCallPart("c1", "f", '{"path":"a'), ToolCallPart("c2", "f", "[1]"))))
    assert [call["function"]["arguments"] for call in sent["messages"][0]["tool_calls"]] == ["{}", "{}"]


def test_parameters_and_tools_go_along_only_when_set() -> None:
    """L4, L11: a stream asks for its token counts; a default is the provider's."""
    assert body(user_message("Hi")).keys() == {"model", "messages", "stream", "stream_options"}
    schema = {"type": "object", "properties": {}}
    sent = body(
        user_message("Hi"),
        parameters=Parameters(temperature=0.0, top_p=0.5, max_tokens=7, stream=False),
        tools=(ToolSpec("clock", "Tells the time", schema),),
    )
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (0.0, 0.5, 7)
    assert sent["stream"] is False
    assert "stream_options" not in sent
    assert sent["tools"] == [
        {"type": "function", "function": {"name": "clock", "description": "Tells the time", "parameters": schema}}
    ]


def test_a_lone_surrogate_can_be_sent() -> None:
    """Text from outside cannot break a request."""
    assert body(user_message("a\ud83d"))["messages"][0]["content"] == "a?"


@pytest.mark.parametrize(
    ("values", "thinking", "text"),
    [
        ([chunk(reasoning_content="a", content="b")], "a", "b"),
        ([chunk(reasoning="a"), chunk(content="b")], "a", "b"),
        ([chunk(reasoning_content="a", reasoning="a", content=None)], "a", ""),
        ([chunk(reasoning_details=[{"type": "reasoning.text", "text": "a"}])], "a", ""),
        ([chunk(reasoning_details=[{"type": "reasoning.summary", "summary": "a"}])], "a", ""),
        ([chunk(reasoning="", reasoning_details=None, content="b")], "", "b"),
        ([chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}])], "a", ""),
        ([chunk(content=[{"type": "text", "text": "b"}, {"type": "image"}, "c"])], "", "bc"),
        ([chunk(content=5), chunk(content={"odd": 1})], "", ""),
        ([chunk(refusal="I can't.")], "", "I can't."),
        ([chunk(content="\ud83d"), chunk(content="\ude00")], "", "😀"),
        ([chunk(reasoning_content="\ud83d"), chunk(reasoning_content="\ude00")], "😀", ""),
        ([chunk(content="a\ud83dc")], "", "a\ufffdc"),
        ([chunk(content="a\ud83d"), chunk("stop")], "", "a\ufffd"),
        ([chunk(content="a\ud83d")], "", "a"),
        ([chunk(content="a\ud83d"), chunk("length")], "", "a"),
        ([{"choices": [{"text": "old wire", "finish_reason": None}]}], "", "old wire"),
        ([{"choices": [{"index": 1, "delta": {"content": "b"}}, {"index": 2, "delta": {"content": "x"}}]}], "", "b"),
        ([{"choices": [{"delta": {"content": "b"}}]}, {"choices": [{"message": {"content": "b"}}]}], "", "b"),
        ([chunk(reasoning_content="a"), {"choices": [{"message": {"reasoning_content": "a"}}]}], "a", ""),
        ([{"choices": None}, {"choices": [None, 5]}, {"choices": {}}, {"choices": [{"delta": "x"}]}], "", ""),
        (["null", "", "  ", ": ping", "[]", "5", '"x"', {"type": "ping"}, {"id": "x"}], "", ""),
    ],
)
def test_text_and_reasoning_wherever_they_stand(values: list[Any], thinking: str, text: str) -> None:
    """F51, F55, F56, F60, L6: never lost, never twice, never mixed; odd values are skipped."""
    partial, reader, _ = read(*values)
    assert (partial.thinking, partial.text) == (thinking, text)
    assert reader.failure is None


def test_half_a_character_before_an_error_is_no_part_of_what_arrived() -> None:
    """D5, N8: a partial is gone on from, and its end has to be what was said."""
    partial, reader, _ = read(chunk(reasoning_content="a\ud83d", content="b\ud83d"), {"error": {"message": "down"}})
    assert reader.failure is not None
    assert (partial.thinking, partial.text) == ("a", "b")


def test_thinking_comes_before_text_of_the_same_event() -> None:
    """F61."""
    _, _, deltas = read(chunk(content="b", reasoning_content="a", finish="stop"))
    assert deltas == [ThinkingDelta("a"), TextDelta("b"), FinishDelta("stop")]


def test_a_closing_tag_without_an_opening_one_moves_the_text() -> None:
    """What was shown as answer was reasoning."""
    partial, _, deltas = read(chunk(content="plan"), chunk(content="</think>"), chunk(content="4"))
    assert deltas == [TextDelta("plan"), RecastDelta(), TextDelta("4")]
    assert (partial.thinking, partial.text) == ("plan", "4")


def test_what_is_held_back_comes_before_the_finish() -> None:
    """Released when nothing more can follow."""
    _, _, deltas = read(chunk(content="a <t"), chunk(finish="stop"))
    assert deltas == [TextDelta("a "), TextDelta("<t"), FinishDelta("stop")]


@pytest.mark.parametrize(
    ("values", "usage"),
    [
        ([{"usage": {"prompt_tokens": 0, "completion_tokens": 0}}], None),
        ([{"usage": {"prompt_tokens": 9, "completion_tokens": 4}}], Usage(9, 4)),
        ([{"usage": {"prompt_tokens": 9}}, {"usage": {"completion_tokens": 4}}, {"usage": None}], Usage(9, 4)),
        ([{"usage": {"prompt_tokens": 9, "completion_tokens": 1}}, {"usage": {"completion_tokens": 4}}], Usage(9, 4)),
        ([{"usage": {"input_tokens": 9, "output_tokens": 4}}], Usage(9, 4)),
        ([{"usage": {"prompt_tokens": "9", "completion_tokens": -4}}], None),
        ([{"usage": {"prompt_tokens": 9.0, "completion_tokens": 1e300}}], Usage(9, None)),
        ([{"x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}}], Usage(9, 4)),
        ([{"choices": [{"usage": {"prompt_tokens": 9, "completion_tokens": 4}}]}], Usage(9, 4)),
        ([{"usage": "many"}, {"x_groq": 5}], None),
    ],
)
def test_the_last_meaningful_count_wins(values: list[Any], usage: Usage | None) -> None:
    """Cumulative, never summed; zeros and nulls say nothing."""
    partial, _, deltas = read(*values)
    assert partial.usage == usage
    assert sum(isinstance(delta, UsageDelta) for delta in deltas) <= 2


@pytest.mark.parametrize("done", ["[DONE]", " [DONE] ", "[done]", '"[DONE]"'])
def test_done_in_every_spelling(done: str) -> None:
    _, reader, _ = read(chunk(content="a"), done)
    assert reader.is_done


def test_an_empty_finish_reason_is_none() -> None:
    partial, reader, _ = read(chunk(content="a", finish=""), chunk(finish="stop"))
    assert (partial.finish_reason, reader.finish_reason) == ("stop", "stop")


def test_an_error_after_a_complete_reply_does_not_spoil_it() -> None:
    """L17: complete is complete."""
    partial, reader, _ = read(chunk(content="a", finish="stop"), {"error": {"message": "late"}}, "{broken")
    assert (partial.text, reader.failure) == ("a", None)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"error": {"message": "x", "type": "overloaded_error"}}, "overloaded"),
        ({"error": "x"}, "server"),
        ({"choices": [{"delta": {}, "finish_reason": "error"}], "error": {"code": 502}}, "server"),
        ({"object": "error", "message": "x", "code": 400}, "bad_request"),
        ({"type": "error", "error": {"type": "rate_limit_error"}}, "rate_limit"),
        ({"detail": "x"}, "server"),
        ({"message": "x", "code": "429"}, "rate_limit"),
        ({"errors": [{"message": "x"}]}, "server"),
        ([{"error": {"code": 429}}], "rate_limit"),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}, "choices": None}, "quota"),
        ("rate limit exceeded", "rate_limit"),
        ('{"choices":[{"delta"', "protocol"),
        ("<html>", "protocol"),
        ("[" * 100_000, "protocol"),
        ('{"a":' + "9" * 5000 + "}", "protocol"),
    ],
)
def test_errors_and_garbage_inside_a_stream(value: Any, kind: str) -> None:
    """D1, L17: the text before it stays, the failure has its class."""
    partial, reader, _ = read(chunk(content="Par"), value)
    assert partial.text == "Par"
    assert reader.failure is not None
    assert reader.failure.kind == kind


def test_an_unreadable_event_is_logged_short_and_without_the_key(caplog: pytest.LogCaptureFixture) -> None:
    """Words are never lost silently, and a log is no place for keys."""
    reader = ReplyReader(Exchange("http://host", status=200, secrets=("sk-verysecret",)))
    reader.read_event(ServerEvent('{"sk-verysecret": ' + "x" * 5000))
    assert "unreadable event from http://host" in caplog.text
    assert "sk-verysecret" not in caplog.text
    assert len(caplog.text) < 500


def test_an_error_event_with_plain_words() -> None:
    """The event's name says it is one."""
    reader = ReplyReader(Exchange("http://host", status=200))
    reader.read_event(ServerEvent("upstream fell over", "error"))
    assert reader.failure is not None
    assert (reader.failure.kind, reader.failure.message) == (FailureKind.SERVER, "upstream fell over")


@pytest.mark.parametrize("value", [chunk(content="a") | {"error": None}, {"code": 0, "message": "ok"}, {"message": {}}])
def test_what_only_looks_like_an_error(value: Any) -> None:
    """W046: truth counts, not the key."""
    assert read(value)[1].failure is None


def test_a_whole_reply_is_one_text_and_its_calls() -> None:
    """L4: `stream=False`, and servers that ignore `stream`."""
    calls = [{"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "f", "arguments": {"x": 1}}}]
    partial, reader, deltas = read(
        {
            "choices": [{"message": {"content": "<think>a</think>b", "tool_calls": calls}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2},
        }
    )
    assert (partial.thinking, partial.text, partial.finish_reason) == ("a", "b", "stop")
    assert [(call.name, call.arguments) for call in partial.tool_calls] == [("f", "{}"), ("f", '{"x": 1}')]
    assert sum(isinstance(delta, TextDelta) for delta in deltas) == 1
    assert reader.is_complete


def test_the_old_function_call_is_a_call() -> None:
    """Servers of 2023 still send it."""
    partial, _, deltas = read(
        chunk(function_call={"name": "f", "arguments": ""}), chunk(function_call={"arguments": "{}"})
    )
    assert [(call.name, call.arguments) for call in partial.tool_calls] == [("f", "{}")]
    assert all(delta.slot == 0 for delta in deltas if isinstance(delta, ToolCallDelta))
