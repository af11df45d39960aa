"""The program's own Python environment in the checkout: made once, remembered by a stamp, safe to interrupt."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from system_packages import NeedsPerson, Wanted, install

if sys.platform != "win32":
    import fcntl

Say = Callable[[str], None]

_STAMP = "reprise-stamp.json"
_BUILDING = "reprise-building"
_GIVEN_UP = "Retry(total=0,"  # in pip's warning that it connected in vain for the last time
_UNREACHABLE = "their index cannot be reached. Check the network and the proxy settings, then start again."
_INTERPRETER = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")


@dataclass
class Stamp:
    """What an environment was made from and what is in it."""

    key: str
    root: str
    extras: list[str]
    without: dict[str, str] = field(default_factory=dict)
    libraries: list[str] = field(default_factory=list)

    def covers(self, key: str, extras: Iterable[str]) -> bool:
        """True when nothing has to be installed for `extras`; one that could not be had is not tried again."""
        return self.key == key and set(extras) <= {*self.extras, *self.without}


@dataclass(frozen=True)
class Environment:
    """A virtual environment at `folder` with the checkout at `root` installed in it, editable."""

    root: Path
    folder: Path
    say: Say
    base: str = sys.executable

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder.joinpath(*_INTERPRETER)

    def key(self) -> str:
        """Changes when anything changes that decides what is installed."""
        digest = hashlib.sha256()
        for path in (self.root / "pyproject.toml", self.root / "packaging" / "constraints.txt"):
            digest.update(path.read_bytes() + b"\0")
        digest.update(f"{self.root}\0{self.python.resolve()}".encode())
        return digest.hexdigest()

    def stamp(self) -> Stamp | None:
        """What was written when it was last finished; None before that or when it cannot be read."""
        try:
            return Stamp(**json.loads((self.folder / _STAMP).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write_stamp(self, stamp: Stamp) -> None:
        """Remember that the environment is finished."""
        part = self.folder / f"{_STAMP}.part"
        part.write_text(json.dumps(asdict(stamp), indent=1), "utf-8")
        part.replace(self.folder / _STAMP)

    def ensure(self, extras: Iterable[str], optional: Iterable[str] = ()) -> Stamp:
        """Have the program with `extras` installed, `optional` ones too where they can be. Raises NeedsPerson."""
        wanted = {*extras, *optional}
        stamp = self.stamp()
        if stamp is not None and self.is_whole() and stamp.covers(self.key(), wanted):
            return stamp
        with self._alone():
            self._prepare()
            stamp = self.stamp()
            if stamp is not None and stamp.covers(self.key(), wanted):
                return stamp  # another bootstrap has just done it
            return self._install(wanted | set(stamp.extras if stamp else ()), set(optional) - set(extras))

    def is_whole(self) -> bool:
        """False while it is being made, after that was interrupted, and where there is none."""
        return self.python.exists() and not (self.folder / _BUILDING).exists()

    def environ(self) -> dict[str, str]:
        """The variables for what runs in it: nothing that would lead its Python elsewhere."""
        return {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONSTARTUP")
        }

    def run(self, *arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run its interpreter and collect standard output."""
        command = [str(self.python), *arguments]
        environ = environ if environ is not None else self.environ()
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environ, cwd=self.root, check=False)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two bootstraps of one checkout wait for each other."""
        if sys.platform == "win32":
            yield
            return
        handle = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _prepare(self) -> None:
        """Have an environment with pip in it; what was interrupted, moved here or broken is made anew."""
        stamp = self.stamp()
        moved = stamp is not None and stamp.root != str(self.root)
        if self.folder.exists() and (moved or not self.is_whole() or not self._has_pip()):
            self.say(f"Making {self.folder.name} anew: it was unfinished, moved or broken.")
            shutil.rmtree(self.folder)
        if self.folder.exists():
            return
        if importlib.util.find_spec("ensurepip") is None and self.base == sys.executable:
            self.say("This Python cannot make virtual environments.")
            install(Wanted(packages=(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv",)), say=self.say)
        self.say(f"Making {self.folder} ...")
        self.folder.mkdir()
        (self.folder / _BUILDING).touch()
        made = subprocess.run([self.base, "-m", "venv", str(self.folder)], stdout=sys.stderr, check=False)
        if made.returncode != 0:
            raise NeedsPerson(f"{self.base} could not make a virtual environment (its words are above).")

    def _has_pip(self) -> bool:
        asked = subprocess.run([str(self.python), "-c", "import pip"], capture_output=True, check=False)
        return asked.returncode == 0

    def _install(self, extras: set[str], optional: set[str]) -> Stamp:
        building = self.folder / _BUILDING
        building.touch()
        without: dict[str, str] = {}
        self.say("Installing the program's Python packages ...")
        words = self._pip(extras)
        if words and words != _UNREACHABLE and extras & optional:
            without = {extra: words for extra in extras & optional}
            extras = extras - optional
            words = self._pip(extras)
        if words:
            raise NeedsPerson(f"The program's Python packages could not be installed: {words}")
        # An editable install leaves the byte code to the first start, which is slower by a second then.
        subprocess.run([str(self.python), "-m", "compileall", "-q", str(self.root / "desktop")], check=False)
        stamp = Stamp(self.key(), str(self.root), sorted(extras), without)
        self.write_stamp(stamp)
        building.unlink()
        return stamp

    def _pip(self, extras: set[str]) -> str:
        """Install; the empty string when that went well, else pip's last words."""
        what = f"{self.root}[{','.join(sorted(extras))}]" if extras else str(self.root)
        quiet = ("--quiet", "--no-input", "--disable-pip-version-check")
        constraints = str(self.root / "packaging" / "constraints.txt")
        command = [str(self.python), "-m", "pip", "install", *quiet, "-c", constraints, "-e", what]
        done = subprocess.run(
            command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, env=self.environ(), check=False
        )
        if done.returncode == 0:
            return ""
        if _GIVEN_UP in done.stderr:  # what pip makes of it in the end, and at length, is a riddle
            return _UNREACHABLE
        sys.stderr.write(done.stderr)
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
        return (errors or done.stderr.splitlines() or [f"pip ended with code {done.returncode}"])[-1]
