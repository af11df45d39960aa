"""The real program as a child process."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.wire_server import Play

TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Run:
    """How a run ended."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """The one object on stdout."""
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed


async def start(
    *arguments: str, env: Mapping[str, str] | None = None, stdout: int = asyncio.subprocess.PIPE, redirect: str = ""
) -> Process:
    """Start the program; the caller waits for it or ends it. `redirect` is what a shell would do to its streams."""
    shell = ("sh", "-c", f'exec "$@" {redirect}', "sh") if redirect else ()
    return await asyncio.create_subprocess_exec(
        *shell,
        sys.executable,
        "-m",
        "reprise",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE,
        env=env,
    )


async def finish(process: Process) -> Run:
    """Wait for the end; a traceback on stderr is a failure of the test whatever it looks for."""
    out, err = await asyncio.wait_for(process.communicate(), TIMEOUT_S)
    run = Run(process.returncode or 0, out.decode(), err.decode())
    assert "Traceback" not in run.err, run.err
    return run


async def reprise(*arguments: str, env: Mapping[str, str] | None = None) -> Run:
    """Run the program to its end."""
    return await finish(await start(*arguments, env=env))


def say(data: Path, url: str, *more: str, text: str = "hello") -> tuple[str, ...]:
    """The arguments of a scripted prompt to one server."""
    return (
        *("--data-dir", str(data), "--provider-url", url, "--model", "test", "--say", text),
        *("--quit-when-done", "--json", *more),
    )


def event(**delta: Any) -> bytes:
    """One event of a chat completion stream with this delta."""
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}\n\n".encode()


DONE = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def reply(*texts: str) -> Play:
    """A good reply."""
    return Play((*(event(content=text) for text in texts), DONE))


def refusal(status: int, message: str, **headers: str) -> Play:
    """An error with a JSON body."""
    body = json.dumps({"error": {"message": message}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Play((body,), status, {"content-type": "application/json", **named})
