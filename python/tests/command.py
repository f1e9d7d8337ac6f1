"""The command's JSON output."""
import json
import os
import pathlib
import subprocess

import pytest

BIN = os.environ.get("DIJOCO_BIN",
                     pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "dijoco")


def run(*arguments, text=None):
    """Parsed standard output of the command; skips where it is not built."""
    if not pathlib.Path(BIN).exists():
        pytest.skip("the command is not built")
    done = subprocess.run([str(BIN)] + [str(a) for a in arguments], stdout=subprocess.PIPE,
                          input=text, text=True)
    assert done.returncode in (0, 1), done
    return json.loads(done.stdout)
