"""The page about retries: when a turn is tried again, by whom, and what that comes to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtWidgets import QWidget

from reprise.bridge.preferences import Preferences
from reprise.domain.ports import Catalog
from reprise.domain.retry import PolicyName
from reprise.ui.language import tr
from reprise.ui.schedules import preview_of, schedule_names
from reprise.ui.settings.chart import RetryChart
from reprise.ui.settings.choice import MenuChoice
from reprise.ui.settings.form import FormPage, FormRow
from reprise.ui.settings.segmented import Segmented, Stepper
from reprise.ui.style import Appearance
from reprise.ui.switch import Switch

_RETRY_KEYS = (
    "policy",
    "max_retries",
    "base_s",
    "cap_s",
    "jitter",
    "after_cap_s",
    "ceiling_s",
    "hold_offline",
    "fallback",
    "per_provider",
)


_READ_AT = ("retry.", "provider.", "providers.", "chat.")
"""Changes of these sections are changes of what is shown here: the providers are settings, too."""


@dataclass(frozen=True, slots=True)
class _OwnSchedule:
    """The row of one provider."""

    choice: MenuChoice
    row: FormRow


def _providers(catalog: Catalog) -> dict[str, str]:
    """Each provider with what it is called, in the catalogue's order."""
    return {info.ref.provider: info.provider_label or info.label for info in catalog.models()}


class RetryPage(FormPage):
    """The policy, its limits, and what they come to."""

    def __init__(
        self, look: Appearance, preferences: Preferences, catalog: Catalog, parent: QWidget | None = None
    ) -> None:
        lead = tr("When a provider is busy or the network fails, Reprise waits and tries again. It never does so for a "
                  "refused key or an empty account.")  # fmt: skip
        super().__init__(look, tr("Retry"), lead, parent)
        self._preferences, self._catalog = preferences, catalog
        self.policy = Segmented(look, tr("Schedule"), schedule_names(), self)
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
        self.add_gap(8)
        self.offline = Switch(look, tr("Wait for the network"), self)
        self.offline.toggled.connect(lambda on: self._store("retry.hold_offline", on))
        self.add_row(tr("Wait for the network"), self.offline, tr("while this computer is offline, using up no retry"))
        self.fallback = MenuChoice(look, tr("Fallback model"), self)
        self.fallback.setObjectName("retry.fallback")
        self.fallback.chosen.connect(lambda value: preferences.set_value("retry.fallback", value))
        self._last = self.add_row(tr("Fallback model"), self.fallback, tr("asked once, when the retries are used up"))
        self._own: dict[str, _OwnSchedule] = {}
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
        for switch, on in ((self.spread, policy.jitter), (self.offline, bool(value("retry.hold_offline")))):
            switch.blockSignals(True)
            switch.setChecked(on)
            switch.blockSignals(False)
        models = [(f"{info.ref.provider}:{info.ref.model}", info.label, info.provider_label)
                  for info in self._catalog.models()]  # fmt: skip
        self.fallback.set_options([("", tr("Nobody"), ""), *models], str(value("retry.fallback")))
        self._read_own()
        self.retries.setEnabled(name != PolicyName.OFF)
        for row in self.rows:
            if row.control in (self.first, self.longest):
                row.setVisible(name in (PolicyName.EXPONENTIAL, PolicyName.CUSTOM))
        self.chart.show_policy(policy)

    def restore(self) -> None:
        """Set every retry setting back to its default."""
        for key in _RETRY_KEYS:
            self._preferences.set_value(f"retry.{key}", None)

    def _read_own(self) -> None:
        """A row for every provider that the catalogue has now, in its order, with what its own schedule comes to."""
        wanted, own = _providers(self._catalog), self._preferences.value("retry.per_provider")
        if list(wanted) != list(self._own):
            for row in self._own.values():
                self.remove_row(row.row)
            self._own.clear()
            last = self._last
            for provider in wanted:
                choice = MenuChoice(self._look, "", self)
                choice.setObjectName(f"retry.per_provider.{provider}")
                choice.chosen.connect(partial(self._set_own, provider))
                last = self.add_row("", choice, " ", behind=last)
                self._own[provider] = _OwnSchedule(choice, last)
        schedules = [("", tr("As above"), ""), *((key, label, "") for key, label in schedule_names())]
        for provider, label in wanted.items():
            name, shown = str(own.get(provider, "")), self._own[provider]
            shown.choice.set_name(label)
            shown.choice.set_options(schedules, name)
            shown.row.label.setText(label)
            policy = self._preferences.retry_policy(own={"retry.policy": name} if name else {})
            shown.row.explanation.setText(preview_of(policy) if name else tr("the schedule for this provider"))

    def _set_own(self, provider: str, name: str) -> None:
        own = {key: kept for key, kept in self._preferences.value("retry.per_provider").items() if key != provider}
        self._preferences.set_value("retry.per_provider", {**own, provider: name} if name else own)

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
        if key.startswith(_READ_AT):
            self.read()

    def _refused(self, key: str, sentence: str) -> None:
        for row in self.rows:
            if row.control.objectName() == key:
                row.say(sentence)
