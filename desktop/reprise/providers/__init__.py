"""Wire to domain and back: whatever a provider sends becomes deltas or one typed failure.

Lives here: the byte-level event stream decoder, the HTTP client, one module per wire, the scripted offline provider,
and the catalog that makes a provider out of an entry. `http.py` is the only module of the program that imports httpx.
May not know: Qt, the engine, the storage; past this package nobody reads a provider's error text.
"""
