"""The model's file is used only when it is the pinned one (issue point 3)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from reprise.providers.builtin import model_file
from support.builtin import CONTENT, SMALL


def test_nothing_there_is_none(tmp_path: Path) -> None:
    assert model_file.find(tmp_path / "missing", SMALL) is None


def test_a_file_in_the_models_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / SMALL.name).write_bytes(CONTENT)
    assert model_file.find(tmp_path, SMALL) == tmp_path / SMALL.name


def test_a_file_in_an_installed_wheel_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / SMALL.package
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('its dependencies are not installed')")
    (package / SMALL.name).write_bytes(CONTENT)
    monkeypatch.syspath_prepend(str(package.parent))
    assert model_file.find(tmp_path / "models", SMALL) == package / SMALL.name
    assert SMALL.package not in sys.modules


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT[:-1] + b"\0", b""])
def test_a_damaged_file_counts_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / SMALL.name).write_bytes(content)
    assert model_file.find(tmp_path, SMALL) is None


def test_a_checked_file_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / SMALL.name
    path.write_bytes(CONTENT)
    assert model_file.find(tmp_path, SMALL) == path
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_bytes(bytes(SMALL.size))  # the same size, and the same time below: only reading could tell
    os.utime(path, ns=times)
    assert model_file.find(tmp_path, SMALL) == path


def test_a_file_changed_after_the_check_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / SMALL.name
    path.write_bytes(CONTENT)
    assert model_file.find(tmp_path, SMALL) == path
    path.write_bytes(bytes(SMALL.size))
    os.utime(path, ns=(0, 0))
    assert model_file.find(tmp_path, SMALL) is None


@pytest.mark.parametrize("stamps", ["", "[]", "{not json"])
def test_a_damaged_note_of_checks_costs_a_second_check(tmp_path: Path, stamps: str) -> None:
    (tmp_path / SMALL.name).write_bytes(CONTENT)
    (tmp_path / "verified.json").write_text(stamps)
    assert model_file.find(tmp_path, SMALL) == tmp_path / SMALL.name
