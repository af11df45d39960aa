"""A choice among more than a few: a button that says what is chosen and opens the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSize, Signal
from PySide6.QtWidgets import QMenu, QWidget

from reprise.ui.controls import Button, Kind
from reprise.ui.menus import add_choice, make_menu
from reprise.ui.style import Appearance


class MenuChoice(Button):
    """Shows the label of `value`.

    Signals:
        chosen(str): another value was picked.
    """

    chosen = Signal(str)

    def __init__(self, look: Appearance, name: str, parent: QWidget | None = None) -> None:
        super().__init__(look, " ", kind=Kind.FRAMED, chevron="chevrons-up-down", height=32, parent=parent)
        self._name = name
        self._options: tuple[tuple[str, str, str], ...] = ()
        self._menu: QMenu | None = None
        self.value = ""
        self.clicked.connect(self.open_menu)

    def sizeHint(self) -> QSize:
        # As wide as the number fields above it at least, so that the column has one edge.
        return super().sizeHint().expandedTo(QSize(self._look.theme.px(104), 0))

    def set_name(self, name: str) -> None:
        """What is chosen here; said with the value from the next `set_options` on."""
        self._name = name

    def set_options(self, options: Sequence[tuple[str, str, str]], value: str) -> None:
        """What there is, as (value, label, aside), and what is chosen; an unknown value shows as it is."""
        self._options, self.value = tuple(options), value
        label = next((label for key, label, _ in options if key == value), value)
        self.setText(label)
        self.setAccessibleName(f"{self._name}: {label}")
        self.updateGeometry()

    def open_menu(self) -> None:
        """Show what can be chosen."""
        menu = make_menu(self)
        for key, label, aside in self._options:
            action = add_choice(menu, label, aside, enabled=True, checked=key == self.value)
            action.triggered.connect(partial(self._choose, key))
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = menu
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 4)))

    def _choose(self, value: str, *_: object) -> None:
        if value != self.value:
            self.set_options(self._options, value)
            self.chosen.emit(value)
