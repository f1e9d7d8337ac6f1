"""Every ctypes struct of the package is laid out as C's, field by field: tests/abi/structs.txt,
which the test `abi` compares with the headers."""
import ctypes
import importlib
import pathlib
import pkgutil
import re
import sys

import pytest

import dijoco
from dijoco import _lib

ROOT = pathlib.Path(__file__).resolve().parents[2]
if not (ROOT / "scripts" / "abi.py").exists():
    pytest.skip("not in the source tree", allow_module_level=True)
sys.path.insert(0, str(ROOT / "scripts"))
abi = importlib.import_module("abi")
if not abi.applies():
    pytest.skip("the list is of Linux on x86_64", allow_module_level=True)
LAYOUT = abi.structs_of(abi.read(ROOT / abi.LIST)[1])
HEADERS = "\n".join(pathlib.Path(p).read_text() for p in abi.headers.paths(str(ROOT)))
ENUMS = set(re.findall(r"^typedef enum (\w+)", HEADERS, re.M))
FUNCTIONS = set(re.findall(r"^typedef .*\(\*(\w+)\)\(", HEADERS, re.M))
PLAIN = {ctypes.c_int: {"int"} | ENUMS, ctypes.c_uint: {"unsigned"}, ctypes.c_bool: {"bool"},
         ctypes.c_double: {"double", "mjtNum"}, ctypes.c_size_t: {"size_t"}, ctypes.c_char: {"char"},
         ctypes.c_char_p: {"const char*"}}


def matches(python, c):
    """Whether a ctypes type stands for this one of C."""
    if python in PLAIN:
        return c in PLAIN[python]
    if python is ctypes.c_void_p:
        return c.endswith("*") or c in FUNCTIONS
    if issubclass(python, ctypes.Array):
        element, bracket, size = c.partition("[")
        return size == "%d]" % python._length_ and matches(python._type_, element)
    if issubclass(python, ctypes._Pointer):
        return c.endswith("*") and matches(python._type_, c[:-1].replace("const ", ""))
    if issubclass(python, ctypes._CFuncPtr):
        return c in FUNCTIONS
    return _lib.MIRRORS.get(c) is python


def differences(name, struct):
    size = int(LAYOUT[name][0].split()[1])
    if ctypes.sizeof(struct) != size:
        yield "%d bytes, C has %d" % (ctypes.sizeof(struct), size)
    fields = [line.split(None, 2) for line in LAYOUT[name][1:]]
    if [f[0] for f in struct._fields_] != [f[1] for f in fields]:
        yield "other names than %s" % ", ".join(f[1] for f in fields)
        return
    for (field, python), (offset, _, c) in zip(struct._fields_, fields):
        if getattr(struct, field).offset != int(offset):
            yield "%s is at %d, C's at %s" % (field, getattr(struct, field).offset, offset)
        if not matches(python, c):
            yield "%s is a %s, C's a %s" % (field, python.__name__, c)


@pytest.mark.parametrize("name", sorted(_lib.MIRRORS))
def test_struct(name):
    assert list(differences(name, _lib.MIRRORS[name])) == []


def test_all_structs_are_compared():
    for module in pkgutil.iter_modules(dijoco.__path__):
        if module.name not in ("torch", "_torch_ops", "jax", "gym", "envs"):  # which have no structs
            importlib.import_module("dijoco." + module.name)
    mine = set(_lib.Struct.__subclasses__())
    others = {s for s in ctypes.Structure.__subclasses__() if s.__module__.startswith("dijoco")}
    assert others == {_lib.Struct}
    assert mine == set(_lib.MIRRORS.values()) and len(mine) >= 20


@pytest.mark.parametrize("fields, message", [
    ([("name", ctypes.c_char_p), ("value", ctypes.c_float)], "value is a c_float"),
    ([("name", ctypes.c_char_p), ("value", ctypes.c_uint)], "value is a c_uint"),
    ([("value", ctypes.c_int), ("name", ctypes.c_char_p)], "other names than name, value"),
    ([("name", ctypes.c_char_p)], "8 bytes, C has 16"),
    ([("name", ctypes.c_int), ("value", ctypes.c_int)], "value is at 4, C's at 8")])
def test_changed_struct(fields, message):
    struct = type("Changed", (ctypes.Structure,), {"_fields_": fields})
    assert any(message in text for text in differences("djChoice", struct))
