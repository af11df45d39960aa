"""Which signal of a conversation tells of which event of the engine."""

from __future__ import annotations

from reprise.domain.events import (
    AttemptFailed,
    AttemptStarted,
    ModelSwitched,
    RetryScheduled,
    RoundCompleted,
    Steered,
    ToolCallStarted,
    ToolResultRecorded,
    Truncated,
    TurnFinished,
    TurnStarted,
    UsageReported,
)

SIGNAL_OF: dict[type[object], str] = {
    TurnStarted: "turn_started",
    AttemptStarted: "attempt_started",
    AttemptFailed: "attempt_failed",
    RetryScheduled: "retry_scheduled",
    RoundCompleted: "round_completed",
    Truncated: "truncated",
    UsageReported: "usage_reported",
    ToolCallStarted: "tool_call_started",
    ToolResultRecorded: "tool_result_recorded",
    ModelSwitched: "model_switched",
    Steered: "steered",
    TurnFinished: "turn_finished",
}
"""The events that have a signal with themselves in it; the rest is said by others (deltas, retries, questions)."""
