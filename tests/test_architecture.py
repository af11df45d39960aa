"""The layers hold: what each package may import, and that breaking a rule is noticed."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.source_rules import imported

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "desktop" / "reprise"

# What each package may import of this program, in whatever way; import-linter sees no dynamic import, and chains.
OURS: dict[str, set[str]] = {
    "domain": set(),
    "engine": {"domain"},
    "providers": {"domain"},
    "storage": {"domain"},
    "bridge": {"domain", "engine"},
    "ui": {"domain", "bridge"},
    "app": {"domain", "engine", "providers", "storage", "bridge", "ui"},
    "__main__.py": {"app"},
    "__init__.py": set(),
}
# The standard library of `domain`: no asyncio, no I/O, no clock, no processes. Others may have all of it.
PURE = {
    *("__future__", "abc", "base64", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "difflib"),
    *("enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "operator", "random", "re"),
    *("statistics", "string", "textwrap", "tomllib", "types", "typing", "unicodedata"),
}
# What else each package may import.
ALLOWED: dict[str, set[str]] = {
    "domain": set(),
    "engine": set(),
    "providers": {"httpx", "pydantic", "truststore"},
    "storage": {"peewee", "playhouse", "pydantic", "tomlkit"},
    "bridge": {"PySide6.QtCore", "qasync"},
    "ui": {
        "PySide6.QtCore",
        "PySide6.QtGui",
        "PySide6.QtWidgets",
        "PySide6.QtSvg",
        "PySide6.QtDBus",
        "markdown_it",
        "mdit_py_plugins",
        "linkify_it",
        "pygments",
    },
    "app": {"PySide6", "PySide6.QtCore", "PySide6.QtGui", "PySide6.QtWidgets", "PySide6.QtNetwork", "platformdirs"},
    "__main__.py": set(),
    "__init__.py": set(),
}
# One file may have what its package may not.
EXCEPTIONS: dict[str, set[str]] = {
    "domain/settings.py": {"pydantic", "pydantic_core"},
    "providers/builtin/child.py": {"xllamacpp"},
}
ONE_HOME = {"httpx": "providers/http.py", "xllamacpp": "providers/builtin/child.py"}


def forbidden(module: str, own: str, file: str) -> bool:
    """Whether the package `own` may not import `module` (dotted) in its `file`."""
    top, _, rest = module.partition(".")
    if top == "reprise":
        part = rest.partition(".")[0]
        return part != own and part in OURS and part not in OURS[own]
    if top in sys.stdlib_module_names:
        return own == "domain" and top not in PURE
    name = ".".join(module.split(".")[:2]) if top == "PySide6" and rest[:1] in ("", "Q") else top
    return name not in ALLOWED[own] | EXCEPTIONS.get(file, set()) or ONE_HOME.get(name, file) != file


def violations(file: str, source: str) -> list[str]:
    """The modules that `file` (a path in the package) imports though the tables do not allow it."""
    own = file.split("/", 1)[0]
    return [module for module in imported(ast.parse(source)) if forbidden(module, own, file)]


def lint_imports(cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the checkout at `cwd`."""
    code = (
        "import sys; sys.path.insert(0, 'desktop');"
        "from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the source that a test may break."""
    shutil.copytree(ROOT / "desktop", tmp_path / "desktop", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_import_is_in_the_tables() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        found += [f"{file}: {module}" for module in violations(file, path.read_text("utf-8"))]
    assert found == []


def test_every_package_is_in_the_table() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {p.name for p in PACKAGE.glob("*.py")}
    assert packages == set(ALLOWED) == set(OURS)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("domain/retry.py", "import pydantic"),
        ("engine/turn.py", "from PySide6 import QtCore"),
        ("providers/echo.py", "import httpx"),
        ("ui/theme.py", "from PySide6.QtNetwork import QLocalServer"),
        ("bridge/loop.py", "from PySide6.QtGui import QColor"),
        ("app/paths.py", "def late():\n    import peewee"),
        *(("domain/retry.py", f"import {name}") for name in ("asyncio", "socket", "os.path", "io", "pathlib", "time")),
        *(("domain/settings.py", f"import {name}") for name in ("subprocess", "threading", "logging", "secrets")),
        ("domain/turns.py", "from concurrent.futures import Future"),
        ("domain/turns.py", "if TYPE_CHECKING:\n    from asyncio import Task"),
        ("domain/retry.py", "import importlib"),
        ("ui/theme.py", "from reprise.storage.store import Store"),
        ("ui/theme.py", "if TYPE_CHECKING:\n    from reprise.engine.turn import Turn"),
        ("bridge/tasks.py", "from reprise import providers"),
        ("app/paths.py", "from importlib import import_module\nimport_module('pygments.lexers')"),
        ("app/paths.py", "from importlib import import_module as load\nload('markdown_it')"),
        ("app/paths.py", "import importlib\nrun_in_executor(None, importlib.import_module, 'httpx')"),
        ("app/paths.py", "__import__('peewee')"),
        ("app/paths.py", "import builtins\nbuiltins.__import__('peewee')"),
        (
            "app/paths.py",
            "import importlib\nREST = ('json', 'peewee')\nfor each in REST: importlib.import_module(each)",
        ),
        ("app/paths.py", "import importlib\n[importlib.import_module(name) for name in ['json', 'peewee']]"),
        ("app/paths.py", "import importlib\nNAME = 'peewee'\nimportlib.import_module(NAME)"),
        ("app/paths.py", "import importlib\nimportlib.import_module(sys.argv[1])"),
        ("app/paths.py", "import importlib\nload = importlib.import_module"),
        ("engine/turn.py", "import importlib\nimportlib.import_module('reprise.storage.store')"),
    ],
)
def test_a_forbidden_import_is_noticed(file: str, line: str) -> None:
    source = (PACKAGE / file).read_text("utf-8")
    assert len(violations(file, f"{source}\n{line}\n")) == 1


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("domain/retry.py", "import math, json"),
        ("ui/theme.py", "if TYPE_CHECKING:\n    from reprise.domain.ports import Clock"),
        ("app/paths.py", "import importlib\nimportlib.import_module('platformdirs')"),
        (
            "app/paths.py",
            "import importlib\nREST = ('json', 'platformdirs')\n[importlib.import_module(a) for a in REST]",
        ),
    ],
)
def test_an_allowed_import_is_let_through(file: str, line: str) -> None:
    assert violations(file, line) == []


def test_the_import_contracts_hold() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("engine/turn.py", "import reprise.storage"),
        ("bridge/tasks.py", "import reprise.ui.theme"),
        ("domain/messages.py", "import reprise.engine"),
        ("storage/log.py", "import qasync"),
        ("ui/sidebar/days.py", "import reprise.ui.window"),
        ("bridge/tasks.py", "import reprise.bridge.library"),
    ],
)
def test_breaking_an_import_contract_is_noticed(checkout: Path, file: str, line: str) -> None:
    path = checkout / "desktop" / "reprise" / file
    path.write_text(path.read_text("utf-8") + f"\n{line}\n", "utf-8")
    result = lint_imports(checkout)
    assert result.returncode != 0
    assert "BROKEN" in result.stdout


def test_a_new_top_level_package_breaks_the_contracts(checkout: Path) -> None:
    package = checkout / "desktop" / "reprise" / "utils"
    package.mkdir()
    (package / "__init__.py").write_text("", "utf-8")
    assert lint_imports(checkout).returncode != 0


def test_no_file_is_longer_than_400_lines() -> None:
    long = [p.name for p in PACKAGE.rglob("*.py") if len(p.read_text("utf-8").splitlines()) > 400]
    assert long == []


def test_packaging_is_not_a_package() -> None:
    # It would shadow the `packaging` distribution and break the build.
    assert not (ROOT / "packaging" / "__init__.py").exists()
