"""Run by the program's own Python: which shared libraries does its Qt (and its model's engine) miss on this system?

Prints one JSON object: `missing` sonames, `found` paths of what lies outside the environment, `problems` of loading.
`ldd` names all that is missing at once; loading afterwards is what counts.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtNetwork", "QtDBus")
PLUGINS = (
    "platforms/libqoffscreen.so",
    "platforms/libqxcb.so",
    "platforms/libqwayland*.so",
    "xcbglintegrations/*.so",
    "imageformats/libqsvg.so",
    "imageformats/libqjpeg.so",
    "iconengines/libqsvgicon.so",
    "wayland-shell-integration/libxdg-shell.so",
)
_NOT_FOUND = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
_FOUND = re.compile(r"=> (/\S+)", re.MULTILINE)
_NOT_LOADED = re.compile(r"(lib\S+\.so[.\d]*): cannot open shared object file")


def _folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else None


def libraries() -> Iterator[Path]:
    """What Qt loads for a window, on a screen or offscreen."""
    if folder := _folder("PySide6"):
        yield from (folder / f"{module}.abi3.so" for module in MODULES)
        for pattern in PLUGINS:
            yield from sorted((folder / "Qt" / "plugins").glob(pattern))


def engine() -> Iterator[Path]:
    """The built-in model's engine: never loaded here, for its code may not run on this processor."""
    if folder := _folder("xllamacpp"):
        yield from folder.glob("*.so")


def parse_ldd(output: str) -> tuple[set[str], set[str]]:
    """The sonames that ldd did not find, and the paths of those it found."""
    return set(_NOT_FOUND.findall(output)), set(_FOUND.findall(output))


def probe() -> dict[str, list[str]]:
    """What this script prints."""
    missing: set[str] = set()
    found: set[str] = set()
    problems = []
    if ldd := shutil.which("ldd"):
        for path in (*libraries(), *engine()):
            listing = subprocess.run([ldd, str(path)], capture_output=True, text=True, check=False)
            absent, present = parse_ldd(listing.stdout)
            missing |= absent
            found |= {place for place in present if not place.startswith(sys.prefix)}
    for path in libraries():
        try:
            ctypes.CDLL(str(path))
        except OSError as error:
            if match := _NOT_LOADED.search(str(error)):
                missing.add(match[1])
            else:
                problems.append(str(error))
    return {"missing": sorted(missing), "found": sorted(found), "problems": problems}


if __name__ == "__main__":
    print(json.dumps(probe()))
