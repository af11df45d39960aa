"""The conversation on the page: a scroll area over Markdown blocks, of which only the visible ones exist.

What lives here: parsing Markdown into pure leaves (``markdown``, ``inline``, ``incremental``) within what one step may
cost (``bounds``), blocks that lay out and paint one leaf each (``prose``, ``code``, ``table``, ``lines``), a message's
blocks (``message_view``, ``live``, ``reading``),
It knows messages and deltas of the domain and the design tokens, and nothing of conversations, turns or storage.

Markdown and syntax colouring libraries are imported when the first message is shown, never with the package.
"""

from reprise.ui.timeline.item import TimelineItem
from reprise.ui.timeline.view import Timeline

__all__ = ["Timeline", "TimelineItem"]
