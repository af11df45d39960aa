"""The header: sidebar toggle, title (renamed in place), model picker, and the button behind which the menus are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedLayout, QWidget

from reprise.ui.controls import Button, Elided, Kind
from reprise.ui.language import tr
from reprise.ui.painting import rule
from reprise.ui.style import Appearance
from reprise.ui.theme import Type

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from reprise.domain.messages import ModelRef
    from reprise.domain.models import ModelInfo
    from reprise.ui.title_field import TitleField


class Header(QWidget):
    """One line of 48 px.

    Signals:
        sidebar_toggled(): the sidebar button was pressed.
        model_chosen(ModelRef): from the picker.
        renamed(str): another title was typed.
        picker_opening(): the picker wants fresh models before its list opens.
    """

    sidebar_toggled = Signal()
    model_chosen = Signal(object)
    renamed = Signal(str)
    picker_opening = Signal()

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._models: tuple[ModelInfo, ...] = ()
        self._model: ModelRef | None = None
        self._label = ""
        self._menu: QMenu | None = None
        self.toggle = Button(look, kind=Kind.ICON, icon="sidebar", icon_px=18, height=32, parent=self)
        self.toggle.setObjectName("sidebarButton")
        self.toggle.setAccessibleName(tr("Sidebar"))
        self.toggle.clicked.connect(self.sidebar_toggled)
        self.title = Elided(look, Type.TITLE, parent=self)
        self.title.setObjectName("chatTitle")
        self._field: TitleField | None = None
        self.picker = Button(look, kind=Kind.PLAIN, chevron="chevron-down", height=32, padding=8, parent=self)
        self.picker.setObjectName("modelPicker")
        self.picker.setAccessibleName(tr("Model"))
        self.picker.clicked.connect(self.open_picker)
        self.more = Button(look, kind=Kind.ICON, icon="more", icon_px=18, height=32, parent=self)
        self.more.setObjectName("moreButton")
        self.more.setAccessibleName(tr("Menu"))
        self._row = QHBoxLayout(self)
        self._place = titles = QWidget(self)
        titles.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._titles = QStackedLayout(titles)
        self._titles.addWidget(self.title)
        for widget in (self.toggle, titles, self.picker, self.more):
            self._row.addWidget(widget, 1 if widget is titles else 0, Qt.AlignmentFlag.AlignVCenter)
        look.changed.connect(self._restyle)
        self._restyle()

    def set_title(self, title: str) -> None:
        """Show the session's title."""
        self.title.set_text(title)

    def set_models(self, models: tuple[ModelInfo, ...], current: ModelRef | None) -> None:
        """What the picker offers, and which one answers."""
        self._models, self._model = models, current
        label = next((info.label for info in models if info.ref == current), current.model if current else "")
        self._label = label or tr("Choose a model")
        self._fit()
        self.picker.setAccessibleName(tr("Model: {label}").format(label=label or tr("none")))

    def open_picker(self) -> None:
        """Open the list of models under the button."""
        from reprise.ui.menus import add_choice, make_menu  # not needed for the first paint

        self.picker_opening.emit()
        menu = make_menu(self)
        menu.setObjectName("modelList")
        for info in self._models:
            aside = info.unavailable or info.provider_label
            action = add_choice(
                menu,
                info.label.replace("&", "&&"),
                aside,
                enabled=info.unavailable is None,
                checked=info.ref == self._model,
            )
            action.triggered.connect(lambda _checked=False, ref=info.ref: self.model_chosen.emit(ref))
        if not self._models:
            menu.addAction(tr("No model yet")).setEnabled(False)
        menu.aboutToHide.connect(menu.deleteLater)
        self._menu = menu
        corner = QPoint(self.picker.width() - menu.sizeHint().width(), self.picker.height() + 2)
        menu.popup(self.picker.mapToGlobal(corner))

    def edit_title(self) -> None:
        """Turn the title into a field."""
        field = self._field or self._add_field()
        field.setText(self.title.text())
        self._titles.setCurrentWidget(field)
        field.selectAll()
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _add_field(self) -> TitleField:
        from reprise.ui.title_field import TitleField  # not needed for the first paint

        self._field = field = TitleField(self._look, self)
        field.returnPressed.connect(lambda: self._rename(field.text().strip()))
        field.left.connect(self._stop_editing)
        self._titles.addWidget(field)
        return field

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The model's name leaves half of the line to the title; cut, it is whole in the tooltip."""
        room = self.width() // 2 - self._look.theme.px(8 + 10 + 18)
        shown = self.picker.fontMetrics().elidedText(self._label, Qt.TextElideMode.ElideRight, max(room, 0))
        self.picker.setText(shown.replace("&", "&&"))
        self.picker.setToolTip("" if shown == self._label else self._label)
        self.picker.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rule(painter, 0, self.width(), self.height() - 1, self._look.theme.color("border"))
        painter.end()

    def _rename(self, title: str) -> None:
        self._stop_editing()
        if title and title != self.title.text():
            self.renamed.emit(title)

    def _stop_editing(self) -> None:
        self._titles.setCurrentWidget(self.title)

    def _restyle(self) -> None:
        theme = self._look.theme
        self.setFixedHeight(theme.px(48))
        self._row.setContentsMargins(theme.px(10), 0, theme.px(10), 0)
        self._row.setSpacing(theme.px(6))
        self._fit()
        for widget in (self._place, self.title):  # as high as each other, or the stack puts the title to its top
            widget.setFixedHeight(theme.px(28))
        self.update()
