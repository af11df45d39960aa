"""Where the built-in model cannot run, the window says why (issue point 3)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reprise.domain.models import Parameters
from reprise.providers.builtin import INFO, PARAMETERS
from reprise.providers.builtin.requirements import Machine, why_unavailable


def machine(
    tmp_path: Path,
    *,
    system: str = "linux",
    architecture: str = "x86_64",
    flags: str = "sse2 avx avx2",
    engine: bool = True,
    gomp: bool = True,
) -> Machine:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
    return Machine(system, architecture, cpuinfo, has_engine=lambda: engine, loads=lambda _: gomp)


def test_a_machine_with_everything_can_run_it(tmp_path: Path) -> None:
    assert why_unavailable(machine(tmp_path)) is None
    assert why_unavailable(machine(tmp_path, architecture="aarch64", flags="")) is None


@pytest.mark.parametrize(
    ("differences", "word"),
    [
        ({"architecture": "riscv64"}, "linux riscv64"),
        ({"system": "freebsd14"}, "freebsd14"),
        ({"engine": False}, "xllamacpp"),
        ({"flags": "sse2 avx"}, "AVX2"),
        ({"gomp": False}, "libgomp1"),
    ],
)
def test_what_is_missing_is_named_in_one_sentence(tmp_path: Path, differences: dict[str, object], word: str) -> None:
    reason = why_unavailable(machine(tmp_path, **differences))  # type: ignore[arg-type]
    assert reason is not None
    assert word in reason
    assert reason.endswith(".")


def test_a_hidden_cpuinfo_counts_as_able(tmp_path: Path) -> None:
    assert why_unavailable(Machine("linux", "x86_64", tmp_path / "none", lambda: True, lambda _: True)) is None


def test_the_package_loads_neither_qt_nor_an_http_client_nor_the_engine() -> None:
    code = (
        "import sys, reprise.providers.builtin.child, reprise.providers.builtin.supervisor;"
        "print([n for n in ('PySide6', 'httpx', 'pydantic', 'xllamacpp', 'qasync') if n in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_asking_does_not_load_the_engine() -> None:
    code = (
        "import sys; from reprise.providers.builtin.requirements import why_unavailable; why_unavailable();"
        "print('xllamacpp' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_it_is_offered_without_tools_and_with_its_own_parameters() -> None:
    assert (INFO.label, INFO.provider_label, INFO.is_local, INFO.tools) == (
        "SmolLM2 135M",
        "Built-in model",
        True,
        False,
    )
    assert Parameters("You are a helpful assistant.", 0.2, 0.9, max_tokens=1024) == PARAMETERS
