"""Sets everything up on a bare machine, and then runs the program or its tests.

    python3 packaging/bootstrap.py run [the program's arguments ...]
    python3 packaging/bootstrap.py test [--full] [pytest's arguments ...]

`run` makes `.venv`, installs the program with its built-in model and what the system lacks, and opens the window;
where there is no screen it runs the same window offscreen with one prompt. `test` does the same for developers and
runs the whole suite. What only a person can do is printed as one command, with exit code 2. Needs a Python of 3.11 or
later and nothing else; a second run installs nothing and needs no network.
"""

import sys


def start():  # type: () -> int  # noqa: ANN201 - no annotation that Python 2 could not read
    """Hand over to the real work, which only a Python that is new enough can read."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is started by whatever Python there is
        sys.stderr.write("Reprise needs Python 3.11 or later; this is {}.{}.\n".format(*sys.version_info))
        return 2
    import time

    started = time.monotonic()
    from bootstrap_commands import main

    return main(sys.argv[1:], __doc__ or "", started)


if __name__ == "__main__":
    sys.exit(start())
