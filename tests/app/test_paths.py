"""Where things are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reprise.app.paths import UnusableDataDir, models_dir, open_data_dir, resources_dir


def test_a_fresh_data_dir_is_private(tmp_path: Path) -> None:
    data = open_data_dir(tmp_path / "a" / "b")
    assert data.root.is_dir()
    assert data.root.stat().st_mode & 0o777 == 0o700


def test_an_open_data_dir_is_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_data_dir(tmp_path)
    assert tmp_path.stat().st_mode & 0o077 == 0


def test_a_data_dir_that_is_a_file_is_one_sentence_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("precious", "utf-8")
    with pytest.raises(UnusableDataDir, match="is a file"):
        open_data_dir(path)
    with pytest.raises(UnusableDataDir, match="lies under a file"):
        open_data_dir(path / "below")
    assert path.read_text("utf-8") == "precious"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_data_dir_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, -1)
    with pytest.raises(UnusableDataDir, match="another user"):
        open_data_dir(tmp_path)


def test_models_are_kept_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REPRISE_MODELS", str(tmp_path))
    assert models_dir() == tmp_path


def test_resources_of_a_checkout_are_the_checkout_s() -> None:
    assert (resources_dir() / "icons" / "send.svg").is_file()
    assert (resources_dir() / "themes" / "tokens.json").is_file()


def test_somebody_else_s_folder_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("x", "utf-8")
    tmp_path.chmod(0o755)
    open_data_dir(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["~nosuchuser/x", "a\udcffb"])
def test_a_folder_that_cannot_be_named_is_one_sentence(name: str) -> None:
    with pytest.raises(UnusableDataDir, match="no usable name"):
        open_data_dir(Path(name))
