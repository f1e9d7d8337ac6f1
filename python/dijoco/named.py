"""Elements of models and data by their names: model.body("box").mass, data.joint("hinge").qpos."""
from __future__ import annotations

from typing import Any, Callable, Iterable, TypeVar

import numpy as np

from . import _lib
from ._types import ArrayLike, NDArray

_C = TypeVar("_C")
_PREFIX = {"joint": "jnt", "equality": "eq"}
# Of data: the array that an attribute is a row of; joints have slices.
_ROWS = {"body": {"xpos": "xpos", "xquat": "xquat", "xmat": "xmat", "xipos": "xipos",
                  "xfrc_applied": "xfrc_applied"},
         "geom": {"xpos": "geom_xpos", "xmat": "geom_xmat"},
         "site": {"xpos": "site_xpos"},
         "actuator": {"ctrl": "ctrl"}}
_SLICES = {"qpos": ("jnt_qposadr", "nq"), "qvel": ("jnt_dofadr", "nv"),
           "qfrc_applied": ("jnt_dofadr", "nv")}


class Element:
    """An element of a model or a data: its `id`, `name`, and its rows of their arrays, named without
    the kind: of the model body("box").mass, of the data body("box").xpos. Rows are views, (1,)
    where the array has a number for each element; those of a data may be set."""
    __slots__ = ("_owner", "_kind", "id")

    def __init__(self, owner: Any, kind: str, name: str | int) -> None:
        model = getattr(owner, "model", owner)
        index = name
        if isinstance(name, str):
            index = model.id(kind, name)
        count = len(model.names(kind))
        if not isinstance(index, (int, np.integer)) or not 0 <= index < count:
            raise ValueError("there is no %s %r: the model has %d" % (kind, name, count))
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "id", int(index))

    @property
    def name(self) -> str:
        """"" where it has none."""
        return getattr(self._owner, "model", self._owner).names(self._kind)[self.id]

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        row = _row(self._owner, self._kind, self.id, attribute)
        if row is None:
            raise AttributeError("a %s has no %s here: it has %s" % (
                self._kind, attribute, ", ".join(attributes(self._owner, self._kind))))
        return row

    def __setattr__(self, attribute: str, value: ArrayLike) -> None:
        row = getattr(self, attribute)
        if not row.flags.writeable:
            raise AttributeError("%s of a model is changed by set_param" % attribute)
        row[...] = _lib.numbers(np.broadcast_to(np.asarray(value, float), row.shape), row.shape,
                                attribute)

    def __dir__(self) -> list[str]:
        return sorted({"id", "name"} | set(attributes(self._owner, self._kind)))

    def __repr__(self) -> str:
        return "<dijoco %s #%d %r>" % (self._kind, self.id, self.name)


def _is_model(owner: Any) -> bool:
    return not hasattr(owner, "qpos")


def _row(owner: Any, kind: str, index: int, attribute: str) -> Any:
    if _is_model(owner):
        name = "%s_%s" % (_PREFIX.get(kind, kind), attribute)
        array = owner._field(name)[0] if name in owner._field_names() else None
        return array if array is None else _of(array, index)
    if kind == "joint" and attribute in _SLICES:
        table, size = _SLICES[attribute]
        adr = np.append(getattr(owner.model, table), getattr(owner.model, size))
        return getattr(owner, attribute)[adr[index]:adr[index + 1]]
    array = _ROWS.get(kind, {}).get(attribute)
    return None if array is None else _of(getattr(owner, array), index)


def _of(array: NDArray[Any], index: int) -> NDArray[Any]:
    return array[index] if array.ndim > 1 else array[index:index + 1]


def attributes(owner: Any, kind: str) -> list[str]:
    """Names of what an element of a kind has."""
    if _is_model(owner):
        before = _PREFIX.get(kind, kind) + "_"
        return sorted(n[len(before):] for n in owner._field_names() if n.startswith(before))
    return sorted(_SLICES if kind == "joint" else _ROWS.get(kind, ()))


def accessors(kinds: Iterable[str]) -> Callable[[type[_C]], type[_C]]:
    """Class decorator: a method for each kind."""
    def add(cls: type[_C]) -> type[_C]:
        for kind in kinds:
            def find(self: Any, name: str | int, kind: str = kind) -> Element:
                return Element(self, kind, name)
            find.__name__ = kind
            find.__qualname__ = "%s.%s" % (cls.__name__, kind)
            find.__doc__ = "The %s with a name (or \"#index\", or an index): an `Element`." % kind
            setattr(cls, kind, find)
        return cls
    return add
