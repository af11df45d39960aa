"""What can be wrong with a data folder or a database file, each as one sentence that names the path."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from peewee import PeeweeException

from reprise.domain.ports import LogError

STORAGE_ERRORS = (PeeweeException, sqlite3.Error, OSError)
"""What the driver raises; everything else is a bug of ours and stays as it is."""

_PRIMARY_CODE = 0xFF

_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk is full: {path} could not be written.",
    sqlite3.SQLITE_READONLY: "{path} cannot be written: it is read-only.",
    sqlite3.SQLITE_PERM: "{path} cannot be opened: permission denied.",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened: the file or its folder is not accessible.",
    sqlite3.SQLITE_IOERR: "The disk reported an error while {path} was in use.",
    sqlite3.SQLITE_BUSY: "{path} is in use by another program.",
    sqlite3.SQLITE_LOCKED: "{path} is in use by another program.",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged; it was left as it is.",
    sqlite3.SQLITE_NOTADB: "{path} is not a Reprise database; it was left as it is.",
}


class StorageProblem(LogError):
    """The data folder or the database cannot be used at all; nothing in it was changed."""


def sentence_for(error: BaseException, path: Path) -> str:
    """One sentence for what the driver raised about `path`."""
    if isinstance(error, OSError):
        return f"{error.filename or path} cannot be used: {error.strerror or error}."
    # Peewee keeps the driver's own exception, and with it SQLite's code, under this name.
    cause = getattr(error, "orig", error)
    code = getattr(cause, "sqlite_errorcode", None)
    template = _SENTENCES.get(code & _PRIMARY_CODE) if isinstance(code, int) else None
    return template.format(path=path) if template else f"{path} could not be used: {cause}."
