"""The pages about the model and the look."""

from __future__ import annotations

import re

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from reprise.bridge.preferences import Preferences
from reprise.ui.language import tr
from reprise.ui.settings.form import FormPage, FormRow
from reprise.ui.settings.segmented import Segmented, Stepper
from reprise.ui.style import Appearance


class ModelPage(FormPage):
    """Who answers a new chat, and where.

    Signals:
        key_entered(str): a key for this run only; it is stored nowhere.
    """

    key_entered = Signal(str)

    def __init__(self, look: Appearance, preferences: Preferences, parent: QWidget | None = None) -> None:
        lead = tr("The built-in model runs on this computer. A server of your own answers under its address; one that "
                  "speaks like OpenAI's will do.")  # fmt: skip
        super().__init__(look, tr("Model"), lead, parent)
        self._preferences = preferences
        self.who = Segmented(look, tr("New chats use"), [("builtin", tr("Built in")), ("own", tr("My own"))], self)
        self.who.chosen.connect(lambda value: preferences.set_value("chat.provider", value))
        self.add_row(tr("New chats use"), self.who)
        self.address = self._field(
            "provider.url", tr("Address"), "http://localhost:11434", tr("a bare address gets /v1")
        )
        self.model = self._field("provider.model", tr("Model"), tr("the name its server gives it"), "")
        self.key = QLineEdit(self)
        self.key.setObjectName("settingsKey")
        self.key.setAccessibleName(tr("Key"))
        self.key.setPlaceholderText("$REPRISE_API_KEY")
        self.key.editingFinished.connect(self._key_given)
        self.key.textChanged.connect(self._hide_key)
        self._key_row = self.add_row(
            tr("Key"), self.key, tr("$NAME reads the environment; a key itself is kept for this run only"), wide=True
        )
        self._rows: dict[str, FormRow] = {
            "provider.url": self.rows[1],
            "provider.model": self.rows[2],
            "provider.key": self._key_row,
        }
        self.column.addStretch(1)
        preferences.changed.connect(self._changed)
        preferences.refused.connect(self._refused)
        self.read()

    def read(self) -> None:
        """Show what is in force."""
        self.who.set_value(str(self._preferences.value("chat.provider")))
        self.address.setText(str(self._preferences.value("provider.url")))
        self.model.setText(str(self._preferences.value("provider.model")))
        self.key.setText(str(self._preferences.value("provider.key")))

    def _field(self, key: str, label: str, placeholder: str, explanation: str) -> QLineEdit:
        field = QLineEdit(self)
        field.setObjectName(key)
        field.setAccessibleName(label)
        field.setPlaceholderText(placeholder)
        field.editingFinished.connect(lambda: self._store(key, field.text().strip()))
        self.add_row(label, field, explanation, wide=True)
        return field

    def _store(self, key: str, value: str) -> None:
        if key == "provider.url" and value and "://" not in value:
            value = with_scheme(value)
            self.address.setText(value)
        if value == self._preferences.value(key):
            return
        self._preferences.set_value(key, value)
        if key == "provider.url" and value and self._preferences.value("chat.provider") == "builtin":
            self._preferences.set_value("chat.provider", "own")

    def _key_given(self) -> None:
        key = self.key.text().strip()
        if not key or key.startswith("$"):
            self._store("provider.key", key)
        else:
            self._key_row.say("")
            self.key_entered.emit(key)

    def _hide_key(self, text: str) -> None:
        hidden = bool(text) and not text.startswith("$")
        self.key.setEchoMode(QLineEdit.EchoMode.Password if hidden else QLineEdit.EchoMode.Normal)

    def _changed(self, key: str) -> None:
        if key == "chat.provider":
            self.who.set_value(str(self._preferences.value(key)))
        if key in self._rows:
            self._rows[key].say("")

    def _refused(self, key: str, sentence: str) -> None:
        if key in self._rows:
            self._rows[key].say(sentence)


def with_scheme(address: str) -> str:
    """An address typed without its scheme, as it is meant: plain on this machine and in its network, else https."""
    host = address.partition("/")[0].rpartition("@")[2].partition(":")[0].lower()
    near = host in ("localhost", "") or host.endswith((".localhost", ".local"))
    private = re.match(r"(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.", host) is not None
    return f"{'http' if near or private or address.startswith('[') else 'https'}://{address}"


class AppearancePage(FormPage):
    """Scheme and zoom."""

    def __init__(self, look: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(look, tr("Appearance"), tr("Light or dark, and how large everything is."), parent)
        self.scheme = Segmented(
            look, tr("Scheme"), [("system", tr("System")), ("light", tr("Light")), ("dark", tr("Dark"))], self
        )
        self.scheme.chosen.connect(look.choose_scheme)
        self.add_row(tr("Scheme"), self.scheme)
        self.zoom = Stepper(look, tr("Zoom"), 50, 300, " %", self)
        self.zoom.setSingleStep(10)
        self.zoom.valueChanged.connect(lambda value: look.set_zoom(value / 100))
        self.add_row(tr("Zoom"), self.zoom, tr("of text and of everything else"))
        self.column.addStretch(1)
        look.changed.connect(self.read)
        self.read()

    def read(self) -> None:
        """Show what is in force."""
        self.scheme.set_value(self._look.choice)
        self.zoom.blockSignals(True)
        self.zoom.setValue(round(self._look.theme.zoom * 100))
        self.zoom.blockSignals(False)
