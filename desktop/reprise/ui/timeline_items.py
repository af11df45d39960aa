"""What a history looks like on the timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from reprise.domain.deltas import TextDelta, ThinkingDelta
from reprise.domain.messages import Message, ModelRef, Part, Role, TextPart, ThinkingPart
from reprise.domain.ports import History
from reprise.domain.sessions import Notice
from reprise.ui.language import tr
from reprise.ui.timeline.item import TimelineItem
from reprise.ui.words import reply_meta


def items_of(history: History, model_label: Callable[[ModelRef | None], str]) -> list[TimelineItem]:
    """The messages of the active branch; a notice becomes a line under the message before it."""
    items: list[TimelineItem] = []
    for entry in history.branch:
        match entry.data:
            case Message(role=Role.SYSTEM):
                continue
            case Message() as message:
                reply = message.reply
                is_cut = reply is not None and reply.is_cut
                items.append(
                    TimelineItem(
                        key=entry.id,
                        message=message,
                        label=model_label(reply.model) if reply else "",
                        meta=reply_meta(reply),
                        note=tr("Cut at the output limit.") if is_cut else "",
                        note_icon="continue" if is_cut else "info",
                    )
                )
            case Notice(text=text) if items:
                items[-1] = replace(items[-1], note=" ".join(part for part in (items[-1].note, text) if part))
    return items


def partial_deltas(parts: Iterable[Part]) -> Iterator[TextDelta | ThinkingDelta]:
    """The deltas that build what of a partial can be read."""
    for part in parts:
        if isinstance(part, ThinkingPart):
            yield ThinkingDelta(part.text)
        elif isinstance(part, TextPart):
            yield TextDelta(part.text)
