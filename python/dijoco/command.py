"""The command `dijoco` of a wheel (scripts/wheel.sh), with the MuJoCo of the package mujoco."""
from __future__ import annotations

import importlib.util
import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the command."""
    program = pathlib.Path(__file__).resolve().parent / "bin" / "dijoco"
    if not program.exists():
        sys.exit("dijoco: this package has no command: it was not made by scripts/wheel.sh")
    found = importlib.util.find_spec("mujoco")
    if found is None:
        sys.exit("dijoco: the command needs the package mujoco: pip install 'dijoco[mujoco]'")
    folders = [str(pathlib.Path(str(found.origin)).parent), os.environ.get("LD_LIBRARY_PATH", "")]
    path = os.pathsep.join(filter(None, folders))
    os.execve(program, [str(program), *sys.argv[1:]], {**os.environ, "LD_LIBRARY_PATH": path})
