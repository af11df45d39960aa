"""The pages: which model answers, how the window looks, when a turn is tried again."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from reprise.bridge.preferences import Preferences
from reprise.domain.retry import PolicyName
from reprise.ui.controls import Switch
from reprise.ui.language import tr
from reprise.ui.settings.chart import RetryChart
from reprise.ui.settings.form import FormPage, FormRow
from reprise.ui.settings.segmented import Segmented, Stepper
from reprise.ui.style import Appearance

_RETRY_KEYS = ("policy", "max_retries", "base_s", "cap_s", "jitter", "after_cap_s", "ceiling_s")


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


class RetryPage(FormPage):
    """The policy, its limits, and what they come to."""

    def __init__(self, look: Appearance, preferences: Preferences, parent: QWidget | None = None) -> None:
        lead = tr("When a provider is busy or the network fails, Reprise waits and tries again. It never does so for a "
                  "refused key or an empty account.")  # fmt: skip
        super().__init__(look, tr("Retry"), lead, parent)
        self._preferences = preferences
        self.policy = Segmented(
            look,
            tr("Schedule"),
            [
                (PolicyName.STEADY.value, tr("Steady")),
                (PolicyName.EXPONENTIAL.value, tr("Exponential")),
                (PolicyName.CUSTOM.value, tr("Custom")),
                (PolicyName.OFF.value, tr("Off")),
            ],
            self,
        )
        self.policy.chosen.connect(lambda value: preferences.set_value("retry.policy", value))
        self.add_row(tr("Schedule"), self.policy)
        self.add_gap(4)
        self.retries = self._number("retry.max_retries", tr("Retries"), 1, 20, "", tr("1 to 20"))
        self.first = self._number(
            "retry.base_s", tr("First wait"), 1, 600, tr(" s"), tr("then twice as long each time")
        )
        self.longest = self._number(
            "retry.cap_s", tr("Longest wait"), 1, 3600, tr(" s"), tr("no wait grows beyond this")
        )
        self.ask = self._number(
            "retry.after_cap_s", tr("Ask above"), 1, 3600, tr(" s"), tr("when the provider asks for a longer wait")
        )
        self.ceiling = self._number(
            "retry.ceiling_s", tr("Stop waiting after"), 1, 600, tr(" min"), tr("in total, for one message"), scale=60
        )
        self.spread = Switch(look, tr("Spread the waits"), self)
        self.spread.toggled.connect(lambda on: self._store("retry.jitter", on))
        self.add_row(tr("Spread the waits"), self.spread, tr("adds chance, so that chats do not retry all at once"))
        self.chart = RetryChart(look, self)
        self.add_gap(8)
        self.column.addWidget(self.chart)
        self.column.addStretch(1)
        preferences.changed.connect(self._changed)
        preferences.refused.connect(self._refused)
        self.read()

    def read(self) -> None:
        """Show what is in force."""
        value = self._preferences.value
        policy = self._preferences.retry_policy()
        name = str(value("retry.policy"))
        self.policy.set_value(name)
        for stepper, shown in (
            (self.retries, policy.retries or 1),
            (self.first, float(value("retry.base_s"))),
            (self.longest, float(value("retry.cap_s"))),
            (self.ask, policy.after_cap_s),
            (self.ceiling, policy.ceiling_s / 60),
        ):
            stepper.blockSignals(True)
            stepper.setValue(round(shown))
            stepper.blockSignals(False)
        self.spread.blockSignals(True)
        self.spread.setChecked(policy.jitter)
        self.spread.blockSignals(False)
        self.retries.setEnabled(name != PolicyName.OFF)
        for row in self.rows:
            if row.control in (self.first, self.longest):
                row.setVisible(name in (PolicyName.EXPONENTIAL, PolicyName.CUSTOM))
        self.chart.show_policy(policy)

    def restore(self) -> None:
        """Set every retry setting back to its default."""
        for key in _RETRY_KEYS:
            self._preferences.set_value(f"retry.{key}", None)

    def _number(
        self, key: str, label: str, low: int, high: int, suffix: str, explanation: str, *, scale: int = 1
    ) -> Stepper:
        stepper = Stepper(self._look, label, low, high, suffix, self)
        stepper.setObjectName(key)
        stepper.valueChanged.connect(lambda value: self._store(key, value * scale))
        self.add_row(label, stepper, explanation)
        return stepper

    def _store(self, key: str, value: int | bool) -> None:
        whole = isinstance(value, bool) or key == "retry.max_retries"
        self._preferences.set_value(key, value if whole else float(value))

    def _changed(self, key: str) -> None:
        if key.startswith("retry."):
            for row in self.rows:
                row.say("")
            self.read()

    def _refused(self, key: str, sentence: str) -> None:
        for row in self.rows:
            if row.control.objectName() == key:
                row.say(sentence)
