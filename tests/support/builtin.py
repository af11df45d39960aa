"""What the tests of the built-in model share."""

from __future__ import annotations

import hashlib
import os
import select
import zipfile
from pathlib import Path

import pytest

from reprise.providers.builtin.model_file import ModelFile, find
from reprise.providers.builtin.requirements import why_unavailable

CONTENT = b"GGUF" + bytes(range(256)) * 40
SMALL = ModelFile(
    name="small.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    package="small_model",
    version="1.0",
    wheel_size=len(CONTENT),
)


def make_wheel(folder: Path, content: bytes = CONTENT) -> Path:
    """A wheel as an installer would leave it in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "small_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("small_model/small.gguf", content)
    return path


def real_model() -> Path:
    """The real model's file, which the bootstrap brought. Skips only where the model cannot run at all."""
    if reason := why_unavailable():
        pytest.skip(reason)
    path = find(Path(os.environ["REPRISE_MODELS"]))
    assert path is not None, "the model's file is missing: packaging/bootstrap.py test fetches it"
    return path


def ends_within(pid: int, seconds: float) -> bool:
    """Wait for any process, not only a child; one that nobody buried yet counts as ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)
