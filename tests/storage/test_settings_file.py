"""The settings file: what others wrote in it stays."""

from __future__ import annotations

import asyncio
import os
import stat
import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reprise.domain.ports import SettingsProblem
from reprise.storage import settings_file
from reprise.storage.settings_file import SettingsFile
from reprise.storage.worker import Worker


@asynccontextmanager
async def store_of(path: Path, overrides: Mapping[str, Any] | None = None) -> AsyncIterator[SettingsFile]:
    worker = Worker()
    try:
        yield SettingsFile(path, worker, overrides)
    finally:
        await worker.close(10)


def write(path: Path, key: str, value: Any, overrides: Mapping[str, Any] | None = None) -> SettingsProblem | None:
    async def main() -> SettingsProblem | None:
        async with store_of(path, overrides) as store:
            return await store.write(key, value)

    return asyncio.run(main())


def put(path: Path, text: str) -> None:
    path.write_text(text)


def content_of(path: Path) -> str:
    return path.read_text()


def look(path: Path, overrides: Mapping[str, Any] | None = None) -> SettingsFile:
    return SettingsFile(path, Worker(), overrides)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_a_missing_file_is_all_defaults_and_is_not_made_by_reading(path: Path) -> None:
    store = look(path)
    assert store.values()["retry.policy"] == "steady"
    assert store.problems() == ()
    assert not path.exists()


def test_the_first_write_makes_a_commented_file_of_its_owner_alone(path: Path) -> None:
    assert write(path, "retry.policy", "off") is None
    text = path.read_text()
    assert "# after_cap_s = 120.0  # longest wait a provider may ask for without a question" in text
    assert tomllib.loads(text)["retry"] == {"policy": "off"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [child.name for child in path.parent.iterdir()] == ["settings.toml"]


def test_every_comment_of_the_new_file_is_a_line_that_can_be_used(path: Path) -> None:
    """Taking the # away must give a file without problems."""
    write(path, "retry.policy", "steady")
    lines = path.read_text().splitlines()
    used = [line.removeprefix("# ") if " = " in line else line for line in lines if line != 'policy = "steady"']
    path.write_text("\n".join(used))
    store = look(path)
    assert store.problems() == ()
    assert store.values() == {**look(path.with_name("none")).values(), "retry.max_retries": 10}


def test_comments_layout_and_edits_of_others_survive(path: Path) -> None:
    """F90: the file is read again before it is written."""

    async def main() -> None:
        put(path, "# mine\n[retry]\npolicy = 'off' # quiet\n\n[future]\nlist = [ 1,\n  2 ]\n")
        async with store_of(path) as store:
            put(path, content_of(path) + "[turn]\nmax_rounds = 5  # outside\n")
            assert await store.write("retry.max_retries", 3) is None
            assert await store.write("appearance.scheme", "dark") is None
            assert store.values()["turn.max_rounds"] == 5
        text = content_of(path)
        for kept in ("# mine\n", "policy = 'off' # quiet\n", "list = [ 1,\n  2 ]\n", "max_rounds = 5  # outside\n"):
            assert kept in text
        assert tomllib.loads(text)["retry"] == {"policy": "off", "max_retries": 3}

    asyncio.run(main())


@pytest.mark.parametrize(
    "content",
    [
        None,
        "[retry]\njitter = true # mine\n",
        "[retry]\nper_provider = { own = 'off' } # mine\njitter = true\n",
        "[retry]\njitter = true\n[retry.per_provider] # mine\nown = 'off' # quiet\nold = 'off'\n[turn]\n",
        "retry.jitter = true\nretry.per_provider = {} # mine\n",
    ],
)
def test_a_table_of_policies_comes_back_and_leaves_the_rest_alone(path: Path, content: str | None) -> None:
    """F90, D2: policies of single providers are one line, or stay as somebody laid them out."""

    async def main() -> None:
        if content is not None:
            put(path, content)
        before = tomllib.loads(content or "")
        wanted = {"own": "off", 'a "b".c': "custom", "é": "steady"}
        async with store_of(path) as store:
            assert await store.write("retry.per_provider", wanted) is None
            assert store.values()["retry.per_provider"] == wanted
            assert await store.write("retry.max_retries", 3) is None
        text = content_of(path)
        after = tomllib.loads(text)
        assert after.pop("retry") == {**before.pop("retry", {}), "per_provider": wanted, "max_retries": 3}
        assert after.items() >= before.items()
        assert text.count("# mine") == (content or "").count("# mine")
        assert text.count("# quiet") == (content or "").count("# quiet")
        async with store_of(path) as store:
            assert store.values()["retry.per_provider"] == wanted
            assert await store.write("retry.per_provider", {}) is None
            assert store.values()["retry.per_provider"] == {}
            assert await store.write("retry.per_provider", None) is None
        assert "per_provider" not in tomllib.loads(content_of(path))["retry"]
        assert look(path).problems() == ()

    asyncio.run(main())


@pytest.mark.parametrize("wanted", [{}, {"own": "off"}, {"é": "custom"}, None])
def test_a_table_scattered_over_a_file_is_changed_or_left_as_it_is(path: Path, wanted: dict[str, str] | None) -> None:
    """Not every layout can be written back; then a sentence says so and the file stays."""
    content = (
        "retry.per_provider.own = 'off'\nturn.max_rounds = 4\nretry.per_provider.'a b' = 'off'\nretry.jitter = true\n"
    )
    path.write_text(content)
    problem = write(path, "retry.per_provider", wanted)
    if problem is None:
        after = tomllib.loads(path.read_text())
        assert after["retry"].get("per_provider") == wanted
        assert (after["turn"], after["retry"]["jitter"]) == ({"max_rounds": 4}, True)
    else:
        assert "change it by hand" in problem.sentence
        assert path.read_text() == content


def test_half_characters_in_a_table_are_replaced(path: Path) -> None:
    assert write(path, "retry.per_provider", {"\ud800": "off"}) is None
    assert look(path).values()["retry.per_provider"] == {"\ufffd": "off"}


def test_none_takes_the_key_out_of_the_file(path: Path) -> None:
    path.write_text("[retry]\nmax_retries = 3\njitter = true\n")
    assert write(path, "retry.max_retries", None) is None
    assert path.read_text() == "[retry]\njitter = true\n"
    assert write(path, "turn.max_rounds", None) is None
    assert path.read_text() == "[retry]\njitter = true\n"


def test_overrides_win_and_are_never_written(path: Path) -> None:
    async def main() -> None:
        async with store_of(path, {"retry.policy": "off", "provider.url": "http://x"}) as store:
            assert await store.write("turn.max_rounds", 5) is None
            assert await store.write("retry.policy", "custom") is None
            assert store.values()["retry.policy"] == "off"
        assert tomllib.loads(content_of(path))["retry"] == {"policy": "custom"}
        assert "http://x" not in content_of(path)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("retry.policy", "often", "steady"),
        ("retry.per_provider", {"own": "often"}, "steady"),
        ("retry.colour", 1, "no setting called"),
        ("provider.key", "sk-1", "environment variable"),
    ],
)
def test_a_bad_value_is_returned_and_not_stored(path: Path, key: str, value: Any, reason: str) -> None:
    problem = write(path, key, value)
    assert problem is not None
    assert problem.key == key
    assert reason in problem.sentence
    assert not path.exists()


def test_a_bad_value_in_the_file_is_set_aside(path: Path) -> None:
    """P8, F18: its default is used, the others hold, and the file keeps what it says."""
    path.write_text("[retry]\npolicy = 'often'\nmax_retries = 3\n")
    store = look(path)
    assert (store.values()["retry.policy"], store.values()["retry.max_retries"]) == ("steady", 3)
    assert [problem.key for problem in store.problems()] == ["retry.policy"]
    assert write(path, "turn.max_rounds", 5) is None
    assert "policy = 'often'" in path.read_text()


def test_a_problem_ends_when_its_key_is_written(path: Path) -> None:
    async def main() -> None:
        put(path, "[retry]\npolicy = 'often'\n")
        async with store_of(path) as store:
            assert store.problems()
            assert await store.write("retry.policy", "off") is None
            assert store.problems() == ()

    asyncio.run(main())


@pytest.mark.parametrize(
    "content",
    [b"[retry", b"a = 1\na = 2\n", b"\xff\xfe", b"retry.policy = off\n", pytest.param(b"a=" + b"[" * 9999, id="deep")],
)
def test_a_file_that_is_no_toml_is_left_alone(path: Path, content: bytes) -> None:
    """Defaults hold, the problem names the file, and nothing overwrites what somebody is editing."""
    path.write_bytes(content)
    store = look(path)
    (problem,) = store.problems()
    assert problem.key == ""
    assert str(path) in problem.sentence
    assert store.values()["retry.policy"] == "steady"
    refused = write(path, "retry.policy", "off")
    assert refused is not None
    assert refused.sentence.endswith("retry.policy was not saved.")
    assert path.read_bytes() == content


def test_a_file_broken_after_the_start_is_not_overwritten_either(path: Path) -> None:
    async def main() -> None:
        put(path, "[retry]\npolicy = 'off'\n")
        async with store_of(path) as store:
            put(path, "[retry")
            assert await store.write("turn.max_rounds", 5) is not None
            assert content_of(path) == "[retry"
            assert store.values()["retry.policy"] == "off"

    asyncio.run(main())


@pytest.mark.parametrize(
    "content",
    [
        "retry = { policy = 'off' }\n",
        "retry.policy = 'off'\n",
        "[retry]\n",
        "[retry]\r\npolicy = 'off'\r\n",
        "\ufeff[retry]\npolicy = 'off'\n",
        "[retry.more]\na = 1\n",
        "[a]\nb = 1\n[retry]\npolicy = 'off'\n[a.c]\nd = 2\n",
        "[turn]\nmax_rounds = 4\n[retry.more]\nx = 1\n[other]\n",
    ],
)
def test_every_way_to_write_a_section_can_be_changed(path: Path, content: str) -> None:
    path.write_bytes(content.encode())
    before = tomllib.loads(content.removeprefix("\ufeff"))
    assert write(path, "retry.policy", "custom") is None
    after = tomllib.loads(path.read_bytes().decode())
    assert after == {**before, "retry": {**before.get("retry", {}), "policy": "custom"}}


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path, path: Path) -> None:
    (tmp_path / "file").write_text("")
    problem = write(tmp_path / "file" / "settings.toml", "retry.policy", "off")
    assert problem is not None
    assert str(tmp_path / "file") in problem.sentence
    path.mkdir()
    (problem,) = look(path).problems()
    assert "cannot be read" in problem.sentence


def test_a_write_cut_short_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new text is put in place whole or not at all, and no rest stays behind."""
    path.write_text("[retry]\npolicy = 'off'\n")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(settings_file.os, "fsync", full)
    problem = write(path, "retry.policy", "custom")
    assert problem is not None
    assert problem.sentence == f"{path} cannot be written: No space left on device."
    assert path.read_text() == "[retry]\npolicy = 'off'\n"
    assert [child.name for child in path.parent.iterdir()] == ["settings.toml"]


def test_a_write_after_the_store_closed_is_a_sentence(path: Path) -> None:
    """A page still open while the program ends loses a change, and says so."""

    async def main() -> None:
        async with store_of(path) as store:
            pass
        problem = await store.write("retry.policy", "off")
        assert problem is not None
        assert problem.sentence == "The store is closed. retry.policy was not saved."

    asyncio.run(main())


def test_a_link_stays_a_link(tmp_path: Path, path: Path) -> None:
    """Settings kept in a folder of one's own dot files."""
    target = tmp_path / "dotfiles.toml"
    target.write_text("[retry]\n")
    path.symlink_to(target)
    assert write(path, "retry.policy", "off") is None
    assert path.is_symlink()
    assert tomllib.loads(target.read_text()) == {"retry": {"policy": "off"}}


@given(st.text(max_size=60) | st.text("[]=.#\"'\n retypolic0", max_size=60))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_read_without_an_exception_and_never_damaged(path: Path, content: str) -> None:
    """Whatever is in the file: problems, not exceptions; a write changes its key and nothing else, or says no."""
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    before = path.read_bytes()
    look(path).values()
    if write(path, "retry.max_retries", 3) is None:
        after = tomllib.loads(path.read_text())
        assert after["retry"]["max_retries"] == 3
    else:
        assert path.read_bytes() == before


def test_a_first_start_leaves_a_commented_file_and_no_later_one_touches_it(tmp_path: Path) -> None:
    async def story() -> None:
        path = tmp_path / "settings.toml"
        worker = Worker()
        await SettingsFile(path, worker).create()
        text = path.read_text("utf-8")
        assert "# policy" in text or "#policy" in text
        assert SettingsFile(path, worker).problems() == ()
        path.write_text(text + "\n# mine\n", "utf-8")
        await SettingsFile(path, worker).create()
        assert path.read_text("utf-8").endswith("# mine\n")
        await worker.close(1.0)

    asyncio.run(story())


def test_a_settings_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    os.mkfifo(path)
    (problem,) = SettingsFile(path, Worker()).problems()
    assert "it is no file" in problem.sentence
