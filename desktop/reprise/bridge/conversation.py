"""A session's live object: it sends, streams, stops and retries, and keeps the history equal to the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from reprise.bridge.live_history import LiveHistory, new_session, pending_in
from reprise.bridge.questions import RoundLimitQuestion
from reprise.bridge.retry_manager import RetryManager
from reprise.bridge.services import Services
from reprise.bridge.side_writes import SideWrites
from reprise.bridge.signals import Listeners
from reprise.bridge.tasks import TaskScope
from reprise.bridge.turn_task import NotSent, TurnTask
from reprise.domain.deltas import Partial
from reprise.domain.events import (
    Answer,
    AttemptFailed,
    AttemptStarted,
    DeltaArrived,
    Outcome,
    RetryScheduled,
    RoundCompleted,
    ToolCallStarted,
    ToolResultRecorded,
    Truncated,
    TurnEvent,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import Message, ModelRef
from reprise.domain.models import ModelInfo
from reprise.domain.ports import History
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, Session
from reprise.domain.turns import AwaitingRetry, Finished, Idle, Streaming, TurnState, advance, is_busy

_CLOSE_S = 1.0

_SIGNAL_OF: dict[type[object], str] = {
    TurnStarted: "turn_started",
    AttemptStarted: "attempt_started",
    AttemptFailed: "attempt_failed",
    RetryScheduled: "retry_scheduled",
    RoundCompleted: "round_completed",
    Truncated: "truncated",
    UsageReported: "usage_reported",
    ToolCallStarted: "tool_call_started",
    ToolResultRecorded: "tool_result_recorded",
    TurnFinished: "turn_finished",
}
"""The events that have a signal with themselves in it; the rest is said by others (deltas, retries, questions)."""


class Conversation(QObject):
    """One session, stored or new. Everything here runs on the window's thread; commands return at once.

    The properties are up to date before the signal about them is emitted, and both after the log has committed.

    Signals:
        turn_started(TurnStarted), attempt_started(AttemptStarted), delta_arrived(Delta),
        attempt_failed(AttemptFailed), retry_scheduled(RetryScheduled), round_completed(RoundCompleted),
        truncated(Truncated), usage_reported(UsageReported), tool_call_started(ToolCallStarted),
        tool_result_recorded(ToolResultRecorded), turn_finished(TurnFinished): the engine's events, one each.
        state_changed(TurnState): before the event's own signal.
        history_changed(): the branch or the attempts changed (loaded, prompt, reply, result, failed attempt, model).
        title_changed(str), model_changed(ModelRef).
        prompt_stored(str): the text sent is on disk; the composer may forget it.
        send_refused(str, Failure): the text was not taken; it is the composer's again.
        question_asked(int): go on after this many tool rounds? `answer` settles it.
        question_settled(): the question is gone (answered, stopped or closed).
        problem(str): a sentence about something else that could not be stored.
    """

    turn_started = Signal(object)
    attempt_started = Signal(object)
    delta_arrived = Signal(object)
    attempt_failed = Signal(object)
    retry_scheduled = Signal(object)
    round_completed = Signal(object)
    truncated = Signal(object)
    usage_reported = Signal(object)
    tool_call_started = Signal(object)
    tool_result_recorded = Signal(object)
    turn_finished = Signal(object)
    state_changed = Signal(object)
    history_changed = Signal()
    title_changed = Signal(str)
    model_changed = Signal(object)
    prompt_stored = Signal(str)
    send_refused = Signal(str, object)
    question_asked = Signal(int)
    question_settled = Signal()
    problem = Signal(str)

    def __init__(
        self, session: Session | None, services: Services, scope: TaskScope, parent: QObject | None = None
    ) -> None:
        """`session` None begins a new chat: it has an id at once and is stored with its first prompt."""
        super().__init__(parent)
        self._services = services
        self._scope = scope
        self._live = LiveHistory(
            session or new_session(services.clock), services.log, services.sessions, is_stored=session is not None
        )
        self._retries = RetryManager(services.clock, scope, self)
        self._side_writes = SideWrites(self._live, services.clock, scope, self._tell_history, self.problem.emit)
        self._retries.extended.connect(self._side_writes.move_retry)
        self._told_title = self.title
        self._chosen: ModelRef | None = None
        self._state: TurnState = Idle()
        self._partial: Partial | None = None
        self._waiting_since: float | None = None
        self._turn: TurnTask | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closing = False
        self._question = RoundLimitQuestion(self.question_asked.emit, self.question_settled.emit)
        self._listeners: Listeners[TurnEvent] = Listeners()

    # -- what is

    @property
    def session_id(self) -> str:
        """The session's id; a new chat has one before it is stored."""
        return self._live.session.id

    @property
    def is_stored(self) -> bool:
        """False for a new chat until its first prompt is on disk."""
        return self._live.is_stored

    @property
    def is_loaded(self) -> bool:
        """True once `history` is the session's (at once for a new chat)."""
        return self._live.is_loaded

    @property
    def session(self) -> Session:
        """The session as it is listed."""
        return self._live.session

    @property
    def title(self) -> str:
        """The session's title; "New chat" before its first prompt."""
        return self._live.session.title

    @property
    def model(self) -> ModelRef | None:
        """Who answers the next prompt; None when no model is known."""
        return self._chosen or self._live.session.model or self._services.catalog.default()

    @property
    def state(self) -> TurnState:
        """The state of the newest turn of this life of the session."""
        return self._state

    @property
    def is_busy(self) -> bool:
        """True from Send (or Retry) until the turn is settled, waits included (behaviour L22)."""
        return self._task is not None

    @property
    def is_resting(self) -> bool:
        """True when nothing of this conversation runs: it could be forgotten and read again."""
        return not self.is_busy and not self._side_writes.is_writing

    @property
    def pending(self) -> PendingRetry | None:
        """What Retry would go on with, or what counts down (`due_at` set); None while streaming or when all is said."""
        return self._retries.pending

    @property
    def history(self) -> History:
        """The session as it is on disk: the active branch, and the attempts under its entries, oldest first."""
        return self._live.history

    @property
    def partial(self) -> Partial | None:
        """The reply under construction, from the attempt's start until it is a message or a failed attempt."""
        return self._partial

    @property
    def retry_manager(self) -> RetryManager:
        """This conversation's countdown (`retry_manager.retry_now()` is the banner's button)."""
        return self._retries

    @property
    def question_rounds(self) -> int | None:
        """The rounds an open `question_asked` is about; None when nothing is asked."""
        return self._question.rounds

    @property
    def waiting_since(self) -> float | None:
        """Clock time of the last delta, or of the request while none came; None when no request runs."""
        return self._waiting_since

    # -- commands

    def send(self, text: str) -> bool:
        """Start a turn. False, with `send_refused`, while busy, for blank text and without a model."""
        model = self.model
        if self._is_closing or self.is_busy:
            return self._refuse(text, "A reply is still on its way in this chat.")
        if not text.strip():
            return self._refuse(text, "There is nothing to send.")
        if model is None:
            return self._refuse(text, _why_no_model(self._services.catalog.models()))
        turn = self._new_turn()
        self._begin(turn, turn.send(text, model), text)
        return True

    @Slot()
    def stop(self) -> None:
        """Answer an open question with Stop, else cancel the wait, else stop the turn, else nothing (behaviour D6, D7).

        A prompt on its way to the disk gets there first: the turn ends before anything is sent.
        """
        if self._question.rounds is not None:
            self.answer(Answer.STOP)
        elif self._retries.is_counting:
            self._retries.cancel()
        elif self._turn is not None and not self._retries.is_cancelling:
            self._turn.stop()

    @Slot()
    def retry(self) -> None:
        """Retry now during a countdown, go on with the pending turn otherwise, nothing when nothing is pending."""
        if self._retries.is_counting:
            self._retries.retry_now()
        elif self.pending is not None:
            self._resume()

    @Slot()
    def wait_as_asked(self) -> None:
        """Let the pending turn wait as long as its provider asks for, then retry it (behaviour D3); else nothing."""
        pending = pending_in(self.history, self._services.clock)
        if pending is not None and pending.ask_s is not None:
            self._resume(pending.waiting_until(self._services.clock.now() + pending.ask_s))

    def answer(self, answer: Answer) -> None:
        """Settle the open question; nothing when none is open."""
        self._question.answer(answer)

    def choose_model(self, model: ModelRef) -> None:
        """From here on `model` answers; recorded in the log once the session is stored (behaviour P10, S5).

        A turn that runs goes on with the model it has.
        """
        if model != self.model:
            self._chosen = model
            self.model_changed.emit(model)
            self._record_choice()

    def retitle(self, title: str) -> None:
        """The session has another title, and it is stored."""
        self._live.retitle(title)
        self._tell_history()

    async def load(self) -> None:
        """Read the history; a retry that is not yet due goes on counting down (behaviour D8). Raises LogError."""
        await self._live.load()
        if self.is_busy or self._is_closing:
            return
        pending = pending_in(self.history, self._services.clock)
        self._retries.set_pending(None if pending is None else pending.waiting_until(None))
        self._tell_history()
        if pending is not None and pending.due_at is not None:
            self._resume(pending, retry=pending.retry)

    async def close(self) -> None:
        """End what runs because the program closes, within 1 s.

        The running attempt is recorded as interrupted, with what arrived; a scheduled retry stays scheduled.
        """
        self._is_closing = True
        if self._turn is not None and self._task is not None:
            self._turn.close()
            await asyncio.wait({self._task}, timeout=_CLOSE_S)

    def subscribe(self, callback: Callable[[TurnEvent], None]) -> Callable[[], None]:
        """Let `callback` have every event, after the signals; returns what ends it. One that raises changes nothing."""
        return self._listeners.add(callback)

    # -- a turn

    def _refuse(self, text: str, sentence: str) -> bool:
        self.send_refused.emit(text, Failure(FailureKind.BAD_REQUEST, sentence, retryable=False))
        return False

    def _new_turn(self) -> TurnTask:
        return TurnTask(self._live, self._services, self._retries, self._question, self._take)

    def _resume(self, waiting: PendingRetry | None = None, *, retry: int = 0) -> None:
        model, attempt = self.model, self._live.newest_attempt()
        if self.is_busy or self._is_closing or model is None:
            return
        turn = self._new_turn()
        self._begin(turn, turn.resume(model, waiting, attempt, retry=retry))

    def _begin(self, turn: TurnTask, play: Coroutine[Any, Any, TurnFinished | None], text: str = "") -> None:
        self._turn = turn
        self._task = self._scope.start(self._see_through(play, text), name=self.session_id)

    async def _see_through(self, play: Coroutine[Any, Any, TurnFinished | None], text: str) -> None:
        try:
            finished = await play
        except NotSent as refusal:
            self._turn = self._task = None
            self.send_refused.emit(text, refusal.failure)
            return
        # Whoever hears of the end may send at once.
        self._turn = self._task = None
        if finished is None:
            self._retries.set_pending(None)
        else:
            self._finish(finished)
        self._record_choice()

    def _take(self, event: TurnEvent) -> None:
        """Fold one event in, then tell of it."""
        was, self._state = self._state, _next_state(self._state, event)
        match event:
            case TurnStarted():
                self._retries.set_pending(None)
            case AttemptStarted():
                self._partial = Partial()
                self._waiting_since = self._services.clock.now()
            case DeltaArrived(delta):
                if self._partial is not None:
                    self._partial.append(delta)
                self._waiting_since = self._services.clock.now()
            case RoundCompleted() | AttemptFailed():
                self._partial = self._waiting_since = None
        self._tell(event, was)
        if isinstance(event, TurnStarted) and not event.resumed and isinstance(event.prompt.data, Message):
            self.prompt_stored.emit(event.prompt.data.text)

    def _finish(self, event: TurnFinished) -> None:
        was, self._state = self._state, Finished(event.outcome, event.pending)
        self._partial = self._waiting_since = None
        self._retries.set_pending(event.pending)
        if event.outcome is Outcome.FAILED and event.failure is not None:
            self._retries.report_exhausted(event.failure)
        self._tell(event, was)

    def _tell(self, event: TurnEvent, was: TurnState) -> None:
        if self._state != was:
            self.state_changed.emit(self._state)
        self._tell_history()
        if isinstance(event, DeltaArrived):
            self.delta_arrived.emit(event.delta)
        elif (name := _SIGNAL_OF.get(type(event))) is not None:
            getattr(self, name).emit(event)
        self._listeners.tell(event)

    def _tell_history(self) -> None:
        if self._live.take_news():
            title = self.title
            self.history_changed.emit()
            if title != self._told_title:
                self._told_title = title
                self.title_changed.emit(title)

    def _record_choice(self) -> None:
        """Store the chosen model, unless a turn runs: that one ends first."""
        if self._chosen is not None and self._live.is_stored and not self.is_busy and not self._is_closing:
            self._side_writes.record_model(self._chosen)


def _why_no_model(models: Sequence[ModelInfo]) -> str:
    """The sentence for a text that nobody can be asked, with why the first model that cannot answer cannot."""
    reason = next((info.unavailable for info in models if info.unavailable), None)
    if reason is None:
        return "No model is chosen."
    can_choose = any(info.unavailable is None for info in models)
    return f"No model is chosen. {reason}" if can_choose else f"No model can answer: {reason}"


def _next_state(state: TurnState, event: TurnEvent) -> TurnState:
    """`turns.advance`, and the two edges around a wait that no turn of this life began (behaviour D3, D8)."""
    match state, event:
        case _, RetryScheduled(pending, entry) if not is_busy(state):
            return AwaitingRetry(1, entry.data.number if isinstance(entry.data, Attempt) else 1, pending)
        case AwaitingRetry(), TurnStarted(resumed=True):
            return Streaming(1, 1)
        case _:
            return advance(state, event)
