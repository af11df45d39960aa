"""What the first reply needs, made before it comes."""

from __future__ import annotations

from reprise.ui.timeline.highlight import language_name
from reprise.ui.timeline.markdown import parse


def warm_up() -> None:
    """Import and build the parser and the table of languages; no widget is touched, so any thread may do it."""
    # Both parsers, without and with addresses, make their tables at their first use.
    parse("Words, with `code`.")
    parse("Words at https://example.org.")
    language_name("python")
