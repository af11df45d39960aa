"""What is settled before the window is shown: the settings of this run, the address, the data folder and its lock."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from reprise.app.instance import InstanceLock, Refused, Told, take_or_hand_over
from reprise.app.options import Options, asked_provider
from reprise.app.paths import DataDir, UnusableDataDir, default_data_dir, open_data_dir

EXIT_USAGE = 2
_PATIENCE_MS = 10_000


class Exit(Exception):
    """The start ends here with `code`; `str(error)` is for standard error, if anything."""

    def __init__(self, code: int, sentence: str = "") -> None:
        super().__init__(sentence)
        self.code = code


class Prepared:
    """What is known before the first paint. `data` is None when the folder cannot be used; `problems` are sentences."""

    def __init__(self, options: Options, overrides: Mapping[str, Any]) -> None:
        self.options = options
        self.overrides = overrides
        self.data: DataDir | None = None
        self.lock: InstanceLock | None = None
        self.problems: list[str] = []


def prepare(options: Options) -> Prepared:
    """Look at the settings and the address and take the data folder. Raises Exit when this start is not to go on.

    What a person can read in a window is a problem of the result instead.
    """
    prepared = Prepared(options, overrides=_overrides(options))
    _check_address(prepared)
    _take_data_dir(prepared)
    return prepared


def _overrides(options: Options) -> dict[str, Any]:
    if not options.overrides:
        return {}
    # This imports pydantic before the first paint: a wrong key has to end the start, so it is known first.
    from reprise.domain.settings import parse_override

    try:
        return dict(parse_override(text) for text in options.overrides)
    except ValueError as error:
        raise Exit(EXIT_USAGE, f"--set: {error}") from error


def _check_address(prepared: Prepared) -> None:
    url = prepared.options.provider_url
    if url is None:
        return
    from reprise.providers.endpoint import base_url, key_for

    try:
        base_url(url)
        key_for(url, os.environ)
    except ValueError as error:
        _refuse(prepared, str(error), error)


def _take_data_dir(prepared: Prepared) -> None:
    options = prepared.options
    try:
        data = open_data_dir(options.data_dir or default_data_dir())
        lock = InstanceLock(data.lock)
        if options.quit_when_done:
            told = Told.NOBODY if lock.take() else Told.SILENT
        else:
            asks = asked_provider(options)
            told = take_or_hand_over(lock, data.root, options.say, _PATIENCE_MS, asks=asks)
    except Refused as refusal:
        _refuse(prepared, f"Reprise already runs, and does not send this. {refusal}", refusal)
        return
    except (UnusableDataDir, OSError) as error:
        _refuse(prepared, str(error), error)
        return
    if told is Told.HEARD:
        raise Exit(0)
    if told is Told.NOBODY:
        prepared.data, prepared.lock = data, lock
        return
    holder = lock.holder()
    busy = f"Reprise already runs with the data folder {data.root} (process {holder})."
    if options.quit_when_done:
        raise Exit(EXIT_USAGE, busy)
    _refuse(prepared, f"{busy} It does not answer.", None)


def _refuse(prepared: Prepared, sentence: str, cause: BaseException | None) -> None:
    """A sentence in the window, or the end of a run that has nobody to read it."""
    if prepared.options.quit_when_done:
        raise Exit(EXIT_USAGE, sentence) from cause
    prepared.problems.append(sentence)
