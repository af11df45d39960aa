"""The settings in force, for the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from reprise.bridge.tasks import TaskScope
from reprise.domain.messages import ModelRef
from reprise.domain.ports import SettingsProblem, SettingsStore
from reprise.domain.retry import PolicyName, RetryPolicy, policy

_NOTHING: Mapping[str, Any] = {}


class Preferences(QObject):
    """Reads and writes settings under their dotted keys (behaviour D17).

    Signals:
        changed(str): the key's value was stored; `value` is what is in force now.
        refused(str, str): the key and a sentence saying why its value was not stored.
    """

    changed = Signal(str)
    refused = Signal(str, str)

    def __init__(self, store: SettingsStore, scope: TaskScope, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._scope = scope

    def value(self, key: str) -> Any:
        """The value in force. KeyError for an unknown key."""
        return self._store.values()[key]

    def set_value(self, key: str, value: Any) -> None:
        """Store a value; `changed` or `refused` follows."""
        self._scope.start(self._write(key, value), name=f"store {key}", writes=True)

    def retry_policy(self, model: ModelRef | None = None, own: Mapping[str, Any] = _NOTHING) -> RetryPolicy:
        """The retry policy of a session with settings of its `own` that `model` answers (behaviour D2).

        The session's own one wins over that of the model's provider, and that over the one for all.
        """
        values = dict(self._store.values())
        provider = None if model is None else values["retry.per_provider"].get(model.provider)
        if provider is not None:
            values["retry.policy"] = provider
        values |= own
        return policy(
            PolicyName(values["retry.policy"]),
            max_retries=values["retry.max_retries"],
            base_s=values["retry.base_s"],
            cap_s=values["retry.cap_s"],
            jitter=values["retry.jitter"],
            after_cap_s=values["retry.after_cap_s"],
            ceiling_s=values["retry.ceiling_s"],
        )

    def problems(self) -> Sequence[SettingsProblem]:
        """What was set aside when the settings were read."""
        return self._store.problems()

    async def _write(self, key: str, value: Any) -> None:
        problem = await self._store.write(key, value)
        if problem is None:
            self.changed.emit(key)
        else:
            self.refused.emit(key, problem.sentence)
