"""Entries and branches."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reprise.domain.messages import (
    Message,
    ModelRef,
    ReplyInfo,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    user_message,
)
from reprise.domain.sessions import (
    Attempt,
    AttemptState,
    Entry,
    EntryData,
    ModelChange,
    Notice,
    ParamsChange,
    answered_entry,
    branch,
    messages,
    model_of,
    newest_partial,
    params_of,
    prompt_entry,
    readable_parts,
    title_of,
    up_to,
)

AT = datetime(2026, 1, 2, tzinfo=UTC)
REPLY = Message(Role.ASSISTANT, (TextPart("ok"),))
RESULT = Message(Role.TOOL, (ToolResultPart("1", "ping", "pong"),))


def entries(*data: EntryData) -> tuple[Entry, ...]:
    return tuple(Entry(str(n), "s", str(n - 1) if n else None, AT, each) for n, each in enumerate(data))


def by_id(*all_: Entry) -> dict[str, Entry]:
    return {entry.id: entry for entry in all_}


def test_a_branch_is_the_path_from_the_root_to_the_leaf() -> None:
    """B6: siblings are not on it; the empty leaf is the empty branch."""
    path = entries(user_message("hi"), REPLY, user_message("more"))
    sibling = Entry("x", "s", "0", AT, REPLY)
    log = by_id(*path, sibling)
    assert branch(log, "2") == path
    assert branch(log, "x") == (path[0], sibling)
    assert branch(log, None) == ()


def test_a_broken_branch_is_said() -> None:
    """B6: an unknown id is an error, and a loop does not hang."""
    with pytest.raises(KeyError):
        branch({}, "nope")
    with pytest.raises(ValueError, match="its own ancestor"):
        branch(by_id(Entry("a", "s", "b", AT, REPLY), Entry("b", "s", "a", AT, REPLY)), "a")


@pytest.mark.parametrize(
    ("data", "answered"),
    [
        ((), None),
        ((user_message("hi"),), "0"),
        ((user_message("hi"), REPLY), None),
        ((user_message("hi"), REPLY, RESULT), "2"),
        ((user_message("hi"), Notice("resumed")), "0"),
        ((user_message("hi"), ModelChange(ModelRef("p", "m"))), "0"),
        ((user_message("hi"), REPLY, Notice("resumed")), None),
        ((Notice("resumed"),), None),
    ],
)
def test_what_waits_for_a_reply(data: tuple[EntryData, ...], answered: str | None) -> None:
    """B1, L25: the last message decides; notices and model changes neither end nor hide it."""
    found = answered_entry(entries(*data))
    assert (found and found.id) == answered


def test_the_prompt_of_the_last_turn_is_its_newest_user_message() -> None:
    """B1: also after tool results."""
    path = entries(user_message("one"), REPLY, user_message("two"), REPLY, RESULT)
    assert prompt_entry(path) == path[2]
    assert prompt_entry(entries(Notice("empty"))) is None
    assert [message.text for message in messages(path)] == ["one", "ok", "two", "ok", ""]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Name three colours.\nPlease.", "Name three colours."),
        ("\n  \n  spaced   out \n", "spaced out"),
        ("\x1b[31mred\x00 alert", "[31mred alert"),
        ("", "New chat"),
        ("\n\t \n", "New chat"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("word " * 20, ("word " * 11) + "word…"),
        ("first\u2028second", "first"),
    ],
)
def test_a_title_is_the_first_line_with_something_on_it(text: str, title: str) -> None:
    """F88: control characters and line breaks left out, at most 60 characters."""
    assert title_of(text) == title
    assert len(title_of(text)) <= 60


def test_the_newest_partial_is_that_of_the_last_attempt_that_said_something() -> None:
    """Behaviour D5."""
    model = ModelRef("p", "m")
    said = (TextPart("half"),)
    attempts = [
        Entry(name, "s", "prompt", AT, Attempt(model, number, AttemptState.FAILED, parts))
        for number, (name, parts) in enumerate([("a", said), ("b", said), ("c", ())], 1)
    ]
    found = newest_partial(attempts)
    assert found is not None
    assert found.id == "b"
    assert newest_partial(attempts[2:]) is None


def test_a_branch_up_to_one_of_its_entries_ends_with_it() -> None:
    """B6: what a request for an earlier entry is made of."""
    path = entries(user_message("one"), REPLY, user_message("two"))
    assert up_to(path, path[1]) == path[:2]
    assert up_to(path, path[2]) == path


@pytest.mark.parametrize(
    ("data", "model"),
    [
        ((), None),
        ((user_message("hi"), REPLY), None),
        ((user_message("hi"), Message(Role.ASSISTANT, (), ReplyInfo(ModelRef("p", "a")))), "a"),
        ((Message(Role.ASSISTANT, (), ReplyInfo(ModelRef("p", "a"))), ModelChange(ModelRef("p", "b"))), "b"),
        ((ModelChange(ModelRef("p", "b")), Message(Role.ASSISTANT, (), ReplyInfo(ModelRef("p", "a")))), "a"),
    ],
)
def test_the_newest_change_or_reply_says_who_answers_a_branch(data: tuple[EntryData, ...], model: str | None) -> None:
    """B8: on each branch for itself."""
    found = model_of(entries(*data))
    assert (found and found.model) == model


def test_the_settings_of_a_branch_are_its_changes_one_over_the_other() -> None:
    """B8: None takes one back; what is behind a branch's end is not on it."""
    path = entries(
        ParamsChange({"retry.policy": "off", "a": 1}),
        user_message("hi"),
        ParamsChange({"a": 2}),
        ParamsChange({"retry.policy": None}),
    )
    assert params_of(path[:2]) == {"retry.policy": "off", "a": 1}
    assert params_of(path) == {"a": 2}


def test_only_text_and_reasoning_can_be_kept_or_gone_on_from() -> None:
    """D12: a call that nobody answered is neither."""
    said = (ThinkingPart("hm"), TextPart("Look"))
    assert readable_parts((*said, ToolCallPart("1", "ping", "{}"))) == said
