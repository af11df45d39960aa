"""Rules that the program's syntax shows: functions from a parsed file to what in it breaks them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

UNKNOWN = "?"
"""A module whose name a dynamic import hides."""

_UNSEEDED = "random.Random() without a seed"
_NESTED_LOOPS = {"exec", "exec_", "processEvents"}
_MODAL = {
    "QMessageBox": {"question", "information", "warning", "critical", "about", "aboutQt"},
    "QErrorMessage": {"qtHandler"},
}
_GETTERS = {  # of QFileDialog, QInputDialog, QColorDialog and QFontDialog; nothing of ours is called like that
    *("getOpenFileName", "getOpenFileNames", "getOpenFileUrl", "getOpenFileUrls", "getSaveFileName", "getSaveFileUrl"),
    *("getExistingDirectory", "getExistingDirectoryUrl", "getText", "getMultiLineText", "getInt", "getDouble"),
    *("getItem", "getColor", "getFont"),
}
_WRAPPERS = {"asyncSlot", "asyncClose", "asyncWrap"}
_TASK_MAKERS = {"create_task", "ensure_future", "run_coroutine_threadsafe"}
_CLOCKS = {
    f"datetime.{kind}.{name}"
    for kind, names in {"datetime": ("now", "utcnow", "today"), "date": ("today",)}.items()
    for name in names
}


def meanings(tree: ast.AST) -> dict[str, str]:
    """What a file's names stand for, dotted: by import, by plain assignment, or as the class they are made from."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".", 1)[0]
                known[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            sources, name = [node.value], node.targets[0].id
        elif isinstance(node, ast.ClassDef):
            sources, name = node.bases, node.name
        else:
            continue
        if found := next((meaning for source in sources if (meaning := dotted(source, known))), ""):
            known.setdefault(name, found)
    return known


def dotted(node: ast.AST, known: Mapping[str, str]) -> str:
    """The dotted path an expression names, by its file's `meanings`; "" when it begins at nothing imported."""
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value, known)):
        return f"{owner}.{node.attr}"
    return ""


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module a file imports, dotted, anywhere in it and also by `import_module` and `__import__`.

    A dynamic import names its module where it stands, or one after another out of a tuple of the file; else this
    yields `UNKNOWN`. ``from package import name`` is ``package.name`` for Qt and for this program, where names are
    modules.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or not node.module:
                yield UNKNOWN
            elif node.module in ("PySide6", "reprise"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
                yield node.module
    yield from _imported_by_name(tree)


def _imported_by_name(tree: ast.AST) -> Iterator[str]:
    known = meanings(tree)
    hidden = {node for node in ast.walk(tree) if _imports(node, known)}
    if not hidden:
        return
    texts = _texts(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        # Handed to an executor, the function stands before its argument.
        parts = [call.func, *call.args]
        place = next((at for at, part in enumerate(parts) if part in hidden), None)
        if place is None:
            continue
        hidden.remove(parts[place])
        name = parts[place + 1] if place + 1 < len(parts) else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value
        elif isinstance(name, ast.Name) and name.id in texts:
            yield from texts[name.id]
        else:
            yield UNKNOWN
    yield from (UNKNOWN for _ in hidden)


def _imports(node: ast.AST, known: Mapping[str, str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("import_module", "__import__")
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return False
    return node.id == "__import__" or known.get(node.id) in ("importlib.import_module", "importlib.__import__")


def _texts(tree: ast.AST) -> dict[str, list[str]]:
    """The texts a name can be: as a constant, or as the variable of a loop over a tuple or list of them."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else [node.value]
            texts = [each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            if values and len(texts) == len(values):
                found[node.targets[0].id] = texts
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            over = node.iter
            if isinstance(over, ast.Name) and over.id in found:
                found[node.target.id] = found[over.id]
            elif isinstance(over, ast.Tuple | ast.List) and all(isinstance(each, ast.Constant) for each in over.elts):
                found[node.target.id] = [str(each.value) for each in over.elts if isinstance(each, ast.Constant)]
    return found


def impurities(tree: ast.AST) -> Iterator[str]:
    """What depends on more than arguments though its import is harmless: a clock, chance without a seed, files."""
    known = meanings(tree)
    for node in ast.walk(tree):
        path = dotted(node, known)
        if path in _CLOCKS or (path.startswith("random.") and path.split(".")[1] != "Random"):
            yield f"{path}:{_line(node)}"
        elif isinstance(node, ast.Name) and node.id in ("open", "print", "input") and isinstance(node.ctx, ast.Load):
            yield f"{node.id}:{node.lineno}"
        elif isinstance(node, ast.Call) and not node.args and dotted(node.func, known) == "random.Random":
            yield f"{_UNSEEDED}:{node.lineno}"
        elif isinstance(node, ast.ImportFrom) and node.module == "random":
            yield from (f"random.{alias.name}:{node.lineno}" for alias in node.names if alias.name != "Random")


def nested_loops(tree: ast.AST) -> Iterator[str]:
    """Design rule 3: a dialog's own loop, called or handed on, and what runs one inside."""
    known = meanings(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        owner = dotted(node.value, known).rpartition(".")[2]
        if node.attr in _NESTED_LOOPS | _GETTERS or node.attr in _MODAL.get(owner, ()):
            yield f"{node.attr}:{node.lineno}"


def wrapped_coroutines(tree: ast.AST) -> Iterator[str]:
    """Design rule 5: qasync's decorators, which make tasks that nobody owns."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        names += [node.attr] if isinstance(node, ast.Attribute) else []
        yield from (f"{name}:{_line(node)}" for name in names if name in _WRAPPERS)


def loose_tasks(tree: ast.AST) -> Iterator[str]:
    """Design rule 5: what makes a task, but ``group.create_task`` in ``async with asyncio.TaskGroup() as group``."""
    finder = _LooseTasks(meanings(tree))
    finder.visit(tree)
    yield from finder.found


class _LooseTasks(ast.NodeVisitor):
    def __init__(self, known: Mapping[str, str]) -> None:
        self.found: list[str] = []
        self._known = known
        self._groups: frozenset[str] = frozenset()

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        before = self._groups
        for item in node.items:
            self.visit(item.context_expr)
            if isinstance(item.optional_vars, ast.Name):
                name, made = item.optional_vars.id, item.context_expr
                is_group = isinstance(made, ast.Call) and dotted(made.func, self._known) == "asyncio.TaskGroup"
                self._groups = self._groups | {name} if is_group else self._groups - {name}
        for each in node.body:
            self.visit(each)
        self._groups = before

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        before, self._groups = self._groups, frozenset()  # it may run when the group is gone
        self.generic_visit(node)
        self._groups = before

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_Lambda = visit_FunctionDef

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owned = isinstance(node.value, ast.Name) and node.value.id in self._groups and node.attr == "create_task"
        if node.attr in _TASK_MAKERS and not owned:
            self.found.append(f"{node.attr}:{node.lineno}")
        self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.found += [f"{alias.name}:{node.lineno}" for alias in node.names if alias.name in _TASK_MAKERS]

    def visit_Call(self, node: ast.Call) -> None:
        if dotted(node.func, self._known) == "asyncio.Task":
            self.found.append(f"Task:{node.lineno}")
        self.generic_visit(node)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
