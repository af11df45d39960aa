"""The composer's text field: plain text on the 22 px grid, Enter to send, safe with input methods."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from reprise.ui.manuscript import Manuscript
from reprise.ui.style import Appearance
from reprise.ui.theme import Type, baseline_in

ONE_LINE = 1_000  # characters: more are wider than any composer
HUGE = 20_000  # characters: more than 40 % of any window holds
CARET_ROOM = 4  # pixels beside the text, so that the caret of an empty line stands before it and not on it


class Editor(QTextEdit):
    """What is written next. Its documents live as long as their sessions are known, each with its own undo history.

    Signals:
        submitted(): Enter was pressed outside an input method's composition.
        submitted_later(): so was Alt+Enter.
        recall_wanted(): Up was pressed in an empty field.
        escaped(): Esc was pressed while `takes_escape`.
        swelling(): a text of at least `HUGE` characters comes in next; a size taken now saves laying it out twice.
    """

    submitted = Signal()
    submitted_later = Signal()
    recall_wanted = Signal()
    escaped = Signal()
    swelling = Signal()

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._between = QTextDocument(self)
        self._composing = False
        self._caret_on = True
        self._invitation = ""
        self.takes_escape = False
        """Whether Esc is for what is written here, before it is for what runs (behaviour D7)."""
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setCursorWidth(0)
        # Whoever asks Qt for a viewport that Qt made waits until PySide has made every class of widget there is.
        viewport = QWidget()
        viewport.setCursor(Qt.CursorShape.IBeamCursor)
        viewport.setMouseTracking(True)
        viewport.setAcceptDrops(True)
        self.setViewport(viewport)
        self._blink = QTimer(self)
        self._blink.timeout.connect(self._toggle_caret)
        self.cursorPositionChanged.connect(self._show_caret)
        look.changed.connect(self.restyle)

    @property
    def is_composing(self) -> bool:
        """True while an input method composes."""
        return self._composing

    @property
    def is_blank(self) -> bool:
        """True while nothing but white space is written."""
        document = self.document()
        starts = (document.characterAt(at) for at in range(min(ONE_LINE, document.characterCount())))
        return all(map(str.isspace, starts)) and not self.toPlainText().strip()  # a long text is rarely read whole

    def invite(self, text: str) -> None:
        """What stands in an empty field; it is its accessible name as well."""
        self._invitation = text
        self.setAccessibleName(text)
        self.viewport().update()

    def new_document(self, text: str) -> Manuscript:
        """A document of the composer's type; filling it is no step of its undo history."""
        document = Manuscript(self._look.theme.font(Type.BODY), self.parent())
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        frame = document.rootFrame().frameFormat()
        frame.setLeftMargin(CARET_ROOM)
        frame.setRightMargin(CARET_ROOM)
        document.rootFrame().setFrameFormat(frame)
        document.expect(text)
        cursor = QTextCursor(document)
        cursor.setBlockFormat(self._block_format())
        cursor.insertText(text)
        document.setUndoRedoEnabled(True)
        document.setModified(False)
        return document

    def toPlainText(self) -> str:
        """What its document says is written."""
        return self.document().toPlainText()

    def setDocument(self, document: QTextDocument) -> None:
        """Show `document` with the wrap mode it has: an editor gives its own to what it shows, laying it all out."""
        super().setDocument(self._between)  # the one shown before keeps its mode too
        self.setWordWrapMode(document.defaultTextOption().wrapMode())
        super().setDocument(document)

    def restyle(self) -> None:
        """Take the theme's font for the shown document."""
        self.setFont(self._look.theme.font(Type.BODY))
        document = self.document()
        if isinstance(document, Manuscript):
            document.use_font(self._look.theme.font(Type.BODY))
        self.setCursorWidth(0)  # our own caret; each document brings Qt's back
        self.viewport().update()

    @property
    def lead(self) -> int:
        """Pixels above the first line's text that put it in the middle of its 22 px."""
        font = self._look.theme.font(Type.BODY)
        return max(0, baseline_in(font, self._look.theme.line(Type.BODY)) - round(QFontMetricsF(font).ascent()))

    def new_line(self) -> None:
        """Begin a new line where the cursor is."""
        self.textCursor().insertBlock()
        self.ensureCursorVisible()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._composing:
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.new_line()
            elif event.modifiers() & Qt.KeyboardModifier.AltModifier:
                self.submitted_later.emit()
            elif not event.isAutoRepeat():
                self.submitted.emit()
            return
        if event.key() == Qt.Key.Key_Escape and self.takes_escape and not self._composing:
            self.escaped.emit()
            return
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() == Qt.Key.Key_Up and plain and not self._composing and self.document().isEmpty():
            self.recall_wanted.emit()
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and (self._composing or self.takes_escape)
        ):
            event.accept()  # Esc ends the composition or the edit, never the turn (behaviour D7)
            return True
        return super().event(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        self.setCursorWidth(1 if self._composing else 0)
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            text = source.text()
            if len(text) >= HUGE:
                self.swelling.emit()
                document = self.document()
                if isinstance(document, Manuscript):
                    document.expect(text)
            self.textCursor().insertText(text)
            self.ensureCursorVisible()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._show_caret()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._composing = False
        self._blink.stop()
        super().focusOutEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.document().isEmpty() and not self._composing:
            theme = self._look.theme
            font = theme.font(Type.BODY)
            metrics = QFontMetricsF(font)
            area = self.viewport().rect().adjusted(CARET_ROOM, 0, -CARET_ROOM, 0)
            painter = QPainter(self.viewport())
            painter.setFont(font)
            painter.setPen(theme.color("muted"))
            words = metrics.elidedText(self._invitation, Qt.TextElideMode.ElideRight, area.width())
            left = area.left() if self.isLeftToRight() else round(area.right() - metrics.horizontalAdvance(words))
            painter.drawText(left, round(metrics.ascent()), words)
            painter.end()
        if self._caret_on and self.hasFocus() and not self._composing:
            theme = self._look.theme
            rect = self.cursorRect()
            painter = QPainter(self.viewport())
            height = QFontMetricsF(theme.font(Type.BODY)).height()
            left = max(0, CARET_ROOM - theme.px(3)) if rect.left() <= CARET_ROOM else rect.left()
            painter.fillRect(left, rect.top(), theme.px(2), round(height), theme.color("accent"))
            painter.end()

    def _show_caret(self) -> None:
        self._caret_on = True
        flash = QGuiApplication.styleHints().cursorFlashTime()
        if self.hasFocus() and flash > 0:
            self._blink.start(flash // 2)
        self.viewport().update()

    def _toggle_caret(self) -> None:
        if not self._look.moves:
            self._blink.stop()
            return
        self._caret_on = not self._caret_on
        self.viewport().update()

    def _block_format(self) -> QTextBlockFormat:
        # A share of the font's height, not pixels: it then fits every zoom without a step in the undo history.
        theme = self._look.theme
        share = 100 * theme.line(Type.BODY) / QFontMetricsF(theme.font(Type.BODY)).height()
        made = QTextBlockFormat()
        made.setLineHeight(max(100.0, share), QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        return made
