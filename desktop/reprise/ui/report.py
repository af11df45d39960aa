"""The report of a failure that a person copies: what happened and when, and nothing that is theirs alone."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence

from PySide6.QtCore import qVersion

from reprise import __version__
from reprise.domain.sessions import Attempt, Entry

_SECRETS = re.compile(
    r"(?i:(?:authorization\s*[:=]\s*)?(?:bearer|basic)\s+\S+)"  # a header's value
    r"|\b(?:sk|pk|rk|gsk|xai|ghp|hf|AIza)[-_A-Za-z0-9]{12,}"  # keys as services make them
    r"|(?i:(?:api[-_]?key|token|secret|password|authorization)[\"']?\s*[:=]\s*[\"']?)[^\s\"'&,;]+"
)
_USER = re.compile(r"(://)[^/\s@]+@")
_QUERY = re.compile(r"(https?://[^\s?#]+)\?\S*")
_HOME = re.compile(r"(/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s]+")


def redacted(text: str) -> str:
    """`text` without what looks like a key, a user name in an address, an address's query or a home folder."""
    text = _USER.sub(r"\1", text)
    text = _QUERY.sub(r"\1?…", text)
    return _HOME.sub(r"\1…", _SECRETS.sub("[removed]", text))


def report_of(entries: Sequence[Entry]) -> str:
    """The attempts under one prompt as plain text; neither the prompt nor what arrived is in it (behaviour N9).

    It is in English whatever the window speaks: somebody else reads it.
    """
    lines = [f"Reprise {__version__}, Python {platform.python_version()}, Qt {qVersion()}, {platform.system()}"]
    for number, entry in enumerate(entries, 1):
        attempt = entry.data
        if not isinstance(attempt, Attempt):
            continue
        chars = sum(len(getattr(part, "text", "")) for part in attempt.parts)
        ended = f", ended {attempt.ended_at:%H:%M:%S}" if attempt.ended_at else ""
        lines.append("")
        lines.append(f"{number}. {entry.at:%Y-%m-%d %H:%M:%S} UTC{ended}: {attempt.state.value}, {chars} characters")
        lines.append(f"   model: {attempt.model.provider} / {attempt.model.model}")
        failure = attempt.failure
        if failure is None:
            continue
        status = f", status {failure.status}" if failure.status else ""
        again = "may be retried" if failure.retryable else "not retried by itself"
        lines.append(f"   failure: {failure.kind.value}{status}, {again}")
        if failure.retry_after_s is not None:
            lines.append(f"   asked to wait: {failure.retry_after_s:g} s")
        if failure.request_id:
            lines.append(f"   request: {redacted(failure.request_id)}")
        for words in dict.fromkeys((failure.message, failure.provider_detail or "")):
            lines.extend(f"   | {line}" for line in redacted(words).splitlines())
    return "\n".join(lines)
