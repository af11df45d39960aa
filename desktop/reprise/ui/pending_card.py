"""The pending card: what happened in one sentence, what is safe, the fix first, and Details in place."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from reprise.domain.failures import Failure, FailureKind
from reprise.domain.models import ModelInfo
from reprise.domain.shortening import Shortening
from reprise.ui.attempt_details import AttemptDetails, Details
from reprise.ui.controls import Button, Glyph, Kind, Text
from reprise.ui.flow import FlowRow
from reprise.ui.key_field import KeyField
from reprise.ui.language import tr
from reprise.ui.menus import add_choice, make_menu
from reprise.ui.painting import box
from reprise.ui.style import Appearance
from reprise.ui.theme import Type
from reprise.ui.words import Sentence, kept_sentence, tokens_sentence

_OTHERS_CAN = frozenset({FailureKind.QUOTA, FailureKind.CONTEXT_LENGTH, FailureKind.CONTENT_FILTER})


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be done beside Retry; `models` are the others that could answer.

    `billing_page` is where the provider's empty account is topped up, `shortenings` are the ways to send less of a
    chat that is too long, the longest first.
    After a stop (`is_stopped`) it is the person's own doing: no other model and no other wording is called for.
    """

    models: tuple[ModelInfo, ...] = ()
    can_edit: bool = False
    can_keep: bool = False
    can_go_on: bool = False
    billing_page: str = ""
    shortenings: tuple[Shortening, ...] = ()
    is_stopped: bool = False


class PendingCard(QWidget):
    """One card under the prompt of a pending turn.

    Signals:
        retried(): Retry was pressed.
        waited(): the wait the provider asks for is accepted.
        key_entered(str): another key was given; Retry is meant as well.
        billing_wanted(str): this page is to be opened.
        shortened(int): so many of the first messages are to be left out; Retry is meant as well.
        model_wanted(ModelRef): this model shall try.
        edited(): the prompt is to be changed.
        taken_back(): the prompt is to leave the chat.
        kept(): what arrived is to be the reply.
        continued(): what arrived is to be gone on from.
    """

    retried = Signal()
    waited = Signal()
    key_entered = Signal(str)
    billing_wanted = Signal(str)
    shortened = Signal(int)
    model_wanted = Signal(object)
    edited = Signal()
    taken_back = Signal()
    kept = Signal()
    continued = Signal()

    def __init__(
        self,
        look: Appearance,
        said: Sentence,
        details: Details,
        parent: QWidget | None = None,
        *,
        until: str = "",
        offer: Offer | None = None,
    ) -> None:
        """`until` is the clock time of a wait the provider asks for; "" when it asks for none."""
        super().__init__(parent)
        self.setObjectName("pendingCard")
        self.setAccessibleName(f"{said.title} {said.advice}".strip())
        self._look = look
        self._details = details
        self._opened: AttemptDetails | None = None
        failure = details.failure
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._head = QHBoxLayout()
        self._icon = Glyph(look, said.icon, "warn" if said.icon != "stop" else "muted", 20, self)
        self._body = QVBoxLayout()
        self._body.setSpacing(0)
        self.title = Text(look, said.title, Type.BODY, weight=600, wrap=True, parent=self)
        self.title.setObjectName("pendingTitle")
        self.advice = Text(look, said.advice, Type.UI, "muted", wrap=True, parent=self)
        self.advice.setObjectName("pendingAdvice")
        self.advice.setVisible(bool(said.advice))
        self._field: KeyField | None = None
        self._buttons = QWidget(self)
        self.toggle = Button(
            look, tr("Details"), kind=Kind.PLAIN, chevron="chevron-down", padding=8, quiet=True, parent=self
        )
        self._row = FlowRow(self._buttons, self.toggle)
        self.enter_key: Button | None = None
        offer = offer or Offer()
        has_fix = self._add_fix(failure, until, offer)
        # Where trying again cannot help and nothing mends it, another model can: it comes first.
        needs_other = not has_fix and failure is not None and failure.kind in _OTHERS_CAN and bool(offer.models)
        if needs_other:
            self._add_other_model(offer.models, Kind.PRIMARY)
            has_fix = True
        self.retry = Button(
            look,
            tr("Retry now") if until else tr("Retry"),
            kind=Kind.FRAMED if has_fix else Kind.PRIMARY,
            icon=None if has_fix else "retry",
            parent=self,
        )
        self.retry.setObjectName("retryButton")
        self.retry.clicked.connect(self.retried)
        self._row.addWidget(self.retry)
        self._add_offers(offer, has_other=needs_other)
        self.toggle.setObjectName("detailsButton")
        self.toggle.clicked.connect(self.toggle_details)
        self.toggle.setVisible(failure is not None or len(details.attempts) > 1)
        self._row.addWidget(self.toggle)
        for widget in (self.title, self.advice, self._buttons):
            self._body.addWidget(widget)
        self._beside = QVBoxLayout()
        self._beside.addWidget(self._icon)
        self._beside.addStretch(1)
        self._head.addLayout(self._beside)
        self._head.addLayout(self._body, 1)
        self._column.addLayout(self._head)
        look.changed.connect(self._restyle)
        self._restyle()

    def _add_fix(self, failure: Failure | None, until: str, offer: Offer) -> bool:
        """What mends this failure, as the first button; False where nothing does."""
        primary = Kind.PRIMARY
        if failure is not None and failure.kind is FailureKind.AUTH:
            self.enter_key = self._offer(tr("Enter key…"), "enterKeyButton", kind=primary, icon="key")
            self.enter_key.clicked.connect(self.open_key_field)
        elif until:
            wait = self._offer(
                tr("Wait until {time}").format(time=until), "waitUntilButton", kind=primary, icon="clock"
            )
            wait.clicked.connect(self.waited)
        elif offer.billing_page:
            bill = self._offer(tr("Open billing page"), "billingButton", kind=primary, icon="external")
            bill.clicked.connect(lambda: self.billing_wanted.emit(offer.billing_page))
        elif offer.shortenings:
            shorten = self._offer(tr("Shorten context…"), "shortenButton", kind=primary)
            menu = make_menu(shorten)
            menu.setObjectName("shortenMenu")
            for way in offer.shortenings:
                action = menu.addAction(f"{kept_sentence(way)}\t{tokens_sentence(way.tokens)}")
                action.triggered.connect(lambda _checked=False, count=way.left_out: self.shortened.emit(count))
            shorten.clicked.connect(lambda: menu.popup(shorten.mapToGlobal(QPoint(0, shorten.height() + 4))))
        else:
            return False
        return True

    def _add_other_model(self, models: tuple[ModelInfo, ...], kind: Kind) -> None:
        other = self._offer(tr("Other model"), "otherModelButton", kind=kind, chevron="chevron-down")
        menu = make_menu(other)
        for info in models:
            action = add_choice(menu, info.label, info.provider_label, enabled=True, checked=False)
            action.triggered.connect(lambda _checked=False, ref=info.ref: self.model_wanted.emit(ref))
        other.clicked.connect(lambda: menu.popup(other.mapToGlobal(QPoint(0, other.height() + 4))))

    def _add_offers(self, offer: Offer, *, has_other: bool) -> None:
        """What else can be done, after Retry."""
        stopped = offer.is_stopped
        if offer.models and not stopped and not has_other:
            self._add_other_model(offer.models, Kind.FRAMED)
        keep = (tr("Keep partial"), "keepPartialButton", self.kept, offer.can_keep)
        edit = (tr("Edit"), "editPromptButton", self.edited, offer.can_edit and not stopped)
        take = (tr("Take back"), "takeBackButton", self.taken_back, offer.can_edit)
        go_on = (tr("Continue"), "continueButton", self.continued, offer.can_go_on)
        for text, name, signal, can in (keep, go_on, take) if stopped else (edit, take, keep, go_on):
            if can:
                self._offer(text, name).clicked.connect(signal)

    def _offer(
        self, text: str, name: str, *, kind: Kind = Kind.FRAMED, icon: str | None = None, chevron: str | None = None
    ) -> Button:
        button = Button(self._look, text, kind=kind, icon=icon, chevron=chevron, parent=self)
        button.setObjectName(name)
        self._row.addWidget(button)
        return button

    def toggle_details(self) -> None:
        """Open or close Details in place."""
        if self._opened is not None:
            self._opened.hide()
            self._column.removeWidget(self._opened)
            self._opened.deleteLater()
            self._opened = None
        else:
            self._opened = AttemptDetails(self._look, self._details, self)
            self._column.addWidget(self._opened)
            self._opened.show()
        self.toggle.chevron = "chevron-up" if self._opened else "chevron-down"
        self.toggle.update()
        self._relayout()

    def open_key_field(self) -> None:
        """Show the field for another key inside the card, in place of the buttons."""
        if self._field is not None:
            return
        self._field = KeyField(self._look, self._details.provider, self)
        self._field.accepted.connect(self.key_entered)
        self._field.cancelled.connect(self._close_key_field)
        self._buttons.hide()
        self.advice.hide()
        self._body.addWidget(self._field)
        self._field.show()
        self._field.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._relayout()

    @property
    def key_line(self) -> QLineEdit | None:
        """The open key field."""
        return self._field.line if self._field else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._field is not None:
            self._close_key_field()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(10), theme.color("surface"), theme.color("border_strong"))
        painter.end()

    def _close_key_field(self) -> None:
        if self._field is None:
            return
        self._field.hide()
        self._body.removeWidget(self._field)
        self._field.deleteLater()
        self._field = None
        self._buttons.show()
        self.advice.setVisible(bool(self.advice.text()))
        if self.enter_key:
            self.enter_key.setFocus()
        self._relayout()

    def _relayout(self) -> None:
        self._column.invalidate()
        self.updateGeometry()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._column.setContentsMargins(0, 0, 0, 0)
        # Details' words end on the text edge; its hover box goes beyond by its padding.
        self._head.setContentsMargins(px(14), px(15), px(6), px(16))
        self.title.setContentsMargins(0, 0, px(10), 0)
        self._head.setSpacing(px(14))
        self._beside.setContentsMargins(0, px(1), 0, 0)
        self.advice.setContentsMargins(0, px(3), px(10), 0)
        self._row.setContentsMargins(0, px(12 if self.advice.text() else 15), px(10), 0)
        self._row.overhang = px(10)
        self._row.setSpacing(px(8))
        self._relayout()
        self.update()
