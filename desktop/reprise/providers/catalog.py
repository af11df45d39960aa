"""From an entry (kind, address, key) to the provider that answers. A new wire is one module and one line in `KINDS`.

Modules of a wire are imported with the first entry that needs them: httpx and pydantic take longer to import than the
window takes to paint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from reprise.domain.failures import AFTER_CAP_S
from reprise.domain.ports import Clock, CompletionProvider
from reprise.providers.endpoint import DEFAULT_TIMEOUTS, Endpoint, Timeouts

if TYPE_CHECKING:
    from reprise.providers.echo import Echo


class Provider(CompletionProvider, Protocol):
    """A provider as the catalog owns it."""

    async def aclose(self) -> None:
        """Close what is open; a reply that still streams ends by itself."""


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """One provider of the settings. `kind` is a key of `KINDS`; `url` and `key` count for wires only.

    `keep_alive` off suits servers that close idle connections by themselves (llama.cpp's); `ends_without_finish` those
    that send no finish reason (behaviour D10).
    """

    key: str
    kind: str
    label: str
    url: str = ""
    api_key: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    keep_alive: bool = True
    ends_without_finish: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What providers need beside their entry: behaviour D17's ``network.*``, ``retry.after_cap_s``, ``echo.script``."""

    clock: Clock
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    after_cap_s: float = AFTER_CAP_S
    echo_script: Path | None = None


def make_provider(entry: ProviderEntry, surroundings: Surroundings) -> Provider:
    """The provider for `entry`. Raises ValueError with one sentence for an entry that cannot work.

    The sentence is for a person: an unknown kind, a malformed address, a key that cannot be sent, a bad script.
    """
    if (make := KINDS.get(entry.kind)) is None:
        raise ValueError(f"There is no provider kind {entry.kind!r}; known are {', '.join(KINDS)}.")
    return make(entry, surroundings)


def _openai(entry: ProviderEntry, surroundings: Surroundings) -> Provider:
    from reprise.providers.openai_compatible import OpenAICompatible

    endpoint = Endpoint(entry.url, entry.api_key, entry.headers, entry.keep_alive, entry.ends_without_finish)
    return OpenAICompatible(endpoint, timeouts=surroundings.timeouts, after_cap_s=surroundings.after_cap_s)


def _echo(entry: ProviderEntry, surroundings: Surroundings) -> Echo:
    from reprise.providers.echo import Echo
    from reprise.providers.echo_script import load_script

    path = surroundings.echo_script
    script = () if path is None else load_script(path, after_cap_s=surroundings.after_cap_s)
    return Echo(surroundings.clock, script)


KINDS: Mapping[str, Callable[[ProviderEntry, Surroundings], Provider]] = {
    "openai": _openai,
    "echo": _echo,
}
"""Who makes a provider of which kind. The built-in model is an ``openai`` entry on a loopback port."""
