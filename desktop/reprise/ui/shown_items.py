"""The items of a history, kept up with it at the cost of what changed, from its end as far back as is wanted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from reprise.domain.messages import Message, ModelRef, Role
from reprise.domain.ports import History
from reprise.domain.sessions import Entry
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline_items import Telling, edge_of, items_of, place_of

_MUCH = 512
"""Entries; making more than these into items at once would be felt."""


class Change(NamedTuple):
    """From `start` on the items are others: there were `known`."""

    start: int
    known: list[TimelineItem]


class ShownItems:
    """What is made of a history so far: the items of its branch from one prompt (or the root) to its end.

    A branch only ever changes at its end, and what is made of a turn depends on nothing before its prompt but whether
    the prompt before that was answered. So a change costs the turns it is in.

    Attributes:
        items: From the oldest to the newest.
    """

    def __init__(self) -> None:
        self.items: list[TimelineItem] = []
        self._branch: tuple[Entry, ...] = ()
        self._attempts: Mapping[str, Sequence[Entry]] = {}
        self._first = 0  # of the branch's entries, the one the items begin with
        self._end = 0  # behind the one they end with
        self._labels: dict[ModelRef | None, str] = {}
        self._edge: str | None = None  # the last entry that is not sent

    def begin(self, history: History, telling: Telling, count: int) -> None:
        """Start over with the newest `count` entries, or more up to a prompt."""
        self._labels.clear()
        self._take(history, 0, _end(history.branch, telling))
        self._first = self._start_of(self._end - count)
        self._edge = edge_of(history.branch, telling.left_out)
        self.items = self._made(history, telling, self._first, self._end)

    def update(self, history: History, telling: Telling) -> Change | None:
        """Keep up with a change at the end.

        None when that is no change of what is shown: nothing of it is there any more, much of it is another, or all is
        called otherwise. Then `begin` again.
        """
        branch, end = history.branch, _end(history.branch, telling)
        first = self._found_head(branch)
        if first is None or first >= end or any(telling.label(ref) != label for ref, label in self._labels.items()):
            return None
        same = first + self._same(branch, first, end)
        for parent in self._attempts.keys() | history.attempts.keys():
            if self._attempts.get(parent) != history.attempts.get(parent):
                at = position(branch, parent)
                if at is not None and at >= first:
                    same = min(same, at)
        if end - same > _MUCH:
            return None
        self._take(history, first, end)
        restart = max(first, self._start_of(same - 1))
        index = self._item_at(branch[restart].id)
        before = list(self.items)
        self.items[index:] = self._made(history, telling, restart, end)
        index = min(index, self._keep_edge(history, telling))
        pairs = zip(islice(before, index, None), islice(self.items, index, None), strict=False)
        shorter = min(len(before), len(self.items))
        start = next((at for at, (old, new) in enumerate(pairs, index) if old != new), shorter)
        return Change(start, before[start:])

    def older(self, history: History, telling: Telling, count: int) -> list[TimelineItem]:
        """Go back by `count` entries, or more up to a prompt; the items that come before all others, often none."""
        first = self._found_head(history.branch)
        if first is None:
            return []
        self._take(history, first, self._end + first - self._first)
        start = self._start_of(first - count)
        if start >= first:
            return []
        # The prompt below comes along: it shows what became of the one before it.
        made = self._made(history, telling, start, first + 1)
        if self.items and made[-1].key == self.items[0].key:
            made.pop()
        self._first = start
        self.items[:0] = made
        return made

    @property
    def reaches_back(self) -> bool:
        """Whether everything that the history held so far is shown."""
        return self._start_of(self._first - 1) == self._first

    def place(self, entries: Iterable[str], telling: Telling) -> int | None:
        """Look up the places of these entries anew; the items from the returned index on may be others, None = none."""
        changed: list[int] = []
        for entry in entries:
            at = bisect_left(self.items, entry, key=lambda item: item.key)
            if at < len(self.items) and self.items[at].key == entry:
                place = place_of(entry, telling)
                if place != self.items[at].place:
                    self.items[at] = replace(self.items[at], place=place)
                    changed.append(at)
        return min(changed, default=None)

    def _keep_edge(self, history: History, telling: Telling) -> int:
        """Tell anew what is not sent, of the turns where that ends now and where it ended; the first item of those."""
        was, self._edge = self._edge, edge_of(history.branch, telling.left_out)
        found = [self._retell(history, telling, edge) for edge in (was, self._edge) if edge and was != self._edge]
        return min(found, default=len(self.items))

    def _retell(self, history: History, telling: Telling, entry: str) -> int:
        at = position(self._branch, entry)
        if at is None or not self._first <= at < self._end:
            return len(self.items)
        start, stop = self._start_of(at), at + 1
        while stop < self._end and not _is_prompt(self._branch[stop]):
            stop += 1
        # The prompt below comes along: it shows what became of the one before it.
        made = self._made(history, telling, start, min(stop + 1, self._end))[: None if stop == self._end else -1]
        index = self._item_at(self._branch[start].id)
        self.items[index : index + len(made)] = made
        return index

    def _take(self, history: History, first: int, end: int) -> None:
        self._branch, self._attempts = history.branch, history.attempts
        self._first, self._end = first, end

    def _made(self, history: History, telling: Telling, first: int, end: int) -> list[TimelineItem]:
        def label(ref: ModelRef | None) -> str:
            if ref not in self._labels:
                self._labels[ref] = telling.label(ref)
            return self._labels[ref]

        return items_of(history, replace(telling, label=label), history.branch[first:end])

    def _found_head(self, branch: Sequence[Entry]) -> int | None:
        """Where the first of the entries that are shown stands now."""
        return position(branch, self._branch[self._first].id) if self._first < len(self._branch) else None

    def _same(self, branch: Sequence[Entry], first: int, end: int) -> int:
        """How many entries from the first shown one on stayed: when one did, so did all before it."""
        low, high = 1, min(end - first, self._end - self._first)
        while low < high:
            middle = (low + high + 1) // 2
            if self._branch[self._first + middle - 1].id == branch[first + middle - 1].id:
                low = middle
            else:
                high = middle - 1
        return low

    def _start_of(self, at: int) -> int:
        """The prompt at or before this entry; where nothing is missing above it, the root is as good."""
        branch = self._branch
        for index in range(min(at, len(branch) - 1), -1, -1):
            data = branch[index].data
            if isinstance(data, Message) and data.role is Role.USER:
                return index
        if not branch or branch[0].parent is None:
            return 0
        # What stands before the first prompt belongs to one that is not there yet.
        return next((index for index in range(max(0, at), len(branch)) if _is_prompt(branch[index])), 0)

    def _item_at(self, key: str) -> int:
        return next((at for at in range(len(self.items) - 1, -1, -1) if self.items[at].key == key), 0)


def position(branch: Sequence[Entry], id_: str) -> int | None:
    """Where an entry stands in a branch, whose ids rise; None when it is not there."""
    at = bisect_left(branch, id_, key=lambda entry: entry.id)
    return at if at < len(branch) and branch[at].id == id_ else None


def _end(branch: Sequence[Entry], telling: Telling) -> int:
    """Behind the last entry that is shown."""
    beside = None if telling.beside is None else position(branch, telling.beside)
    return len(branch) if beside is None else beside


def _is_prompt(entry: Entry) -> bool:
    return isinstance(entry.data, Message) and entry.data.role is Role.USER
