"""Where things are: the resources, the data folder and the models' cache. Found once, passed on as paths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

DATABASE = "reprise.db"


class UnusableDataDir(Exception):
    """The data folder cannot be used; `str(error)` is a sentence that names it."""


class DataDir(NamedTuple):
    """The one folder everything of a user is in (mode 0700)."""

    root: Path

    @property
    def state(self) -> Path:
        """Window geometry, scheme and zoom: read before the first paint."""
        return self.root / "state.ini"

    @property
    def settings(self) -> Path:
        """The commented settings file."""
        return self.root / "settings.toml"

    @property
    def logs(self) -> Path:
        """The folder of rotating logs."""
        return self.root / "logs"

    @property
    def lock(self) -> Path:
        """The lock of the one process that may open this folder."""
        return self.root / "lock"


def resources_dir() -> Path:
    """The folder of icons and themes, in a checkout, an installed wheel or a frozen bundle.

    A checkout wins over a copy inside the package: after an editable install a stale one may lie there.
    """
    package = Path(__file__).resolve().parent.parent  # importlib.resources takes longer to import than to be right
    checkout = package.parent.parent / "resources"
    if package.parent.name == "desktop" and checkout.is_dir():
        return checkout
    return package / "resources"


def default_data_dir() -> Path:
    """The platform's folder for a user's data."""
    import platformdirs  # not needed when --data-dir is given

    return Path(platformdirs.user_data_dir("reprise", appauthor=False))


def models_dir() -> Path:
    """Where model files are kept: `REPRISE_MODELS`, else the user's cache (a fresh data folder fetches nothing)."""
    if own := os.environ.get("REPRISE_MODELS"):
        return Path(own).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("reprise", appauthor=False)) / "models"


def open_data_dir(root: Path) -> DataDir:
    """Make the data folder if need be and check that it can be used. Raises UnusableDataDir."""
    try:
        root = root.expanduser().absolute()
        str(root).encode()  # Qt could not name what is no UTF-8
        made = not root.exists()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (RuntimeError, UnicodeEncodeError) as error:
        raise UnusableDataDir(f"The data folder {str(root)!r} has no usable name. Choose another.") from error
    except FileExistsError as error:
        raise UnusableDataDir(f"The data folder {root} is a file. Choose another with --data-dir.") from error
    except NotADirectoryError as error:
        raise UnusableDataDir(f"The data folder {root} lies under a file. Choose another with --data-dir.") from error
    except OSError as error:
        raise UnusableDataDir(f"The data folder {root} cannot be made: {error.strerror}.") from error
    if hasattr(os, "getuid") and root.stat().st_uid != os.getuid():
        raise UnusableDataDir(f"The data folder {root} belongs to another user. Choose another with --data-dir.")
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        raise UnusableDataDir(f"The data folder {root} cannot be written to. Choose another with --data-dir.")
    # Never somebody else's folder: only one that was just made, is empty, or is ours already.
    if root.stat().st_mode & 0o077 and (made or (root / DATABASE).exists() or not any(root.iterdir())):
        root.chmod(0o700)
    return DataDir(root)
