"""The tables as Peewee models. None is bound to a database: every query is executed on the one it is given."""

from __future__ import annotations

from peewee import CompositeKey, IntegerField, Model, TextField


class SessionRow(Model):
    """One conversation. `activity` is the newest message's entry id: order by it survives a clock set back.

    A fork says which session it came from and where (`fork_point`, None = before the first entry); its `activity` is
    at first an id of its own behind the copied entries.
    """

    id = TextField(primary_key=True)
    title = TextField()
    leaf = TextField(null=True)
    created_at = TextField()
    updated_at = TextField()
    activity = TextField()
    provider = TextField(null=True)
    model = TextField(null=True)
    trashed_at = TextField(null=True)
    forked_from = TextField(null=True)
    fork_point = TextField(null=True)

    class Meta:
        table_name = "session"


class EntryRow(Model):
    """One record of the log.

    `role` and `goes_on_from` (of a message) and `state` (of an attempt) repeat what `data` says, so that lists, the
    tree and the recovery after a crash need not parse it. References are columns, not Peewee foreign keys: nothing
    here loads rows by itself.
    """

    id = TextField(primary_key=True)
    session = TextField()
    parent = TextField(null=True)
    kind = TextField()
    role = TextField(null=True)
    state = TextField(null=True)
    at = TextField()
    data = TextField()
    goes_on_from = TextField(null=True)

    class Meta:
        table_name = "entry"


class ChunkRow(Model):
    """A piece of an open attempt's text, in order of `seq`.

    `kind` is ``text``, ``thinking`` or ``recast`` (no text: all ``text`` before it was reasoning).
    """

    entry = TextField()
    seq = IntegerField()
    kind = TextField()
    text = TextField()

    class Meta:
        table_name = "chunk"
        primary_key = CompositeKey("entry", "seq")


class DraftRow(Model):
    """Unsent text; the session ``""`` is the new chat, so this references nothing."""

    session = TextField(primary_key=True)
    text = TextField()
    cursor = IntegerField()

    class Meta:
        table_name = "draft"
