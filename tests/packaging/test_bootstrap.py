"""The two commands: what they run, what they say, and what they leave to a person (issue point 2)."""

from __future__ import annotations

import ast
import errno
import json
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from support.scripts import PACKAGING, ROOT, load_script

commands = load_script("bootstrap_commands")
checks = load_script("checks")
screens = load_script("screens")
probe = load_script("probe_libraries")


def bootstrap(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PACKAGING / "bootstrap.py"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_without_a_command_it_says_how_it_is_used(tmp_path: Path) -> None:
    done = bootstrap(cwd=tmp_path)
    assert done.returncode == 2
    assert "bootstrap.py run" in done.stderr
    assert "bootstrap.py test" in done.stderr
    assert bootstrap("--help", cwd=tmp_path).returncode == 0


def test_what_only_a_person_can_do_is_one_command_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(arguments: list[str], started: float) -> int:
        raise commands.NeedsPerson("Missing on this system: libEGL.so.1.", "sudo apt-get install -y libegl1")

    monkeypatch.setattr(commands, "run", refuse)
    assert commands.main(["run"], "", 0.0) == 2
    printed = capsys.readouterr()
    assert printed.out.strip() == "sudo apt-get install -y libegl1"
    assert "libEGL.so.1" in printed.err


def test_a_checkout_that_cannot_be_written_to_is_a_sentence_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue point 2."""

    def refuse(arguments: list[str], started: float) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", "/checkout/.venv")

    monkeypatch.setattr(commands, "run", refuse)
    assert commands.main(["run"], "", 0.0) == 2
    assert capsys.readouterr().err == "/checkout/.venv cannot be used: Permission denied.\n"


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 10, 13)])
def test_an_older_python_is_told_which_is_needed(version: tuple[int, ...], tmp_path: Path) -> None:
    """Issue point 2: a Python of 3.11 or later."""
    pretend = f"import runpy, sys; sys.version_info = {version}; runpy.run_path(sys.argv[1], run_name='__main__')"
    command = [sys.executable, "-c", pretend, str(PACKAGING / "bootstrap.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"Reprise needs Python 3.11 or later; this is {version[0]}.{version[1]}.\n"


def test_every_python_can_read_the_file_that_turns_it_away() -> None:
    """Issue point 2: nothing in it is newer than Python 2.7, which could not say more than "invalid syntax"."""
    tree = ast.parse((PACKAGING / "bootstrap.py").read_text("ascii"))
    younger = (ast.AnnAssign, ast.JoinedStr, ast.NamedExpr, ast.AsyncFunctionDef, ast.Match, ast.Nonlocal)
    for node in ast.walk(tree):
        assert not isinstance(node, younger), ast.dump(node)
        if isinstance(node, ast.FunctionDef):
            assert node.returns is None
            assert not node.args.posonlyargs
            assert not node.args.kwonlyargs
            assert all(argument.annotation is None for argument in node.args.args)
        if isinstance(node, ast.ImportFrom):
            assert node.module != "__future__"


DATA = Path("data of a demonstration")


def test_offscreen_the_window_is_asked_one_thing() -> None:
    assert commands.offscreen_arguments([], None, DATA) == [
        "--say",
        commands.PROMPT,
        "--quit-when-done",
        "--data-dir",
        str(DATA),
        "--screenshot",
        str(commands.PICTURE),
    ]


def test_where_the_model_cannot_run_echo_answers() -> None:
    assert commands.offscreen_arguments([], "No AVX2.", DATA)[-2:] == ["--provider-kind", "echo"]
    assert "echo" not in commands.offscreen_arguments(["--provider-url=http://127.0.0.1:1"], "No AVX2.", DATA)


def test_a_picture_asked_for_is_not_replaced() -> None:
    assert "--screenshot" not in commands.offscreen_arguments(["--screenshot=mine.png"], None, DATA)


def test_the_reply_is_passed_on_with_the_picture_and_the_time(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    script = "import sys; sys.stdout.write('Red, green'); sys.stdout.flush(); print(' and blue.')"
    command = [sys.executable, "-c", script, str(commands.PICTURE)]
    assert commands.run_offscreen(command, {}, commands.time.monotonic()) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[0] == f"> {commands.PROMPT}"
    assert lines[1] == "Red, green and blue."
    assert lines[-2] == f"Screenshot: {commands.PICTURE}"
    assert lines[-1].startswith("First streamed token after 0.")


def test_a_window_that_fails_is_no_success() -> None:
    assert commands.run_offscreen([sys.executable, "-c", "raise SystemExit(3)"], {}, 0.0) == 3


def test_a_set_but_dead_display_counts_as_none(tmp_path: Path) -> None:
    has_display = screens.load_has_display(ROOT)
    address = "\0/tmp/.X11-unix/X7654"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        assert not has_display({"DISPLAY": ":7654"})
        server.listen()
        assert has_display({"DISPLAY": ":7654"})
    assert not has_display({"DISPLAY": ":7654"})
    assert ":7654" in screens.no_display_sentence({"DISPLAY": ":7654"})
    assert screens.no_display_sentence({}) == "There is no display: running the window offscreen."


def test_the_private_x_server_answers_and_is_gone_afterwards() -> None:
    has_display = screens.load_has_display(ROOT)
    with screens.private_x_server() as display:
        assert has_display({"DISPLAY": display})
    assert not has_display({"DISPLAY": display})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("66 passed in 14.55s", {"passed": 66}),
        ("1 failed, 65 passed, 2 skipped in 3.01s", {"failed": 1, "passed": 65, "skipped": 2}),
        ("= 3 passed, 1 xfailed, 1 error in 61.02s (0:01:01) =", {"passed": 3, "xfailed": 1, "error": 1}),
        ("5 deselected in 0.10s", {"deselected": 5}),
        ("3 passed the ball to 2 failed players", {}),
    ],
)
def test_pytests_closing_line_is_understood(line: str, expected: dict[str, int]) -> None:
    assert checks.counts(line) == expected


def test_several_runs_end_in_one_plain_line() -> None:
    runs = [{"passed": 60, "skipped": 1}, {"passed": 6, "failed": 1, "errors": 1}, {}]
    assert checks.total(runs) == "66 passed, 2 failed, 1 skipped"
    assert checks.total([{"passed": 3}]) == "3 passed, 0 failed"


def test_a_mark_given_by_hand_is_kept() -> None:
    assert checks.split_mark(["-k", "retry", "-m", "bench", "-x"]) == ("bench", ["-k", "retry", "-x"])
    assert checks.split_mark(["-x"]) == ("", ["-x"])


def test_what_ldd_lists_is_read() -> None:
    listing = (
        "\tlinux-vdso.so.1 (0x00007f79ba5b6000)\n"
        "\tlibEGL.so.1 => not found\n"
        "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f79b861e000)\n"
        "\t/lib64/ld-linux-x86-64.so.2 (0x00007f79ba5b8000)\n"
    )
    assert probe.parse_ldd(listing) == ({"libEGL.so.1"}, {"/lib/x86_64-linux-gnu/libc.so.6"})


def test_every_library_of_a_window_loads_here() -> None:
    found = json.loads(subprocess.check_output([sys.executable, str(PACKAGING / "probe_libraries.py")], text=True))
    assert found["missing"] == []
    assert found["problems"] == []
    assert any(path.endswith("libEGL.so.1") or "libEGL.so.1" in path for path in found["found"])


def test_every_dependency_is_bounded_and_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    pinned = [Requirement(line) for line in constraints()]
    for line in asked:
        requirement = Requirement(line)
        assert {"<", "=="} & {part.operator for part in requirement.specifier}, line
        assert any(
            pin.name == requirement.name.lower() and requirement.specifier.contains(next(iter(pin.specifier)).version)
            for pin in pinned
        ), line


def constraints() -> list[str]:
    lines = (PACKAGING / "constraints.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_the_pinned_set_names_no_addresses() -> None:
    for line in constraints():
        assert Requirement(line).url is None
        assert not line.startswith("-")
