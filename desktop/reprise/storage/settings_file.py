"""`settings.toml`: read with care, written without touching what others wrote in it."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from reprise.domain.ports import LogError, SettingsProblem
from reprise.domain.settings import SECTIONS, SETTINGS, read, setting
from reprise.storage.rows import clean
from reprise.storage.worker import Priority, Worker

_log = logging.getLogger("reprise.storage")

FILE_NAME = "settings.toml"

_HEADING = """# Settings of Reprise. Lines that begin with # are comments: those below show every key with its default.
# Changes here are read at the next start; the program's own settings page keeps what you write.
"""


class _Unusable(Exception):
    """The file as it is can be neither used nor written; `str(error)` is a sentence."""


class SettingsFile:
    """Implements `ports.SettingsStore` over one TOML file.

    `overrides` (checked values, from ``--set``) win for this run and are never written. A missing file is all
    defaults. A bad value is set aside with a problem and its default used; a file that is no TOML is all defaults,
    one problem, and is left alone until somebody mends it.
    """

    def __init__(self, path: Path, worker: Worker, overrides: Mapping[str, Any] | None = None) -> None:
        self._path = path
        self._worker = worker
        self._overrides = dict(overrides or {})
        self._stored: dict[str, Any] = {}
        self._problems: tuple[SettingsProblem, ...] = ()
        try:
            self._stored, self._problems = read(_parse(_text_of(path), path))
        except _Unusable as error:
            self._problems = (SettingsProblem("", str(error)),)

    def values(self) -> Mapping[str, Any]:
        defaults = {key: known.default for key, known in SETTINGS.items()}
        return {**defaults, **self._stored, **self._overrides}

    def problems(self) -> Sequence[SettingsProblem]:
        return self._problems

    async def create(self) -> None:
        """Write the commented file of defaults where there is none, so that a person finds what can be set."""
        try:
            await self._worker.run(Priority.BACKGROUND, partial(_create, self._path))
        except OSError as error:
            _log.warning("%s could not be written: %s", self._path, error)

    async def write(self, key: str, value: Any) -> SettingsProblem | None:
        """Store one value; None takes the key out of the file, so that its default holds.

        Returns a problem, and stores nothing, for an unknown key, a bad value, or a file that cannot be read or
        written. What is in force changes after the file did, outside edits included.
        """
        try:
            checked = setting(key).check(_clean(value))
        except ValueError as error:
            return SettingsProblem(key, str(error))
        try:
            job = partial(_store, self._path, key, None if value is None else checked)
            self._stored, self._problems = await self._worker.run(Priority.WRITE, job)
        except _Unusable as error:
            return SettingsProblem(key, f"{error} {key} was not saved.")
        except OSError as error:
            return SettingsProblem(key, f"{self._path} cannot be written: {error.strerror or error}.")
        except LogError as error:
            return SettingsProblem(key, f"{error} {key} was not saved.")
        return None


def _create(path: Path) -> None:
    if not path.exists():
        _replace(path, _template())


def _text_of(path: Path) -> str | None:
    """The file's text, None when there is none. Raises _Unusable."""
    try:
        if path.exists() and not path.is_file():
            raise _Unusable(f"{path} cannot be read: it is no file.")  # reading a pipe would wait for ever
        # utf-8-sig: some editors put a byte-order mark in front.
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _Unusable(f"{path} is not UTF-8 text (byte {error.start}); it was left as it is.") from error
    except OSError as error:
        raise _Unusable(f"{path} cannot be read: {error.strerror or error}.") from error


def _parse(text: str | None, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text or "")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = str(error) or "it is nested too deeply"
        raise _Unusable(f"{path} is not valid TOML: {reason}; it was left as it is.") from error


def _store(path: Path, key: str, value: Any) -> tuple[dict[str, Any], tuple[SettingsProblem, ...]]:
    """Read the file again, change one key, put it in place whole; what is in it now."""
    # tomlkit keeps comments and layout; it is only needed once something is written.
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    found = _text_of(path)
    before = _parse(found, path)
    text = _template() if found is None else found
    section, name = key.split(".", 1)
    try:
        document = tomlkit.parse(text)
        table = document.get(section)
        if value is None:
            if isinstance(table, MutableMapping):
                table.pop(name, None)
        elif not isinstance(table, MutableMapping):
            document[section] = {name: _item(value)}
        elif isinstance(value, Mapping) and isinstance(there := table.get(name), MutableMapping):
            _update(there, value)
        else:
            table[name] = _item(value)
        changed = tomlkit.dumps(document)
    except (TOMLKitError, ValueError, LookupError) as error:
        # LookupError: tomlkit loses count in sections that are scattered over a file.
        raise _Unusable(_laid_out(path)) from error
    after = _parse(changed, path)
    if not _differs_only_in(before, after, section, name, value):
        raise _Unusable(_laid_out(path))
    _replace(path, changed)
    return read(after)


def _laid_out(path: Path) -> str:
    return f"{path} is laid out in a way that cannot be changed here safely; change it by hand."


def _clean(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case Mapping():
            return {_clean(key): _clean(content) for key, content in value.items()}
        case _:
            return value


def _item(value: Any) -> Any:
    """A table in one line: one under a heading of its own would take the keys that are written behind it."""
    if not isinstance(value, Mapping):
        return value
    import tomlkit

    table = tomlkit.inline_table()
    table.update(value)
    return table


def _update(table: MutableMapping[str, Any], value: Mapping[str, Any]) -> None:
    """Make a table say `value`, as somebody wrote it: what stays the same is not touched."""
    for gone in [key for key in table if key not in value]:
        del table[gone]
    for key, content in value.items():
        if table.get(key) != content:
            table[key] = content


def _differs_only_in(before: Mapping[str, Any], after: Mapping[str, Any], section: str, name: str, value: Any) -> bool:
    def table(values: Mapping[str, Any]) -> dict[str, Any]:
        content = values.get(section)
        return dict(content) if isinstance(content, Mapping) else {}

    expected, got = table(before), table(after)
    expected.pop(name, None)
    if value is not None:
        expected[name] = value
    others_before = {key: content for key, content in before.items() if key != section}
    others_after = {key: content for key, content in after.items() if key != section and (key in before or content)}
    return expected == got and repr(others_before) == repr(others_after)


def _replace(path: Path, text: str) -> None:
    """Write beside the file, flush to the disk, put in its place; a link stays a link to the new text."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def _template() -> str:
    """A new file: every section with its keys as comments."""
    lines = [_HEADING]
    for section in SECTIONS:
        lines.append(f"[{section}]")
        for known in SETTINGS.values():
            if known.key.startswith(f"{section}."):
                name = known.key.removeprefix(f"{section}.")
                shown = "10" if known.default is None else _toml(known.default)
                lines.append(f"# {name} = {shown}  # {known.help}")
        lines.append("")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
        case _:
            return str(value)
