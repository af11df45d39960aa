"""The examples of the CommonMark and GFM specifications, from where the bootstrap unpacked them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(sys.prefix) / "spec-examples"
_EXAMPLE = re.compile(r"^`{32} example[^\n]*\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """What is written, and the HTML it stands for. `number` is the one printed in the specification."""

    number: int
    markdown: str
    html: str


@cache
def examples(name: str) -> tuple[Example, ...]:
    """All examples of ``commonmark`` or ``gfm``; an AssertionError says how to get a file that is missing."""
    path = FOLDER / f"{name}.txt"
    assert path.is_file(), f"{path} is missing; `python3 packaging/bootstrap.py test` fetches it."
    text = path.read_text("utf-8").replace("\u2192", "\t")
    found = _EXAMPLE.finditer(text)
    return tuple(Example(number, match[1], match[2]) for number, match in enumerate(found, 1))
