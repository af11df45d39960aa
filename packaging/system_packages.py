"""What the system must bring: shared libraries and programs, and the package manager that installs them.

Libraries are named by soname, as the loader misses them. Debian's package names follow from sonames by Debian's own
rule, with few exceptions; RPM systems can be asked for a soname as it is.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_APT_LISTS = Path("/var/lib/apt/lists")
_APT = ("apt-get", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0", "-qq")
_ENVIRON = {"DEBIAN_FRONTEND": "noninteractive"}

_DEBIAN_EXCEPTIONS = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libgobject-2.0.so.0": "libglib2.0-0",
    "libgio-2.0.so.0": "libglib2.0-0",
    "libbrotlidec.so.1": "libbrotli1",
    "libbrotlicommon.so.1": "libbrotli1",
    "libz.so.1": "zlib1g",
    "libgcc_s.so.1": "libgcc-s1",
    "libc.so.6": "libc6",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_ARCH = {
    "libEGL": "libglvnd",
    "libGL": "libglvnd",
    "libOpenGL": "libglvnd",
    "libX11": "libx11",
    "libdbus-1": "dbus",
    "libfontconfig": "fontconfig",
    "libfreetype": "freetype2",
    "libglib-2.0": "glib2",
    "libgthread-2.0": "glib2",
    "libgomp": "gcc-libs",
    "libgssapi_krb5": "krb5",
    "libxcb-cursor": "xcb-util-cursor",
    "libxcb-icccm": "xcb-util-wm",
    "libxcb-image": "xcb-util-image",
    "libxcb-keysyms": "xcb-util-keysyms",
    "libxcb-render-util": "xcb-util-renderutil",
    "libxcb-util": "xcb-util",
    "libxkbcommon": "libxkbcommon",
    "libxkbcommon-x11": "libxkbcommon-x11",
}
_PROGRAMS = {  # what one of them is called elsewhere than in Debian
    "xvfb": {"dnf": "xorg-x11-server-Xvfb", "zypper": "xorg-x11-server-Xvfb", "pacman": "xorg-server-xvfb"},
    "xauth": {"dnf": "xorg-x11-xauth", "zypper": "xauth", "pacman": "xorg-xauth"},
    "dbus-daemon": {"dnf": "dbus-daemon", "zypper": "dbus-1-daemon", "pacman": "dbus"},
    "fonts-dejavu-core": {"dnf": "dejavu-sans-fonts", "zypper": "dejavu-fonts", "pacman": "ttf-dejavu"},
    "fonts-noto-core": {"dnf": "google-noto-sans-fonts", "zypper": "google-noto-fonts", "pacman": "noto-fonts"},
    "fonts-noto-cjk": {
        "dnf": "google-noto-sans-cjk-fonts",
        "zypper": "noto-sans-cjk-fonts",
        "pacman": "noto-fonts-cjk",
    },
    "fonts-noto-color-emoji": {
        "dnf": "google-noto-color-emoji-fonts",
        "zypper": "google-noto-coloremoji-fonts",
        "pacman": "noto-fonts-emoji",
    },
}
_INSTALL = {
    "apt": "apt-get install -y --no-install-recommends",
    "dnf": "dnf install -y",
    "zypper": "zypper --non-interactive install",
    "pacman": "pacman -S --needed --noconfirm",
}


class NeedsPerson(Exception):
    """Something only a person can do: `str(error)` says what is missing, `command` is the one command to run."""

    def __init__(self, sentence: str, command: str = "") -> None:
        super().__init__(sentence)
        self.command = command


@dataclass(frozen=True)
class Wanted:
    """What is missing: shared libraries by soname, and packages by Debian's name."""

    sonames: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sonames or self.packages)

    def __str__(self) -> str:
        return ", ".join((*self.sonames, *self.packages))


def debian_package(soname: str) -> str:
    """Debian's name for the package of a shared library: libxcb-cursor.so.0 is in libxcb-cursor0."""
    if soname in _DEBIAN_EXCEPTIONS:
        return _DEBIAN_EXCEPTIONS[soname]
    stem, _, version = soname.partition(".so.")
    stem = stem.lower().replace("_", "-")
    return f"{stem}-{version}" if stem[-1:].isdigit() else f"{stem}{version}"


def package_names(manager: str, wanted: Wanted, known: Callable[[str], bool] = lambda name: False) -> list[str]:
    """What to ask `manager` for. `known` tells whether apt knows a name (the names changed with 64-bit time)."""
    names = [*(_library(manager, soname, known) for soname in wanted.sonames)]
    names += [_PROGRAMS.get(package, {}).get(manager, package) for package in wanted.packages]
    return sorted(set(names))


def _library(manager: str, soname: str, known: Callable[[str], bool]) -> str:
    if manager == "apt":
        name = debian_package(soname)
        return f"{name}t64" if not known(name) and known(f"{name}t64") else name
    if manager in ("dnf", "zypper"):
        return f"{soname}()(64bit)"
    stem = soname.partition(".so")[0]
    return _ARCH.get(stem, stem.lower())


def command_line(manager: str, names: Iterable[str], *, root: bool, lists: bool = True) -> str:
    """The one command that installs `names`, as a person would type it."""
    sudo = "" if root else "sudo "
    install = f"{sudo}{_INSTALL[manager]} {shlex.join(names)}"
    return install if manager != "apt" or lists else f"{sudo}apt-get update && {install}"


def find_manager() -> str | None:
    """The system's package manager, of those known here."""
    found = (name for name, program in _managers().items() if shutil.which(program))
    return next(found, None)


def _managers() -> dict[str, str]:
    return {name: install.split()[0] for name, install in _INSTALL.items()}


def privilege() -> Sequence[str] | None:
    """What to put before a command to run it as root without a password; None when that cannot be had."""
    if os.geteuid() == 0:
        return ()
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return (sudo, "-n")
    return None


def has_lists() -> bool:
    """Whether apt has package lists at all; a fresh image comes without."""
    return any(_APT_LISTS.glob("*Packages*"))


def install(wanted: Wanted, *, say: Callable[[str], None]) -> None:
    """Install what is missing, as root or by sudo without a password. Raises NeedsPerson with the one command."""
    manager = find_manager()
    if manager is None:
        raise NeedsPerson(f"Missing on this system: {wanted}. Its package manager is not known here.")
    root = privilege()
    if manager != "apt" or root is None:
        names = package_names(manager, wanted, _apt_knows if manager == "apt" else lambda name: False)
        line = command_line(manager, names, root=os.geteuid() == 0, lists=manager != "apt" or has_lists())
        raise NeedsPerson(f"Missing on this system: {wanted}.", line)
    if not has_lists():
        say("Reading the package lists ...")
        _run(root, "update")
    names = package_names(manager, wanted, _apt_knows)
    say(f"Installing {' '.join(names)} ...")
    if _run(root, "install", "-y", "--no-install-recommends", *names) != 0:
        # Lists that are too old name files that are gone; a dpkg that was interrupted wants to be finished first.
        subprocess.run([*root, "dpkg", "--configure", "-a"], stdout=sys.stderr, check=False)
        _run(root, "update")
        names = package_names(manager, wanted, _apt_knows)
        if _run(root, "install", "-y", "--no-install-recommends", *names) != 0:
            line = command_line("apt", names, root=os.geteuid() == 0)
            raise NeedsPerson(f"Missing on this system: {wanted}. Installing it failed.", line)


def _run(root: Sequence[str], *arguments: str) -> int:
    """Run apt quietly; its words are shown when it fails."""
    environ = [f"{name}={value}" for name, value in _ENVIRON.items()]
    done = subprocess.run(
        [*root, "env", *environ, *_APT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        sys.stderr.write(done.stdout)
    return done.returncode


def _apt_knows(name: str) -> bool:
    asked = subprocess.run(["apt-cache", "show", "-q", name], capture_output=True, text=True, check=False)
    return asked.returncode == 0 and bool(re.search(r"^Package: ", asked.stdout, re.MULTILINE))
