"""The empty page: which model answers, whether it is there yet, three things it does well, and the way to another."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QScrollArea, QVBoxLayout, QWidget

from reprise.ui.controls import Glyph, Text
from reprise.ui.focus import show_ring
from reprise.ui.language import tr
from reprise.ui.painting import box, label, rule
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

COLUMN = 760
NARROW = 640


def starters() -> list[tuple[str, str, bool]]:
    """Three things even a small model does well: what is shown, the prompt, and whether it goes out at once."""
    return [
        (tr("Explain a word to a child"), tr('Explain the word "horizon" to a child in three sentences.'), True),
        (tr("List ideas for a rainy Sunday"), tr("List five ideas for a rainy Sunday."), True),
        (tr("Summarise a text that I paste"), tr("Summarise this text in two sentences:\n\n"), False),
    ]


class FirstRun(QWidget):
    """Shown while a chat is empty.

    Signals:
        starter_chosen(str prompt, bool send): a starter was pressed.
        own_model_wanted(): "Use your own model..." was pressed.
    """

    starter_chosen = Signal(str, bool)
    own_model_wanted = Signal()

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("firstRun")
        self._look = look
        self._builtin = True
        self._state = ("starting", 0, 0, "")
        self._side = 0
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.viewport().setAutoFillBackground(False)
        self._body = QWidget()
        self._body.setAutoFillBackground(False)
        self._column = QVBoxLayout(self._body)
        self._top = QHBoxLayout()
        self._logo = Glyph(look, "reprise", "accent", 40, self)
        self._title = Text(look, "", Type.DISPLAY, wrap=True, parent=self)
        self._title.setObjectName("firstRunTitle")
        self._lead = Text(look, "", Type.BODY, "muted", wrap=True, parent=self)
        self._lead.setObjectName("firstRunLead")
        self._cards = QHBoxLayout()
        self._left = _Titled(look, tr("Built in"), self)
        self._right = _Titled(look, tr("Another model"), self)
        self._model = _ModelRow(look, self._left.card)
        self._left.card.column.addWidget(self._model)
        self._starters: list[_Row] = []
        for index, (text, prompt, send) in enumerate(starters()):
            row = _Row(look, text, parent=self._left.card)
            row.setObjectName(f"starter{index + 1}")
            row.clicked.connect(lambda _checked=False, p=prompt, s=send: self.starter_chosen.emit(p, s))
            self._left.card.column.addWidget(row)
            self._starters.append(row)
        own = _Row(look, tr("Use your own model…"), icon="plus", accent=True, parent=self._right.card)
        own.setObjectName("ownModelButton")
        own.clicked.connect(self.own_model_wanted)
        self._right.card.column.addWidget(own)
        self._cards.addWidget(self._left, 1, Qt.AlignmentFlag.AlignTop)
        self._cards.addWidget(self._right, 1, Qt.AlignmentFlag.AlignTop)
        self._column.addStretch(76)
        self._column.addLayout(self._top)
        self._top.addWidget(self._logo)
        self._top.addStretch(1)
        self._column.addWidget(self._title)
        self._column.addWidget(self._lead)
        self._column.addLayout(self._cards)
        self._column.addStretch(166)
        self._scroll.setWidget(self._body)
        look.changed.connect(self._restyle)
        self.set_builtin_state(*self._state)
        self._restyle()

    def set_builtin_state(self, kind: str, done: int, total: int, sentence: str) -> None:
        """How the built-in model is.

        `kind` is ``fetching`` (`done` of `total` bytes), ``starting``, ``ready``, ``unavailable`` or, where no model
        matters, ``unusable`` (`sentence` says why). `sentence`, when given, stands under the model's name.
        """
        self._state = (kind, done, total, sentence)
        self._model.show_state(kind, done, total, sentence)
        if not self._builtin:
            return
        titles = {
            "ready": tr("Ready when you are"),
            "unavailable": tr("Choose a model to begin"),
            "unusable": tr("Nothing can be sent"),
        }
        leads = {
            "ready": tr("A small model runs on this computer; nothing you write leaves it."),
            "unavailable": tr("The built-in model cannot run here. Use one of your own; its settings take a minute."),
            "unusable": sentence,
        }
        self._title.setText(titles.get(kind, tr("Ready in a moment")))
        self._lead.setText(
            leads.get(
                kind,
                tr(
                    "A small model is on its way; it runs on this computer. Write your first message now, and it is "
                    "answered as soon as the model is here."
                ),
            )
        )

    def set_model(self, label_: str, place: str, builtin: bool) -> None:
        """Which model answers; one that is not built in has no progress to show."""
        self._left.heading.setText(tr("Built in") if builtin else tr("To begin with"))
        self._model.setVisible(builtin)
        self._builtin = builtin
        for index, row in enumerate(self._starters):
            row.stand(under_icon=builtin, first=index == 0 and not builtin)
        if builtin:
            self.set_builtin_state(*self._state)
        else:
            self._title.setText(tr("{model} answers here").format(model=label_))
            self._lead.setText(
                tr("Write a message, or begin with one of these. It goes to {place}.").format(place=place)
            )

    def set_side(self, side: int) -> None:
        """How far the column's outer edge is from the page's."""
        self._side = side
        self._margins()

    def rows(self) -> list[QWidget]:
        """What can be pressed, in reading order."""
        return list(self.findChildren(_Row))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._scroll.setGeometry(self.rect())
        self._margins()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._look.theme.color("page"))
        painter.end()

    def _margins(self) -> None:
        px = self._look.theme.px
        side = self._side or max(px(16), (self.width() - px(COLUMN)) // 2)
        self._column.setContentsMargins(side, px(16), side, px(16))
        narrow = self.width() < px(NARROW)
        wanted = QHBoxLayout.Direction.TopToBottom if narrow else QHBoxLayout.Direction.LeftToRight
        if self._cards.direction() != wanted:
            self._cards.setDirection(wanted)

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._column.setSpacing(0)
        self._top.setContentsMargins(px(11), 0, 0, 0)  # its ink, not its box, stands on the text edge
        for widget, top in ((self._title, 20), (self._lead, 6)):
            widget.setContentsMargins(px(16), px(top), px(16), 0)
        self._cards.setContentsMargins(0, px(28), 0, 0)
        self._cards.setSpacing(px(16))
        self._margins()


class _Titled(QWidget):
    def __init__(self, look: Appearance, heading: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._layout = column
        self.heading = Text(look, heading, Type.SMALL, "muted", weight=600, parent=self)
        self.card = _Card(look, self)
        column.addWidget(self.heading)
        column.addWidget(self.card)
        look.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        px = self._look.theme.px
        self.heading.setContentsMargins(px(16), 0, 0, 0)
        self._layout.setSpacing(px(8))


class _Card(QWidget):
    def __init__(self, look: Appearance, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(1, 1, 1, 1)
        self.column.setSpacing(0)
        look.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        box(painter, self.rect(), theme.px(10), theme.color("surface"), theme.color("border_strong"))
        painter.end()


class _ModelRow(QWidget):
    """The built-in model's name, what it is good for, and how much of it is here."""

    def __init__(self, look: Appearance, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self.setObjectName("builtinRow")
        self._row = QHBoxLayout(self)
        self._icon = Glyph(look, "model", "muted", 20, self)
        self._column = QVBoxLayout()
        self._top = QHBoxLayout()
        self._name = Text(look, "SmolLM2 135M", Type.TITLE, parent=self)
        self._size = Text(look, "", Type.SMALL, "muted", tabular=True, parent=self)
        self._size.setObjectName("builtinSize")
        self._what = Text(look, "", Type.UI, "muted", wrap=True, parent=self)
        self._what.setObjectName("builtinSentence")
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Fetching the built-in model"))
        self._top.addWidget(self._name)
        self._top.addStretch(1)
        self._top.addWidget(self._size)
        self._column.addLayout(self._top)
        self._column.addWidget(self._what)
        self._gap = QVBoxLayout()
        self._gap.addWidget(self._bar)
        self._column.addLayout(self._gap)
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addLayout(self._column, 1)
        look.changed.connect(self._restyle)
        self._restyle()

    def show_state(self, kind: str, done: int, total: int, sentence: str) -> None:
        """See `FirstRun.set_builtin_state`."""
        fetching = kind == "fetching"
        self._what.setText(sentence or tr("Small and quick, for trying things out"))
        self._bar.setVisible(fetching)
        self._gap.setContentsMargins(0, self._look.theme.px(6) if fetching else 0, 0, 0)
        if fetching:
            # Kilobytes: the bar counts in 32 bits.
            self._bar.setRange(0, max(0, total // 1024))
            self._bar.setValue(min(done, total) // 1024)
        locale = QLocale()
        self._size.setText(
            tr("{done} of {total} MB").format(
                done=locale.toString(round(done / 1e6)), total=locale.toString(round(total / 1e6))
            )
            if fetching and total
            else tr("starting")
            if kind == "starting"
            else ""
        )

    def _restyle(self) -> None:
        px = self._look.theme.px
        self._row.setContentsMargins(px(15), px(13), px(15), px(16))
        self._row.setSpacing(px(12))
        self._column.setSpacing(0)
        self._gap.setContentsMargins(0, 0 if self._bar.isHidden() else px(6), 0, 0)


class _Row(QPushButton):
    """A full-width row with a hairline above it."""

    def __init__(
        self, look: Appearance, text: str, *, icon: str | None = None, accent: bool = False, parent: QWidget
    ) -> None:
        super().__init__(text, parent)
        self._look, self._icon, self._accent = look, icon, accent
        self._under_icon, self._first = True, False
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        look.changed.connect(self._restyle)
        self._restyle()

    def stand(self, *, under_icon: bool, first: bool) -> None:
        """Begin under a model's name or on the text edge; the first row of a card has no line above it."""
        self._under_icon, self._first = under_icon, first
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        show_ring(self, self._look, event.reason())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        px = theme.px
        painter = QPainter(self)
        if self.isDown() or self.underMouse():
            inner = self.rect().adjusted(px(3), px(2), -px(3), -px(2))
            box(painter, inner, px(6), theme.color("pressed" if self.isDown() else "hover"))
        left = px(47 if self._under_icon else 15)
        if not self._accent and not self._first:
            rule(painter, left, self.width(), 0, theme.color("border"))
        if self._icon:
            side = px(18)
            pixmap = self._look.icons.pixmap(self._icon, "accent", side, self.devicePixelRatioF())
            painter.drawPixmap(px(16), (self.height() - side) // 2, pixmap)
        weight = 500 if self._accent else None
        area = self.rect().adjusted(left, 0, -px(36), 0)
        font = theme.font(Type.TITLE if self._accent else Type.UI, weight=weight)
        label(painter, area, self.text(), font, theme.color("accent" if self._accent else "text"))
        if not self._accent:
            side = px(14)
            pixmap = self._look.icons.pixmap("chevron-right", "muted", side, self.devicePixelRatioF())
            painter.drawPixmap(self.width() - px(15) - side, (self.height() - side) // 2, pixmap)
        painter.end()

    def _restyle(self) -> None:
        self.setFixedHeight(self._look.theme.px(44 if self._accent else 32))
        self.update()
