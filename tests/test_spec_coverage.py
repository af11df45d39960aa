"""Every statement of the behaviour has a test that shows it, and the test says so.

``data/spec/coverage.toml`` names for each statement the tests that show it, and what of it waits for a part of the
program that is not there yet. Tests are found in the text of their files; nothing is imported.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
TABLE: dict[str, dict[str, Any]] = tomllib.loads((TESTS / "data" / "spec" / "coverage.toml").read_text("utf-8"))

# When this is there, its part of the program is, and nothing may wait for it any more.
PARTS = {"D": "providers/anthropic.py", "E": "tools", "F": "storage/search.py"}


def _named(letter: str, *numbers: int | tuple[int, int]) -> set[str]:
    """Statements by letter and number; a pair is all of them from one number to the other."""
    pairs = [each if isinstance(each, tuple) else (each, each) for each in numbers]
    return {f"{letter}{number}" for first, last in pairs for number in range(first, last + 1)}


# These describe other programs and ask nothing of this one.
INFORMATIVE = {"B12", "C14", "R44", "R45", "R46"}
STATEMENTS = (
    _named("D", (1, 20))
    | _named("L", (1, 25))
    | _named("R", (1, 12), (20, 34), (40, 51))
    | {"R6b"}
    | _named("C", (1, 14))
    | _named("B", (1, 14))
    | _named("F", (1, 25), (30, 48), (59, 79), 100, (111, 115))
    | _named("I", 1, (4, 6))
    | _named("N", (1, 11), 19)
) - INFORMATIVE
# What the tests of other subjects name as well.
OTHERS = (
    INFORMATIVE
    | _named("F", (50, 58), (80, 99), (101, 103), 110, (116, 128))
    | _named("I", 2, 3, (7, 9))
    | _named("N", (12, 18))
)
_CITATION = re.compile(r"\b[DLRCBFIN]\d+b?\b")


@cache
def docstrings(path: Path) -> Mapping[str, str]:
    """The tests of a file by name, each with its docstring ("" without one)."""
    return {
        node.name: ast.get_docstring(node) or ""
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def landed(package: Path) -> set[str]:
    """The letters of the parts that are there."""
    return {letter for letter, place in PARTS.items() if (package / place).exists()}


def problems(statement: str, entry: Mapping[str, Any], tests: Path, there: set[str]) -> Iterator[str]:
    """What is wrong with one line of the table, in words; `there` are the parts that have landed."""
    waits: Mapping[str, str] = entry.get("open", {})
    yield from (f"{statement} waits for something that is no part: {letter}" for letter in waits.keys() - PARTS.keys())
    yield from (f"{statement} waits for part {letter}, which is there" for letter in waits.keys() & there)
    if not entry["tests"] and not waits.keys() - there:
        yield f"{statement} has no test"
    for named in entry["tests"]:
        file, _, name = named.partition("::")
        found = docstrings(tests / file) if (tests / file).is_file() else {}
        if name not in found:
            yield f"{statement}: there is no {named}"
        elif statement not in _CITATION.findall(found[name]):
            yield f"{statement} is not named by {named}"


def test_the_table_has_every_statement_and_no_other() -> None:
    assert STATEMENTS - TABLE.keys() == set()
    assert TABLE.keys() - STATEMENTS == set()


@pytest.mark.parametrize("statement", TABLE)
def test_a_statement_is_shown_by_tests_that_name_it(statement: str) -> None:
    there = landed(TESTS.parent / "desktop" / "reprise")
    assert list(problems(statement, TABLE[statement], TESTS, there)) == []


def test_what_tests_name_are_statements() -> None:
    known = STATEMENTS | OTHERS
    strange = {
        f"{path.relative_to(TESTS)}::{name}: {statement}"
        for path in TESTS.rglob("test_*.py")
        for name, docstring in docstrings(path).items()
        for statement in _CITATION.findall(docstring)
        if statement not in known
    }
    assert strange == set()


@pytest.mark.parametrize(
    ("entry", "there", "words"),
    [
        ({"tests": []}, "", ["D1 has no test"]),
        ({"tests": ["test_a.py::test_gone"]}, "", ["D1: there is no test_a.py::test_gone"]),
        ({"tests": ["test_gone.py::test_it"]}, "", ["D1: there is no test_gone.py::test_it"]),
        ({"tests": ["test_a.py::test_other"]}, "", ["D1 is not named by test_a.py::test_other"]),
        ({"tests": ["test_a.py::test_silent"]}, "", ["D1 is not named by test_a.py::test_silent"]),
        ({"tests": ["test_a.py::test_it"]}, "", []),
        ({"tests": ["test_a.py::test_it"], "open": {"E": "more"}}, "D", []),
        ({"tests": ["test_a.py::test_it"], "open": {"E": "more"}}, "E", ["D1 waits for part E, which is there"]),
        ({"tests": [], "open": {"E": "all"}}, "", []),
        ({"tests": [], "open": {"E": "all"}}, "E", ["D1 waits for part E, which is there", "D1 has no test"]),
        ({"tests": [], "open": {"X": "all"}}, "", ["D1 waits for something that is no part: X"]),
    ],
)
def test_a_gap_in_the_table_is_noticed(tmp_path: Path, entry: dict[str, Any], there: str, words: list[str]) -> None:
    source = '''
async def test_it():
    """D1, D10: so."""
def test_other():
    """D10."""
def test_silent():
    pass
'''
    (tmp_path / "test_a.py").write_text(source, "utf-8")
    assert list(problems("D1", entry, tmp_path, set(there))) == words


def test_a_part_is_there_once_its_place_is(tmp_path: Path) -> None:
    assert landed(tmp_path) == set()
    (tmp_path / "tools").mkdir()
    assert landed(tmp_path) == {"E"}
