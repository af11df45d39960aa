"""What the timeline is asked to show."""

from __future__ import annotations

from dataclasses import dataclass

from reprise.domain.messages import Message


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
        thought_s: Seconds of reasoning for "Thought for 8 s"; `None` when unknown (just "Thought").
    """

    key: str
    message: Message
    label: str = ""
    meta: str = ""
    note: str = ""
    note_icon: str = "info"
    dimmed: bool = False
    thought_s: float | None = None
