"""Connects the shown Conversation with the page: timeline, banner, card and composer."""

from __future__ import annotations

from datetime import timedelta
from weakref import WeakSet

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.domain.deltas import RecastDelta, TextDelta, ThinkingDelta
from reprise.domain.events import AttemptFailed, AttemptStarted, Outcome, TurnFinished
from reprise.domain.failures import Failure
from reprise.domain.messages import ModelRef, Role
from reprise.domain.ports import Catalog, Clock
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, Entry, answered_entry, newest_partial
from reprise.domain.turns import AwaitingAnswer
from reprise.ui.announce import announce
from reprise.ui.attempt_details import Details
from reprise.ui.composer import Turn
from reprise.ui.language import clock_time, counted, duration, tr
from reprise.ui.page import Page
from reprise.ui.pending_card import PendingCard
from reprise.ui.question_card import QuestionCard
from reprise.ui.style import Appearance
from reprise.ui.timeline import Timeline, TimelineItem
from reprise.ui.timeline_items import items_of, partial_deltas
from reprise.ui.words import attempt_rows, cut_note, pending_sentence, refusal

WAIT_SHOWN_AFTER_S = 3
STALL_SHOWN_AFTER_S = 20
FEW = 3
"""More fresh messages than this come from a history that was read, not from a turn that goes on."""


class ConversationView(QObject):
    """Shows one conversation at a time and takes what the person does to it.

    Signals:
        changed(): something the commands depend on changed.
        key_entered(str): another key was given in the card; the turn is retried right after.
    """

    changed = Signal()
    key_entered = Signal(str)

    def __init__(self, look: Appearance, page: Page, library: Library, catalog: Catalog, clock: Clock) -> None:
        super().__init__(page)
        self._look, self._page, self._library, self._catalog, self._clock = look, page, library, catalog, clock
        self._shown: Conversation | None = None
        self._connected: list[tuple[SignalInstance, object]] = []
        self._known: WeakSet[Conversation] = WeakSet()
        self._items: list[TimelineItem] = []
        self._card_key: object = None
        self._card: QWidget | None = None
        self._waiting_shown = False
        self.timeline = Timeline(look.theme, look.icons.pixmap, page)
        self.timeline.setAccessibleName(tr("Conversation"))
        page.set_timeline(self.timeline, lambda: self.timeline.column_left)
        self.timeline.at_tail_changed.connect(self._tail_changed)
        page.jump_wanted.connect(self.timeline.jump_to_latest)
        page.composer.submitted.connect(self._send)
        page.composer.stop_requested.connect(self._stop)
        page.composer.draft_changed.connect(library.save_draft)
        page.banner.retry_now.connect(lambda: self.conversation.retry())
        page.banner.cancelled.connect(lambda: self.conversation.stop())
        page.banner.extended.connect(lambda seconds: self.conversation.retry_manager.extend(seconds))
        self._tick = QTimer(self)  # asks the Clock; measures nothing itself
        self._tick.setInterval(1000)
        self._tick.timeout.connect(self._show_waiting)
        look.changed.connect(lambda: self.timeline.set_theme(look.theme))
        library.current_changed.connect(self.show)
        self.show(library.current)

    @property
    def conversation(self) -> Conversation:
        """The conversation that is shown."""
        return self._shown if self._shown is not None else self._library.current

    def show(self, conversation: Conversation) -> None:
        """Show a conversation in place of the one before."""
        for signal, slot in self._connected:
            signal.disconnect(slot)
        self._connected.clear()
        self._shown = conversation
        gate = conversation.retry_manager
        for signal, slot in (
            (conversation.state_changed, self._state_changed),
            (conversation.history_changed, self._history_changed),
            (conversation.attempt_started, self._attempt_started),
            (conversation.delta_arrived, self._delta_arrived),
            (conversation.attempt_failed, self._attempt_failed),
            (conversation.turn_finished, self._turn_finished),
            (conversation.question_asked, self._question_changed),
            (conversation.question_settled, self._question_changed),
            (conversation.model_changed, self._model_changed),
            (gate.countdown_started, self._countdown_started),
            (gate.countdown_changed, self._page.banner.show_seconds),
            (gate.pending_changed, self._pending_changed),
            (gate.retry_started, self._wait_ended),
            (gate.cancelled, self._wait_ended),
        ):
            signal.connect(slot)
            self._connected.append((signal, slot))
        if conversation not in self._known:
            self._known.add(conversation)
            session = conversation.session_id
            conversation.prompt_stored.connect(lambda text: self._page.composer.forget(session, text))
            conversation.send_refused.connect(lambda text, failure: self._refused(session, text, failure))
        self._page.composer.show_session(conversation.session_id, self._library.draft(conversation.session_id))
        self._page.say("")
        self._rebuild()
        self._settle()

    def model_label(self, ref: ModelRef | None) -> str:
        """What the picker calls a model."""
        if ref is None:
            return ""
        return next((info.label for info in self._catalog.models() if info.ref == ref), ref.model)

    def place(self, ref: ModelRef | None) -> str:
        """What the provider of a model is called."""
        if ref is None:
            return ""
        return next((info.provider_label for info in self._catalog.models() if info.ref == ref), "") or ref.provider

    # -- what the person does

    def _send(self, text: str) -> None:
        if self.conversation.send(text):
            self.timeline.jump_to_latest()

    def _stop(self) -> None:
        self.conversation.stop()

    def _key_entered(self, key: str) -> None:
        self.key_entered.emit(key)
        self.conversation.retry()

    # -- what the conversation says

    def _refused(self, session: str, text: str, failure: Failure) -> None:
        # First the text: writing takes the sentence away.
        self._page.composer.give_back(session, text)
        if session == self.conversation.session_id:
            self._page.say(refusal(failure))

    def _history_changed(self) -> None:
        wanted = items_of(self.conversation.history, self.model_label)
        shown = self._items
        fresh = wanted[len(shown) :]
        if not shown or len(fresh) > FEW or len(wanted) < len(shown) or wanted[: len(shown)] != shown:
            self._rebuild()
        else:
            for item in fresh:
                live = self.timeline.has_reply
                if item.message.role is Role.ASSISTANT and live:
                    self.timeline.finish_reply(item)
                else:
                    if live:
                        self.timeline.drop_reply()
                    self.timeline.append_item(item)
            self._items = wanted
        self._settle()

    def _attempt_started(self, event: AttemptStarted) -> None:
        attempt = event.entry.data
        label = self.model_label(attempt.model) if isinstance(attempt, Attempt) else ""
        self.timeline.begin_reply(event.entry.id, label)

    def _delta_arrived(self, delta: object) -> None:
        if isinstance(delta, TextDelta | ThinkingDelta | RecastDelta):
            self._no_waiting()
            self.timeline.feed(delta)

    def _attempt_failed(self, _event: AttemptFailed) -> None:
        self._keep_partial()

    def _turn_finished(self, event: TurnFinished) -> None:
        self._no_waiting()
        if event.outcome is not Outcome.COMPLETED:
            self._keep_partial()
        said = {Outcome.COMPLETED: tr("Reply finished"), Outcome.STOPPED: tr("Turn stopped")}
        announce(self.timeline, said.get(event.outcome, tr("The turn failed and can be retried")))
        self._settle()

    def _state_changed(self, _state: object) -> None:
        self._settle()

    def _question_changed(self, *_: object) -> None:
        self._settle()

    def _model_changed(self, _model: object) -> None:
        self._settle()

    def _countdown_started(self, pending: PendingRetry) -> None:
        seconds = self.conversation.retry_manager.seconds_left or 0
        self._page.banner.start(pending, seconds, self.place(self.conversation.model))
        self._keep_partial(noted=True)
        text = counted(seconds, tr("Retrying in 1 second"), tr("Retrying in {n} seconds"))
        announce(self._page.banner, text)
        self._settle()

    def _wait_ended(self, *_: object) -> None:
        self._page.banner.end()
        self._settle()

    def _pending_changed(self, _pending: object) -> None:
        self._settle()

    # -- showing

    def _attempts(self) -> tuple[Entry, ...]:
        history = self.conversation.history
        asked = answered_entry(history.branch)
        return history.attempts.get(asked.id, ()) if asked is not None else ()

    def _keep_partial(self, *, noted: bool = False) -> None:
        """Dim what the newest attempt that said something left; without one nothing stands under the prompt."""
        if not self.timeline.has_reply:
            return
        entry = newest_partial(self._attempts())
        if entry is not None and isinstance(entry.data, Attempt):
            self.timeline.fail_reply(cut_note(entry.data) if noted else "")
        else:
            self.timeline.drop_reply()

    def _rebuild(self) -> None:
        conversation = self.conversation
        self._items = items_of(conversation.history, self.model_label)
        self.timeline.set_items(self._items)
        entry = newest_partial(self._attempts())
        if conversation.partial is not None:
            self.timeline.begin_reply(f"{conversation.session_id}.live", self.model_label(conversation.model))
            for delta in partial_deltas(conversation.partial.parts()):
                self.timeline.feed(delta)
        elif entry is not None and isinstance(entry.data, Attempt) and conversation.pending is not None:
            self.timeline.begin_reply(entry.id, self.model_label(entry.data.model))
            for delta in partial_deltas(entry.data.parts):
                self.timeline.feed(delta)
            self._keep_partial(noted=conversation.retry_manager.is_counting)
        gate = conversation.retry_manager
        if gate.is_counting and conversation.pending is not None:
            self._page.banner.start(conversation.pending, gate.seconds_left or 0, self.place(conversation.model))
        else:
            self._page.banner.end()

    def _settle(self) -> None:
        """Everything that follows from the state: page, card, composer, tick, commands."""
        conversation = self.conversation
        empty = conversation.is_loaded and not self._items and not conversation.is_busy
        self._page.show_empty(empty)
        self._page.jump.setVisible(not empty and not self.timeline.is_at_tail)
        if conversation.question_rounds is not None or isinstance(conversation.state, AwaitingAnswer):
            turn = Turn.ASKING
        elif conversation.retry_manager.is_counting:
            turn = Turn.COUNTING
        else:
            turn = Turn.BUSY if conversation.is_busy else Turn.IDLE
        self._page.composer.set_turn(turn)
        if conversation.waiting_since is not None:
            self._tick.start()
        else:
            self._tick.stop()
            self._no_waiting()
        self._show_card()
        self.changed.emit()

    def _show_card(self) -> None:
        conversation = self.conversation
        pending = conversation.pending
        attempts = self._attempts()
        if conversation.question_rounds is not None:
            key: object = (conversation.session_id, conversation.question_rounds)
        elif pending is not None and not conversation.is_busy and not conversation.retry_manager.is_counting:
            key = (conversation.session_id, pending, len(attempts))
        else:
            key = None
        if key == self._card_key:
            return
        self._card_key = key
        old = self._card
        self._card = None
        if conversation.question_rounds is not None:
            question = QuestionCard(self._look, conversation.question_rounds, self.timeline.viewport())
            question.answered.connect(conversation.answer)
            self._card = question
        elif key is not None and pending is not None:
            self._card = self._pending_card(pending, attempts)
        self.timeline.set_card(self._card)
        if old is not None:
            old.deleteLater()

    def _pending_card(self, pending: PendingRetry, entries: tuple[Entry, ...]) -> PendingCard:
        found = [entry.data for entry in entries if isinstance(entry.data, Attempt)]
        model = found[-1].model if found else self.conversation.model
        partial = newest_partial(entries)
        kept = partial.data.parts if partial is not None and isinstance(partial.data, Attempt) else ()
        said = pending_sentence(pending, self.place(model), found, kept, self._clock.utc())
        details = Details(pending.failure, self.place(model), model.model if model else "", attempt_rows(entries))
        asked_s = pending.ask_s
        until = clock_time(self._clock.utc() + timedelta(seconds=asked_s)) if asked_s is not None else ""
        card = PendingCard(self._look, said, details, self.timeline.viewport(), until=until)
        card.waited.connect(lambda: self.conversation.wait_as_asked())
        card.retried.connect(lambda: self.conversation.retry())
        card.key_entered.connect(self._key_entered)
        return card

    def _show_waiting(self) -> None:
        since = self.conversation.waiting_since
        partial = self.conversation.partial
        if since is None:
            return
        waited = int(self._clock.now() - since)
        text: str | None = None
        if partial is None or partial.is_empty:
            if waited >= WAIT_SHOWN_AFTER_S:
                model = self.model_label(self.conversation.model)
                text = tr("Waiting for {model}, {wait}").format(model=model, wait=duration(waited))
        elif waited >= STALL_SHOWN_AFTER_S:
            text = tr("No data for {wait}. Stop keeps what is here.").format(wait=duration(waited))
        if text is not None or self._waiting_shown:
            self._waiting_shown = text is not None
            self.timeline.set_wait_text(text)

    def _no_waiting(self) -> None:
        if self._waiting_shown:
            self._waiting_shown = False
            self.timeline.set_wait_text(None)

    def _tail_changed(self, at_tail: bool) -> None:
        self._page.jump.setVisible(not at_tail and not self._page.first_run.isVisible())
