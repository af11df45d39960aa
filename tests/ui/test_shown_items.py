"""The items of a history, made from its end and kept up with it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from reprise.domain.messages import Message, ModelRef, ReplyInfo, Role, TextPart, ToolResultPart, user_message
from reprise.domain.ports import History
from reprise.domain.sessions import Attempt, AttemptState, Entry, EntryData, ModelChange, Notice, Session, messages
from reprise.domain.shortening import first_sent
from reprise.ui.shown_items import Change, ShownItems
from reprise.ui.timeline import TimelineItem
from reprise.ui.timeline_items import Telling, items_of

MODEL, OTHER = ModelRef("test", "m"), ModelRef("test", "n")
AT = datetime(2026, 1, 2, tzinfo=UTC)

KINDS = ("prompt", "reply", "other reply", "tool", "notice", "change", "attempt")
STEPS = st.lists(
    st.tuples(
        st.sampled_from((*KINDS, "cut", "beside", "read", "older", "fork", "go on", "leave out")), st.integers(0, 99)
    ),
    max_size=40,
)


class Told:
    """A history of which only a part is read, and what is told beside it."""

    def __init__(self, kinds: list[str], hidden: int) -> None:
        self.entries: list[Entry] = []
        self.attempts: dict[str, tuple[Entry, ...]] = {}
        self.hidden = 0
        self.number = 0
        self.places: dict[str, tuple[str, ...]] = {}
        self.beside: str | None = None
        self.can_go_on = False
        self.left_out = 0
        for kind in kinds:
            self.add(kind)
        self._hide(min(hidden, len(self.entries)))

    def add(self, kind: str) -> None:
        """One more entry at the end, or an attempt under it."""
        parent = self.entries[-1].id if self.entries else None
        if kind == "attempt":
            if parent is not None:
                ended = Attempt(MODEL, 1, AttemptState.STOPPED, (TextPart("half"),))
                self.attempts[parent] = (*self.attempts.get(parent, ()), self._entry(parent, ended))
            return
        data: dict[str, EntryData] = {
            "prompt": user_message("ask"),
            "reply": Message(Role.ASSISTANT, (TextPart("said"),), ReplyInfo(MODEL, "stop")),
            "other reply": Message(
                Role.ASSISTANT, (TextPart("said"),), ReplyInfo(OTHER, "length", fallback_from=MODEL)
            ),
            "tool": Message(Role.TOOL, (ToolResultPart("c", "t", "out"),)),
            "notice": Notice("noted"),
            "change": ModelChange(OTHER),
        }
        self.entries.append(self._entry(parent, data[kind]))

    def _hide(self, hidden: int) -> None:
        """What is read holds a prompt, or all there is."""
        while hidden and not any(_role(entry) is Role.USER for entry in self.entries[hidden:]):
            hidden -= 1
        self.hidden = hidden

    def _entry(self, parent: str | None, data: EntryData) -> Entry:
        self.number += 1
        return Entry(f"{self.number:05}", "s", parent, AT + timedelta(seconds=self.number), data)

    def change(self, step: str, number: int) -> None:
        """What becomes of the history, or of what is told beside it."""
        shown = self.entries[self.hidden :]
        match step:
            case "cut":
                del self.entries[max(self.hidden + 1, len(self.entries) - number % 6) :]
                for parent in self.attempts.keys() - {entry.id for entry in self.entries}:
                    del self.attempts[parent]
                self._hide(self.hidden)
            case "beside":
                self.beside = shown[number % len(shown)].id if shown and number % 3 else None
            case "read":
                self._hide(max(0, self.hidden - number % 20))
            case "fork":
                entries = [entry.id for entry in shown if _role(entry) in (Role.USER, Role.ASSISTANT)]
                for entry in entries[number % 7 :: 7]:
                    self.places[entry] = (entry, "another")
            case "go on":
                self.can_go_on = number % 2 == 0
            case "leave out":
                self.left_out = number % 9
            case "older":
                pass
            case kind:
                self.add(kind)

    @property
    def history(self) -> History:
        """As much as is read."""
        branch = tuple(self.entries[self.hidden :])
        under = {entry.id for entry in branch}
        hanging: Mapping[str, tuple[Entry, ...]] = {
            parent: entries for parent, entries in self.attempts.items() if parent in under
        }
        return History(Session("s", "t", None, AT, AT), branch, hanging, (), ())

    @property
    def telling(self) -> Telling:
        """What is told beside it."""
        return Telling(
            lambda ref: "" if ref is None else ref.model,
            lambda entry: self.places.get(entry, (entry,)),
            self.beside,
            self.can_go_on,
            MODEL,
            first_sent(messages(self.entries), self.left_out) if not self.hidden else 0,
        )

    def all_items(self) -> list[TimelineItem]:
        """What should be shown of all that is read, made at once."""
        return items_of(self.history, self.telling)


def _role(entry: Entry) -> Role | None:
    return entry.data.role if isinstance(entry.data, Message) else None


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(KINDS), max_size=40), st.integers(0, 40), STEPS, st.integers(1, 8))
def test_the_items_kept_up_are_those_made_at_once(
    kinds: list[str], hidden: int, steps: list[tuple[str, int]], count: int
) -> None:
    """F86: at every moment, from wherever they begin; and nothing is missing once everything was read."""
    told, shown = Told(kinds, hidden), ShownItems()
    shown.begin(told.history, told.telling, count)
    drawn = list(shown.items)
    for step, number in [*steps, ("beside", 0), ("read", 19), ("read", 19), ("read", 19)]:
        told.change(step, number)
        drawn = _follow(told, shown, drawn, count)
        if step in ("older", "fork"):
            drawn = shown.older(told.history, told.telling, count) + drawn
            start = shown.place(told.places, told.telling)
            drawn = drawn if start is None else drawn[:start] + shown.items[start:]
        assert shown.items == drawn
        assert shown.items == told.all_items()[len(told.all_items()) - len(shown.items) :]
    while not shown.reaches_back:
        drawn = shown.older(told.history, told.telling, count) + drawn
    assert shown.items == drawn == told.all_items()


def _follow(told: Told, shown: ShownItems, drawn: list[TimelineItem], count: int) -> list[TimelineItem]:
    """What is drawn after a change, by what `update` says of it."""
    change = shown.update(told.history, told.telling)
    if change is None:
        shown.begin(told.history, told.telling, count)
        return list(shown.items)
    assert drawn[change.start :] == change.known
    return drawn[: change.start] + shown.items[change.start :]


def test_a_change_costs_the_turn_it_is_in() -> None:
    """F86: the items before it are the very same ones."""
    told, shown = Told(["prompt", "reply"] * 300, 0), ShownItems()
    shown.begin(told.history, told.telling, 1000)
    before = list(shown.items)
    told.add("prompt")
    assert shown.update(told.history, told.telling) == Change(600, [])
    assert all(one is other for one, other in zip(shown.items, before[:598], strict=False))
