"""Makes the README's picture from the real window: python packaging/screenshot.py, with the program installed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).resolve().parent / "docs" / "window.png"
PROMPT = "How do I read a large CSV file in one pass and still name the line of a bad row?"
REPLY = """Check each row as it is read, and hand the bad ones on as values:

1. `rows()` is a generator; whoever loads takes rows **as they come**.
2. A bad row carries its line number and is not raised.

| File | Rows | Two passes | One pass |
|:--|--:|--:|--:|
| `orders.csv` | 1,204,118 | 9.8 s | 5.1 s |
| `customers.csv` | 86,402 | 0.7 s | 0.4 s |

```python
def rows(path: Path) -> Iterator[Row | BadRow]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        for record in reader:
            try:
                yield Row.parse(record)
            except ValueError as reason:
                yield BadRow(reader.line_num, str(reason))
```
"""


def main() -> int:
    """Write the picture; the exit code of the program."""
    PICTURE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.json")
        script.write_text(json.dumps([[REPLY]]), "utf-8")
        program = [sys.executable, "-m", "reprise", "--data-dir", str(Path(folder, "data"))]
        options = ["--provider-kind", "echo", "--model", "A model", "--set", f"echo.script={script}"]
        said = ["--say", PROMPT, "--quit-when-done", "--json", "--screenshot", str(PICTURE)]
        return subprocess.run([*program, *options, *said], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
