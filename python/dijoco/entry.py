"""The tables of losses, parameters, maps and optimizers, as the library has them."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_bool, c_char_p, c_int
from typing import Any, List, NamedTuple

from . import _lib
from ._lib import core

HOLDS = ("whole", "numbers", "rows", "element")


class Key(NamedTuple):
    """A key of an entry: what its value `holds` ("whole", "numbers", "rows", "element"), `size` of
    numbers (0: any), whether it is `required`, `unit`, `default`."""

    name: str
    holds: str
    size: int
    required: bool
    unit: str
    default: str

    def __repr__(self) -> str:
        return _lib.line("Key", "%s: %s%s" % (
            self.name, self.holds, ", required" if self.required else ""))


class Entry(NamedTuple):
    """A row of a table: `name`, `unit` of its value, `help`, and a list of `Key`."""

    name: str
    unit: str
    help: str
    keys: List[Key]

    def __repr__(self) -> str:
        return _lib.line("Entry", "%s: %s" % (self.name, self.help))


class _CKey(_lib.Struct):
    _fields_ = [("name", c_char_p), ("holds", c_int), ("size", c_int), ("object", c_int),
                ("required", c_bool), ("unit", c_char_p), ("standard", c_char_p)]


class _CEntry(_lib.Struct):
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("help", c_char_p),
                ("key", POINTER(_CKey))]


_lib.check_structs({"djKey": _CKey, "djEntry": _CEntry})


def _text(value: bytes | None) -> str:
    return value.decode() if value else ""


def _keys(key: Any) -> list[Key]:
    keys, i = [], 0
    while key and key[i].name:
        k = key[i]
        keys.append(Key(k.name.decode(), HOLDS[k.holds], k.size, k.required, _text(k.unit),
                        _text(k.standard)))
        i += 1
    return keys


def _table(function: Any) -> tuple[Entry, ...]:
    function.restype = POINTER(_CEntry)
    rows, i = [], 0
    while function(i):
        c = function(i).contents
        rows.append(Entry(c.name.decode(), _text(c.unit), _text(c.help), _keys(c.key)))
        i += 1
    return tuple(rows)


LOSSES = _table(core.dj_lossEntry)
MAPS = _table(core.dj_mapEntry)
OPTIMIZERS = _table(core.dj_optimizerEntry)
PARAMETERS = _table(core.dj_parameterEntry)


def tables() -> dict[str, list[Entry]]:
    """What tasks may name besides settings: a dict of lists of `Entry`, losses, parameters
    ("kind/N/field"), maps and optimizers."""
    return {"losses": list(LOSSES), "parameters": list(PARAMETERS), "maps": list(MAPS),
            "optimizers": list(OPTIMIZERS)}
