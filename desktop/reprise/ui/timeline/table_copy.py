"""One table of a message, written to be pasted elsewhere."""

from __future__ import annotations

import csv
import io
import re

from reprise.ui.timeline.message_view import MessageView
from reprise.ui.timeline.selection import Place, Reach, Spot
from reprise.ui.timeline.source import AS_MARKDOWN
from reprise.ui.timeline.table import TableBlock
from reprise.ui.timeline.transcript import Write

_FORMULA = re.compile(r"[=@\t]|[-+](?!\s*[.,\d\s]+%?$)")


def as_csv(place: Place) -> Write:
    """The table that begins at this place as CSV (RFC 4180, with line feeds alone: it is pasted as text).

    What a spreadsheet would run as a formula has an apostrophe before it: a model wrote it. Figures stay as they are.
    """
    return Write(lambda view, _message, _reach: _written(_parts(view, place)))


def as_markdown(place: Place) -> Write:
    """The table that begins at this place as it was written."""

    def write(view: MessageView, message: int, _reach: Reach) -> str:
        parts = _parts(view, place)
        if not parts:
            return ""
        end = parts[-1]
        return AS_MARKDOWN.part(view, message, Reach(Spot(message, place, 0), Spot(message, end.place, end.length())))

    return Write(write)


def _parts(view: MessageView, place: Place) -> list[TableBlock]:
    first = view.block_at(place)
    return [block for block in view.blocks if isinstance(block, TableBlock) and block.first is first]


def _written(parts: list[TableBlock]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for part in parts:
        for row in (part.leaf.head, *part.leaf.rows) if part.leaf.part == 0 else part.leaf.rows:
            writer.writerow([_harmless(cell.plain()) for cell in row])
    return text.getvalue()


def _harmless(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell
