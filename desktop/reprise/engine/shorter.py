"""How a request that was too long could be shorter, and what that would come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from reprise.domain.messages import Role
from reprise.domain.sessions import Entry, messages
from reprise.domain.shortening import Shortening, left_out, said_in
from reprise.engine.context import context
from reprise.engine.usage import estimate

_PROMPTS = (8, 4, 2, 1)
"""The numbers of newest prompts, each with what follows it, that are offered."""


def shortenings(
    path: Sequence[Entry], params: Mapping[str, Any], *, system_prompt: str | None = None
) -> tuple[Shortening, ...]:
    """Ways to leave more of a branch out than now, each sending less than the one before; empty where there is none.

    One sends at most half of what is sent now, the others the newest prompts with what follows them.
    """
    log = messages(path)
    now = left_out(log, params)
    starts = [place for place in range(now + 1, len(log)) if log[place].role is Role.USER]
    if not starts:
        return ()
    chosen = {starts[-count] for count in _PROMPTS if count <= len(starts)}
    spent = [0, *accumulate(estimate((message,)) for message in log[now:])]
    halves = [place for place in starts if 2 * spent[place - now] >= spent[-1]]
    half = halves[0] if halves else starts[-1]
    return tuple(
        Shortening(
            place,
            said_in(log[place:]),
            estimate(context(path, system_prompt=system_prompt, leave_out=place)),
        )
        for place in sorted({half, *chosen})
    )
