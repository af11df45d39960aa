"""One turn, from the prompt on disk to the reply on disk: rounds, attempts, the wait between them, the tool loop.

Lives here: `turn.Turn` (the only thing the bridge calls), a round with its attempts, the context of a request, the
calls of a round.
May not know: Qt, a provider's wire, the database, the settings file. It sees `domain.ports` only, measures time by
the Clock only, and starts no task that outlives the awaited call.
"""
