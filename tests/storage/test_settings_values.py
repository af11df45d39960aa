"""Keys, defaults, limits, and what a command line's words become."""

from __future__ import annotations

import re
from typing import Any

import pytest

from reprise.domain.settings import SETTINGS, parse_override, read, setting


def test_the_defaults_are_those_of_the_behaviour() -> None:
    """D17, D2-D4, D9, D15."""
    assert {key: known.default for key, known in SETTINGS.items()} == {
        "chat.provider": "builtin",
        "provider.url": "",
        "provider.model": "",
        "provider.key": "",
        "retry.policy": "steady",
        "retry.max_retries": None,
        "retry.base_s": 1.0,
        "retry.cap_s": 60.0,
        "retry.jitter": False,
        "retry.after_cap_s": 120.0,
        "retry.ceiling_s": 1800.0,
        "retry.hold_offline": True,
        "retry.fallback": "",
        "retry.per_provider": {},
        "network.connect_timeout_s": 10.0,
        "network.first_byte_timeout_s": 600.0,
        "network.idle_timeout_s": 120.0,
        "turn.keep_on_followup": True,
        "turn.auto_continue": 0,
        "turn.max_rounds": 32,
        "turn.queue": "one",
        "appearance.scheme": "system",
        "appearance.zoom": 1.0,
        "notifications.enabled": True,
        "tools.enabled": False,
        "echo.script": "",
    }


def test_every_default_passes_its_own_check_and_has_a_help_text() -> None:
    for key, known in SETTINGS.items():
        assert known.check(known.default) == known.default, key
        assert known.help, key


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("retry.policy=off", "retry.policy", "off"),
        ('retry.policy="off"', "retry.policy", "off"),
        ("retry.max_retries=3", "retry.max_retries", 3),
        (" retry.base_s = 2 ", "retry.base_s", 2.0),
        ("retry.jitter=true", "retry.jitter", True),
        ("tools.enabled=on", "tools.enabled", True),
        ("retry.fallback=own:gpt-4o-mini", "retry.fallback", "own:gpt-4o-mini"),
        ('retry.per_provider={builtin = "off"}', "retry.per_provider", {"builtin": "off"}),
        ("turn.queue=all", "turn.queue", "all"),
        ("appearance.zoom=1.5", "appearance.zoom", 1.5),
        ("echo.script=/data/a script=1.json", "echo.script", "/data/a script=1.json"),
        ("provider.model=7", "provider.model", "7"),
        ("provider.model=2026-01-01", "provider.model", "2026-01-01"),
        ("provider.url=", "provider.url", ""),
        ("provider.url= http://h:1/v1 ", "provider.url", "http://h:1/v1"),
        ("provider.url=[1]", "provider.url", "[1]"),
        ("provider.key=$MY_KEY", "provider.key", "$MY_KEY"),
        ('provider.model=a\nb"', "provider.model", 'a\nb"'),
    ],
)
def test_a_word_of_the_command_line_becomes_a_value(text: str, key: str, value: Any) -> None:
    """D17: TOML values; bare words are strings."""
    found = parse_override(text)
    assert found == (key, value)
    assert type(found[1]) is type(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("retry", "'retry' is not KEY=VALUE."),
        ("retry.polcy=off", "There is no setting called 'retry.polcy'; did you mean retry.policy?"),
        ("zebra=1", "There is no setting called 'zebra'."),
        ("=1", "There is no setting called ''."),
        ("retry.policy=sometimes", "it should be 'steady', 'exponential', 'custom' or 'off'."),
        ("retry.max_retries=-1", "retry.max_retries = -1 cannot be used: it should be greater than or equal to 0."),
        ("retry.max_retries=many", "it should be a valid integer"),
        ("retry.base_s=nan", "it should be a finite number"),
        ("turn.auto_continue=3", "less than or equal to 2"),
        ("turn.queue=some", "it should be 'one' or 'all'."),
        ("retry.fallback=gpt", "it has to name a provider and a model, like own:gpt-4o-mini."),
        ("retry.fallback=:gpt", "it has to name a provider and a model, like own:gpt-4o-mini."),
        ('retry.per_provider={own = "often"}', "it should be 'steady', 'exponential', 'custom' or 'off'."),
        ("retry.per_provider=off", "it should be a valid dictionary."),
        ("appearance.zoom=0.4", "greater than or equal to 0.5"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)) as caught:
        parse_override(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("literal", ["sk-secret-1", "$", "$1A", "$A B", "${A}", "x$A"])
def test_a_literal_key_is_refused_and_never_repeated(literal: str) -> None:
    """A key lives in the environment; the file and every message stay free of it."""
    with pytest.raises(ValueError, match=r"\$REPRISE_API_KEY: keys are not written to the file") as caught:
        setting("provider.key").check(literal)
    assert "secret" not in str(caught.value)
    _, (problem,) = read({"provider": {"key": literal}})
    assert "secret" not in problem.sentence


def test_one_bad_value_costs_no_other() -> None:
    """P8, F18: partial settings merge with the defaults; the bad key is named."""
    good, problems = read(
        {"retry": {"max_retries": -1, "base_s": 2, "colour": "red"}, "network": 5, "own": {"thing": 1}}
    )
    assert good == {"retry.base_s": 2.0}
    assert [problem.key for problem in problems] == ["retry.max_retries", "retry.colour", "network", "own"]
    assert problems[2].sentence == "network has to be a section, [network]."
