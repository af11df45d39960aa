"""The shape of a log: which entries are alternatives, and where a branch stood."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from reprise.domain.messages import Message, ModelRef, ReplyInfo, Role, TextPart, user_message
from reprise.domain.sessions import Entry, ModelChange
from reprise.domain.tree import Node, Tree, node_of

MODEL = ModelRef("test", "m")


def user(id_: str, parent: str | None = None) -> Node:
    return Node(id_, parent, Role.USER)


def reply(id_: str, parent: str, goes_on_from: str | None = None) -> Node:
    return Node(id_, parent, Role.ASSISTANT, goes_on_from)


def test_replies_to_one_prompt_are_alternatives_oldest_first() -> None:
    """N1, B14: however they were added; the prompt has none."""
    tree = Tree([reply("3", "1"), user("1"), reply("2", "1")])
    assert tree.siblings("2") == tree.siblings("3") == ("2", "3")
    assert tree.siblings("1") == ("1",)


def test_prompts_behind_one_reply_are_alternatives() -> None:
    """B9: an edited prompt stands beside the first one; two first prompts stand side by side too."""
    tree = Tree([user("1"), reply("2", "1"), user("3", "2"), user("4", "2"), user("5")])
    assert tree.siblings("4") == ("3", "4")
    assert tree.siblings("5") == ("1", "5")


def test_a_change_between_two_messages_makes_no_branch_of_its_own() -> None:
    """B8, N1: a reply behind a model change answers the same prompt as the one before it."""
    tree = Tree([user("1"), reply("2", "1"), Node("3", "1"), reply("4", "3")])
    assert tree.siblings("4") == ("2", "4")


def test_a_prompt_and_a_reply_are_no_alternatives_to_each_other() -> None:
    """N1, B5: a prompt that follows a pending one is no other reply."""
    tree = Tree([user("1"), reply("2", "1"), user("3", "1")])
    assert tree.siblings("2") == ("2",)
    assert tree.siblings("3") == ("3",)


def test_a_reply_that_another_went_on_from_is_left_out() -> None:
    """D5, D9: it is whole in the other one; asked for itself it is still there."""
    tree = Tree([user("1"), reply("2", "1"), reply("3", "1", "2"), reply("4", "1")])
    assert tree.siblings("3") == ("3", "4")
    assert tree.siblings("2") == ("2", "3", "4")


def test_a_tool_result_and_an_unknown_entry_are_alone() -> None:
    """N1."""
    tree = Tree([user("1"), reply("2", "1"), Node("3", "2", Role.TOOL), Node("4", "2", Role.TOOL)])
    assert tree.siblings("3") == ("3",)
    assert tree.siblings("nowhere") == ("nowhere",)


def test_the_tip_of_a_branch_is_always_its_newest_entry() -> None:
    """B6, N1: stepping to an alternative goes to where it stood last."""
    tree = Tree([user("1"), reply("2", "1"), user("3", "2"), reply("4", "3"), reply("5", "1")])
    assert tree.tip("2") == "4"
    assert tree.tip("1") == "5"
    assert tree.parent("3") == "2"


def test_an_entry_becomes_the_node_it_stands_for() -> None:
    """B6: what a reply goes on from comes with it."""
    at = datetime(2026, 1, 2, tzinfo=UTC)
    said = Message(Role.ASSISTANT, (TextPart("x"),), ReplyInfo(MODEL, goes_on_from="0"))
    assert node_of(Entry("2", "s", "1", at, said)) == reply("2", "1", "0")
    assert node_of(Entry("1", "s", None, at, user_message("hi"))) == user("1")
    assert node_of(Entry("3", "s", "2", at, ModelChange(MODEL))) == Node("3", "2")


@given(st.data())
def test_adding_one_by_one_is_building_at_once(data: st.DataObject) -> None:
    """B6, F86: the tree a conversation grows is the one it reads at the next start."""
    nodes: list[Node] = []
    for number in range(data.draw(st.integers(0, 25))):
        parent = data.draw(st.sampled_from([None, *(node.id for node in nodes)]))
        role = data.draw(st.sampled_from([None, *Role]))
        nodes.append(Node(f"{number:03}", parent, role))
    grown = Tree()
    for node in nodes:
        grown.add(node)
        grown.add(node)
    read = Tree(data.draw(st.permutations(nodes)))
    for node in nodes:
        assert grown.siblings(node.id) == read.siblings(node.id)
        assert node.id in grown.siblings(node.id)
        assert grown.tip(node.id) == read.tip(node.id)
        assert node.id in read
    forked = {node.id for node in nodes if len(grown.siblings(node.id)) > 1}
    assert forked <= set(grown.forked()) == set(read.forked())
