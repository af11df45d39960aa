"""What a conversation needs from the rest of the program, as one value made by `app/compose.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from reprise.domain.messages import ModelRef
from reprise.domain.models import Parameters
from reprise.domain.ports import Catalog, Clock, Drafts, Log, Questions, Reachability, Sessions, ToolRunner
from reprise.domain.retry import RetryPolicy
from reprise.engine.holds import Holds


@dataclass(frozen=True, slots=True)
class Services:
    """The ports and the settings in force; callables are asked at each turn, so a changed setting counts at the next.

    `tools` None offers none. `questions` None lets the conversation ask through its own `question_asked`.
    `policy` is given the model that answers and the session's own settings. `holds` is shared by all conversations
    (behaviour D3). `hold_offline` lets requests wait while `reachability` says offline (D14). `queue_mode` is how many
    queued messages are delivered at once, "one" or "all" (I4). `keep_on_followup` makes a stopped partial the reply
    when a new message follows (D6).
    """

    log: Log
    sessions: Sessions
    drafts: Drafts
    catalog: Catalog
    clock: Clock
    tools: ToolRunner | None
    questions: Questions | None
    policy: Callable[[ModelRef, Mapping[str, Any]], RetryPolicy]
    parameters: Callable[[ModelRef], Parameters]
    rng: Random
    auto_continue: Callable[[], int]
    max_rounds: Callable[[], int]
    holds: Holds
    reachability: Reachability
    hold_offline: Callable[[], bool] = lambda: True
    queue_mode: Callable[[], str] = lambda: "one"
    keep_on_followup: Callable[[], bool] = lambda: True
