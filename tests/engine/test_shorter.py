"""What is sent when the first messages of a branch stay out, and the ways that are offered."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from reprise.domain.messages import (
    Message,
    ModelRef,
    ReplyInfo,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    user_message,
)
from reprise.domain.sessions import Entry, EntryData, Notice, ParamsChange, messages, params_of
from reprise.domain.shortening import LEFT_OUT, Shortening, left_out
from reprise.engine.context import context
from reprise.engine.shorter import shortenings
from reprise.engine.usage import estimate
from support.engine import texts

MODEL = ModelRef("test", "m")
ANSWER = ReplyInfo(MODEL, "stop")


def path(*data: EntryData) -> tuple[Entry, ...]:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return tuple(Entry(str(n), "s", str(n - 1) if n else None, at, each) for n, each in enumerate(data))


def reply(text: str) -> Message:
    return Message(Role.ASSISTANT, (TextPart(text),), ANSWER)


def call(name: str) -> Message:
    return Message(Role.ASSISTANT, (ToolCallPart(f"id-{name}", name, "{}"),), ANSWER)


def result(name: str) -> Message:
    return Message(Role.TOOL, (ToolResultPart(f"id-{name}", name, "done"),))


def talk(turns: int, text: str = "1234") -> list[EntryData]:
    """So many answered prompts, and one more."""
    said: list[EntryData] = []
    for number in range(turns):
        said += [user_message(f"{text}{number}"), reply(f"{text}{number}")]
    return [*said, user_message("last")]


def test_the_first_messages_stay_out_and_the_system_prompt_stays() -> None:
    """N4, D12: what is sent begins at a prompt."""
    log = path(user_message("one"), Notice("n"), reply("ONE"), user_message("two"), reply("TWO"), user_message("three"))
    sent = context(log, system_prompt="Be brief.", leave_out=2)
    assert texts(sent) == [("system", "Be brief."), ("user", "two"), ("assistant", "TWO"), ("user", "three")]


def test_a_cut_in_the_middle_of_a_turn_goes_on_to_the_next_prompt() -> None:
    """D12: a call is never parted from its result, and a request never begins with a reply."""
    log = path(user_message("one"), call("a"), result("a"), reply("ONE"), user_message("two"))
    for wanted in (1, 2, 3, 4):
        assert texts(context(log, leave_out=wanted)) == [("user", "two")]
    assert len(context(log, leave_out=0)) == 5


def test_the_prompt_that_is_answered_is_always_sent_with_all_that_follows() -> None:
    """D12: also when the setting names more messages than there are, or what it was made for is damaged."""
    log = path(user_message("one"), reply("ONE"), user_message("two"), call("a"), result("a"))
    assert [message.role for message in context(log, leave_out=99)] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert context(path(reply("ONE")), leave_out=1) == (reply("ONE"),)


def test_the_setting_is_the_newest_of_the_branch_and_nonsense_in_it_is_nothing() -> None:
    """B8."""
    log = path(
        *talk(3), ParamsChange({LEFT_OUT: 2}), ParamsChange({LEFT_OUT: 4}), ParamsChange({"retry.policy": "off"})
    )
    assert left_out(messages(log), params_of(log)) == 4
    back = (*log, *path(ParamsChange({LEFT_OUT: None})))
    assert left_out(messages(back), params_of(back)) == 0
    for nonsense in ("4", -1, 2.5, [4]):
        assert left_out(messages(log), {LEFT_OUT: nonsense}) == 0


def test_half_of_it_and_the_newest_prompts_are_offered_with_what_they_come_to() -> None:
    """N4: messages as a person counts them, tokens as usage counts them (L11)."""
    log = path(*talk(20))
    offered = shortenings(log, {}, system_prompt="Be brief.")
    assert [(way.left_out, way.messages) for way in offered] == [(22, 19), (26, 15), (34, 7), (38, 3), (40, 1)]
    tokens = [estimate(context(log, system_prompt="Be brief.", leave_out=way.left_out)) for way in offered]
    assert [way.tokens for way in offered] == tokens
    assert tokens == sorted(tokens, reverse=True)


def test_one_long_message_among_short_ones_decides_where_half_is() -> None:
    """N4: half of the tokens, not of the messages."""
    log = path(user_message("a"), reply("b" * 4000), *talk(3))
    assert shortenings(log, {})[0] == Shortening(2, 7, 9)


def test_what_is_left_out_already_is_not_offered_again() -> None:
    """N4: each offer sends less than what failed."""
    log = path(*talk(4))
    assert [way.left_out for way in shortenings(log, {LEFT_OUT: 4})] == [6, 8]
    assert shortenings(log, {LEFT_OUT: 8}) == ()
    assert shortenings(path(user_message("alone")), {}) == ()


@st.composite
def logs(draw: st.DrawFn) -> tuple[Entry, ...]:
    """Branches as turns make them: prompts, replies, and calls with their results."""
    said: list[EntryData] = []
    for number in range(draw(st.integers(1, 6))):
        said.append(user_message("p" * draw(st.integers(1, 400))))
        for round_ in range(draw(st.integers(0, 2))):
            said += [call(f"{number}-{round_}"), result(f"{number}-{round_}")]
        if draw(st.booleans()):
            said.append(reply("r" * draw(st.integers(1, 400))))
    return path(*said)


@given(logs(), st.integers(0, 30))
def test_whatever_is_left_out_the_request_is_a_whole_one(log: tuple[Entry, ...], wanted: int) -> None:
    """D12, N4: it begins with a prompt, every result has its call, and it is the end of the whole request."""
    sent, whole = context(log, leave_out=wanted), context(log)
    assert sent[0].role is Role.USER
    called = [call.id for message in sent for call in message.tool_calls]
    answered = [part.call_id for message in sent for part in message.parts if isinstance(part, ToolResultPart)]
    assert called == answered
    assert sent[1:] == whole[len(whole) - len(sent) + 1 :]
    assert whole[len(whole) - len(sent)].text.endswith(sent[0].text)


@given(logs())
def test_every_offer_sends_less_than_the_one_before(log: tuple[Entry, ...]) -> None:
    """N4."""
    before = len(messages(log)), estimate(context(log))
    for way in shortenings(log, {}):
        assert (way.messages, way.tokens) <= before
        assert way.left_out > 0
        assert messages(log)[way.left_out].role is Role.USER
        before = way.messages - 1, way.tokens
