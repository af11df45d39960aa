"""The two commands of the bootstrap: `run` and `test`."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import checks
import screens
import spec_examples
from environment import Environment, Stamp
from system_packages import NeedsPerson, Wanted, install

ROOT = Path(__file__).resolve().parent.parent
PROMPT = "Why is the sky blue?"
PICTURE = ROOT / "build" / "first-run.png"
UNUSABLE = 2  # the window's code where it can ask nobody, among others
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
ROUNDS = 6  # a library just installed may show that another is missing
DEVELOPERS = {  # Debian's package: a program it brings, or a font file
    "xvfb": "Xvfb",
    "xauth": "xauth",
    "dbus-daemon": "dbus-run-session",
    "fonts-dejavu-core": "DejaVuSans.ttf",
    "fonts-noto-core": "NotoSans-Regular.ttf",
    "fonts-noto-cjk": "NotoSansCJK-Regular.ttc",
    "fonts-noto-color-emoji": "NotoColorEmoji.ttf",
}


def say(sentence: str) -> None:
    """Tell the person; standard output is for replies and results."""
    print(sentence, file=sys.stderr, flush=True)


def main(argv: Sequence[str], usage: str, started: float) -> int:
    """Do what was asked; returns the exit code. `started`: `time.monotonic` when the process began."""
    match list(argv):
        case ["run", *arguments]:
            work = partial(run, arguments, started)
        case ["test", *arguments]:
            work = partial(test, arguments)
        case _:
            print(usage.strip(), file=sys.stderr)
            return 0 if set(argv) & {"-h", "--help"} else 2
    try:
        return work()
    except NeedsPerson as error:
        say(str(error))
        if error.command:
            say("Run this, then start again:")
            print(f"    {error.command}", flush=True)
        return 2
    except OSError as error:
        if error.errno not in FORBIDDEN:
            raise
        say(f"{error.filename or ROOT} cannot be used: {error.strerror}.")
        return 2
    except KeyboardInterrupt:
        return 130


def run(arguments: Sequence[str], started: float) -> int:
    """Set up and open the window."""
    environment = Environment(ROOT, ROOT / ".venv", say)
    stamp = environment.ensure(extras=(), optional=("local",))
    have_libraries(environment, stamp)
    for extra, words in stamp.without.items():
        say(f"Installed without the extra {extra}: {words}")
    reason = have_model(environment)
    command = [str(environment.python), "-P", "-m", "reprise", *arguments]
    if screens.load_has_display(ROOT)(os.environ):
        os.execve(command[0], command, environment.environ())  # noqa: S606
    say(screens.no_display_sentence(os.environ))
    environ = {**environment.environ(), "QT_QPA_PLATFORM": "offscreen"}
    if {"--say", "--version", "--help", "-h"} & names(arguments):
        os.execve(command[0], command, environ)  # noqa: S606
    with tempfile.TemporaryDirectory() as data:  # a demonstration leaves nothing among a person's chats
        asked = offscreen_arguments(arguments, reason, Path(data))
        code = run_offscreen([*command, *asked], environ, started)
        echo = offscreen_arguments(arguments, "It does not load.", Path(data))
        # Trying costs more than a second, so only a window that failed is a reason to: it has said what is wrong.
        if code == UNUSABLE and echo != asked and look_for_model(environment, "--load")["reason"]:
            say("Echo answers instead.")
            code = run_offscreen([*command, *echo], environ, started)
    if code:
        say(f"The window ended with code {code}.")
    return 1 if code else 0


def offscreen_arguments(arguments: Sequence[str], reason: str | None, data: Path) -> list[str]:
    """What makes the window ask one thing and end; `reason`: why the built-in model cannot answer."""
    added = ["--say", PROMPT, "--quit-when-done"]
    if "--data-dir" not in names(arguments):
        added += ["--data-dir", str(data)]
    if "--screenshot" not in names(arguments):
        added += ["--screenshot", str(PICTURE)]
    if reason is not None and not {"--provider-url", "--provider-kind"} & names(arguments):
        added += ["--provider-kind", "echo"]
    return added


def names(arguments: Sequence[str]) -> set[str]:
    """The options among the program's arguments, without their values."""
    return {argument.partition("=")[0] for argument in arguments if argument.startswith("-")}


def run_offscreen(command: Sequence[str], environ: Mapping[str, str], started: float) -> int:
    """Run the window with one prompt: the reply as it streams, the picture's path, the time to the first token.

    Returns the window's exit code.
    """
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    print(f"> {PROMPT}", flush=True)
    first = None
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as window:
        signal.signal(signal.SIGTERM, lambda *_: window.terminate())  # it stops, saves and ends; so do we
        while window.stdout and (block := os.read(window.stdout.fileno(), 65536)):
            if first is None:
                first = time.monotonic() - started
            sys.stdout.buffer.write(block)
            sys.stdout.buffer.flush()
    print()
    if window.returncode != 0:
        return window.returncode
    if str(PICTURE) in command:
        print(f"Screenshot: {PICTURE}")
    if first is not None:
        print(f"First streamed token after {first:.2f} s.", flush=True)
    return 0


def test(arguments: Sequence[str]) -> int:
    """Set up for developers and run every gate and test."""
    environment = Environment(ROOT, ROOT / ".venv", say)
    stamp = environment.ensure(extras=("dev", "local"))
    missing = missing_for_developers()
    if missing:
        install(Wanted(packages=tuple(missing)), say=say)
    have_libraries(environment, stamp)
    reason = have_model(environment)
    if reason is not None:
        say("The tests of the built-in model cannot pass without it.")
    reason = spec_examples.have(environment, say)
    if reason is not None:
        say(f"{reason} The tests that read their examples cannot pass without them.")
    failed = checks.run_gates(environment, say)
    code = checks.run_tests(environment, arguments, say)
    if "--full" in arguments:
        failed += smoke_others()
    if failed:
        say(f"{failed} of the checks beside the tests failed (see above).")
    return code or (1 if failed else 0)


def missing_for_developers() -> list[str]:
    """Debian's names of the packages whose program or font is not there."""
    folders = [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".local" / "share" / "fonts"]
    there = {name for folder in folders for _, _, names in os.walk(folder) for name in names}
    for folder in os.get_exec_path():
        there |= {name for name in DEVELOPERS.values() if Path(folder, name).exists()}
    return [package for package, sign in DEVELOPERS.items() if sign not in there]


def have_libraries(environment: Environment, stamp: Stamp) -> None:
    """Have every shared library that the window needs; quick when those seen last time are still there."""
    if stamp.libraries and all(Path(path).exists() for path in stamp.libraries):
        return
    say("Looking for shared libraries that the window needs ...")
    before: list[str] = []
    for _ in range(ROUNDS):
        found = json.loads(environment.run("-P", "packaging/probe_libraries.py").stdout)
        if not found["missing"]:
            break
        if found["missing"] == before:
            raise NeedsPerson(f"Still missing after installing: {', '.join(before)}.")
        before = found["missing"]
        install(Wanted(sonames=tuple(before)), say=say)
    if found["missing"] or found["problems"]:
        raise NeedsPerson("Qt cannot be loaded: " + "; ".join([*found["missing"], *found["problems"]]))
    stamp.libraries = found["found"]
    environment.write_stamp(stamp)


def have_model(environment: Environment) -> str | None:
    """Have the built-in model's file; None, or a sentence that says why the model cannot be used (said already)."""
    outcome = look_for_model(environment)
    if outcome["reason"]:
        say(outcome["reason"])
        if outcome.get("command"):
            say(f"To fetch it by hand: {outcome['command']}")
    return outcome["reason"]


def look_for_model(environment: Environment, *flags: str) -> dict[str, str | None]:
    """What `fetch_model.py` found out."""
    answer = environment.run("-P", "packaging/fetch_model.py", *flags).stdout
    outcome: dict[str, str | None] = (
        json.loads(answer) if answer else {"reason": "The built-in model could not be looked for."}
    )
    return outcome


def smoke_others() -> int:
    """Install the program for every other Python found and let it answer once; how many failed."""
    failed = 0
    for version, python in checks.other_interpreters(sys.version_info[:2]):
        if python is None:
            print(f"smoke {version}: skipped, there is no such Python here", flush=True)
            continue
        environment = Environment(ROOT, ROOT / f".venv-{version}", say, base=python)
        environment.ensure(extras=("local",))
        environ = {**environment.environ(), "QT_QPA_PLATFORM": "offscreen"}
        data = str(ROOT / "build" / f"smoke-{version}")
        asked = ("--data-dir", data, "--provider-kind", "echo", "--say", "Hello", "--quit-when-done")
        answer = environment.run("-m", "reprise", *asked, environ=environ)
        failed += answer.returncode != 0
        outcome = "answered" if answer.returncode == 0 else f"failed with code {answer.returncode}"
        print(f"smoke {version}: {outcome}", flush=True)
    return failed
