"""What a conversation needs from the rest of the program, as one value made by `app/compose.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from reprise.domain.messages import ModelRef
from reprise.domain.models import Parameters
from reprise.domain.ports import Catalog, Clock, Drafts, Log, Questions, Sessions, ToolRunner
from reprise.domain.retry import RetryPolicy


@dataclass(frozen=True, slots=True)
class Services:
    """The ports and the settings in force; callables are asked at each turn, so a changed setting counts at the next.

    `tools` None offers none. `questions` None lets the conversation ask through its own `question_asked`.
    `keep_on_followup` makes a stopped partial the reply when a new message follows (behaviour D6).
    """

    log: Log
    sessions: Sessions
    drafts: Drafts
    catalog: Catalog
    clock: Clock
    tools: ToolRunner | None
    questions: Questions | None
    policy: Callable[[], RetryPolicy]
    parameters: Callable[[ModelRef], Parameters]
    rng: Random
    auto_continue: Callable[[], int]
    max_rounds: Callable[[], int]
    keep_on_followup: Callable[[], bool] = lambda: True
