"""Which fragment belongs to which tool call: settled here, so that past the wire a call has one slot."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import uuid4

from reprise.domain.deltas import ToolCallDelta
from reprise.domain.surrogates import SurrogateJoiner, whole
from reprise.providers.provider_words import json_or_none
from reprise.providers.wire_models import WireToolCall


@dataclass(slots=True)
class _Call:
    slot: int
    server_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    joiner: SurrogateJoiner = field(default_factory=SurrogateJoiner)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are complete; asked only where nothing better tells calls apart."""
        ends = bool(self.arguments) and self.arguments[-1].rstrip().endswith("}")
        return ends and isinstance(json_or_none("".join(self.arguments)), dict)


class ToolCallMerger:
    """Fragments in, deltas with a settled slot out, in constant time for each (behaviour L7, F64).

    - Another id at a used index opens a new call, as some servers give every call index 0; the same id again goes on.
    - Without an index, a known id or the newest call is meant; a name after complete arguments opens a new one.
    - A name that repeats is no news, one that goes on is appended.
    - A call without an id gets one of ours, which both messages then use: a result has to name its call.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def feed(self, fragments: Iterable[WireToolCall]) -> list[ToolCallDelta]:
        """What the fragments of one event add."""
        return [self._take(fragment) for fragment in fragments]

    def flush(self) -> list[ToolCallDelta]:
        """What was held back for a second half that never came."""
        held = [(call.slot, call.joiner.flush()) for call in self._calls]
        return [ToolCallDelta(slot, arguments=text) for slot, text in held if text]

    def _take(self, fragment: WireToolCall) -> ToolCallDelta:
        function = fragment.function
        id_ = whole(fragment.id or "")
        name = whole((function.name if function else None) or "")
        arguments = function.arguments if function else None
        text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
        call = self._call_of(fragment.index, id_, name)
        made_id = ""
        if call is None:
            call = _Call(len(self._calls))
            self._calls.append(call)
            made_id = f"call_{uuid4().hex[:24]}"
        if fragment.index is not None:
            self._by_index[fragment.index] = call
        if id_ and not call.server_id:
            call.server_id = id_
        if id_:
            self._by_id[id_] = call
        if name and name != call.name:
            call.name = name if name.startswith(call.name) else call.name + name
        text = call.joiner.feed(text)
        if text:
            call.arguments.append(text)
        return ToolCallDelta(call.slot, call.server_id if id_ else made_id, call.name if name else "", text)

    def _call_of(self, index: int | None, id_: str, name: str) -> _Call | None:
        """The call a fragment goes on with; None when it opens a new one."""
        if id_ and (known := self._by_id.get(id_)) is not None:
            return known
        newest = self._calls[-1] if self._calls else None
        call = newest if index is None else self._by_index.get(index)
        if call is None:
            return None
        if id_ and (call.server_id or index is None):
            # Another id opens another call, except where a server makes up a fresh one for every fragment.
            return None if name or call.is_whole or not call.name else call
        return None if name and call.name and call.is_whole else call
