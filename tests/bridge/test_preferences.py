"""Settings as the window sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from reprise.bridge.preferences import Preferences
from reprise.bridge.signals import until
from reprise.bridge.tasks import TaskScope
from reprise.domain.messages import ModelRef
from reprise.domain.ports import SettingsProblem
from reprise.domain.retry import PolicyName, policy
from support.aio import Aio
from support.qt import Recorder


class MemoryStore:
    """Settings that know one bad value."""

    def __init__(self, **values: Any) -> None:
        self._values: dict[str, Any] = {
            "retry.policy": "steady",
            "retry.max_retries": None,
            "retry.base_s": 1.0,
            "retry.cap_s": 60.0,
            "retry.jitter": False,
            "retry.after_cap_s": 120.0,
            "retry.ceiling_s": 1800.0,
            "retry.per_provider": {},
        } | {key.replace("__", "."): value for key, value in values.items()}

    def values(self) -> Mapping[str, Any]:
        return self._values

    def problems(self) -> Sequence[SettingsProblem]:
        return (SettingsProblem("retry.base_s", "Base must be a number."),)

    async def write(self, key: str, value: Any) -> SettingsProblem | None:
        if value == "bad":
            return SettingsProblem(key, "That is no value for it.")
        self._values[key] = value
        return None


def test_a_stored_value_is_in_force_when_it_is_told(aio: Aio) -> None:
    """`changed` comes after the store."""

    async def main() -> None:
        scope = TaskScope("test")
        preferences = Preferences(MemoryStore(), scope)
        seen: list[tuple[str, object]] = []
        preferences.changed.connect(lambda key: seen.append((key, preferences.value(key))))
        preferences.set_value("retry.jitter", True)
        await until(preferences.changed)
        assert seen == [("retry.jitter", True)]

    aio(main())


def test_a_bad_value_is_refused_with_a_sentence_and_the_old_one_stays(aio: Aio) -> None:
    """D17: nothing bad is stored."""

    async def main() -> None:
        scope = TaskScope("test")
        preferences = Preferences(MemoryStore(), scope)
        heard = Recorder(changed=preferences.changed, refused=preferences.refused)
        preferences.set_value("retry.policy", "bad")
        await until(preferences.refused)
        assert heard.seen == [("refused", "retry.policy", "That is no value for it.")]
        assert preferences.value("retry.policy") == "steady"

    aio(main())


def test_unknown_keys_are_an_error_of_ours() -> None:
    """A typo in a key must not read as a missing value."""
    with pytest.raises(KeyError):
        Preferences(MemoryStore(), TaskScope("test")).value("retry.polcy")


def test_the_retry_policy_is_what_the_settings_say() -> None:
    """D2, D17: max_retries counts under every policy, base and cap where they mean something."""
    assert Preferences(MemoryStore(), TaskScope("test")).retry_policy() == policy(PolicyName.STEADY)
    store = MemoryStore(retry__policy="custom", retry__max_retries=3, retry__base_s=2.0, retry__cap_s=5.0)
    assert Preferences(store, TaskScope("test")).retry_policy().schedule == (2.0, 4.0, 5.0)


def test_the_sessions_own_policy_wins_over_its_providers_and_that_over_the_one_for_all() -> None:
    """D2: per session, per provider, and for all; the numbers around it are the settings' own."""
    store = MemoryStore(retry__max_retries=2, retry__per_provider={"builtin": "off", "far": "exponential"})
    preferences = Preferences(store, TaskScope("test"))
    here, far, other = ModelRef("builtin", "m"), ModelRef("far", "m"), ModelRef("other", "m")
    own = {"retry.policy": "exponential"}
    assert preferences.retry_policy(here).schedule == ()
    assert preferences.retry_policy(far).schedule == (1.0, 2.0)
    assert preferences.retry_policy(other).schedule == preferences.retry_policy().schedule == (5.0, 10.0)
    assert preferences.retry_policy(here, own).schedule == (1.0, 2.0)
    assert preferences.retry_policy(far, {"retry.policy": "steady"}).schedule == (5.0, 10.0)


def test_what_was_set_aside_is_listed() -> None:
    """P8: the window can say it."""
    problems = Preferences(MemoryStore(), TaskScope("test")).problems()
    assert [problem.key for problem in problems] == ["retry.base_s"]
