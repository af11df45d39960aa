"""Everything on disk: the log and the drafts in one SQLite file, the settings in one TOML file.

Lives here: one storage thread with the one connection (`worker`, `database`), its schema and migrations (`tables`,
`migrations`), rows to values and back (`rows`), and the drivers of the ports Log, Sessions, Drafts and SettingsStore.
May not know: Qt, HTTP, the engine, the bridge. Rows never leave this package: domain values go in and come out.
"""
