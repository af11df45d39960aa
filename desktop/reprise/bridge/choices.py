"""What a person chose for a session: who answers, and the settings that are the session's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprise.bridge.live_history import LiveHistory
from reprise.domain.messages import ModelRef
from reprise.domain.models import ModelInfo
from reprise.domain.sessions import ModelChange, ParamsChange


class Choices:
    """They count from the moment they are made, and are entries of the log once nothing else is written.

    So a choice made while a turn runs is stored behind it, and one made in a new chat with its first prompt.
    """

    def __init__(self, live: LiveHistory) -> None:
        self._live = live
        self._model: ModelRef | None = None
        self._params: dict[str, Any] = {}

    @property
    def model(self) -> ModelRef | None:
        """The model chosen last, else the session's; None in a new chat without a choice."""
        return self._model or self._live.session.model

    @property
    def params(self) -> dict[str, Any]:
        """The session's own settings, under the keys of the settings (behaviour B8)."""
        values = self._live.settings | self._params
        return {key: value for key, value in values.items() if value is not None}

    @property
    def are_new(self) -> bool:
        """Whether something was chosen that was not recorded since."""
        return self._model is not None or bool(self._params)

    def choose_model(self, model: ModelRef) -> None:
        """From here on `model` answers."""
        self._model = model

    def choose(self, key: str, value: Any) -> None:
        """From here on the session has this setting of its own; None takes it back."""
        self._params[key] = value

    def forget(self) -> None:
        """What the branch says counts again."""
        self._model = None
        self._params.clear()

    async def record(self, model: ModelRef | None = None) -> None:
        """Store what the log does not say yet, and that `model` answers (behaviour P10); nothing in a new chat.

        Whoever calls this holds ``live.writing``.
        """
        live, model = self._live, model or self._model
        if not live.is_stored:
            return
        if model is not None and live.session.model != model:
            await live.append(live.session.id, ModelChange(model))
        if self._model == model:
            self._model = None
        chosen, known = dict(self._params), live.settings
        fresh = {key: value for key, value in chosen.items() if known.get(key) != value}
        if fresh:
            await live.append(live.session.id, ParamsChange(fresh))
        # What was chosen meanwhile is not recorded yet.
        self._params = {key: value for key, value in self._params.items() if key not in chosen or value != chosen[key]}


def why_no_model(models: Sequence[ModelInfo]) -> str:
    """The sentence for a text that nobody can be asked, with why the first model that cannot answer cannot."""
    reason = next((info.unavailable for info in models if info.unavailable), None)
    if reason is None:
        return "No model is chosen."
    can_choose = any(info.unavailable is None for info in models)
    return f"No model is chosen. {reason}" if can_choose else f"No model can answer: {reason}"
