"""What is selected can be pasted with the middle button, on X11."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.scripts import load_script

SCRIPT = Path(__file__).with_name("x11_selection.py")


@pytest.mark.skipif(sys.platform != "linux", reason="X11 is Linux's")
def test_what_is_selected_is_pasted_into_the_composer_by_the_middle_button() -> None:
    """Issue point 4: the primary selection, from one program to another on a real X server."""
    with load_script("screens").private_x_server() as display:
        env = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        command = [sys.executable, str(SCRIPT)]
        with subprocess.Popen(
            [*command, "select"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "Words to paste \u4e2d\u6587\n"
            pasted = subprocess.run(
                [*command, "paste"], env=env, capture_output=True, text=True, timeout=30, check=False
            )
            holder.communicate("", timeout=30)
        assert (pasted.stdout, pasted.returncode) == ("Words to paste \u4e2d\u6587\n", 0), pasted.stderr
        assert holder.returncode == 0
