"""The card under the last message: what is pending and what can be done about it, or what the turn asks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from reprise.bridge.conversation import Conversation
from reprise.domain.failures import FailureKind
from reprise.domain.messages import ModelRef
from reprise.domain.ports import Catalog, Clock
from reprise.domain.retry import PendingRetry
from reprise.domain.sessions import Attempt, AttemptState, Entry, newest_partial, prompt_entry
from reprise.ui.attempt_details import Details
from reprise.ui.language import clock_time
from reprise.ui.pending_card import Offer, PendingCard
from reprise.ui.question_card import QuestionCard
from reprise.ui.report import report_of
from reprise.ui.style import Appearance
from reprise.ui.timeline import Timeline
from reprise.ui.words import again_sentence, attempt_rows, pending_sentence


class TurnCard(QObject):
    """Keeps the timeline's card true to the conversation; no card outlives its turn (behaviour D20).

    Signals:
        key_entered(str): another key was given in the card; the turn is to be retried with it.
        edit_wanted(str): the prompt with this entry id is to be edited.
        page_wanted(str): this page of the provider's is to be opened.
    """

    key_entered = Signal(str)
    edit_wanted = Signal(str)
    page_wanted = Signal(str)

    def __init__(
        self,
        look: Appearance,
        timeline: Timeline,
        catalog: Catalog,
        clock: Clock,
        place: Callable[[ModelRef | None], str],
    ) -> None:
        super().__init__(timeline)
        self._look, self._timeline, self._catalog, self._clock, self._place = look, timeline, catalog, clock, place
        self._key: object = None
        self._card: QWidget | None = None

    @property
    def card(self) -> QWidget | None:
        """The card that is shown, if one is."""
        return self._card

    def settle(self, conversation: Conversation, attempts: tuple[Entry, ...]) -> None:
        """Show the card the conversation needs now; the same one stays as it is, with what is open or typed in it."""
        pending, rounds = conversation.pending, conversation.question_rounds
        if rounds is not None:
            key: object = (conversation.session_id, rounds)
        elif pending is not None and not conversation.is_busy and not conversation.retry_manager.is_counting:
            key = (conversation.session_id, pending, len(attempts), conversation.model)
        else:
            key = None
        if key == self._key:
            return
        self._key = key
        old, self._card = self._card, None
        if rounds is not None:
            question = QuestionCard(self._look, rounds, self._timeline.viewport())
            question.answered.connect(conversation.answer)
            self._card = question
        elif key is not None and pending is not None:
            self._card = self._pending_card(conversation, pending, attempts)
        self._timeline.set_card(self._card)
        if old is not None:
            old.deleteLater()

    def _pending_card(
        self, conversation: Conversation, pending: PendingRetry, entries: tuple[Entry, ...]
    ) -> PendingCard:
        found = [entry.data for entry in entries if isinstance(entry.data, Attempt)]
        model = found[-1].model if found else conversation.model
        partial = newest_partial(entries)
        kept = partial.data.parts if partial is not None and isinstance(partial.data, Attempt) else ()
        place = self._place(model)
        kind = None if pending.failure is None else pending.failure.kind
        shorter = conversation.shortenings() if kind is FailureKind.CONTEXT_LENGTH else ()
        said = pending_sentence(pending, place, found, kept, self._clock.utc(), can_shorten=bool(shorter))
        name = model.model if model else ""
        report = report_of(entries) if entries else ""
        details = Details(pending.failure, place, name, attempt_rows(entries), report, again_sentence(pending, found))
        asked_s = pending.ask_s
        until = clock_time(self._clock.utc() + timedelta(seconds=asked_s)) if asked_s is not None else ""
        prompt = prompt_entry(conversation.history.branch)
        models = self._catalog.models()
        others = tuple(info for info in models if info.unavailable is None and info.ref != conversation.model)
        pages = [info.billing_page for info in models if info.ref == model and kind is FailureKind.QUOTA]
        offer = Offer(
            others,
            can_edit=prompt is not None and not pending.after_tools,
            can_keep=conversation.can_keep,
            can_go_on=conversation.can_go_on,
            billing_page=next(iter(pages), ""),
            shortenings=shorter,
            is_stopped=pending.failure is None and (not found or found[-1].state is AttemptState.STOPPED),
        )
        card = PendingCard(self._look, said, details, self._timeline.viewport(), until=until, offer=offer)
        card.waited.connect(conversation.wait_as_asked)
        card.retried.connect(conversation.retry)
        card.key_entered.connect(self.key_entered)
        card.model_wanted.connect(conversation.retry_with)
        card.billing_wanted.connect(self.page_wanted)
        card.shortened.connect(conversation.shorten)
        card.kept.connect(conversation.keep)
        card.continued.connect(conversation.go_on)
        card.taken_back.connect(conversation.take_back)
        if prompt is not None:
            card.edited.connect(lambda: self.edit_wanted.emit(prompt.id))
        return card
