"""`--say`: one prompt from the command line, its reply on stdout, its outcome as JSON or an exit code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from reprise.app.terminal import Output
from reprise.bridge.conversation import Conversation
from reprise.domain.deltas import Partial, TextDelta
from reprise.domain.events import (
    AttemptFailed,
    AttemptStarted,
    DeltaArrived,
    ModelSwitched,
    Outcome,
    RetryScheduled,
    RoundCompleted,
    TurnEvent,
    TurnFinished,
)
from reprise.domain.failures import Failure, FailureKind, failure_fields
from reprise.domain.messages import Message

EXIT_COMPLETED = 0
EXIT_UNFINISHED = 1
EXIT_UNUSABLE = 2


class TurnReport:
    """Folds one turn's events into what `--json` prints.

    Text, reasoning, calls and finish reason are the last attempt's, partial or not; the failure is the newest
    attempt's, and none when the turn completed or was stopped. The usage is the provider's own count, null when it
    named none: whoever reads this can tell a count from an estimate.
    """

    def __init__(self) -> None:
        self.outcome: Outcome | None = None
        self.failure: Failure | None = None
        self.attempts = 0
        self._reply = Partial()

    def take(self, event: TurnEvent) -> None:
        """Fold in one event."""
        match event:
            case AttemptStarted():
                self.attempts += 1
                self._reply = Partial()
                self.failure = None
            case DeltaArrived(delta):
                self._reply.append(delta)
            case AttemptFailed(failure=failure):
                self.failure = failure
            case RoundCompleted():
                self.failure = None
            case TurnFinished(outcome, _, failure):
                self.outcome = outcome
                self.failure = (failure or self.failure) if outcome is Outcome.FAILED else None

    def as_dict(self, session_id: str | None) -> dict[str, Any]:
        """The JSON object of the turn."""
        usage = self._reply.usage
        return {
            "status": (self.outcome or Outcome.FAILED).value,
            "text": self._reply.text,
            "reasoning": self._reply.thinking,
            "tool_calls": [
                {"id": call.id, "name": call.name, "arguments": call.arguments} for call in self._reply.tool_calls
            ],
            "finish_reason": self._reply.finish_reason,
            "usage": None if usage is None else {"input": usage.input, "output": usage.output},
            "failure": None if self.failure is None else failure_fields(self.failure),
            "attempts": self.attempts,
            "session_id": session_id,
        }


class SayRun:
    """Sends one prompt in a conversation and waits until nothing is scheduled any more.

    What is said goes out in order, off the loop: a pipe nobody reads holds up the end of `run`, and nothing else.
    """

    def __init__(
        self,
        conversation: Conversation,
        *,
        out: Output,
        err: Output,
        as_json: bool,
        sentence: Callable[[Failure], str],
        why_unusable: Callable[[], str | None],
    ) -> None:
        """`why_unusable`: asked after a failure; a sentence when the model cannot answer on this machine."""
        self._conversation = conversation
        self._out = out
        self._err = err
        self._as_json = as_json
        self._sentence = sentence
        self._why_unusable = why_unusable
        self._report = TurnReport()
        self._finished = asyncio.Event()
        self._refused: Failure | None = None
        self._at_line_start = True
        self._outbox: asyncio.Queue[tuple[Output, str] | None] = asyncio.Queue()
        self._lost: dict[Output, OSError] = {}

    async def run(self, text: str) -> int:
        """The exit code: 0 completed, 1 failed, pending or stopped, 2 when there was nobody to send it to.

        It is 1 as well when the reply could not be written.
        """
        conversation = self._conversation
        async with asyncio.TaskGroup() as group:
            group.create_task(self._write_out(), name="write what is said")
            unsubscribe = conversation.subscribe(self._take)
            conversation.send_refused.connect(self._refuse)
            try:
                conversation.send(text)
                await self._finished.wait()
            finally:
                conversation.send_refused.disconnect(self._refuse)
                unsubscribe()
            code = self._conclude()
            self._outbox.put_nowait(None)
        if (lost := self._lost.get(self._out)) is None:
            return code
        await self._write(self._err, f"The reply could not be written: {lost.strerror}.\n")
        return EXIT_UNFINISHED

    def _refuse(self, _text: str, failure: Failure) -> None:
        self._refused = failure
        self._finished.set()

    def _take(self, event: TurnEvent) -> None:
        self._report.take(event)
        match event:
            case DeltaArrived(TextDelta(text)) if not self._as_json:
                self._say(text)
            case AttemptFailed() if not self._as_json:
                self._end_line()
            case RetryScheduled(pending) if pending.failure:
                self._tell(f"{self._sentence(pending.failure)} Retry {pending.retry} of {pending.retries}.")
            case ModelSwitched(after=after):
                self._tell(f"Its retries are used up: {after.model} answers instead.")
            case RoundCompleted(entry) if isinstance(entry.data, Message) and not self._as_json:
                self._end_line()
            case TurnFinished():
                self._finished.set()

    def _say(self, text: str) -> None:
        self._outbox.put_nowait((self._out, text))
        self._at_line_start = text.endswith("\n")

    def _tell(self, sentence: str) -> None:
        self._outbox.put_nowait((self._err, f"{sentence}\n"))

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._say("\n")

    async def _write_out(self) -> None:
        while (said := await self._outbox.get()) is not None:
            await self._write(*said)

    async def _write(self, output: Output, text: str) -> None:
        if output in self._lost:
            return
        try:
            await asyncio.get_running_loop().run_in_executor(None, output.write, text)
        except OSError as error:
            self._lost[output] = error
            if output is self._out:
                # Nobody reads any more: what was said so far is kept, and no more is asked for.
                self._conversation.stop()

    def _conclude(self) -> int:
        report = self._report
        if self._refused is not None:
            report.failure = self._refused
            report.outcome = Outcome.FAILED
        unusable = self._why_unusable() if report.outcome is Outcome.FAILED else None
        session_id = self._conversation.session_id if self._conversation.is_stored else None
        if self._as_json:
            self._say(json.dumps(report.as_dict(session_id), ensure_ascii=False) + "\n")
        elif report.failure is not None:
            self._tell(unusable or self._sentence(report.failure))
        if report.outcome is Outcome.COMPLETED:
            return EXIT_COMPLETED
        if unusable or (self._refused is not None and self._refused.kind is not FailureKind.STORAGE):
            return EXIT_UNUSABLE
        return EXIT_UNFINISHED
