"""Missing shared libraries become the right packages, or the one exact command (issue point 2)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.scripts import load_script

packages = load_script("system_packages")

DEBIAN_12 = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libgomp.so.1": "libgomp1",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libbrotlidec.so.1": "libbrotli1",
    "libstdc++.so.6": "libstdc++6",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libz.so.1": "zlib1g",
}


@pytest.mark.parametrize(("soname", "package"), DEBIAN_12.items())
def test_a_soname_names_its_debian_package(soname: str, package: str) -> None:
    assert packages.debian_package(soname) == package


def test_the_name_that_apt_knows_is_taken() -> None:
    wanted = packages.Wanted(sonames=("libglib-2.0.so.0", "libEGL.so.1"), packages=("xvfb",))
    bookworm = {"libglib2.0-0", "libegl1"}
    trixie = {"libglib2.0-0t64", "libegl1"}
    assert packages.package_names("apt", wanted, bookworm.__contains__) == ["libegl1", "libglib2.0-0", "xvfb"]
    assert packages.package_names("apt", wanted, trixie.__contains__) == ["libegl1", "libglib2.0-0t64", "xvfb"]


@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("apt", "sudo apt-get install -y --no-install-recommends libegl1 xvfb"),
        ("dnf", "sudo dnf install -y 'libEGL.so.1()(64bit)' xorg-x11-server-Xvfb"),
        ("zypper", "sudo zypper --non-interactive install 'libEGL.so.1()(64bit)' xorg-x11-server-Xvfb"),
        ("pacman", "sudo pacman -S --needed --noconfirm libglvnd xorg-server-xvfb"),
    ],
)
def test_the_command_for_a_person_fits_the_system(manager: str, line: str) -> None:
    names = packages.package_names(manager, packages.Wanted(("libEGL.so.1",), ("xvfb",)))
    assert packages.command_line(manager, names, root=False) == line


def test_root_is_not_told_to_use_sudo_and_empty_lists_are_read_first() -> None:
    line = packages.command_line("apt", ["libegl1"], root=True, lists=False)
    assert line == "apt-get update && apt-get install -y --no-install-recommends libegl1"


def programs(folder: Path, *names: str) -> str:
    """A folder for PATH with programs that always succeed."""
    for name in names:
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_without_root_and_sudo_the_one_command_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", programs(tmp_path, "apt-get", "apt-cache"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(packages, "has_lists", lambda: False)
    with pytest.raises(packages.NeedsPerson) as caught:
        packages.install(packages.Wanted(("libEGL.so.1", "libxcb-cursor.so.0")), say=print)
    assert caught.value.command == (
        "sudo apt-get update && sudo apt-get install -y --no-install-recommends libegl1 libxcb-cursor0"
    )
    assert str(caught.value) == "Missing on this system: libEGL.so.1, libxcb-cursor.so.0."


def test_sudo_is_used_only_where_it_asks_for_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", programs(tmp_path, "sudo"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert packages.privilege() == (str(tmp_path / "sudo"), "-n")
    (tmp_path / "sudo").write_text("#!/bin/sh\nexit 1\n")
    assert packages.privilege() is None


def test_another_package_manager_is_not_run_but_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", programs(tmp_path, "dnf"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(packages.NeedsPerson) as caught:
        packages.install(packages.Wanted(("libEGL.so.1",)), say=print)
    assert caught.value.command == "dnf install -y 'libEGL.so.1()(64bit)'"


def test_an_unknown_system_is_told_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(packages.NeedsPerson, match=r"libEGL\.so\.1") as caught:
        packages.install(packages.Wanted(("libEGL.so.1",)), say=print)
    assert caught.value.command == ""
