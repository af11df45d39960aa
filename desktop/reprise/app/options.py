"""The command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from reprise import __version__

PROVIDER_KINDS = ("openai", "echo")


class UsageError(Exception):
    """The command line cannot be understood; `str(error)` says why in one sentence (exit 2)."""


class Options(NamedTuple):  # as every value made before the first paint: a dataclass takes milliseconds to make
    """What was asked for on the command line."""

    data_dir: Path | None = None
    provider_url: str | None = None
    provider_kind: str | None = None
    model: str | None = None
    overrides: tuple[str, ...] = ()
    say: str | None = None
    quit_when_done: bool = False
    json: bool = False
    screenshot: Path | None = None
    version: bool = False

    @property
    def names_provider(self) -> bool:
        """True when this run talks to one given provider and does nothing else in the background."""
        return self.provider_url is not None or self.provider_kind == "echo"


def asked_provider(options: Options) -> str | None:
    """The provider a start names, as one text to compare; None when it names none."""
    if not options.names_provider:
        return None
    return f"{options.provider_kind or ''} {options.provider_url or ''}".strip()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}. See reprise --help.")


def _parser() -> _Parser:
    parser = _Parser("reprise", description="A chat window for language models in which no turn is ever lost.")
    parser.add_argument("--data-dir", metavar="D", help="keep everything in this folder")
    parser.add_argument("--provider-url", metavar="U", help="talk to this provider in this run, e.g. http://host/v1")
    parser.add_argument("--provider-kind", choices=PROVIDER_KINDS, help="what it speaks (default: openai)")
    parser.add_argument("--model", metavar="M", help="the model's name there")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting for this run, as settings.toml lists them, e.g. retry.policy=off",
    )
    parser.add_argument("--say", metavar="TEXT", help="send TEXT as a new chat's prompt")
    parser.add_argument("--quit-when-done", action="store_true", help="print the reply and quit after it")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the reply")
    parser.add_argument("--screenshot", type=Path, metavar="F", help="save a picture (PNG) of the window at the end")
    parser.add_argument("--version", action="store_true", help="print the version and quit")
    return parser


def parse(argv: Sequence[str]) -> Options:
    """Read the command line. Raises UsageError; `--help` prints and exits."""
    found = _parser().parse_args(argv)
    options = Options(
        data_dir=None if found.data_dir is None else Path(found.data_dir),
        provider_url=found.provider_url,
        provider_kind=found.provider_kind,
        model=found.model,
        overrides=tuple(found.set),
        say=found.say,
        quit_when_done=found.quit_when_done,
        json=found.json,
        screenshot=found.screenshot,
        version=found.version,
    )
    if options.say is not None and not options.say.strip():
        raise UsageError("--say needs some text.")
    if options.json and not (options.quit_when_done and options.say):
        raise UsageError("--json needs --say and --quit-when-done.")
    if options.quit_when_done and options.say is None and options.screenshot is None:
        raise UsageError("--quit-when-done needs --say or --screenshot.")
    if found.data_dir is not None and not found.data_dir.strip():
        raise UsageError("--data-dir needs the name of a folder.")
    if options.screenshot is not None and not options.screenshot.absolute().parent.is_dir():
        raise UsageError(f"--screenshot: there is no folder {options.screenshot.absolute().parent}.")
    return options


def version_line() -> str:
    """What `--version` prints."""
    return f"reprise {__version__}"
