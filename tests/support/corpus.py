"""A deterministic corpus of conversations: what models write, in the proportions in which they write it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

_NOUNS = [
    "river",
    "tower",
    "ledger",
    "signal",
    "orchard",
    "engine",
    "letter",
    "harbour",
    "window",
    "archive",
    "needle",
    "compass",
]
_VERBS = ["carries", "follows", "measures", "repeats", "answers", "sorts", "opens", "crosses", "settles", "divides"]
_LINKS = ["and", "while", "because", "although", "before", "so", "that"]
_CODE = (
    "def settle(ledger: Ledger, limit: int = 12) -> list[Entry]:",
    "    # keep only what is still open",
    "    rows = [row for row in ledger.rows if row.open and row.total > 0.5]",
    '    print(f"{len(rows)} rows of {ledger.name!r}")',
    "    for index, row in enumerate(rows, start=1):",
    "        yield Entry(index, row.key, sum(part.value for part in row.parts))",
    "",
    "@dataclass(frozen=True)",
    "class Entry(Base):",
    "    total: float = 0.0",
)


def _clause(rng: random.Random) -> str:
    return f"the {rng.choice(_NOUNS)} {rng.choice(_VERBS)} the {rng.choice(_NOUNS)}"


def sentence(rng: random.Random) -> str:
    """A sentence of 5 to 25 words, with now and then some emphasis, code or a link in it."""
    words = f" {rng.choice(_LINKS)} ".join(_clause(rng) for _ in range(rng.randint(1, 4))).split()
    for chance, form in ((0.3, "**{}**"), (0.3, "`{}()`"), (0.1, "*{}*"), (0.1, "[{}](https://example.org/a)")):
        if rng.random() < chance:
            at = rng.randrange(len(words))
            if words[at].isalpha():
                words[at] = form.format(words[at])
    text = " ".join(words)
    return text[:1].upper() + text[1:] + "."


def paragraph(rng: random.Random) -> str:
    """Two to five sentences."""
    return " ".join(sentence(rng) for _ in range(rng.randint(2, 5)))


def listing(rng: random.Random) -> str:
    """A list of three to seven items, some with nested ones."""
    ordered = rng.random() < 0.5
    lines = []
    for number in range(1, rng.randint(4, 8)):
        lines.append((f"{number}. " if ordered else "- ") + sentence(rng))
        if rng.random() < 0.2:
            lines.append(("   " if ordered else "  ") + "- " + sentence(rng))
    return "\n".join(lines)


def table(rng: random.Random, rows: int = 0) -> str:
    """A table of four columns, the last two of figures."""
    lines = ["| Name | What | Count | Share |", "|---|---|--:|---:|"]
    for _ in range(rows or rng.randint(4, 8)):
        cells = (rng.choice(_NOUNS), _clause(rng), str(rng.randint(1, 99999)), f"{rng.random() * 100:.1f} %")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def code(rng: random.Random, lines: int = 40) -> str:
    """A fenced block of Python."""
    start = rng.randrange(len(_CODE))
    return "\n".join(["```python", *(_CODE[(start + at) % len(_CODE)] for at in range(lines)), "```"])


def heading(rng: random.Random) -> str:
    """A heading of the second or third level."""
    return f"{'#' * rng.randint(2, 3)} {_clause(rng).capitalize()}"


_KINDS: list[Callable[[random.Random], str]] = [paragraph, listing, table, code, heading]


def _blocks(rng: random.Random) -> Iterator[str]:
    while True:
        yield rng.choices(_KINDS, [5, 3, 1, 2, 1])[0](rng)


def message(number: int) -> str:
    """Message `number` of a conversation: even ones are prompts, odd ones replies of about 2 kB."""
    rng = random.Random(number)
    if number % 2 == 0:
        return paragraph(rng)
    blocks = _blocks(rng)
    return "\n\n".join([paragraph(rng), *(next(blocks) for _ in range(rng.randint(1, 4))), paragraph(rng)])


def reply(length: int, seed: int = 11) -> str:
    """One reply of exactly `length` characters."""
    blocks, text = _blocks(random.Random(seed)), ""
    pieces: list[str] = []
    size = 0
    while size < length:
        pieces.append(next(blocks))
        size += len(pieces[-1]) + 2
    text = "\n\n".join(pieces)
    return text[:length]


def tokens(text: str, size: int = 4) -> list[str]:
    """`text` in pieces of about a token."""
    return [text[at : at + size] for at in range(0, len(text), size)]


#: Fragments whose meaning depends on what comes before and after them.
FRAGMENTS = (
    "plain **bold** `code` *em*",
    "- a",
    "- b\n  c",
    "- ",
    "-",
    "1. x",
    "2. y\n\n   z",
    "3) q",
    "   - n",
    "    - deep",
    "```py\nx\n  y\n```",
    "   ```js\n   in item\n   ```",
    "````\n```\n````",
    "```",
    "``",
    "~~~\na",
    "    indented",
    "\tafter a tab",
    "> quote\nlazy",
    "> - a\n>\n> - b",
    "> ```\n> code in a quote",
    "# heading",
    "#",
    "#tag",
    "| a | b |",
    "|---|--:|",
    "| 1 | 2 |\n| 3 | 4 |",
    "| h |\n|-|\n" + "\n".join(f"| {at} |" for at in range(70)),
    "---",
    "***",
    "***b***",
    "===",
    "--",
    "[name]: https://example.org/ 'title",
    "[name]: https://example.org/",
    "[name] used",
    "[text](https://example.org)",
    "[text](javascript:run())",
    "<div>raw</div> vector<int>",
    "<think>",
    "\u4e2d\u6587 \u5b57 \U0001f600 e\u0301 \u0645\u0631\u062d\u0628\u0627",
    "- [ ] open",
    "- [x] done",
    "- [",
    "+ p",
    "10. ten",
    "\r\n",
    "\r",
    "x  \ny",
    "`` ` ``",
    "  ",
    "&amp;",
    "a\\",
    "!",
    "![alt](https://example.org/p.png)",
    "https://example.org/path",
    "\0",
)
