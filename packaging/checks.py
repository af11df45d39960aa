"""The gates, in order: format, lint, types, import contracts, tests offscreen, tests on a real X server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from environment import Environment
from screens import private_x_server

NO_TESTS = 5  # pytest's exit code when it ran none
X11_MARK = "x11"
_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b")
_CLOSING = re.compile(r"^(=+ )?(\d+ \w+(, )?)+ in [\d.:]+")

GATES: Mapping[str, Sequence[str]] = {  # what Python is asked to run
    "ruff format --check": ("-m", "ruff", "format", "--check", "."),
    "ruff check": ("-m", "ruff", "check", "."),
    "mypy": ("-m", "mypy"),
    "mypy packaging": ("-m", "mypy", "packaging"),  # scripts beside each other, no package
    "lint-imports": ("-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"),
}


def counts(line: str) -> dict[str, int]:
    """The numbers in pytest's closing line; empty when it is none."""
    return {word: int(number) for number, word in _COUNT.findall(line)} if _CLOSING.match(line) else {}


def total(runs: Sequence[Mapping[str, int]]) -> str:
    """One plain closing line for several runs."""
    failed = sum(run.get(word, 0) for run in runs for word in ("failed", "error", "errors", "xpassed"))
    passed = sum(run.get("passed", 0) for run in runs)
    skipped = sum(run.get("skipped", 0) for run in runs)
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def split_mark(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The expression of `-m` in pytest's arguments, and the rest of them."""
    rest: list[str] = []
    expression = ""
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "-m":
            expression = next(remaining, "")
        else:
            rest.append(argument)
    return expression, rest


def run_gates(environment: Environment, say: Callable[[str], None]) -> int:
    """Run what needs no test, showing the words of those that fail; the number of gates that failed."""
    failed = 0
    for name, call in GATES.items():
        done = environment.run(*call)
        say(f"== {name}: {'ok' if done.returncode == 0 else 'FAILED'}")
        if done.returncode != 0:
            failed += 1
            say(done.stdout)
    return failed


def run_tests(environment: Environment, arguments: Sequence[str], say: Callable[[str], None]) -> int:
    """Run the suite, offscreen and on a private X server; prints one closing line for both. Returns an exit code."""
    mark, rest = split_mark(arguments)
    environ = {name: value for name, value in environment.environ().items() if name != "DISPLAY"}
    environ.pop("WAYLAND_DISPLAY", None)
    say("== pytest, offscreen")
    offscreen = {**environ, "QT_QPA_PLATFORM": "offscreen"}
    first, seen = _pytest(environment, _both(mark, f"not {X11_MARK}"), rest, offscreen)
    say("== pytest, on an X server")
    with private_x_server() as display:
        onscreen = {**environ, "QT_QPA_PLATFORM": "xcb", "DISPLAY": display}
        second, seen_too = _pytest(environment, _both(mark, X11_MARK), rest, onscreen)
    print(total([seen, seen_too]), flush=True)
    codes = {first, second} - {0, NO_TESTS}
    if codes:
        return max(codes)
    return NO_TESTS if {first, second} == {NO_TESTS} else 0


def _both(mark: str, other: str) -> str:
    return f"({mark}) and {other}" if mark else other


def _pytest(
    environment: Environment, mark: str, arguments: Sequence[str], environ: Mapping[str, str]
) -> tuple[int, dict[str, int]]:
    command = [str(environment.python), "-m", "pytest", "-m", mark, *arguments]
    seen: dict[str, int] = {}
    with subprocess.Popen(
        command, cwd=environment.root, env=environ, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            seen = counts(line) or seen
    return process.returncode, seen


def other_interpreters(own: tuple[int, int]) -> list[tuple[str, str | None]]:
    """Versions the program allows beside `own`, each with an interpreter that starts, or None."""
    found: list[tuple[str, str | None]] = []
    for minor in range(11, 15):
        if (3, minor) != own:
            version = f"3.{minor}"
            found.append((version, next(filter(_starts, _candidates(version)), None)))
    return found


def _candidates(version: str) -> list[str]:
    places = [Path(folder, f"python{version}") for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    places += sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
    return [str(place) for place in places if place.exists()]


def _starts(python: str) -> bool:
    # A version manager's stand-in exists for every version and starts only some.
    return subprocess.run([python, "-c", "import ensurepip"], capture_output=True, check=False).returncode == 0
