"""The sidebar: New chat, the list of sessions grouped by day, and Settings."""

from reprise.ui.sidebar.sidebar import Sidebar

__all__ = ["Sidebar"]
