"""What a model is sent."""

from __future__ import annotations

from datetime import UTC, datetime

from reprise.domain.messages import (
    Message,
    ModelRef,
    Part,
    ReplyInfo,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    user_message,
)
from reprise.domain.sessions import Entry, EntryData, ModelChange, Notice
from reprise.engine.context import GO_ON, context
from support.engine import texts

MODEL = ModelRef("test", "m")


def path(*data: EntryData) -> tuple[Entry, ...]:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return tuple(Entry(str(n), "s", str(n - 1) if n else None, at, each) for n, each in enumerate(data))


def reply(*parts: Part, finish: str = "stop") -> Message:
    return Message(Role.ASSISTANT, parts, ReplyInfo(MODEL, finish))


def call(name: str) -> ToolCallPart:
    return ToolCallPart(f"id-{name}", name, "{}")


def result(name: str, text: str = "done") -> Message:
    return Message(Role.TOOL, (ToolResultPart(f"id-{name}", name, text),))


def test_the_system_prompt_comes_first_and_a_blank_one_not_at_all() -> None:
    """L24."""
    log = path(user_message("hi"))
    assert texts(context(log, system_prompt="Be brief.")) == [("system", "Be brief."), ("user", "hi")]
    assert texts(context(log, system_prompt="  \n")) == [("user", "hi")]


def test_notices_and_model_changes_stay_out() -> None:
    """L25."""
    log = path(user_message("hi"), Notice("The program was closed."), ModelChange(MODEL), reply(TextPart("ok")))
    assert texts(context(log)) == [("user", "hi"), ("assistant", "ok")]


def test_neighbouring_messages_of_one_role_become_one() -> None:
    """D6: a gap keeps two prompts apart; the order stays."""
    log = path(user_message("one"), user_message("two"), reply(TextPart("ok")), user_message("three"))
    assert texts(context(log)) == [("user", "one\n\ntwo"), ("assistant", "ok"), ("user", "three")]


def test_what_a_reply_begins_with_comes_last_with_a_request_for_the_rest() -> None:
    """L18, N8."""
    sent = context(path(user_message("go")), so_far="Once up")
    assert texts(sent) == [("user", "go"), ("assistant", "Once up"), ("user", GO_ON)]


def test_a_prefilled_reply_ends_the_request() -> None:
    """N8: the provider goes on in the middle of it."""
    sent = context(path(user_message("go")), so_far="Once up", prefilled=True)
    assert texts(sent) == [("user", "go"), ("assistant", "Once up")]


def test_a_reply_that_begins_with_nothing_is_asked_for_as_ever() -> None:
    """C13: no provider is sent an empty message, and none is asked to go on from nothing."""
    assert texts(context(path(user_message("go")), so_far=" \n")) == [("user", "go")]


def test_empty_messages_and_reasoning_stay_out() -> None:
    """F66, C13: a message of nothing but reasoning is empty once that is gone."""
    log = path(user_message("hi"), reply(ThinkingPart("hm")), reply(TextPart("  ")), user_message("there"))
    assert texts(context(log)) == [("user", "hi\n\nthere")]
    (_, answer) = context(path(user_message("hi"), reply(ThinkingPart("hm"), TextPart("ok"))))
    assert answer.parts == (TextPart("ok"),)


def test_results_stand_behind_their_calls_in_call_order() -> None:
    """P5, F128: whatever the order in which they landed."""
    log = path(user_message("hi"), reply(call("a"), call("b")), result("b", "B"), result("a", "A"))
    sent = context(log)
    assert [message.role for message in sent] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL]
    assert [part.text for message in sent[2:] for part in message.parts if isinstance(part, ToolResultPart)] == [
        "A",
        "B",
    ]


def test_a_call_without_a_result_and_a_result_without_a_call_stay_out() -> None:
    """D12, C8, F66: no provider ever sees half of a pair."""
    log = path(user_message("hi"), reply(TextPart("Looking."), call("a"), call("b")), result("b"), result("c"))
    _, answer, only = context(log)
    assert answer.parts == (TextPart("Looking."), call("b"))
    assert only.parts == (ToolResultPart("id-b", "b", "done"),)


def test_of_two_results_for_one_call_the_first_counts() -> None:
    """L15."""
    log = path(user_message("hi"), reply(call("a")), result("a", "first"), result("a", "second"))
    assert context(log)[2].parts == (ToolResultPart("id-a", "a", "first"),)


def test_a_result_belongs_to_the_reply_right_before_it() -> None:
    """P5: the same call id in an earlier round takes nothing from a later one."""
    log = path(user_message("hi"), reply(call("a")), result("a", "one"), reply(call("a")), result("a", "two"))
    sent = context(log)
    assert [part.text for message in sent for part in message.parts if isinstance(part, ToolResultPart)] == [
        "one",
        "two",
    ]


def test_a_long_conversation_costs_linear_time() -> None:
    """F86: each message is looked at a bounded number of times."""

    class Counted(tuple[Entry, ...]):
        looked_at = 0

        def __iter__(self):  # noqa: ANN204
            for entry in super().__iter__():
                Counted.looked_at += 1
                yield entry

    rounds = 500
    log = Counted(path(*[each for _ in range(rounds) for each in (user_message("x"), reply(call("a")), result("a"))]))
    assert len(context(log)) == 3 * rounds
    assert Counted.looked_at == 3 * rounds
