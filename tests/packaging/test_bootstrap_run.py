"""`bootstrap.py run` as a person starts it, in a copy of the checkout whose environment shares this one's packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from support.builtin import real_model
from support.scripts import ROOT, load_script

environments = load_script("environment")

TIMEOUT_S = 100.0
# A person's second run takes under three seconds to here; a machine that runs tests may be busy with others.
FIRST_TOKEN_S = 10.0
PROMPT = "> Why is the sky blue?\n"
# Stands for pip, which has everything here and could not reach more: it notes that it was asked.
PIP = "import sys; from pathlib import Path; Path(sys.prefix, 'asked').write_text(' '.join(sys.argv[1:]), 'utf-8')\n"
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Ran:
    """How a run of the bootstrap ended."""

    code: int
    out: str
    err: str

    @property
    def first_token_s(self) -> float:
        """The printed time to the first token."""
        found = re.search(r"^First streamed token after (\d+\.\d+) s\.$", self.out, re.MULTILINE)
        assert found, self
        return float(found[1])

    @property
    def reply(self) -> str:
        """What was answered: all between the prompt and the closing lines."""
        said = self.out.rpartition(PROMPT)[2]
        return said.partition("Screenshot: ")[0].strip()


class Checkout:
    """A copy of the checkout whose first run was interrupted: its stamp is half written, and nothing is missing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.picture = root / "build" / "first-run.png"
        root.mkdir()
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, root)
        for name in ("packaging", "desktop", "resources"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        self.venv = root / ".venv"
        base = Path(sys.executable).resolve()
        (self.venv / "bin").mkdir(parents=True)
        (self.venv / "bin" / "python").symlink_to(base)
        (self.venv / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n", "utf-8")
        self.packages = Path(sysconfig.get_path("purelib", vars={"base": str(self.venv)}))
        self.add_package("pip", "", PIP)
        shared = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})"
        (self.packages / "shared.pth").write_text(f"{root / 'desktop'}\n{shared}\n", "utf-8")
        (self.venv / "reprise-stamp.json").write_text('{"key": "5b', "utf-8")
        (self.venv / "reprise-stamp.json.part").write_text("", "utf-8")

    def add_package(self, name: str, init: str, main: str = "") -> None:
        """Put a package before those that are shared."""
        folder = self.packages / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(init, "utf-8")
        (folder / "__main__.py").write_text(main, "utf-8")

    def asked_to_install(self) -> str | None:
        """What pip was last asked for; None when it was not."""
        note = self.venv / "asked"
        if not note.exists():
            return None
        said = note.read_text("utf-8")
        note.unlink()
        return said

    def run(self, cwd: Path, environ: Mapping[str, str], *arguments: str) -> Ran:
        """`run`, from another folder."""
        command = [sys.executable, str(self.root / "packaging" / "bootstrap.py"), "run", *arguments]
        done = subprocess.run(
            command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        ran = Ran(done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in ran.err, ran.err
        return ran


@pytest.fixture
def environ() -> dict[str, str]:
    """A machine without a screen whose network cannot be reached."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return {**kept, "HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE, "ALL_PROXY": NOWHERE}


def test_run_answers_after_an_interruption_then_at_once_and_where_the_model_does_not_load(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """Issue point 2: from any folder, twice in a row, after an interrupted run, without network."""
    real_model()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    checkout = Checkout(tmp_path / "a checkout")

    first = checkout.run(elsewhere, environ, "--provider-kind", "echo")
    assert first.code == 0, first
    assert "echo" in first.reply
    assert f"-e {checkout.root}" in (checkout.asked_to_install() or "")

    checkout.picture.unlink()
    second = checkout.run(elsewhere, {**environ, "DISPLAY": ":7653"})
    assert second.code == 0, second
    assert checkout.asked_to_install() is None
    # Nothing is installed, looked for or made, and the dead display is named.
    assert second.err.splitlines() == [
        "DISPLAY is set to :7653, but nothing answers there: running the window offscreen.",
        "Loading the built-in model.",
    ]
    assert second.out.startswith(PROMPT)
    assert len(second.reply.split()) >= 3
    assert f"Screenshot: {checkout.picture}\n" in second.out
    assert QImage(str(checkout.picture)).width() >= 1000
    assert second.first_token_s < FIRST_TOKEN_S
    assert list(elsewhere.iterdir()) == []

    checkout.add_package("xllamacpp", "raise ImportError('libsomething.so.1 is missing')")
    third = checkout.run(elsewhere, environ)
    assert third.code == 0, third
    assert third.err.count("libsomething.so.1 is missing") == 1
    assert "The built-in model could not be loaded: ImportError:" in third.err
    assert "Echo answers instead." in third.err
    assert "problem of its own" not in third.err
    assert "echo" in third.reply
