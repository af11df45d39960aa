"""The command line: what is understood, and one sentence for what is not."""

from __future__ import annotations

import pytest

from reprise.app.options import UsageError, parse


def test_the_issue_s_options_are_understood() -> None:
    options = parse(
        [
            "--data-dir",
            "d",
            "--provider-url",
            "http://h/v1",
            "--model",
            "m",
            "--set",
            "retry.policy=off",
            "--set",
            "turn.max_rounds=3",
            "--say",
            "hi",
            "--quit-when-done",
            "--json",
            "--screenshot",
            "f.png",
        ]
    )
    assert options.overrides == ("retry.policy=off", "turn.max_rounds=3")
    assert (options.say, options.quit_when_done, options.json) == ("hi", True, True)
    assert options.names_provider


def test_echo_needs_no_address() -> None:
    assert parse(["--provider-kind", "echo"]).names_provider


def test_without_a_provider_the_default_model_answers() -> None:
    assert not parse(["--say", "hi"]).names_provider


def test_the_default_kind_may_be_named_without_an_address() -> None:
    """It is what a run speaks that names none."""
    assert not parse(["--provider-kind", "openai", "--say", "hi"]).names_provider


@pytest.mark.parametrize(
    "argv",
    [
        ["--no-such-option"],
        ["--provider-kind", "telepathy"],
        ["--say", "  "],
        ["--json"],
        ["--json", "--say", "hi"],
        ["--quit-when-done"],
        ["--model"],
        ["--screenshot", "/nowhere/at/all/window.png"],
    ],
)
def test_what_cannot_be_understood_is_one_sentence(argv: list[str]) -> None:
    with pytest.raises(UsageError) as raised:
        parse(argv)
    sentence = str(raised.value)
    assert sentence[0].isupper() or sentence.startswith("--")
    assert sentence.endswith(".")
    assert "\n" not in sentence
