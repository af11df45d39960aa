"""A session's live object: it sends, streams, stops and retries, and keeps the history equal to the log."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from reprise.bridge import standing
from reprise.bridge.branches import BranchCommands
from reprise.bridge.course import Course
from reprise.bridge.live_history import LiveHistory, new_session
from reprise.bridge.message_queue import MessageQueue
from reprise.bridge.questions import RoundLimitQuestion
from reprise.bridge.reading import Reading
from reprise.bridge.retry_manager import RetryManager
from reprise.bridge.sent_part import SentPart
from reprise.bridge.services import Services
from reprise.bridge.signals import Listeners
from reprise.bridge.tasks import TaskScope
from reprise.bridge.turn_signals import SIGNAL_OF
from reprise.domain.deltas import Partial
from reprise.domain.events import Answer, DeltaArrived, TurnEvent
from reprise.domain.messages import ModelRef
from reprise.domain.ports import History
from reprise.domain.retry import PendingRetry, PolicyName
from reprise.domain.sessions import Delivery, Entry, Session
from reprise.domain.shortening import Shortening
from reprise.domain.turns import TurnState

_POLICY = "retry.policy"


class Conversation(QObject):
    """One session, stored or new. Everything here runs on the window's thread; commands return at once.

    The properties are up to date before the signal about them is emitted, and both after the log has committed.
    A command that cannot be done is `refused` with the reason, or does nothing where there is nothing to do. While a
    turn runs none is done but those that say so; a wait counts as running (behaviour B13).

    Signals:
        turn_started(TurnStarted), attempt_started(AttemptStarted), delta_arrived(Delta),
        attempt_failed(AttemptFailed), retry_scheduled(RetryScheduled), round_completed(RoundCompleted),
        truncated(Truncated), usage_reported(UsageReported), tool_call_started(ToolCallStarted),
        tool_result_recorded(ToolResultRecorded), model_switched(ModelSwitched), steered(Steered),
        turn_finished(TurnFinished): the engine's events, one each.
        state_changed(TurnState): before the event's own signal.
        history_changed(): the history is another (loaded, prompt, reply, result, attempt, change, branch, queue).
        title_changed(str), model_changed(ModelRef): also by a fallback, and by another branch.
        prompt_stored(str): the text sent is on disk, as a prompt or in the queue; the composer may forget it.
        send_refused(str, Failure): the text was not taken; it is the composer's again.
        version_stored(str), version_refused(str, Failure): the same of another version of the prompt with this id.
        text_returned(str): a prompt or queued messages are the composer's again, ahead of what is in it.
        refused(str): a sentence: why a command was not done.
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
    model_switched = Signal(object)
    steered = Signal(object)
    turn_finished = Signal(object)
    state_changed = Signal(object)
    history_changed = Signal()
    title_changed = Signal(str)
    model_changed = Signal(object)
    prompt_stored = Signal(str)
    send_refused = Signal(str, object)
    version_stored = Signal(str)
    version_refused = Signal(str, object)
    text_returned = Signal(str)
    refused = Signal(str)
    question_asked = Signal(int)
    question_settled = Signal()
    problem = Signal(str)

    def __init__(
        self, session: Session | None, services: Services, scope: TaskScope, parent: QObject | None = None
    ) -> None:
        """`session` None begins a new chat: it has an id at once and is stored with its first prompt."""
        super().__init__(parent)
        self._services = services
        self._live = live = LiveHistory(
            session or new_session(services.clock), services.log, services.sessions, is_stored=session is not None
        )
        self._question = RoundLimitQuestion(self.question_asked.emit, self.question_settled.emit)
        self._course = course = Course(live, services, scope, self._question, self._tell, self)
        self._branches = BranchCommands(course)
        self._sent = SentPart(course, services)
        self._reading = Reading(live, scope, self._look, self.problem.emit, self)
        self._told_title, self._told_model, self._told_state = self.title, self.model, self.state
        self._listeners: Listeners[TurnEvent] = Listeners()
        course.outbox.text_stored.connect(self.prompt_stored)
        course.outbox.text_refused.connect(self.send_refused)
        course.outbox.version_stored.connect(self.version_stored)
        course.outbox.version_refused.connect(self.version_refused)
        course.refused.connect(self.refused)
        course.problem.connect(self.problem)
        course.changed.connect(self._look)
        course.queue.given_back.connect(self.text_returned)

    # -- what is

    @property
    def session_id(self) -> str:
        """The session's id; a new chat has one before it is stored."""
        return self._live.session.id

    @property
    def session(self) -> Session:
        """The session as it is listed."""
        return self._live.session

    @property
    def title(self) -> str:
        """The session's title; "New chat" before its first prompt."""
        return self._live.session.title

    @property
    def is_stored(self) -> bool:
        """False for a new chat until its first prompt is on disk."""
        return self._live.is_stored

    @property
    def is_loaded(self) -> bool:
        """True once the end of `history` is the session's (at once for a new chat)."""
        return self._live.is_loaded

    @property
    def reading(self) -> Reading:
        """What is read of `history`, whose older part follows bit by bit."""
        return self._reading

    @property
    def history(self) -> History:
        """The session as it is on disk: the active branch, the attempts under its entries, the queue."""
        return self._live.history

    @property
    def model(self) -> ModelRef | None:
        """Who answers the next prompt; None when no model is known."""
        return self._course.model

    @property
    def switched_from(self) -> ModelRef | None:
        """Whom the model in force stands in for since the newest reply or failure (behaviour D13); None = nobody."""
        switch = standing.switched_from(self.history.branch)
        return switch[1] if switch is not None and switch[0] == self.model else None

    @property
    def policy_name(self) -> str | None:
        """The session's own retry policy; None when it has that of the settings."""
        return self._course.choices.params.get(_POLICY)

    @property
    def state(self) -> TurnState:
        """The state of the newest turn of this life of the session."""
        return self._course.fold.state

    @property
    def is_busy(self) -> bool:
        """True from Send (or Retry) until the turn is settled, waits included (behaviour L22)."""
        return self._course.is_busy

    @property
    def is_resting(self) -> bool:
        """True when nothing of this conversation runs: it could be forgotten and read again."""
        return not self.is_busy and not self._course.writes.is_writing

    @property
    def pending(self) -> PendingRetry | None:
        """What Retry would go on with, or what counts down (`due_at` set); None while streaming or when all is said."""
        return self._course.retries.pending

    @property
    def partial(self) -> Partial | None:
        """The reply under construction, from the attempt's start until it is a message or a failed attempt."""
        return self._course.fold.partial

    @property
    def beside(self) -> Entry | None:
        """The reply that stands while the turn that runs makes another of it (Regenerate, Continue)."""
        return self._course.fold.beside

    @property
    def waiting_since(self) -> float | None:
        """Clock time of the last delta, or of the request while none came; None when no request runs."""
        return self._course.fold.waiting_since

    @property
    def retry_manager(self) -> RetryManager:
        """This conversation's countdown (`retry_manager.retry_now()` is the banner's button)."""
        return self._course.retries

    @property
    def queue(self) -> MessageQueue:
        """What waits for its delivery (behaviour I5)."""
        return self._course.queue

    @property
    def question_rounds(self) -> int | None:
        """The rounds an open `question_asked` is about; None when nothing is asked."""
        return self._question.rounds

    @property
    def can_keep(self) -> bool:
        """Whether `keep` would do something."""
        return self._course.why_not(waits=True) is None and standing.keepable(self.history) is not None

    @property
    def can_go_on(self) -> bool:
        """Whether `go_on` would do something."""
        return self._course.why_not(waits=True) is None and standing.unfinished(self.history) is not None

    @property
    def left_out(self) -> int:
        """How many of the branch's first messages its requests leave out; 0 = it is sent whole."""
        return self._sent.left_out

    def shortenings(self) -> tuple[Shortening, ...]:
        """How the pending turn could send less, the longest first; empty where nothing can be left out."""
        return self._sent.ways()

    def is_free(self) -> bool:
        """Whether nothing runs here that a command must not disturb; else that is told (`refused`)."""
        return self._course.may()

    def siblings(self, entry_id: str) -> tuple[str, ...]:
        """The alternatives to a reply or a prompt, oldest first, itself included (behaviour N1)."""
        return self._live.tree.siblings(entry_id)

    def regenerate_blocked(self) -> str | None:
        """Why the newest reply cannot be regenerated now; None = it can."""
        return self._course.why_not() or self._course.why_no_other_reply()

    # -- commands: the turn

    def send(self, text: str, delivery: Delivery = Delivery.STEER) -> bool:
        """Start a turn, or while one runs keep the message for its delivery (behaviour I4). False = not taken.

        What is not taken is `send_refused`; the same text again, before it could be stored, is not said twice.
        """
        return self._course.send(text, delivery)

    def resend(self, prompt_id: str, text: str) -> bool:
        """Start a turn with `text` in the place of an earlier prompt, which stays as its sibling (behaviour B9).

        False = not taken; until it is `version_stored` the text is the caller's.
        """
        return self._course.resend(prompt_id, text)

    @Slot()
    def stop(self) -> None:
        """Answer an open question with Stop, else cancel the wait, else stop the turn, else nothing (behaviour D6, D7).

        A prompt on its way to the disk gets there first: the turn ends before anything is sent. Queued messages are
        `text_returned`.
        """
        self._course.stop()

    @Slot()
    def retry(self) -> None:
        """Retry now during a countdown, else go on with the pending turn; nothing while a turn runs (behaviour B3)."""
        self._course.retry()

    def retry_after(self, delay_s: float, *, resume: bool = False) -> None:
        """Retry the pending turn in `delay_s` seconds, as one of several retries that begin in a row (behaviour D3).

        With `resume` it goes on from the words under the prompt, where there are any.
        """
        self._course.retry_after(delay_s, resume=resume)

    @Slot()
    def wait_as_asked(self) -> None:
        """Let the pending turn wait as long as its provider asks for, then retry it (behaviour D3); else nothing."""
        self._course.wait_as_asked()

    def retry_with(self, model: ModelRef) -> None:
        """Retry the pending turn with another model; a wait is ended for it (behaviour N4)."""
        self._course.retry_with(model)

    def shorten(self, left_out: int) -> None:
        """From here on leave the branch's first messages out of requests, and retry; nothing of them is lost (N4)."""
        self._sent.shorten(left_out)

    @Slot()
    def send_all(self) -> None:
        """Take `shorten` back: from the next turn on the branch is sent whole."""
        if self._sent.send_all():
            self.history_changed.emit()

    @Slot()
    def go_on(self) -> None:
        """Go on from the words under the pending prompt, else from a reply that stops short; a wait ends for it."""
        self._course.go_on()

    def regenerate(self, reply_id: str | None = None) -> None:
        """Another reply beside this one, or (None) beside the newest; it stands until there is one (behaviour D20)."""
        self._course.regenerate(reply_id)

    def answer(self, answer: Answer) -> None:
        """Settle the open question; nothing when none is open."""
        self._question.answer(answer)

    # -- commands: the branch

    @Slot()
    def keep(self) -> None:
        """Make what stands under the pending prompt the reply; a wait is ended for it (behaviour D5)."""
        self._branches.keep()

    @Slot()
    def take_back(self) -> None:
        """Take the pending prompt off the branch and give its text back, the queue's behind it (behaviour D6, B10)."""
        self._branches.take_back()

    def step_branch(self, entry_id: str, by: int) -> None:
        """Show the next (1) or previous (-1) alternative to a reply or prompt, where it stood last (behaviour N1, B8).

        Nothing at the ends.
        """
        self._branches.step(entry_id, by)

    def choose_model(self, model: ModelRef) -> None:
        """From here on `model` answers; recorded in the log once the session is stored (behaviour P10, S5).

        A turn that runs goes on with the model it has.
        """
        if model != self.model:
            self._course.choices.choose_model(model)
            self._look()
            self._course.record_choices()

    def set_policy(self, name: str | None) -> None:
        """From here on the session has this retry policy, or (None) that of the settings; for turns to come (D2)."""
        if name is not None and name not in tuple(PolicyName):
            self.refused.emit(f"There is no retry policy called {name}.")
        elif name != self.policy_name:
            self._course.choices.choose(_POLICY, name)
            self._course.record_choices()

    # -- its life

    def retitle(self, title: str) -> None:
        """The session has another title, and it is stored."""
        self._live.retitle(title)
        self._look()

    async def load(self) -> None:
        """Read the end of the history, the rest behind it; a retry not yet due counts down (D8). Raises LogError."""
        await self._live.load()
        self._course.loaded()

    async def close(self) -> None:
        """End what runs because the program closes, within 1 s: interrupted, with what arrived; waits stay so."""
        await self._course.close()

    async def end(self) -> None:
        """End what runs because the session goes, within 1 s: as stopped, and nothing is begun any more."""
        await self._course.end()

    def subscribe(self, callback: Callable[[TurnEvent], None]) -> Callable[[], None]:
        """Let `callback` have every event, after the signals; returns what ends it. One that raises changes nothing."""
        return self._listeners.add(callback)

    # -- within

    def _tell(self, event: TurnEvent) -> None:
        self._look()
        if isinstance(event, DeltaArrived):
            self.delta_arrived.emit(event.delta)
        elif (name := SIGNAL_OF.get(type(event))) is not None:
            getattr(self, name).emit(event)
        self._listeners.tell(event)

    def _look(self) -> None:
        """Tell what is another than it was told."""
        if (state := self.state) != self._told_state:
            self._told_state = state
            self.state_changed.emit(state)
        if self._live.take_news():
            self.history_changed.emit()
            self.queue.look()
            self._reading.look()
        if (title := self.title) != self._told_title:
            self._told_title = title
            self.title_changed.emit(title)
        if (model := self.model) is not None and model != self._told_model:
            self._told_model = model
            self.model_changed.emit(model)
