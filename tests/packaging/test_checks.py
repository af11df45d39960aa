"""The gates see what they are for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.scripts import ROOT, load_script

checks = load_script("checks")
SCRIPT = "from numbers_of_ours import double\n\nprint(double({argument}))\n"


@pytest.mark.parametrize(
    ("argument", "definition", "complaint"),
    [
        ("2", "def double(value: int) -> int:\n    return 2 * value\n", None),
        ("'2'", "def double(value: int) -> int:\n    return 2 * value\n", "script.py:3: error: Argument 1"),
        ("2", "def double(value):\n    return 2 * value\n", "numbers_of_ours.py:1: error: Function is missing"),
    ],
    ids=["clean", "wrong", "untyped"],
)
def test_the_scripts_of_packaging_are_typed_strictly_together(
    tmp_path: Path, argument: str, definition: str, complaint: str | None
) -> None:
    """They import each other without being a package."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    folder = tmp_path / "packaging"
    folder.mkdir()
    (folder / "script.py").write_text(SCRIPT.format(argument=argument), "utf-8")
    (folder / "numbers_of_ours.py").write_text(definition, "utf-8")
    command = [sys.executable, *checks.GATES["mypy packaging"]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is (complaint is None)
    assert (complaint or "Success") in done.stdout
