"""From an entry to a provider."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from reprise.providers.catalog import KINDS, ProviderEntry, Surroundings, make_provider
from support.clock import ManualClock
from support.replies import ask
from support.wire_server import Play, WireServer

REPLY = b'data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def test_an_openai_entry_speaks_to_its_address_with_its_key() -> None:
    """Issue 2 item 4: kind, address and key make the provider."""

    async def main() -> None:
        async with WireServer({"a": Play((REPLY,))}) as server:
            entry = ProviderEntry("own", "openai", "Own server", server.url("a"), "sk-1")
            provider = make_provider(entry, Surroundings(ManualClock()))
            answer = await ask(provider)
            await provider.aclose()
            assert answer == ("Hello", None)
            assert server.requests[0].headers["authorization"] == "Bearer sk-1"
            assert "sk-1" not in repr(entry)

    asyncio.run(main())


def test_an_echo_entry_plays_its_script(tmp_path: Path) -> None:
    """Behaviour D17 `echo.script`."""
    path = tmp_path / "script.json"
    path.write_text('[["scripted"]]', "utf-8")

    async def main() -> None:
        provider = make_provider(ProviderEntry("echo", "echo", "Echo"), Surroundings(ManualClock(), echo_script=path))
        answer = await ask(provider)
        await provider.aclose()
        assert answer == ("scripted", None)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (ProviderEntry("x", "gopher", "X"), "There is no provider kind 'gopher'; known are openai, echo"),
        (ProviderEntry("x", "openai", "X", "h:11434"), "must start with http"),
        (ProviderEntry("x", "openai", "X"), "The address is empty"),
        (ProviderEntry("x", "openai", "X", "http://h", "clé"), "The key contains"),
    ],
)
def test_an_entry_that_cannot_work_is_one_sentence(entry: ProviderEntry, words: str) -> None:
    """P8, P9."""
    with pytest.raises(ValueError, match=words):
        make_provider(entry, Surroundings(ManualClock()))


def test_a_wire_is_imported_only_when_it_is_used() -> None:
    """Design rule 7: the catalog and the echo provider load neither httpx nor pydantic."""
    code = (
        "import sys; from reprise.providers import catalog, echo, echo_script; "
        "sys.exit(', '.join(name for name in ('httpx', 'pydantic') if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_kinds_are_those_of_the_command_line() -> None:
    """Issue 2 item 9: `--provider-kind openai|echo`."""
    assert set(KINDS) == {"openai", "echo"}
