"""Values and pure functions: what a turn is, how it may go, what may be retried.

Lives here: messages and their parts, deltas, failures, the retry policy, the turn state machine, the log's entries,
and the ports (Protocols) through which the engine and the bridge reach the rest.
May not know: Qt, asyncio, any I/O, a clock, unseeded random. `settings.py` alone uses pydantic and is imported only
after the first paint.
"""
