"""Logging: a rotating file in the data folder, with everything that looks like a key taken out."""

from __future__ import annotations

import logging
import re
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

_MAX_BYTES = 2_000_000
_BACKUPS = 4
_SECRET = re.compile(
    r"""(?ix) ( (?:authorization|proxy-authorization|x-api-key|api[-_]?key) ["']? \s* [:=] \s* ["']? (?:bearer\s+)? )
        [^\s"',;]+ """
)
_KEY = re.compile(r"\b(?:sk|pk|gsk|xai|key)-[A-Za-z0-9_\-]{8,}|\bBearer\s+[A-Za-z0-9._\-]{8,}")


def redact(text: str) -> str:
    """`text` without keys."""
    return _KEY.sub("<key>", _SECRET.sub(r"\1<key>", text))


class RedactingFormatter(logging.Formatter):
    """Formats a record, traceback included, and redacts the result."""

    def format(self, record: logging.LogRecord) -> str:
        """The line that is written."""
        return redact(super().format(record))


class PrivateFileHandler(RotatingFileHandler):
    """Writes files that nobody but their owner can read."""

    def _open(self) -> TextIOWrapper:  # of the standard library, to be overridden
        file = Path(self.baseFilename)
        file.touch(0o600)
        if file.stat().st_mode & 0o077:  # of an earlier version
            file.chmod(0o600)
        return super()._open()


def to_file(folder: Path) -> logging.Handler:
    """Log to `folder` (made if need be). Raises OSError."""
    folder.mkdir(mode=0o700, exist_ok=True)
    handler = PrivateFileHandler(folder / "reprise.log", maxBytes=_MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8")
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for chatty in ("httpx", "httpcore", "markdown_it"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    return handler
