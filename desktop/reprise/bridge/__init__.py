"""Where Qt and asyncio meet: the loop, task scopes, and the live objects the window talks to.

Lives here: `Loop`, `TaskScope`, `RetryManager`, `MessageQueue`, `Conversation`, `Library`, `Preferences`, all on the
one thread of Qt and asyncio. Signals are past facts and carry domain values; slots and methods are commands and return
at once.
May not know: widgets, the network, the database, pydantic.
"""
