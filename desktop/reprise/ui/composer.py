"""The composer: it grows with its text, never eats it, and turns Send into Stop in the same place."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QWidget

from reprise.ui.controls import Button, Kind, Text
from reprise.ui.editor import CARET_ROOM, HUGE, ONE_LINE, Editor
from reprise.ui.language import shortcut_text, tr
from reprise.ui.painting import box, mirrored
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

if TYPE_CHECKING:
    from reprise.domain.ports import Draft

DRAFT_DELAY_MS = 500
MANY_LINES = 100  # more than 40 % of any window shows


class Turn(StrEnum):
    """What the session is doing, as far as the composer cares."""

    IDLE = "idle"
    BUSY = "busy"
    ASKING = "asking"
    COUNTING = "counting"


def _edit_key(session: str) -> str:
    return f"edit {session}"


class Composer(QWidget):
    """The field and its button in one box of at least 48 px.

    Signals:
        submitted(str): the text to send; it stays until `forget`. While something runs it steers.
        followed_up(str): the text to send once what runs has ended.
        edited(str): the text to store in the place of what is being edited.
        edited_otherwise(str): the same, to be delivered at the other time; only of what can be edited `any_time`.
        edit_given_up(): Esc was pressed in such an edit.
        edit_ended(): the edit was given up or stored.
        recall_wanted(): the last prompt is to be edited.
        stop_requested(): the Stop button was pressed.
        refused(str): why Enter kept the text ("" takes the sentence away).
        draft_changed(str session, object): a Draft or None, about half a second after the last key.
    """

    submitted = Signal(str)
    followed_up = Signal(str)
    edited = Signal(str)
    edited_otherwise = Signal(str)
    edit_given_up = Signal()
    edit_ended = Signal()
    recall_wanted = Signal()
    stop_requested = Signal()
    refused = Signal(str)
    draft_changed = Signal(str, object)

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._turn = Turn.IDLE
        self._limit = 0
        self._swelling = False
        self._session = ""
        self._editing: dict[str, bool] = {}
        self._documents: dict[str, QTextDocument] = {}
        self._cursors: dict[str, int] = {}
        self.editor = Editor(look, self)
        self.editor.setObjectName("composer")
        self.editor.submitted.connect(self.submit)
        self.editor.submitted_later.connect(self._submit_later)
        self.editor.recall_wanted.connect(self._recall)
        self.editor.escaped.connect(self.edit_given_up)
        self.editor.textChanged.connect(self._text_changed)
        self.editor.swelling.connect(self._make_room)
        self.hint = Text(look, "", Type.SMALL, "muted", parent=self)
        self.hint.hide()
        self.button = Button(look, kind=Kind.PRIMARY, icon="send", icon_px=18, height=32, parent=self)
        self.button.setObjectName("sendButton")
        self.button.clicked.connect(self._press)
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(DRAFT_DELAY_MS)
        self._debounce.timeout.connect(self.flush_draft)
        look.changed.connect(self._restyle)
        self.show_session("", None)
        self.set_model("")
        self._restyle()

    def text(self) -> str:
        """What is written."""
        return self.editor.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is written, as one step of the undo history."""
        cursor = QTextCursor(self.editor.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self.editor.moveCursor(QTextCursor.MoveOperation.End)

    def show_session(self, session: str, draft: Draft | None) -> None:
        """Show a session's own text; `draft` fills it the first time. The one shown before is saved first.

        What was written before there was a session goes into the first one, behind its draft.
        """
        early = ""
        if session and not self._session:
            early = self.text()
            self._debounce.stop()  # a draft belongs to a session
        self._leave()
        self._session = session
        if session not in self._documents:
            written = "\n\n".join(text for text in (draft.text if draft else "", early) if text)
            self._add_document(session, written, len(written) if early else draft.cursor if draft else 0)
        self._show_document()
        if early:
            self._debounce.start()

    @property
    def is_editing(self) -> bool:
        """True while something that was sent is being edited."""
        return self._session in self._editing

    def begin_edit(self, text: str, *, any_time: bool = False) -> None:
        """Put what was sent into the field, beside what is written there, which comes back afterwards (B9).

        `any_time`: it can be stored while a turn runs. An edit that is not finished stays as it is.
        """
        if self.is_editing:
            self.editor.setFocus()
            return
        self._leave()
        self._editing[self._session] = any_time
        self._add_document(self._key, text, len(text))
        self._show_document()
        self.editor.setFocus()

    def end_edit(self, session: str) -> None:
        """The edit of `session` is stored or given up; what was written before is there again."""
        if session not in self._editing:
            return
        if session == self._session:
            self._debounce.stop()
        key = _edit_key(session)
        del self._editing[session]
        document = self._documents.pop(key)
        if session == self._session:
            self._show_document()
        document.deleteLater()
        self.draft_changed.emit(key, None)
        self.edit_ended.emit()

    def edit_text(self, session: str) -> str:
        """What stands in the edit of `session`; "" when there is none."""
        return self._documents[_edit_key(session)].toPlainText() if session in self._editing else ""

    @property
    def _key(self) -> str:
        """Under which the shown text is kept. That of an edit is of no session: after a crash it turns up by itself."""
        return _edit_key(self._session) if self.is_editing else self._session

    def _leave(self) -> None:
        self.flush_draft()
        self._cursors[self._key] = self.editor.textCursor().position()

    def _show_document(self) -> None:
        document = self._documents[self._key]
        self.editor.blockSignals(True)
        self.editor.setDocument(document)
        self.editor.restyle()
        cursor = QTextCursor(document)
        cursor.setPosition(min(self._cursors[self._key], document.characterCount() - 1))
        self.editor.setTextCursor(cursor)
        self.editor.blockSignals(False)
        self._settle()

    def forget(self, session: str, text: str) -> None:
        """`text` of `session` is stored: take it away unless another was typed meanwhile. Undo brings it back."""
        document = self._documents.get(session)
        if document is None or document.toPlainText() != text:
            return
        cursor = QTextCursor(document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.removeSelectedText()
        self._cursors[session] = 0
        self.draft_changed.emit(session, None)

    def give_back(self, session: str, text: str) -> None:
        """`text` of `session` could not be sent: it is there to be sent again, unless something else is written."""
        if session not in self._documents:
            self._add_document(session, "", 0)
        document = self._documents[session]
        if not text.strip() or document.toPlainText().strip():
            return
        cursor = QTextCursor(document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self._note_text(session, cursor)

    def put_before(self, session: str, text: str) -> None:
        """`text` comes back to `session`, ahead of what is written there (behaviour I5)."""
        document = self._documents.get(session)
        if document is None or not text:
            return
        if session == self._key and text.count("\n") > MANY_LINES:
            self._make_room()  # a size taken now saves laying it out twice
        cursor = QTextCursor(document)
        cursor.insertText(text if document.isEmpty() else f"{text}\n\n")
        self._note_text(session, cursor)

    def _note_text(self, session: str, cursor: QTextCursor) -> None:
        from reprise.domain.ports import Draft  # nothing is sent before the first paint

        self._cursors[session] = cursor.position()
        if session == self._key:
            self.editor.setTextCursor(cursor)
        self.draft_changed.emit(session, Draft(self._documents[session].toPlainText(), cursor.position()))

    def set_turn(self, turn: Turn) -> None:
        """What the session is doing now."""
        if turn is not self._turn:
            self._turn = turn
            self.refused.emit("")
            self._settle()

    def set_model(self, label: str) -> None:
        """Whom the placeholder names."""
        text = tr("Message {model}").format(model=label) if label else tr("Message")
        self.editor.invite(text)

    def set_limit(self, height: int) -> None:
        """The most the box may grow to (40 % of the window)."""
        self._limit = height
        self._settle()

    def flush_draft(self) -> None:
        """Save now what is waiting to be saved."""
        if self._debounce.isActive():
            from reprise.domain.ports import Draft  # nothing is typed before the first paint

            self._debounce.stop()
            text = self.text()
            draft = Draft(text, self.editor.textCursor().position()) if text else None
            self.draft_changed.emit(self._key, draft)

    def let_go(self) -> None:
        """Nobody is there any more to keep a draft."""
        self._debounce.stop()
        self.editor.setReadOnly(True)

    def submit(self) -> None:
        """Send what is written, or say why it stays; blank text is ignored."""
        text = self.text()
        if not text.strip():
            return
        if (why := self._why_kept()) is not None:
            self.refused.emit(why)
        elif self.is_editing:
            self.edited.emit(text)
        else:
            self.submitted.emit(text)

    def submit_blocked(self) -> str | None:
        """Why nothing can be sent now, or None when it can."""
        return tr("Nothing is written yet.") if self.editor.is_blank else self._why_kept()

    @property
    def stops(self) -> bool:
        """True while the button is Stop."""
        return self._turn in (Turn.BUSY, Turn.ASKING) and self.editor.is_blank

    def _add_document(self, session: str, text: str, position: int) -> None:
        self._documents[session] = self.editor.new_document(text)
        self._cursors[session] = position

    def _press(self) -> None:
        if self.stops:
            self.stop_requested.emit()
        else:
            self.submit()

    def _why_kept(self) -> str | None:
        if self._turn is Turn.IDLE or self._editing.get(self._session, True):
            return None
        return tr("The reply is still on its way. Your text stays here until it is done.")

    def _submit_later(self) -> None:
        """Alt+Enter: a follow-up while something runs, the other time for what waits already, else a new line."""
        text = self.text()
        if self._editing.get(self._session) and text.strip():
            self.edited_otherwise.emit(text)
        elif self._turn is Turn.IDLE or self.is_editing:
            self.editor.new_line()
        elif text.strip():
            self.followed_up.emit(text)

    def _recall(self) -> None:
        if not self.is_editing:
            self.recall_wanted.emit()

    def _text_changed(self) -> None:
        self._debounce.start()
        self.refused.emit("")
        self._swelling = False
        self._settle()

    def _settle(self) -> None:
        stops = self.stops
        self.button.set_icon(*(("stop", 22) if stops else ("send", 18)))
        self.button.setEnabled(stops or not self.editor.is_blank)
        self.editor.takes_escape = self._editing.get(self._session, False)
        name = tr("Stop") if stops else tr("Send")
        self.button.setAccessibleName(name)
        self.button.setToolTip(f"{name}  {shortcut_text('Esc' if stops else 'Return')}")
        ends = tr("{key} gives up the edit") if self.editor.takes_escape else tr("{key} stops")
        self.hint.setText(ends.format(key=shortcut_text("Esc")))
        self.hint.setVisible(self.editor.takes_escape or self._turn in (Turn.BUSY, Turn.ASKING))
        self._place()

    def _make_room(self) -> None:
        self._swelling = True
        self._place()

    def _place(self) -> None:
        theme = self._look.theme
        px = theme.px
        line, side, gap = theme.line(Type.BODY), px(32), px(8)
        hint = self.hint.sizeHint().width() + px(12) if not self.hint.isHidden() else 0
        inner = self.width() - 2 * px(16)
        beside = inner - side + px(8) - px(12) - hint
        metrics = QFontMetricsF(theme.font(Type.BODY))
        document = self.editor.document()
        several = self._swelling or document.characterCount() > ONE_LINE
        if not several:
            text = self.text()
            several = "\n" in text or metrics.horizontalAdvance(text) > beside - px(2)
        width = inner if several else beside
        top = px(13)
        below = gap + side + gap if several else px(13)
        most = max(1, (self._limit - top - below) // line) if self._limit else 0
        if most and (self._swelling or document.characterCount() > HUGE or document.blockCount() > most):
            lines = most + 1  # more than it shows, whatever the measure: the size would be the whole text's layout
        else:
            if document.textWidth() != width + 2 * CARET_ROOM:  # setting it lays everything out anew
                document.setTextWidth(width + 2 * CARET_ROOM)
            lines = max(1, round(document.size().height() / line))
        most = most or lines
        shown = min(lines, most)
        lead = self.editor.lead
        self.editor.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOn if lines > most else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        rect = QRect(px(16), top + lead, width + (px(8) if lines > most else 0), shown * line)
        self.editor.setGeometry(self._mirrored(rect).adjusted(-CARET_ROOM, 0, CARET_ROOM, 0))
        height = max(px(48), top + shown * line + below)
        button = QRect(self.width() - gap - side, height - gap - side, side, side)
        self.button.setGeometry(self._mirrored(button))
        size = self.hint.sizeHint()
        self.hint.setGeometry(
            self._mirrored(QRect(button.left() - px(12) - size.width(), button.top(), size.width(), side))
        )
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)

    def _mirrored(self, rect: QRect) -> QRect:
        return mirrored(rect, self.width(), self.isLeftToRight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.editor.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(12), theme.color("surface"), theme.color("border_strong"))
        painter.end()

    def _restyle(self) -> None:
        self.editor.restyle()
        self._settle()
        self.update()
