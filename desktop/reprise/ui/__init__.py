"""Widgets: the window, the timeline, the composer, and the words a person reads.

Lives here: everything that is seen, its theme, its icons, its sentences.
May not know: asyncio, httpx, the database, providers or the engine; it talks to `bridge` objects and `domain` values.
"""
