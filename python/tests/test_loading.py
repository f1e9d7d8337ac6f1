"""How the package finds and loads its libraries, and what it says where it cannot. Each case runs
in an interpreter of its own."""
import os
import pathlib
import subprocess
import sys

import pytest

import dijoco

PACKAGE = pathlib.Path(dijoco.__file__).resolve().parent
ENTRY = "[mujoco.plugins]\ndijoco = dijoco.mujoco:register_plugins\n"


def python(code, path=(), flags=(), **env):
    """Output of an interpreter that finds the package in a copy of its own, or in `path`."""
    full = dict(os.environ, PYTHONPATH=os.pathsep.join([str(p) for p in path] + sys.path[1:]),
                PYTHONDONTWRITEBYTECODE="1")
    full.pop("DIJOCO_LIBRARY_DIR", None)
    full.update(env)
    done = subprocess.run([sys.executable, *flags, "-c", code], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=full, cwd=os.sep, timeout=120)
    return done.returncode, done.stdout


@pytest.fixture
def package(tmp_path):
    """The package's Python files without libraries, in a folder of their own."""
    target = tmp_path / "package" / "dijoco"
    target.mkdir(parents=True)
    for source in PACKAGE.glob("*.py"):
        (target / source.name).write_text(source.read_text())
    return target.parent


@pytest.fixture
def libraries():
    from dijoco import _lib
    return _lib.library_dir()


def test_from_the_environment(package, libraries):
    status, out = python("import dijoco; print(dijoco.__file__, dijoco.__version__)", [package],
                         DIJOCO_LIBRARY_DIR=str(libraries))
    assert status == 0 and out.startswith(str(package)) and dijoco.__version__ in out


def test_from_the_package(package, libraries, tmp_path):
    """`lib` in the package comes first, and needs nothing else of the tree."""
    (package / "dijoco" / "lib").mkdir()
    for library in libraries.glob("libdijoco*.so*"):
        (package / "dijoco" / "lib" / library.name).write_bytes(library.read_bytes())
    status, out = python("import dijoco; print(dijoco.plugin_library())", [package],
                         DIJOCO_LIBRARY_DIR=str(tmp_path))
    assert status == 0 and out.strip() == str(package / "dijoco" / "lib" / "libdijoco_plugin.so")


def test_there_is_none(package, tmp_path):
    status, out = python("import dijoco", [package], DIJOCO_LIBRARY_DIR=str(tmp_path))
    assert status == 1 and "ImportError: dijoco: there is no libdijoco.so in" in out
    assert str(tmp_path) in out and "make build" in out


def test_a_library_that_does_not_load(package, tmp_path):
    (tmp_path / "libdijoco.so").write_text("nothing")
    status, out = python("import dijoco", [package], DIJOCO_LIBRARY_DIR=str(tmp_path))
    assert status == 1 and "libdijoco.so" in out and "libqhull" in out


def test_a_missing_system_library(package, libraries, tmp_path):
    binary = next(libraries.glob("libdijoco.so*")).read_bytes()
    assert binary.count(b"libcjson.so") >= 1
    (tmp_path / "libdijoco.so").write_bytes(binary.replace(b"libcjson.so", b"libcjsxn.so"))
    status, out = python("import dijoco", [package], DIJOCO_LIBRARY_DIR=str(tmp_path))
    assert status == 1 and "libcjsxn.so.1: cannot open" in out and "apt install" in out


def test_another_version(package, tmp_path, libraries):
    """Some other library by that name is not taken."""
    source = next(p for p in pathlib.Path("/proc/self/maps").read_text().split()
                  if "/libc.so" in p or "/libc-" in p)
    (tmp_path / "libdijoco.so").symlink_to(source)
    status, out = python("import dijoco", [package], DIJOCO_LIBRARY_DIR=str(tmp_path))
    assert status == 1 and "is not of this package's version: it has no dj_version" in out
    text = (package / "dijoco" / "_lib.py").read_text()
    changed = text.replace('("nvalue", c_int), ', "", 1)
    assert changed != text
    (package / "dijoco" / "_lib.py").write_text(changed)
    status, out = python("import dijoco", [package], DIJOCO_LIBRARY_DIR=str(libraries))
    assert status == 1 and "djParam differs" in out


def test_without_mujoco(root, libraries):
    """The core works; what needs MuJoCo says so."""
    code = """
import sys
sys.modules["mujoco"] = None
import dijoco
data = dijoco.Data(dijoco.Model.load(%r))
data.step()
for call in (lambda: dijoco.Model.load("x.xml"), dijoco.register_plugins):
    try:
        call()
    except ImportError as error:
        print(error)
""" % str(root / "examples" / "box.json")
    status, out = python(code, DIJOCO_LIBRARY_DIR=str(libraries))
    assert status == 0 and out.count("need the package mujoco (pip install mujoco)") == 2, out


def test_without_a_plugin_library(package, libraries, tmp_path):
    pytest.importorskip("mujoco")
    for library in libraries.glob("libdijoco.so*"):
        (tmp_path / library.name).write_bytes(library.read_bytes())
    status, out = python("import dijoco; dijoco.Model.load('x.xml')", [package],
                         DIJOCO_LIBRARY_DIR=str(tmp_path))
    assert status == 1 and "this build is without MuJoCo" in out


# ---- import mujoco -----------------------------------------------------------------------------

FRONT = "import mujoco; mujoco.MjModel"


@pytest.fixture
def installed(tmp_path):
    """A folder that makes the package look installed: its entry points."""
    if python(FRONT)[0] != 0:
        pytest.skip("the package mujoco is not installed")
    folder = tmp_path / "site" / "dijoco-0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: dijoco\nVersion: 0\n")
    (folder / "entry_points.txt").write_text(ENTRY)
    return [folder.parent, PACKAGE.parent]


SCENE = "<mujoco><extension><plugin plugin='dijoco.contact'/></extension></mujoco>"


def test_import_mujoco_registers_silently(installed, libraries):
    code = "import mujoco; mujoco.MjModel.from_xml_string(%r)" % SCENE
    for flags in ((), ("-W", "error")):
        status, out = python(code, installed, flags, DIJOCO_LIBRARY_DIR=str(libraries))
        assert (status, out) == (0, "")
    status, out = python(code, DIJOCO_LIBRARY_DIR=str(libraries))
    if "site-packages" not in str(PACKAGE):
        assert status == 1 and "dijoco.contact" in out  # without the entry point


@pytest.mark.parametrize("code", [
    "import dijoco, mujoco", "import dijoco; dijoco.register_plugins(); import mujoco",
    "import mujoco, dijoco; dijoco.register_plugins()",
    "import dijoco.mujoco; m = dijoco.Model.load(%r)"])
def test_any_order_of_imports(installed, libraries, tmp_path, code):
    if "%r" in code:
        scene = tmp_path / "exact.xml"    # of which nothing is told
        scene.write_text("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody>"
                         "</mujoco>")
        code = code % str(scene)
    code += "\nimport mujoco; mujoco.MjModel.from_xml_string(%r)" % SCENE
    status, out = python(code, installed, ("-W", "error"), DIJOCO_LIBRARY_DIR=str(libraries))
    assert (status, out) == (0, "")


def test_import_mujoco_survives_a_broken_package(installed, package, tmp_path):
    status, out = python("import mujoco; mujoco.MjModel", [installed[0], package],
                         DIJOCO_LIBRARY_DIR=str(tmp_path))
    assert status == 0 and "there is no libdijoco.so" in out  # a warning


def test_load_plugin_library(libraries):
    """MuJoCo's own way in needs no entry point."""
    if python(FRONT)[0] != 0:
        pytest.skip("the package mujoco is not installed")
    code = """
import mujoco, dijoco
mujoco.mj_loadPluginLibrary(dijoco.plugin_library())
mujoco.MjModel.from_xml_string(%r)""" % SCENE
    status, out = python(code, DIJOCO_LIBRARY_DIR=str(libraries))
    assert (status, out) == (0, "")
