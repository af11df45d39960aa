"""The reply of one attempt as it comes in: its parts, its times, and what it goes on from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reprise.domain.deltas import Delta, FinishDelta, Partial, RecastDelta, TextDelta, ThinkingDelta
from reprise.domain.messages import Message, ModelRef, Part, ReplyInfo, Role, TextPart, ThinkingPart, Usage
from reprise.domain.ports import Clock
from reprise.domain.seam import Seam
from reprise.domain.sessions import Attempt, Entry, readable_parts


@dataclass(frozen=True, slots=True)
class SoFar:
    """What was said already. `origin` is the entry where that began: a cut reply or an ended attempt."""

    origin: str
    text: str
    thinking: str

    @property
    def parts(self) -> tuple[Part, ...]:
        """The same as parts of a message."""
        thinking = (ThinkingPart(self.thinking),) if self.thinking else ()
        return (*thinking, TextPart(self.text)) if self.text else thinking

    def trimmed(self) -> SoFar:
        """Without the white space at its end, which providers refuse at the end of a prefilled reply."""
        return replace(self, text=self.text.rstrip())


def so_far(entry: Entry) -> SoFar | None:
    """What a reply that goes on from `entry` begins with; None when it said nothing that can be gone on from."""
    match entry.data:
        case Message(parts=parts):
            origin = entry.id
        case Attempt(parts=parts, goes_on_from=began):
            origin = began or entry.id
        case _:
            return None
    said = Message(Role.ASSISTANT, readable_parts(parts))
    return SoFar(origin, said.text, said.thinking) if (said.text + said.thinking).strip() else None


class Reply:
    """Times count from the request, which is made right after this."""

    def __init__(self, model: ModelRef, clock: Clock, before: SoFar | None = None, *, prefilled: bool = False) -> None:
        """`before` is what the reply begins with; `prefilled` = the provider goes on in the middle of it."""
        self._model = model
        self._clock = clock
        self._before = before
        self._prefilled = prefilled
        self._partial = Partial(() if before is None else before.parts)
        self._seam = self._new_seam()
        self._arrived = Partial()
        self._started_at = clock.now()
        self._first_at: float | None = None
        self._last_at: float | None = None

    def take(self, delta: Delta) -> Sequence[Delta]:
        """Take in one delta; what it adds to the reply: nothing while it may only repeat what was said."""
        self._last_at = self._clock.now()
        if self._first_at is None:
            self._first_at = self._last_at
        if self._before is None:
            self._partial.append(delta)
            return (delta,)
        added = self._added(delta, self._before)
        self._arrived.append(delta)
        for each in added:
            self._partial.append(each)
        return added

    def finish(self) -> Sequence[Delta]:
        """The stream is complete: what was held back."""
        rest = self._rest()
        for each in rest:
            self._partial.append(each)
        return rest

    @property
    def is_empty(self) -> bool:
        """True while nothing was written; a prefilled reply may be complete as it is, if the provider says so."""
        if self._before is None:
            return self._partial.is_empty
        return self._arrived.is_empty and not (self._prefilled and self._arrived.finish_reason)

    @property
    def usage(self) -> Usage | None:
        """The provider's count, if it named one."""
        return self._partial.usage

    def parts(self) -> tuple[Part, ...]:
        """What is there: what the reply begins with and what arrived. What was held back stands in it already."""
        return self._partial.parts()

    def added(self) -> Message:
        """The reply without what it begins with."""
        if self._before is None:
            return Message(Role.ASSISTANT, self.parts())
        thinking, text = self._partial.thinking, self._partial.text
        return Message(
            Role.ASSISTANT,
            (
                ThinkingPart(thinking[len(self._before.thinking) :]),
                TextPart(text[len(self._before.text) :]),
                *self._partial.tool_calls,
            ),
        )

    def message(self, fallback_from: ModelRef | None = None) -> Message:
        """The reply as a message."""
        info = ReplyInfo(
            self._model,
            self._partial.finish_reason,
            self._partial.usage,
            None if self._first_at is None else self._first_at - self._started_at,
            None if self._last_at is None else self._last_at - self._started_at,
            fallback_from,
            None if self._before is None else self._before.origin,
        )
        return Message(Role.ASSISTANT, self.parts(), info)

    def _added(self, delta: Delta, before: SoFar) -> Sequence[Delta]:
        match delta:
            case TextDelta(text):
                passed = self._seam.feed(text)
                return (TextDelta(passed),) if passed else ()
            case ThinkingDelta(text) if before.thinking and not self._arrived.thinking:
                # It begins a new thought; the earlier one broke off.
                return (ThinkingDelta("\n\n" + text),)
            case RecastDelta():
                # The text behind this one is the first that may repeat an answer.
                rest = self._rest()
                self._seam = self._new_seam()
                return (*rest, delta)
            case FinishDelta():
                return (*self._rest(), delta)
            case _:
                return (delta,)

    def _rest(self) -> Sequence[Delta]:
        rest = self._seam.end()
        return (TextDelta(rest),) if rest else ()

    def _new_seam(self) -> Seam:
        return Seam("" if self._before is None else self._before.text, prefilled=self._prefilled)
