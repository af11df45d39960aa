"""An environment is made once, remembered, and made anew when it was interrupted (issue point 2)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from support.scripts import load_script

environments = load_script("environment")


@pytest.fixture
def environment(tmp_path: Path) -> Any:
    """A finished environment of a checkout with nothing in it; making another would fail."""
    (tmp_path / "packaging").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "packaging" / "constraints.txt").write_text("httpx==0.28.1\n")
    folder = tmp_path / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    environment = environments.Environment(tmp_path, folder, print, base="/no/such/python")
    environment.write_stamp(environments.Stamp(environment.key(), str(tmp_path), ["dev", "local"]))
    return environment


def test_a_finished_environment_is_used_as_it_is(environment: Any) -> None:
    assert environment.ensure(extras=(), optional=("local",)).extras == ["dev", "local"]
    assert environment.ensure(extras=("dev", "local")).extras == ["dev", "local"]


def test_an_extra_that_could_not_be_had_is_not_tried_again(environment: Any) -> None:
    stamp = environments.Stamp(environment.key(), str(environment.root), [], {"local": "no wheel for this machine"})
    environment.write_stamp(stamp)
    assert environment.ensure(extras=(), optional=("local",)) == stamp
    assert not stamp.covers(environment.key(), ["dev"])


@pytest.mark.parametrize("file", ["pyproject.toml", "packaging/constraints.txt"])
def test_a_changed_dependency_means_installing_again(environment: Any, file: str) -> None:
    before = environment.key()
    path = environment.root / file
    path.write_text(path.read_text() + "# changed\n")
    assert environment.key() != before
    assert not environment.stamp().covers(environment.key(), [])


def test_an_interrupted_environment_is_not_whole(environment: Any) -> None:
    assert environment.is_whole()
    (environment.folder / "reprise-building").touch()
    assert not environment.is_whole()


def test_an_environment_whose_python_is_gone_is_not_whole(environment: Any) -> None:
    environment.python.unlink()
    assert not environment.is_whole()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "x"}', '{"key": "x", "root": "/", "extras": [], "new": 1}'])
def test_a_damaged_stamp_is_none(environment: Any, text: str) -> None:
    (environment.folder / "reprise-stamp.json").write_text(text)
    assert environment.stamp() is None


def test_an_interrupted_environment_is_thrown_away(environment: Any) -> None:
    (environment.folder / "reprise-building").touch()
    (environment.folder / "half").touch()
    with pytest.raises(FileNotFoundError, match="/no/such/python"):
        environment.ensure(extras=())
    assert not (environment.folder / "half").exists()


def test_a_moved_checkout_gets_an_environment_of_its_own(environment: Any, tmp_path: Path) -> None:
    environment.write_stamp(environments.Stamp(environment.key(), "/elsewhere", ["dev", "local"]))
    environment.root.joinpath("pyproject.toml").write_text("")
    with pytest.raises(FileNotFoundError, match="/no/such/python"):
        environment.ensure(extras=())


def test_nothing_that_leads_its_python_elsewhere_is_passed_on(
    environment: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")
    assert not {"PYTHONPATH", "PYTHONHOME"} & set(environment.environ())


def test_without_a_network_one_sentence_says_so(environment: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Issue point 2: what only a person can mend is said in a sentence, not in pip's riddles."""
    environment.python.unlink()
    environment.python.write_text(
        "#!/bin/sh\n"
        '[ "$1" = -c ] && exit\n'
        "echo \"WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'E'\" >&2\n"
        "echo 'ERROR: ResolutionImpossible' >&2\n"
        f"echo asked >>{environment.root}/asked\n"
        "exit 1\n"
    )
    environment.python.chmod(0o700)
    with pytest.raises(environments.NeedsPerson, match=r"index cannot be reached\. Check the network"):
        environment.ensure(extras=(), optional=("local",))
    assert (environment.root / "asked").read_text() == "asked\n"
    assert "Retry" not in capfd.readouterr().err


def test_what_pip_says_of_another_failure_is_passed_on(environment: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Issue point 2: the sentence ends with pip's own last reason."""
    environment.python.unlink()
    environment.python.write_text(
        "#!/bin/sh\n[ \"$1\" = -c ] && exit\necho 'note: more' >&2\necho 'ERROR: no wheel' >&2\nexit 1\n"
    )
    environment.python.chmod(0o700)
    with pytest.raises(environments.NeedsPerson, match=r"could not be installed: ERROR: no wheel$"):
        environment.ensure(extras=("dev",))
    assert "note: more" in capfd.readouterr().err
