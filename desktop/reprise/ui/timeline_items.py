"""What a history looks like on the timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reprise.domain.deltas import TextDelta, ThinkingDelta
from reprise.domain.messages import Message, ModelRef, Part, ReplyInfo, Role, TextPart, ThinkingPart
from reprise.domain.ports import History
from reprise.domain.sessions import Attempt, AttemptState, Entry, Notice, messages, readable_parts
from reprise.domain.shortening import said_in
from reprise.ui.language import clock_time, counted, tr
from reprise.ui.timeline.item import EarlierAttempt, MessageAction, TimelineItem
from reprise.ui.words import attempt_rows, reply_meta

CONTINUE, KEEP, BACK, REPORT, SEND_ALL = "continue", "keep", "back", "report", "send-all"
"""The actions inside notes; `REPORT` is followed by ``:`` and the attempt's entry id."""

EDIT, REGENERATE, FORK = "edit", "regenerate", "fork"
"""The actions below messages."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What the items say beside the history itself.

    `label` names a model; `siblings` gives the alternatives to an entry, itself included; `beside` is the reply whose
    next version is on its way (it makes room); `can_go_on` says that the reply at the end can be continued;
    `answers` is who answers the next prompt; `left_out` of the branch's first messages are not sent to it.
    """

    label: Callable[[ModelRef | None], str]
    siblings: Callable[[str], tuple[str, ...]]
    beside: str | None = None
    can_go_on: bool = False
    answers: ModelRef | None = None
    left_out: int = 0


def items_of(history: History, telling: Telling, entries: Iterable[Entry] | None = None) -> list[TimelineItem]:
    """The messages of the active branch; a notice becomes a line under the message before it.

    `entries` is the stretch of the branch that is wanted, if that is not all of it; it begins with a prompt.
    """
    items: list[TimelineItem] = []
    leaf = history.branch[-1].id if history.branch else None
    answered: str | None = None
    edge = edge_of(history.branch, telling.left_out)
    for entry in history.branch if entries is None else entries:
        if entry.id == telling.beside:
            break
        match entry.data:
            case Message(role=Role.SYSTEM):
                pass
            case Message(role=Role.ASSISTANT) as message:
                attempts = history.attempts.get(answered or "", ())
                items.append(_reply_item(entry, message, telling, attempts, is_last=entry.id == leaf))
                answered = None
            case Message(role=role) as message:
                if answered is not None and role is Role.USER and items:
                    # Nobody answered the one before: what its attempts had said stays with it.
                    items[-1] = replace(items[-1], attempts=earlier_attempts(history.attempts.get(answered, ())))
                answered = entry.id
                items.append(_prompt_item(entry, message, telling) if role is Role.USER else _item(entry, message))
            case Notice(text=text) if items:
                items[-1] = _noted(items[-1], text)
        if entry.id == edge and items:
            items[-1] = _noted(items[-1], _left_out_note(messages(history.branch)[: telling.left_out]))
    return items


def edge_of(branch: Sequence[Entry], left_out: int) -> str | None:
    """The last entry of a branch that is not sent."""
    if not left_out:
        return None
    spoken = [entry.id for entry in branch if isinstance(entry.data, Message)]
    return spoken[left_out - 1] if 0 < left_out <= len(spoken) else None


def _noted(item: TimelineItem, text: str) -> TimelineItem:
    return replace(item, note=" ".join(part for part in (item.note, text) if part))


def _left_out_note(log: Sequence[Message]) -> str:
    """Where what is sent begins: the messages before it are in the chat and nowhere else."""
    text = counted(
        said_in(log),
        tr("The message up to here is not sent any more."),
        tr("The {n} messages up to here are not sent any more."),
    )
    return f"{text} [{tr('Send all again')}]({SEND_ALL})"


def partial_deltas(parts: Iterable[Part]) -> Iterator[TextDelta | ThinkingDelta]:
    """The deltas that build what of a partial can be read."""
    for part in parts:
        if isinstance(part, ThinkingPart):
            yield ThinkingDelta(part.text)
        elif isinstance(part, TextPart):
            yield TextDelta(part.text)


def _item(entry: Entry, message: Message) -> TimelineItem:
    return TimelineItem(key=entry.id, message=message)


def _prompt_item(entry: Entry, message: Message, telling: Telling) -> TimelineItem:
    actions = (MessageAction(EDIT, "edit", tr("Edit and send again")), _fork())
    place = place_of(entry.id, telling)
    return replace(_item(entry, message), time=clock_time(entry.at), actions=actions, place=place)


def _reply_item(
    entry: Entry, message: Message, telling: Telling, attempts: Sequence[Entry], *, is_last: bool
) -> TimelineItem:
    reply = message.reply
    note, icon = _note(reply, telling, is_last=is_last)
    return TimelineItem(
        key=entry.id,
        message=message,
        label=telling.label(reply.model) if reply else "",
        meta=reply_meta(reply),
        note=note,
        note_icon=icon,
        actions=(MessageAction(REGENERATE, "regenerate", tr("Answer again")), _fork()),
        place=place_of(entry.id, telling),
        attempts=earlier_attempts(attempts),
    )


def _fork() -> MessageAction:
    return MessageAction(FORK, "branch", tr("Go on in a new chat from here"))


def place_of(entry: str, telling: Telling) -> tuple[int, int] | None:
    """The number of an entry among its alternatives, and how many there are; None when it has none."""
    found = telling.siblings(entry)
    return (found.index(entry) + 1, len(found)) if len(found) > 1 and entry in found else None


def _note(reply: ReplyInfo | None, telling: Telling, *, is_last: bool) -> tuple[str, str]:
    """The line under a reply, with its icon; what can be done is offered at the end of the chat only."""
    if reply is None:
        return "", "info"
    parts: list[str] = []
    icon = "info"
    if reply.fallback_from is not None:
        icon = "branch"
        first = telling.label(reply.fallback_from)
        parts.append(tr("Answered by the fallback, because {model} could not.").format(model=first))
        if is_last and telling.answers == reply.model:
            parts.append(f"[{_plain(tr('Back to {model}').format(model=first))}]({BACK})")
    if reply.is_cut:
        icon = "continue"
        parts.append(tr("Cut at the output limit."))
    elif reply.finish_reason == STOPPED:
        parts.append(tr("Kept as it was when it ended."))
    if is_last and telling.can_go_on:
        parts.append(f"[{tr('Continue')}]({CONTINUE})")
    return " ".join(parts), icon


STOPPED = "stopped"
"""The finish reason of a partial that was kept (behaviour D5)."""


def _plain(label: str) -> str:
    """A model's name inside a note's action: brackets would end it."""
    return label.replace("[", "(").replace("]", ")")


def earlier_attempts(entries: Sequence[Entry]) -> tuple[EarlierAttempt, ...]:
    """The ended attempts under a prompt, oldest first, each with a report to copy (behaviour D5, N9)."""
    ended = [
        entry for entry in entries if isinstance(entry.data, Attempt) and entry.data.state is not AttemptState.OPEN
    ]
    found: list[EarlierAttempt] = []
    for entry, row in zip(ended, attempt_rows(ended), strict=True):
        attempt = entry.data
        if not isinstance(attempt, Attempt):
            continue
        request = attempt.failure.request_id if attempt.failure else None
        said = [str(row.number), row.time, row.what]
        if request:
            said.append(tr("request {id}").format(id=_plain(request)))
        note = f"{' · '.join(said)} [{tr('Copy report')}]({REPORT}:{entry.id})"
        found.append(EarlierAttempt(note, readable_parts(attempt.parts)))
    return tuple(found)
