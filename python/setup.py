"""Puts the tree's C libraries into the package; builds them (make build) where there are none."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
HEADER = TREE / "core" / "include" / "dijoco" / "types.h"
OUT = TREE / "build" / "python"


def version():
    if not HEADER.exists():
        raise SystemExit("dijoco: build from the source tree, where %s is" % HEADER)
    numbers = re.findall(r"#define DJ_VERSION_[A-Z]+ (\d+)", HEADER.read_text())
    return ".".join(numbers)


def core_library():
    """libdijoco.so.X.Y of this version, as its SONAME has it; built where it is not there."""
    folder = pathlib.Path(os.environ.get("DIJOCO_LIBRARY_DIR", TREE / "build" / "lib"))
    library = folder / ("libdijoco.so." + ".".join(version().split(".")[:2]))
    if not library.exists():
        subprocess.run(["make", "-C", str(TREE), "build"], check=True)
    if not library.exists():
        raise SystemExit("dijoco: there is no %s" % library)
    return library


class BuildWithLibraries(build_py):
    """The package with lib/libdijoco.so.X.Y and lib/libdijoco_plugin.so, or what was staged."""

    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "dijoco"
        target = package / "lib"
        shutil.rmtree(target, ignore_errors=True)
        if "DIJOCO_STAGE" in os.environ:   # lib, bin and licenses, of scripts/wheel.sh
            shutil.copytree(os.environ["DIJOCO_STAGE"], package, dirs_exist_ok=True)
            return
        target.mkdir(parents=True)
        core = core_library()
        shutil.copy(core, target)
        plugin = core.with_name("libdijoco_plugin.so")
        if plugin.exists():  # a build may be without MuJoCo
            shutil.copy(plugin, target)


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    """For any Python 3 of this platform."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


OUT.mkdir(parents=True, exist_ok=True)
setup(version=version(), packages=["dijoco"],
      package_data={"dijoco": ["py.typed", "scenes/*.xml"]}, distclass=PlatformDistribution,
      cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel},
      options={"build": {"build_base": str(OUT)}, "egg_info": {"egg_base": str(OUT)}})
