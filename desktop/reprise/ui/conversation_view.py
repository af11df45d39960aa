"""Connects the shown Conversation with the page: timeline, banner, card and composer."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakSet

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QGuiApplication

from reprise.bridge.conversation import Conversation
from reprise.bridge.library import Library
from reprise.bridge.standing import is_answering
from reprise.domain.deltas import RecastDelta, TextDelta, ThinkingDelta
from reprise.domain.events import AttemptFailed, AttemptStarted, Outcome, TurnFinished
from reprise.domain.failures import Failure
from reprise.domain.messages import Message, ModelRef, Part
from reprise.domain.ports import Catalog, Clock
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, Delivery, Entry, Queued, answered_entry, newest_partial, prompt_entry
from reprise.domain.turns import AwaitingAnswer
from reprise.ui.announce import announce
from reprise.ui.composer import Turn
from reprise.ui.edits import Edit, Edits
from reprise.ui.history_feed import HistoryFeed
from reprise.ui.language import counted, tr
from reprise.ui.page import Page
from reprise.ui.report import report_of
from reprise.ui.silence import Silence
from reprise.ui.style import Appearance
from reprise.ui.timeline import Timeline
from reprise.ui.timeline_items import (
    BACK,
    CONTINUE,
    EDIT,
    FORK,
    KEEP,
    REGENERATE,
    REPORT,
    SEND_ALL,
    Telling,
    partial_deltas,
)
from reprise.ui.turn_card import TurnCard
from reprise.ui.words import cut_note, failure_sentence, open_wait_words, refusal


class ConversationView(QObject):
    """Shows one conversation at a time and takes what the person does to it.

    Signals:
        changed(): something the commands depend on changed.
        key_entered(str): another key was given in the card; the turn is retried right after.
        page_wanted(str): a page of the provider's, from our own table, is to be opened.
    """

    changed = Signal()
    key_entered = Signal(str)
    page_wanted = Signal(str)

    def __init__(self, look: Appearance, page: Page, library: Library, catalog: Catalog, clock: Clock) -> None:
        super().__init__(page)
        self._look, self._page, self._library, self._catalog, self._clock = look, page, library, catalog, clock
        self._shown: Conversation | None = None
        self._connected: list[tuple[SignalInstance, object]] = []
        self._known: WeakSet[Conversation] = WeakSet()
        self._edits = Edits(page)
        self.timeline = Timeline(look.theme, look.icons.pixmap, page)
        self.timeline.setAccessibleName(tr("Conversation"))
        self._feed = HistoryFeed(self.timeline, self._telling)
        page.set_timeline(self.timeline, lambda: self.timeline.column_left)
        self.timeline.at_tail_changed.connect(self._tail_changed)
        self.timeline.copying.connect(lambda lasts: page.say(tr("Collecting what is copied…") if lasts else ""))
        page.jump_wanted.connect(self.timeline.jump_to_latest)
        self._card = TurnCard(look, self.timeline, catalog, clock, self.place)
        self._card.key_entered.connect(self._key_entered)
        self._card.edit_wanted.connect(self.edit)
        self._card.page_wanted.connect(self.page_wanted)
        self._tray = page.add_tray()
        self._tray.edit_cancelled.connect(self._edits.give_up)
        self._tray.edit_wanted.connect(self.edit_queued)
        self._tray.removed.connect(lambda key: self.conversation.queue.remove(key))
        self.timeline.note_link.connect(self._note_pressed)
        self.timeline.action_wanted.connect(self._action_pressed)
        self.timeline.branch_wanted.connect(lambda key, by: self.conversation.step_branch(key, by))
        page.composer.submitted.connect(self._send)
        page.composer.followed_up.connect(lambda text: self.conversation.send(text, Delivery.FOLLOW_UP))
        self._edits.resent.connect(self.timeline.jump_to_latest)
        page.composer.edit_ended.connect(self._settle)
        page.composer.recall_wanted.connect(self.edit_last)
        page.composer.stop_requested.connect(self._stop)
        page.composer.draft_changed.connect(library.save_draft)
        page.banner.retry_now.connect(lambda: self.conversation.retry())
        page.banner.cancelled.connect(lambda: self.conversation.stop())
        page.banner.extended.connect(lambda seconds: self.conversation.retry_manager.extend(seconds))
        self._silence = Silence(self.timeline, clock, self.model_label)
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
            (conversation.reading.extended, self._feed.extend),
            (conversation.attempt_started, self._attempt_started),
            (conversation.delta_arrived, self._delta_arrived),
            (conversation.attempt_failed, self._attempt_failed),
            (conversation.turn_finished, self._turn_finished),
            (conversation.question_asked, self._question_changed),
            (conversation.question_settled, self._question_changed),
            (conversation.model_changed, self._model_changed),
            (conversation.queue.changed, self._show_tray),
            (conversation.refused, self._page.say),
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
            edits = self._edits
            conversation.version_stored.connect(lambda prompt: edits.version_stored(session, prompt))
            conversation.version_refused.connect(lambda _, failure: edits.version_refused(session, failure))
            conversation.queue.edited.connect(lambda message, text: edits.changed(session, message, text))
            conversation.queue.left.connect(lambda ids, delivered: edits.left(session, ids, delivered=delivered))
            conversation.text_returned.connect(lambda text: self._page.composer.put_before(session, text))
        self._page.composer.show_session(conversation.session_id, self._library.draft(conversation.session_id))
        self._rebuild()
        self._settle()
        self._edits.show(conversation)

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

    def edit(self, prompt: str) -> None:
        """Put a prompt of the shown branch into the composer, to send another version of it (behaviour B9)."""
        for entry in self.conversation.history.branch:
            if entry.id == prompt and isinstance(entry.data, Message):
                self._edits.begin(self.conversation.session_id, Edit(prompt, entry.data.text, waits=False))
                self._settle()

    def edit_queued(self, message: str) -> None:
        """Put a message that waits into the composer, to be stored in its place (behaviour I5)."""
        for entry in self.conversation.queue.entries():
            if entry.id == message and isinstance(queued := entry.data, Queued):
                follows_up = queued.delivery is Delivery.FOLLOW_UP
                edit = Edit(message, queued.message.text, waits=True, follows_up=follows_up)
                self._edits.begin(self.conversation.session_id, edit)
                self._settle()

    def edit_last(self) -> None:
        """Edit the last prompt of the shown branch; nothing while a turn runs."""
        last = prompt_entry(self.conversation.history.branch)
        if last is not None and not self.conversation.is_busy:
            self.edit(last.id)

    def _action_pressed(self, key: str, action: str) -> None:
        if action == EDIT:
            self.edit(key)
        elif action == REGENERATE:
            self.conversation.regenerate(key)
        elif action == FORK:
            self._library.fork(self.conversation.session_id, key)

    def _note_pressed(self, _key: str, action: str) -> None:
        conversation = self.conversation
        if action == KEEP:
            conversation.keep()
        elif action == CONTINUE:
            conversation.go_on()
        elif action == SEND_ALL:
            conversation.send_all()
        elif action == BACK:
            if conversation.switched_from is not None:
                conversation.choose_model(conversation.switched_from)
        elif action.startswith(f"{REPORT}:"):
            wanted = action.partition(":")[2]
            found = [entry for under in conversation.history.attempts.values() for entry in under if entry.id == wanted]
            QGuiApplication.clipboard().setText(report_of(found))

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
        if not self._feed.update():
            self._rebuild()
        elif not self.timeline.has_reply and not self.conversation.is_busy:
            self._show_left()  # that of another version
        self._settle()

    def _telling(self, conversation: Conversation) -> Telling:
        beside = conversation.beside
        return Telling(
            self.model_label,
            conversation.siblings,
            None if beside is None else beside.id,
            conversation.can_go_on and not conversation.is_busy,
            conversation.model,
            conversation.left_out,
        )

    def _attempt_started(self, event: AttemptStarted) -> None:
        attempt = event.entry.data
        label = self.model_label(attempt.model) if isinstance(attempt, Attempt) else ""
        self.timeline.begin_reply(event.entry.id, label)

    def _delta_arrived(self, delta: object) -> None:
        if isinstance(delta, TextDelta | ThinkingDelta | RecastDelta):
            self._silence.end()
            self.timeline.feed(delta)

    def _attempt_failed(self, _event: AttemptFailed) -> None:
        self._keep_partial()

    def _turn_finished(self, event: TurnFinished) -> None:
        self._silence.end()
        if event.outcome is not Outcome.COMPLETED:
            self._keep_partial()
        said = {Outcome.COMPLETED: tr("Reply finished"), Outcome.STOPPED: tr("Turn stopped")}
        announce(self.timeline, said.get(event.outcome, tr("The turn failed and can be retried")))
        if event.pending is None and event.failure is not None:
            # A version beside a reply that stands: no card, since nothing waits (behaviour D20).
            why = failure_sentence(event.failure, self.place(self.conversation.model)).title
            self._page.say(tr("There is no other version. {why}").format(why=why))
        self._history_changed()

    def _state_changed(self, _state: object) -> None:
        if self.conversation.beside is not None:
            self._history_changed()  # the reply that is answered anew makes room
        else:
            self._settle()

    def _question_changed(self, *_: object) -> None:
        self._settle()

    def _model_changed(self, _model: object) -> None:
        self._history_changed()

    def _countdown_started(self, pending: PendingRetry) -> None:
        seconds = self.conversation.retry_manager.seconds_left
        self._page.banner.start(pending, seconds, self.place(self.conversation.model))
        self._keep_partial(noted=True)
        if seconds is None:
            text = open_wait_words(pending)
        else:
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
        self._feed.show(conversation)
        self._show_left()
        partial = conversation.partial
        # The history is ahead of what is told: the partial may be a message of it already, or a failed attempt.
        if partial is not None and is_answering(conversation.history):
            self._begin(f"{conversation.session_id}.live", conversation.model, partial.parts())
        gate = conversation.retry_manager
        if gate.is_counting and conversation.pending is not None:
            self._page.banner.start(conversation.pending, gate.seconds_left, self.place(conversation.model))
        else:
            self._page.banner.end()

    def _show_left(self) -> None:
        entry = newest_partial(self._attempts())
        if entry is not None and isinstance(entry.data, Attempt):
            self._begin(entry.id, entry.data.model, entry.data.parts)
            self._keep_partial(noted=self.conversation.retry_manager.is_counting)

    def _begin(self, key: str, model: ModelRef | None, parts: Sequence[Part]) -> None:
        self.timeline.begin_reply(key, self.model_label(model))
        for delta in partial_deltas(parts):
            self.timeline.feed(delta)

    def _settle(self) -> None:
        """Everything that follows from the state: page, card, composer, tick, commands."""
        conversation = self.conversation
        empty = conversation.is_loaded and self._feed.is_empty and not conversation.is_busy
        self._page.show_empty(empty)
        self._page.jump.setVisible(not empty and not self.timeline.is_at_tail)
        if conversation.question_rounds is not None or isinstance(conversation.state, AwaitingAnswer):
            turn = Turn.ASKING
        elif conversation.retry_manager.is_counting:
            turn = Turn.COUNTING
        else:
            turn = Turn.BUSY if conversation.is_busy else Turn.IDLE
        self._page.composer.set_turn(turn)
        self._silence.watch(conversation)
        self._card.settle(conversation, self._attempts())
        self._show_tray()
        self.changed.emit()

    def _show_tray(self) -> None:
        conversation = self.conversation
        edit = self._edits.of(conversation.session_id)
        self._tray.tell(
            self._edits.sentence(conversation.session_id),
            conversation.queue.entries(),
            edited=edit.entry if edit is not None else "",
        )

    def _tail_changed(self, at_tail: bool) -> None:
        self._page.jump.setVisible(not at_tail and not self._page.first_run.isVisible())
