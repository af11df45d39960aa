"""Nothing that looks like a key reaches the log (behaviour P9)."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

from reprise.app.logs import redact, to_file

KEY = "sk-proj-abcdefghijklmnop"


@pytest.mark.parametrize(
    "line",
    [
        f"Authorization: Bearer {KEY}",
        f"{{'authorization': 'Bearer {KEY}'}}",
        f"x-api-key={KEY}",
        f"api_key: {KEY}, next",
        f"the server said {KEY} is wrong",
        f"Bearer {KEY}",
    ],
)
def test_keys_are_taken_out(line: str) -> None:
    assert KEY not in redact(line)
    assert "<key>" in redact(line)


def test_ordinary_words_stay() -> None:
    line = "retry 2 of 10 after 429, request gen-1761054821-Kx3VbQmT0c"
    assert redact(line) == line


def test_a_traceback_in_the_log_file_is_redacted(tmp_path: Path) -> None:
    handler = to_file(tmp_path / "logs")
    try:
        try:
            raise RuntimeError(f"refused {KEY}")
        except RuntimeError:
            logging.getLogger("reprise.test").exception("it failed")
        handler.flush()
        written = (tmp_path / "logs" / "reprise.log").read_text("utf-8")
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    assert "it failed" in written
    assert "Traceback" in written
    assert KEY not in written


def test_log_files_are_their_owners_to_read_and_nobody_elses(tmp_path: Path) -> None:
    """Behaviour P9: the files there are of an earlier version as well."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "reprise.log").touch(0o644)
    handler = to_file(folder)
    try:
        assert isinstance(handler, RotatingFileHandler)
        handler.doRollover()
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    assert {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()} == {
        "reprise.log": 0o600,
        "reprise.log.1": 0o600,
    }
