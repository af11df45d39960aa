"""The layers hold: what each package may import, and that breaking a rule is noticed."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "desktop" / "reprise"

# What each package may import beside the standard library and `reprise` itself (those edges are import-linter's).
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


def imported(path: Path) -> Iterator[str]:
    """The external modules `path` imports, anywhere in it; PySide6 with its submodule."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
            if node.module == "PySide6":
                names = [f"PySide6.{alias.name}" if alias.name[0] == "Q" else "PySide6" for alias in node.names]
        for name in names:
            top = name.split(".", 1)[0]
            if top != "reprise" and top not in sys.stdlib_module_names:
                yield ".".join(name.split(".")[:2]) if top == "PySide6" else top


def violations(package: Path) -> list[str]:
    """Every import that the table does not allow, as "file: module"."""
    found = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package).as_posix()
        allowed = ALLOWED.get(relative.split("/", 1)[0], set()) | EXCEPTIONS.get(relative, set())
        for module in imported(path):
            if module not in allowed or ONE_HOME.get(module, relative) != relative:
                found.append(f"{relative}: {module}")
    return found


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


def test_every_external_import_is_in_the_table() -> None:
    assert violations(PACKAGE) == []


def test_every_package_is_in_the_table() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {p.name for p in PACKAGE.glob("*.py")}
    assert packages == set(ALLOWED)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("domain/retry.py", "import pydantic"),
        ("engine/turn.py", "from PySide6 import QtCore"),
        ("providers/echo.py", "import httpx"),
        ("ui/theme.py", "from PySide6.QtNetwork import QLocalServer"),
        ("bridge/loop.py", "from PySide6.QtGui import QColor"),
        ("app/paths.py", "def late():\n    import peewee"),
    ],
)
def test_a_forbidden_external_import_is_noticed(checkout: Path, file: str, line: str) -> None:
    path = checkout / "desktop" / "reprise" / file
    path.write_text(path.read_text("utf-8") + f"\n{line}\n", "utf-8")
    assert [found.split(":")[0] for found in violations(checkout / "desktop" / "reprise")] == [file]


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


NESTED_LOOPS = {"exec", "exec_", "processEvents"}
MODAL_STATICS = {"question", "information", "warning", "critical", "about", "getText", "getOpenFileName", "getItem"}


def test_nothing_spins_a_nested_event_loop() -> None:
    """Design rule 3: a dialog's own loop lets other tasks die for good; `open()` and a future instead.

    `app/first_paint.py` runs Qt's loop before the program's, when there is no task yet.
    """
    found = []
    for path in set(PACKAGE.rglob("*.py")) - {PACKAGE / "app" / "first_paint.py"}:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            dialog = owner.startswith("Q") and owner.endswith(("Box", "Dialog"))
            if node.func.attr in NESTED_LOOPS or (dialog and node.func.attr in MODAL_STATICS):
                found.append(f"{path.name}:{node.lineno}")
    assert found == []


def test_tasks_are_made_in_one_place() -> None:
    """Design rule 5: `bridge/tasks.py` has the only `create_task`, a TaskGroup's aside.

    `engine/settle.py` shields one call that it awaits to its end itself (behaviour C4): nothing outlives it.
    """
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("create_task", "ensure_future"):
                owner = ast.unparse(node.value)
                if "group" not in owner:
                    found.add(path.relative_to(PACKAGE).as_posix())
    assert found <= {"bridge/tasks.py", "bridge/loop.py", "engine/settle.py"}
