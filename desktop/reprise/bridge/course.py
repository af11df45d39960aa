"""Which turn of a conversation runs and what comes next: the wait before it, and the queue behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from PySide6.QtCore import QObject, Signal

from reprise.bridge import standing
from reprise.bridge.choices import Choices, why_no_model
from reprise.bridge.live_history import LiveHistory
from reprise.bridge.message_queue import MessageQueue
from reprise.bridge.outbox import Outbox, Sending
from reprise.bridge.questions import RoundLimitQuestion
from reprise.bridge.retry_manager import RetryManager
from reprise.bridge.services import Services
from reprise.bridge.side_writes import SideWrites
from reprise.bridge.tasks import TaskScope
from reprise.bridge.turn_fold import TurnFold
from reprise.bridge.turn_runner import Play, TurnRunner
from reprise.bridge.turn_task import TurnTask
from reprise.domain.events import Answer, Outcome, TurnEvent, TurnFinished, TurnStarted
from reprise.domain.failures import Failure, FailureKind
from reprise.domain.messages import ModelRef, user_message
from reprise.domain.ports import LogError
from reprise.domain.retry import PendingRetry, WaitReason
from reprise.domain.sessions import Attempt, Delivery, Entry, Queued
from reprise.domain.turns import Finished

ON_ITS_WAY = "A reply is still on its way in this chat."
_COUNTING = "A retry is counting down in this chat: cancel it first."
_CLOSING = "This chat is being closed."
_STORING = "The message before this one is still being stored."
_BLANK = "There is nothing to send."


class Course(QObject):
    """Begins the turns of one conversation, one at a time, and serves its queue when none runs.

    Signals:
        refused(str): a sentence: why a command was not done.
        problem(str): a sentence about something that could not be stored.
        changed(): something was stored beside a turn, or `fold` is another.
    """

    refused = Signal(str)
    problem = Signal(str)
    changed = Signal()

    def __init__(
        self,
        live: LiveHistory,
        services: Services,
        scope: TaskScope,
        question: RoundLimitQuestion,
        tell: Callable[[TurnEvent], None],
        parent: QObject,
    ) -> None:
        """`tell` has every event once it is folded in."""
        super().__init__(parent)
        self.live = live
        self.choices = Choices(live)
        self.fold = TurnFold(services.clock)
        self.outbox = Outbox(self)
        self.retries = RetryManager(services.clock, scope, self)
        self.writes = SideWrites(live.session.id, scope, self._stored, self.problem.emit)
        self.queue = MessageQueue(live, self.writes, services.queue_mode, self)
        self._services = services
        self._question = question
        self._tell = tell
        self._runner = TurnRunner(live.session.id, scope, self._ended, self._not_sent)
        self._then: Callable[[], None] | None = None
        self._is_known = live.is_loaded
        self._is_closing = False
        self.queue.refused.connect(self.refused)
        self.retries.extended.connect(self._wait_moved)

    @property
    def is_busy(self) -> bool:
        """True from a turn's first write until it is settled, waits included."""
        return self._runner.is_busy

    @property
    def model(self) -> ModelRef | None:
        """Who answers next."""
        return self.choices.model or self._services.catalog.default()

    # -- turns

    def send(self, text: str, delivery: Delivery) -> bool:
        """A prompt, or while a turn runs a message for the queue; False when it is not taken."""
        sending = Sending(text, is_queued=self.is_busy)
        if not self._takes(sending):
            return False
        if self.is_busy:
            self.outbox.put(sending)
            self.writes.start(self._enqueue(sending, delivery), "queue")
            return True
        return self._send(sending)

    def resend(self, prompt_id: str, text: str) -> bool:
        """A prompt in the place of another one (behaviour B9)."""
        prompt = standing.prompt_in(self.live.history.branch, prompt_id)
        if not self.may(None if prompt is not None else "That message is not on the branch that is shown."):
            return False
        sending = Sending(text, beside=prompt_id)
        return self._takes(sending) and self._send(sending)

    def stop(self) -> None:
        """End the innermost thing that waits or runs (behaviour D6, D7)."""
        if self._question.rounds is not None:
            self._question.answer(Answer.STOP)
        elif self.retries.is_counting:
            self.retries.cancel()
        elif self.retries.is_cancelling:
            self._then = None
        else:
            self._runner.stop()

    def retry(self) -> None:
        """Retry now during a countdown, else go on with what is pending."""
        if self.retries.is_counting:
            self.retries.retry_now()
        elif not self.is_busy and self.may(self._why_no_retry()):
            self._begin(lambda turn: turn.resume())

    def retry_after(self, delay_s: float, *, resume: bool = False) -> None:
        """Go on with what is pending in `delay_s` seconds, behind other waits (D3); `resume`: from what arrived."""
        pending = standing.pending_in(self.live.history, self._services.clock)
        if not self.may(self._why_no_retry()) or pending is None:
            return
        begun = standing.keepable(self.live.history) if resume else None
        if delay_s <= 0:
            self._begin(lambda turn: turn.resume(goes_on_from=begun, at_once=False))
        else:
            self._wait(replace(pending, reason=WaitReason.TURN), delay_s, begun)

    def wait_as_asked(self) -> None:
        """Go on with what is pending once its provider's own wait is over.

        From now on that wait holds the others on that provider and key, too (behaviour D3).
        """
        pending = standing.pending_in(self.live.history, self._services.clock)
        if pending is None or pending.ask_s is None or self.is_busy or not self._wait(pending, pending.ask_s):
            return
        if (asked := self.live.asked()) is not None and pending.failure is not None:
            self._services.holds.note(self._services.catalog.route(asked).limits, pending.failure, pending.ask_s)

    def retry_with(self, model: ModelRef) -> None:
        """Go on with what is pending with another model."""
        # The wait of another reply is no wait for what is pending: that one is cancelled first.
        if self.fold.beside is None and self.after_wait(lambda: self.retry_with(model)):
            return
        if self.may(self._why_no_retry()):
            self.choices.choose_model(model)
            self.changed.emit()
            self._begin(lambda turn: turn.resume())

    def go_on(self) -> None:
        """Go on from a partial or from a reply that stops short."""
        history = self.live.history
        entry = standing.unfinished(history)
        if entry is not None and self.after_wait(self.go_on):
            return
        if self.may(None if entry is not None else "There is nothing to go on from.") and entry is not None:
            if isinstance(entry.data, Attempt):
                self._begin(lambda turn: turn.resume(goes_on_from=entry))
            else:
                self._begin(lambda turn: turn.go_on(entry))

    def regenerate(self, reply_id: str | None) -> None:
        """Another reply beside one of the branch, or (None) beside its last."""
        reply = standing.reply_in(self.live.history.branch, reply_id)
        if self.may(self.why_no_other_reply(reply_id)) and reply is not None:
            self._begin(lambda turn: turn.regenerate(reply))

    # -- why not

    def why_not(self, *, waits: bool = False) -> str | None:
        """Why nothing else can be done now, in a sentence; with `waits` a wait is no reason, since it can be ended."""
        if self._is_closing:
            return _CLOSING
        if self.retries.is_counting or self.retries.is_cancelling:
            return None if waits else _COUNTING
        return ON_ITS_WAY if self.is_busy else None

    def may(self, reason: str | None = None) -> bool:
        """Whether a command can be done; if not, because something runs or of its own `reason`, that is told."""
        sentence = self.why_not() or reason
        if sentence is not None:
            self.refused.emit(sentence)
        return sentence is None

    def after_wait(self, command: Callable[[], None]) -> bool:
        """End the wait that runs, then do `command`; False when none runs."""
        if not self.is_busy or not (self.retries.is_counting or self.retries.is_cancelling):
            return False
        self._then = command
        self.retries.cancel()
        return True

    def why_no_other_reply(self, reply_id: str | None = None) -> str | None:
        """Why this reply, or (None) the last message, cannot be regenerated, apart from what runs."""
        if self.retries.pending is not None:
            return "The last message has no reply yet: retry it, or take it back."
        is_there = standing.reply_in(self.live.history.branch, reply_id) is not None
        return None if is_there else "There is no reply to regenerate."

    # -- at rest

    def loaded(self) -> None:
        """The history was read: a retry that is not yet due goes on counting down (behaviour D8).

        What another life of the program left in the queue waits for what is pending; it is never sent unasked.
        """
        if self._is_known or self._is_closing:
            return
        self._is_known = True
        if self.is_busy:
            self.queue.give_back_all()
            return
        pending = self._look_pending()
        self.changed.emit()
        self._rest()
        if pending is not None and pending.due_at is not None and not self.is_busy and self.model is not None:
            self._begin_wait(pending, is_stored=True)

    def moved(self) -> None:
        """The branch is another, or ends elsewhere."""
        if not self.is_busy:
            self.fold.rest(self._look_pending())

    def record_choices(self) -> None:
        """Store what was chosen, unless a turn runs: that one ends first."""
        if self.choices.are_new and self.live.is_stored and not self.is_busy and not self._is_closing:
            self.writes.start(self._record_choices(), "choices")

    async def close(self) -> None:
        """The program closes: end what runs, within 1 s, so that it goes on at the next start."""
        self._is_closing = True
        await self._runner.close()

    async def end(self) -> None:
        """The session goes: end what runs, within 1 s, as the user's stop does, and begin nothing any more."""
        self._is_closing = True
        self.stop()
        await self._runner.wait()

    # -- within

    def _takes(self, sending: Sending) -> bool:
        if self.outbox.holds(sending.text, sending.beside):
            return False
        sentence = None
        if self._is_closing:
            sentence = _CLOSING
        elif not sending.text.strip():
            sentence = _BLANK
        elif not self.outbox.is_empty:
            sentence = _STORING
        elif self.model is None:
            sentence = why_no_model(self._services.catalog.models())
        if sentence is not None:
            self.outbox.refuse(sending, Failure(FailureKind.BAD_REQUEST, sentence, retryable=False))
        return sentence is None

    def _send(self, sending: Sending) -> bool:
        if not self._begin(lambda turn: turn.send(sending.text, beside=sending.beside)):
            return False
        self.outbox.put(sending)
        return True

    def _wait(self, pending: PendingRetry, delay_s: float, begun: Entry | None = None) -> bool:
        """A wait that the user chose: it is none of the schedule's, and the retry has a full budget (behaviour R12)."""
        due_at = self._services.clock.now() + delay_s
        return self._begin_wait(replace(pending, retry=0, due_at=due_at), begun, is_stored=False)

    def _begin_wait(self, pending: PendingRetry, begun: Entry | None = None, *, is_stored: bool) -> bool:
        attempt = self.live.newest_attempt()
        return self._begin(lambda turn: turn.wait(pending, attempt, is_stored=is_stored, goes_on_from=begun))

    def _why_no_retry(self) -> str | None:
        return None if self.retries.pending is not None else "There is nothing to retry in this chat."

    def _begin(self, play: Play) -> bool:
        if (reason := self.why_not()) is None and (model := self.model) is not None:
            turn = TurnTask(
                self.live, self._services, self.choices, self.retries, self._question, self.queue, model, self._take
            )
            self._runner.begin(turn, play)
            return True
        self.refused.emit(reason or why_no_model(self._services.catalog.models()))
        return False

    def _take(self, event: TurnEvent) -> None:
        self.fold.take(event)
        if isinstance(event, TurnStarted):
            self.retries.set_pending(None)
        self._tell(event)
        if isinstance(event, TurnStarted) and not event.resumed and (sending := self.outbox.take_prompt()) is not None:
            self.outbox.tell_stored(sending)

    def _ended(self, finished: TurnFinished | None) -> None:
        self.queue.hand_back()
        then, self._then = self._then, None
        if finished is None:
            self.retries.set_pending(None)
        else:
            self.fold.end(finished)
            self.retries.set_pending(finished.pending)
            if finished.outcome is Outcome.FAILED and finished.failure is not None:
                self.retries.report_exhausted(finished.failure)
            self._tell(finished)
        if then is not None and not self.is_busy and not self._is_closing:
            then()
        self._rest()

    def _not_sent(self, failure: Failure) -> None:
        self.queue.hand_back()
        sending = self.outbox.take_prompt()
        self.moved()
        self.changed.emit()
        if sending is None:
            # It is in the queue still (behaviour I6).
            self.problem.emit(failure.message)
        else:
            self.outbox.refuse(sending, failure)

    def _look_pending(self) -> PendingRetry | None:
        """What the log says is pending, told as what can be retried; its due time is for whoever counts down."""
        pending = standing.pending_in(self.live.history, self._services.clock)
        self.retries.set_pending(None if pending is None else pending.waiting_until(None))
        return pending

    def _stored(self) -> None:
        self.changed.emit()
        self._rest()

    def _rest(self) -> None:
        """Nothing runs: what waits for that is done."""
        if self.is_busy or self._is_closing:
            return
        state, is_pending = self.fold.state, self.retries.pending is not None
        outcome = state.outcome if isinstance(state, Finished) else None
        if self._is_known and self.queue.entries():
            if outcome is Outcome.COMPLETED and not is_pending:
                if due := self.queue.due():
                    self._begin(lambda turn: turn.deliver(due))
            elif outcome is Outcome.STOPPED or not is_pending:
                # Behind what the end of a turn has the window do: together the two may hold it too long.
                self.writes.start(self._give_back(), "give back")
        self.record_choices()

    async def _enqueue(self, sending: Sending, delivery: Delivery) -> None:
        try:
            await self.live.queue(self.live.session.id, Queued(user_message(sending.text), delivery))
        except LogError as error:
            self.outbox.take_queued()
            self.outbox.refuse(sending, Failure(FailureKind.STORAGE, str(error), retryable=False))
        else:
            self.outbox.take_queued()
            self.outbox.tell_stored(sending)

    async def _give_back(self) -> None:
        self.queue.give_back_all()

    async def _record_choices(self) -> None:
        async with self.live.writing:
            await self.live.load()
            await self.choices.record()

    def _wait_moved(self, pending: PendingRetry) -> None:
        if (asked := self.live.asked()) is not None:
            # Nobody waits for a chat that the user puts off (behaviour N6).
            self._services.holds.breaker.leave(self._services.catalog.route(asked).limits, self.live.session.id)
        self.writes.start(self._move_wait(pending), "retry time")

    async def _move_wait(self, pending: PendingRetry) -> None:
        # Its turn waits and holds `writing`, but writes nothing until the wait has ended. What other sessions hold is
        # in no attempt (its own due time has passed), and nobody would take the time back.
        attempt, clock = self.live.newest_attempt(), self._services.clock
        if attempt is None or not isinstance(attempt.data, Attempt) or pending.due_at is None:
            return
        if (retry_at := attempt.data.retry_at) is not None and retry_at > clock.utc():
            await self.live.reschedule(attempt, clock.utc() + timedelta(seconds=pending.due_at - clock.now()))
