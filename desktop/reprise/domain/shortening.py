"""Earlier messages that a branch's requests leave out, so that a chat that became too long can go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reprise.domain.messages import Message, Role

LEFT_OUT = "context.left_out"
"""A branch's own setting: how many of its first messages stay out of its requests; they stay in the log.

Counted from the root, so that it holds on every branch and in every fork that has the setting.
"""


@dataclass(frozen=True, slots=True)
class Shortening:
    """One way to send less: all but the first `left_out` messages of the branch.

    `messages` counts the prompts and replies that are sent then, `tokens` is about what they come to.
    """

    left_out: int
    messages: int
    tokens: int


def left_out(log: Sequence[Message], params: Mapping[str, Any]) -> int:
    """How many of the first messages of a branch stay out; `params` are the branch's own settings."""
    wanted = params.get(LEFT_OUT)
    return first_sent(log, wanted) if isinstance(wanted, int) else 0


def first_sent(log: Sequence[Message], wanted: int) -> int:
    """Where what is sent begins when the first `wanted` messages stay out.

    That is at a prompt, so that no call is parted from its result, and at the last one at the latest (behaviour D12).
    """
    if wanted <= 0:
        return 0
    prompts = [place for place, message in enumerate(log) if message.role is Role.USER]
    return next((place for place in prompts if place >= wanted), prompts[-1] if prompts else 0)


def said_in(log: Sequence[Message]) -> int:
    """The prompts and replies among messages: what a person would count."""
    return sum(message.role in (Role.USER, Role.ASSISTANT) for message in log)
