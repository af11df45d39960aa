"""Both commands start here; imports are absolute because a frozen build runs this file as a script."""

from __future__ import annotations

import sys

from reprise.app import main

if __name__ == "__main__":
    sys.exit(main())
