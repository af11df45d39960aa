"""The shape of a session's log: which replies and prompts are alternatives to one another (behaviour B6, N1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reprise.domain.messages import Message, Role
from reprise.domain.sessions import Entry


class Node(NamedTuple):
    """An entry without what it says. `role` is None for what is no message. Ids are in the order of time.

    A tuple, since thousands are made whenever a long chat opens, at a fifth of what a dataclass costs.
    """

    id: str
    parent: str | None
    role: Role | None = None
    goes_on_from: str | None = None


def node_of(entry: Entry) -> Node:
    """The node an entry stands for. Attempts and queued messages hang beside the tree and are none."""
    data = entry.data
    if not isinstance(data, Message):
        return Node(entry.id, entry.parent)
    return Node(entry.id, entry.parent, data.role, None if data.reply is None else data.reply.goes_on_from)


class Tree:
    """All branches of a session at once. Adding costs the same however long they are."""

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        """Raises nothing: a node whose parent is missing stands at the root."""
        self._nodes: dict[str, Node] = {}
        self._behind: dict[str, str | None] = {}
        self._alternatives: dict[tuple[str | None, Role], list[str]] = {}
        self._newest_child: dict[str, str] = {}
        self._outgrown: set[str] = set()
        self._forked: set[tuple[str | None, Role]] = set()
        for node in sorted(nodes, key=lambda each: each.id):
            self.add(node)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._nodes

    def parent(self, id_: str) -> str | None:
        """The entry before this one. KeyError for an unknown one."""
        return self._nodes[id_].parent

    def add(self, node: Node) -> None:
        """Take in an entry that was appended; one that is known changes nothing."""
        if node.id in self._nodes:
            return
        self._nodes[node.id] = node
        # What is no message stands between its neighbours and makes no branch of its own.
        behind = None if node.parent is None else self._message_at(node.parent)
        self._behind[node.id] = behind
        if node.role is not None:
            found = self._alternatives.setdefault((behind, node.role), [])
            found.append(node.id)
            if len(found) > 1:
                self._forked.add((behind, node.role))
        if node.parent is not None:
            self._newest_child[node.parent] = node.id
        if node.goes_on_from is not None:
            self._outgrown.add(node.goes_on_from)

    def siblings(self, id_: str) -> tuple[str, ...]:
        """The alternatives to a message, oldest first, itself included; only itself when there is no other.

        A reply that another one went on from is held whole by that one and is left out.
        """
        node = self._nodes.get(id_)
        if node is None or node.role not in (Role.USER, Role.ASSISTANT):
            return (id_,)
        found = self._alternatives[self._behind[id_], node.role]
        return tuple(each for each in found if each == id_ or each not in self._outgrown)

    def forked(self) -> Iterator[str]:
        """Every message that may have alternatives; `siblings` says which those are."""
        for place in self._forked:
            yield from self._alternatives[place]

    def tip(self, id_: str) -> str:
        """Where the branch through `id_` stood last: from there on always the newest entry."""
        while (child := self._newest_child.get(id_)) is not None:
            id_ = child
        return id_

    def _message_at(self, id_: str) -> str | None:
        node = self._nodes.get(id_)
        if node is None:
            return None
        return id_ if node.role is not None else self._behind[id_]
