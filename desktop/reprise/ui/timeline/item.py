"""What the timeline is asked to show."""

from __future__ import annotations

from dataclasses import dataclass

from reprise.domain.messages import Message, Part


@dataclass(frozen=True, slots=True)
class MessageAction:
    """A button in the gap below a message; pressing it emits `Timeline.action_wanted` with its name."""

    name: str
    icon: str
    tip: str


@dataclass(frozen=True, slots=True)
class EarlierAttempt:
    """An attempt before the reply: what became of it, as a note (with actions), and what it had said."""

    note: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """One message with what stands around it.

    Attributes:
        key: Identity in the timeline, the log's entry id.
        message: What was said. Prompts show as typed, replies as Markdown.
        label: The model's name above a reply; empty for prompts (the panel says whose they are).
        meta: Figures that appear on the label's line under the pointer, e.g. ``0.8 s to first word``.
        note: A line under the message. ``[Keep](keep)`` inside it is an action: pressing it emits
            `Timeline.note_link` with the key and ``keep``.
        note_icon: Name of the icon before the note.
        dimmed: Shows the body at 65 % (a partial that waits for its next attempt).
        time: When it was said, before a prompt's actions.
        actions: What can be done with it, beside Copy.
        place: "2/3": its number among its alternatives and how many there are; `None` without another.
        attempts: Folded under the message, the oldest first.
        thought_s: Seconds of reasoning for "Thought for 8 s"; `None` when unknown (just "Thought").
    """

    key: str
    message: Message
    label: str = ""
    meta: str = ""
    note: str = ""
    note_icon: str = "info"
    dimmed: bool = False
    time: str = ""
    actions: tuple[MessageAction, ...] = ()
    place: tuple[int, int] | None = None
    attempts: tuple[EarlierAttempt, ...] = ()
    thought_s: float | None = None
