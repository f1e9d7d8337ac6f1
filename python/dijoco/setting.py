"""The table of settings, as the library has it."""
from __future__ import annotations

import ctypes
import difflib
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint
from typing import Any, Dict, Iterable, Mapping, NamedTuple, Tuple

import numpy as np

from . import _lib
from ._lib import call, core
from ._types import NDArray

KINDS = ("real", "whole", "choice", "flags")
WAYS = ("scene", "task", "command", "mjcf", "plugin", "pair")


class Setting(NamedTuple):
    """A setting: `name`, `kind` ("real", "whole", "choice", "flags"), `size` (3 for a vector),
    `choices` (a dict of their numbers), `automatic` (chosen by `rule` unless it is given),
    `default`, `unit`, `help`, the `ways` in which it may be given besides `Model.option`, and its
    `least` positive value (0: any)."""

    name: str
    kind: str
    size: int
    choices: Dict[str, int]
    automatic: bool
    default: Any
    unit: str
    rule: str
    help: str
    ways: Tuple[str, ...]
    field: str
    in_force: str
    least: float

    def __repr__(self) -> str:
        return _lib.line("Setting", "%s, default %s%s: %s" % (
            self.name, "by a rule" if self.automatic else self.default,
            " " + self.unit if self.unit else "", self.help))


class _CChoice(_lib.Struct):
    _fields_ = [("name", c_char_p), ("value", c_int)]


class _CSetting(_lib.Struct):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("size", c_int),
                ("choice", POINTER(_CChoice)), ("zero", c_bool), ("negative", c_bool),
                ("automatic", c_bool), ("mujoco", c_bool), ("per_geom", c_bool),
                ("least", c_double), ("below", c_double), ("most", c_double), ("also", c_double),
                ("standard", c_double * 3), ("ways", c_uint), ("group", c_char_p),
                ("unit", c_char_p), ("symbol", c_char_p), ("automatic_by", c_char_p),
                ("rule", c_char_p), ("help", c_char_p),
                ("field", c_char_p), ("in_force", c_char_p), ("offset", c_size_t),
                ("in_force_offset", c_size_t)]


_lib.check_structs({"djChoice": _CChoice, "djSetting": _CSetting})


def _row(c: _CSetting) -> Setting:
    choices, i = {}, 0
    while c.choice and c.choice[i].name:
        choices[c.choice[i].name.decode()] = c.choice[i].value
        i += 1
    kind, default = KINDS[c.kind], list(c.standard[:c.size])
    if kind == "choice":
        default = [name for name, value in choices.items() if value == default[0]]
    elif kind != "real":
        default = [int(default[0])]
    return Setting(
        c.name.decode(), kind, c.size, choices, c.automatic,
        None if c.automatic else default[0] if c.size == 1 else default, c.unit.decode(),
        c.rule.decode() if c.rule else "", c.help.decode(),
        tuple(way for i, way in enumerate(WAYS) if c.ways >> i & 1), c.field.decode(),
        c.in_force.decode(), c.least)


def _table() -> dict[str, Setting]:
    rows, i = {}, 0
    core.dj_setting.restype = POINTER(_CSetting)
    while core.dj_setting(i):
        row = _row(core.dj_setting(i).contents)
        rows[row.name] = row
        i += 1
    return rows


TABLE = _table()


def settings() -> list[Setting]:
    """All settings, a list of `Setting`: the keys of `Model.option` and the keyword arguments of
    `Model.load` and its like."""
    return list(TABLE.values())


def unknown(name: object, more: Iterable[str] = (), kind: str = "option") -> str:
    """What to say of a name that is no setting, nor one of `more`."""
    names = [*more, *TABLE]
    near = difflib.get_close_matches(str(name), names, 1)
    return "%s: unknown %s%s; there are %s" % (
        name, kind, ", did you mean %s?" % near[0] if near else "", ", ".join(names))


def given(settings: Mapping[str, Any], more: Iterable[str] = ()) -> Any:
    """A djSettings of the settings in a dict."""
    out = (ctypes.c_char * core.dj_sizeOf(b"djSettings"))()
    for name, value in settings.items():
        if name not in TABLE:
            raise TypeError(unknown(name, more, "keyword"))
        row = TABLE[name]
        array = np.atleast_1d(np.asarray(numbers(row, value)))
        array = _lib.numbers(array, (row.size,), name)
        call(core.dj_giveSetting, out, core.dj_findSetting(name.encode(), 0), array.ctypes.data)
    return out


def numbers(setting: Setting, value: Any) -> Any:
    """A value as the library takes it; names of choices become numbers."""
    if isinstance(value, str) and setting.choices:
        value = [value] if setting.kind == "flags" else value
    if setting.kind == "flags" and isinstance(value, (list, tuple, set, frozenset)):
        return sum(_number(setting, name) for name in set(value))
    return _number(setting, value) if isinstance(value, str) and setting.choices else value


def _number(setting: Setting, name: str) -> int:
    if name not in setting.choices:
        raise ValueError("%s: unknown value '%s', expected one of %s"
                         % (setting.name, name, ", ".join(setting.choices)))
    return setting.choices[name]


def text(setting: Setting, value: NDArray[Any]) -> Any:
    """The library's numbers (an array) as Python has them."""
    if setting.kind == "choice":
        for name, number in setting.choices.items():
            if number == value[0]:
                return name
    return value[0].item() if value.size == 1 else value.copy()


def report(setting: Setting, value: NDArray[Any]) -> Any:
    """As `text`, with the names of flags, which is how the command prints it."""
    if setting.kind != "flags":
        return text(setting, value)
    return [name for name, bit in setting.choices.items() if int(value[0]) & bit]
