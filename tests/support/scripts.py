"""The scripts of `packaging/`, which is no package: its folder is on the path only while one is loaded."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"


def load_script(name: str) -> Any:
    """The module `packaging/<name>.py`, with those it imports from there; nothing of them stays in `sys.modules`."""
    before = set(sys.modules)
    sys.path.insert(0, str(PACKAGING))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(PACKAGING))
        ours = {path.stem for path in PACKAGING.glob("*.py")}
        for new in (set(sys.modules) - before) & ours:
            del sys.modules[new]
