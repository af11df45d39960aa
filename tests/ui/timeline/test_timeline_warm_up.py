"""The first reply finds everything imported and built."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from reprise.ui.timeline import highlight, markdown
from reprise.ui.timeline.warm_up import warm_up

heavy = {"markdown_it", "linkify_it", "pygments.lexers"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
warm_up()
assert heavy <= set(sys.modules), heavy - set(sys.modules)
sys.modules.update(dict.fromkeys(heavy))  # an import from here on fails
markdown.parse("Words at https://example.org, and `code`.")
assert highlight.language_name("py") == "Python"
"""


def test_nothing_is_imported_for_the_first_reply() -> None:
    """Import and first use take longer than a frame; `warm_up` takes them off the window's thread."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
