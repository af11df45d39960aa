"""Rules of the design that the syntax of every file shows, and that breaking one is noticed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.source_rules import impurities, loose_tasks, nested_loops, wrapped_coroutines

PACKAGE = Path(__file__).parent.parent / "desktop" / "reprise"
Rule = Callable[[ast.AST], Iterator[str]]

# `first_paint` runs Qt's loop before the program's, when there is no task yet. `tasks` owns the tasks, and `loop` runs
# them.
# `settle` shields one call that it awaits to its end itself (behaviour C4): nothing outlives it.
EXCEPTIONS: dict[tuple[Rule, str], set[str]] = {
    (nested_loops, "app/first_paint.py"): {"exec"},
    (loose_tasks, "bridge/tasks.py"): {"create_task"},
    (loose_tasks, "bridge/loop.py"): {"ensure_future"},
    (loose_tasks, "engine/settle.py"): {"ensure_future"},
}
WHERE: dict[Rule, str] = {impurities: "domain", nested_loops: "", wrapped_coroutines: "", loose_tasks: ""}


@pytest.mark.parametrize("rule", WHERE)
def test_the_program_keeps_the_rule(rule: Rule) -> None:
    """Design section 2 (domain) and rules 3 and 5."""
    found = []
    for path in (PACKAGE / WHERE[rule]).rglob("*.py"):
        file = path.relative_to(PACKAGE).as_posix()
        allowed = EXCEPTIONS.get((rule, file), set())
        broken = rule(ast.parse(path.read_text("utf-8")))
        found += [f"{file}: {what}" for what in broken if what.rpartition(":")[0] not in allowed]
    assert found == []


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (impurities, "from datetime import datetime\ndatetime.now()"),
        (impurities, "from datetime import datetime\ndatetime.utcnow()"),
        (impurities, "import datetime as d\nfield(default_factory=d.datetime.now)"),
        (impurities, "from datetime import date as day\nday.today()"),
        (impurities, "import random\nrandom.random()"),
        (impurities, "import random as chance\nchance.choice(x)"),
        (impurities, "from random import shuffle"),
        (impurities, "from random import SystemRandom"),
        (impurities, "from random import Random\nRandom()"),
        (impurities, "open('x')"),
        (impurities, "print('x')"),
        (nested_loops, "dialog.exec()"),
        (nested_loops, "dialog.exec_()"),
        (nested_loops, "button.clicked.connect(dialog.exec)"),
        (nested_loops, "QTimer.singleShot(0, lambda: app.processEvents())"),
        (nested_loops, "from PySide6.QtWidgets import QMessageBox\nQMessageBox.question(w, 'a', 'b')"),
        (nested_loops, "from PySide6.QtWidgets import QMessageBox as Box\nBox.warning(w, 'a', 'b')"),
        (nested_loops, "from PySide6 import QtWidgets as W\nW.QMessageBox.about(w, 'a', 'b')"),
        (nested_loops, "from PySide6.QtWidgets import QMessageBox\nBox = QMessageBox\nask = Box.critical"),
        (nested_loops, "from PySide6.QtWidgets import QMessageBox\nclass Box(QMessageBox): ...\nBox.information(w)"),
        (nested_loops, "from PySide6.QtWidgets import QFileDialog\nQFileDialog.getOpenFileName(w)"),
        (nested_loops, "from PySide6.QtWidgets import QFileDialog as F\nF.getExistingDirectory(w)"),
        (nested_loops, "self.dialog.getSaveFileName(w)"),
        (nested_loops, "from PySide6.QtWidgets import QInputDialog\nQInputDialog.getText(w, 'a', 'b')"),
        (nested_loops, "from PySide6.QtWidgets import QInputDialog\nconnect(QInputDialog.getItem)"),
        (wrapped_coroutines, "from qasync import asyncSlot"),
        (wrapped_coroutines, "import qasync\n@qasync.asyncClose\nasync def closeEvent(self, event): ..."),
        (wrapped_coroutines, "from qasync import asyncWrap as wrap"),
        (loose_tasks, "import asyncio\nasyncio.create_task(work())"),
        (loose_tasks, "import asyncio\nasyncio.get_running_loop().create_task(work())"),
        (loose_tasks, "from asyncio import create_task as go"),
        (loose_tasks, "import asyncio\nasyncio.ensure_future(work())"),
        (loose_tasks, "import asyncio\nasyncio.run_coroutine_threadsafe(work(), loop)"),
        (loose_tasks, "import asyncio\nasyncio.Task(work())"),
        (loose_tasks, "task_group.create_task(work())"),
        (loose_tasks, "async def f():\n async with ours() as group:\n  group.create_task(work())"),
        (loose_tasks, "import asyncio\nasync def f(group):\n group.create_task(work())"),
        (
            loose_tasks,
            "import asyncio\nasync def f():\n async with asyncio.TaskGroup() as group: ...\n group.create_task(work())",
        ),
        (
            loose_tasks,
            "import asyncio\nasync def f():\n async with asyncio.TaskGroup() as group:\n"
            "  later(lambda: group.create_task(work()))",
        ),
        (
            loose_tasks,
            "import asyncio\nasync def f():\n async with asyncio.TaskGroup() as group:\n  asyncio.create_task(work())",
        ),
    ],
)
def test_breaking_a_rule_is_noticed(rule: Rule, source: str) -> None:
    """Once, so that a line that breaks a rule is one line of the failure."""
    assert len(list(rule(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (impurities, "from datetime import datetime\ndatetime.fromisoformat(text)\nclock.now()"),
        (impurities, "from random import Random\ndef wait(rng: Random): return rng.random()\nRandom(7)"),
        (nested_loops, "dialog.open()\n_log.warning('x')\nself.question('x')"),
        (wrapped_coroutines, "from qasync import QEventLoop"),
        (
            loose_tasks,
            "import asyncio\nasync def f():\n async with asyncio.TaskGroup() as group:\n"
            "  tasks = [group.create_task(work(each)) for each in all_]",
        ),
        (
            loose_tasks,
            "from asyncio import TaskGroup\nasync def f():\n async with TaskGroup() as several:\n"
            "  several.create_task(work())",
        ),
        (loose_tasks, "import asyncio\ntask: asyncio.Task[None] | None = None"),
    ],
)
def test_what_the_rules_allow_is_allowed(rule: Rule, source: str) -> None:
    """Clocks and dice that are handed in, sheets that open, groups that are awaited."""
    assert list(rule(ast.parse(source))) == []
