"""Models."""
from __future__ import annotations

import ctypes
import os
import sys
import warnings
import zlib
from ctypes import byref, c_void_p
from types import MappingProxyType
from typing import (TYPE_CHECKING, Any, Iterable, Iterator, List, Mapping, MutableMapping,
                    NamedTuple, NoReturn)

import numpy as np

from . import _lib, setting
from ._lib import CArray, CParam, Handle, call, core
from ._types import AnyModel, Array, ArrayLike, MjModel, NDArray, Path
from .named import Element, accessors
from .setting import Setting

KINDS = ("body", "joint", "geom", "mesh", "site", "actuator", "key", "tendon", "pair")
STATES = ("exact", "approximated", "ignored")


class ReportEntry(NamedTuple):
    """What an import from MuJoCo does not carry exactly: `element` ("joint/knee"), `feature`
    (MuJoCo's attribute), `state` ("approximated" or "ignored"), `note`."""

    element: str
    feature: str
    state: str
    note: str

    def __repr__(self) -> str:
        return _lib.line("ReportEntry", "%s %s %s: %s" % self)


class _CReportEntry(_lib.Struct):
    _fields_ = [("element", ctypes.c_char_p), ("feature", ctypes.c_char_p),
                ("state", ctypes.c_int), ("note", ctypes.c_char_p)]


class _CKey(_lib.Struct):
    _fields_ = [("name", ctypes.c_char_p), ("time", ctypes.c_double)] + [
        (n, c_void_p) for n in ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat")]


_lib.check_structs({"djKeyDef": _CKey})


class _CReport(_lib.Struct):
    _fields_ = [("n", ctypes.c_int), ("entry", ctypes.POINTER(_CReportEntry)),
                ("state", ctypes.c_int)]


_lib.MIRRORS.update(djReportEntry=_CReportEntry, djReport=_CReport)


class ModelWarning(UserWarning):
    """What of a MuJoCo model is not as there: a line for each feature, when a model is loaded."""


class _Report(List[ReportEntry]):
    """Entries, and `lines`: (text, the entry that it shows) for each feature."""

    __slots__ = ("lines",)

    def __init__(self, entries: Iterable[ReportEntry] = (),
                 lines: Iterable[tuple[str, ReportEntry]] = ()) -> None:
        super().__init__(entries)
        self.lines = list(lines)


def take_report(address: int | None) -> _Report:
    """A djReport as a list; deletes it."""
    if not address:
        return _Report()
    library, report = _lib.plugin(), _CReport.from_address(address)
    entries = [ReportEntry(e.element.decode(), e.feature.decode(), STATES[e.state],
                           e.note.decode()) for e in report.entry[:report.n]]
    lines = [(library.dj_reportLine(address, i).decode(),
              entries[library.dj_reportWorst(address, i)])
             for i in range(library.dj_reportLines(address))]
    library.dj_deleteReport(address)
    return _Report(entries, lines)


def outside() -> int:
    """For a warning that is given through one more function: the level of the first caller who is
    not of this package."""
    frame, level = sys._getframe(1), 2
    folder = os.path.dirname(__file__)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == folder:
        frame, level = frame.f_back, level + 1
    return level


def warn_ignored(model: Any, known: Iterable[ReportEntry] = (), stacklevel: int = 3) -> None:
    """What is not as in MuJoCo is told, a line each, but for features of entries that are known: to
    the caller's caller."""
    seen = {(e.element, e.feature) for e in known}
    lines = [text for text, e in model._report.lines if (e.element, e.feature) not in seen]
    if lines:
        warnings.warn("not as in MuJoCo:\n  %s\n`report` lists all" % "\n  ".join(lines),
                      ModelWarning, stacklevel=stacklevel)


def _field_names(function: Any) -> list[str]:
    names, i = [], 0
    while function(i):
        names.append(function(i).decode())
        i += 1
    return names


_FIELDS = _field_names(core.dj_modelArrayName)
_TABLES = frozenset(n for n in _FIELDS if n.startswith("key_") and n != "key_time")


def _restored(cls: type[Model], text: bytes, entries: list[ReportEntry],
              lines: list[tuple[str, ReportEntry]]) -> Model:
    """A pickled model."""
    model = c_void_p()
    call(core.dj_loadModelText, byref(model), zlib.decompress(text))
    return cls._make(Handle(model.value, core.dj_deleteModel), _Report(entries, lines))


def _is_default(row: Setting, value: Any) -> bool:
    return bool(np.all(value < 0) if row.automatic else np.all(np.equal(value, row.default)))


class Option(MutableMapping[str, Any]):
    """Options of a model as a mapping; to set one changes the model. The keys are those of
    `dijoco.settings()`; choices are texts ("separating_plane", "position", "recover"...), flags
    the sum of their numbers. Automatic ones are negative where the library chooses them;
    `Model.settings` has those in force."""

    __slots__ = ("_model",)
    _KEYS = tuple(setting.TABLE)

    def __init__(self, model: Model) -> None:
        self._model = model

    def __iter__(self) -> Iterator[str]:
        return iter(self._KEYS)

    def __len__(self) -> int:
        return len(self._KEYS)

    def __getitem__(self, name: str) -> Any:
        if name not in self._KEYS:
            raise KeyError(setting.unknown(name))
        row = setting.TABLE[name]
        return setting.text(row, self._model._field(row.field)[0])

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in setting.TABLE:
            _lib.fail(_lib.INVALID, setting.unknown(name))
        value = setting.numbers(setting.TABLE[name], value)
        array = np.atleast_1d(np.asarray(value))
        array = _lib.numbers(array, (array.size,), name)
        call(core.dj_setOptionEntry, self._model._address, _lib.text(name, "option"),
             array.ctypes.data, array.size)

    def update(self, *values: Any, **more: Any) -> None:
        """Set several. A guide_decay below 1, which goes with guide_backward_only, comes after it,
        and is taken back before."""
        given: dict[str, Any] = dict(*values, **more)
        decay = given.pop("guide_decay", None)
        first = decay is not None and decay == setting.TABLE["guide_decay"].default
        if first:
            self["guide_decay"] = decay
        for name, value in given.items():
            self[name] = value
        if decay is not None and not first:
            self["guide_decay"] = decay

    def __delitem__(self, name: str) -> NoReturn:
        row = setting.TABLE.get(name)
        if row is None:
            raise KeyError(setting.unknown(name))
        raise TypeError("options cannot be deleted: option[%r] = %r brings the default back"
                        % (name, -1 if row.automatic else row.default))

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(self._no_attribute(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "_model":
            raise AttributeError(self._no_attribute(name))
        super().__setattr__(name, value)

    @staticmethod
    def _no_attribute(name: str) -> str:
        if name in setting.TABLE:
            return "options are keys: option[%r]" % name
        return "options have no attribute %r; those that can be set are keys, option[NAME]: %s" % (
            name, ", ".join(setting.TABLE))

    def __repr__(self) -> str:
        first = ("timestep", "integrator", "contact")
        named = [name for name, value in self.items()
                 if name in first or not _is_default(setting.TABLE[name], value)]
        return _lib.line("Option", "%d at their defaults, %s" % (
            len(self) - len(named), " ".join("%s=%s" % (name, self[name]) for name in named)))


@accessors(KINDS)
class Model:
    """A model. Make it by `Model.load` or `Model.from_mujoco`.

    Sizes (`nq`, `nv`, `nu`, `na`, `nbody`, `njnt`, `ngeom`, `nsite`, `nmocap`, `nkey`...) and the
    arrays of djModel (`body_mass` (nbody,), `geom_size` (ngeom, 3), `qpos0` (nq,)...) are
    attributes; arrays are read-only views of the C memory. Numbers change by `set_param` and
    `option`: do that on a `copy()` where other threads use the model. SI units, radians,
    quaternions w x y z.
    """

    _views: dict[str, tuple[NDArray[Any], bool]]
    if TYPE_CHECKING:   # methods that are made below, and sizes of every model
        nq: int
        nv: int
        nu: int
        na: int
        nbody: int
        njnt: int
        ngeom: int
        nsite: int
        nmesh: int
        nmocap: int
        ntendon: int
        npair: int
        nkey: int

        def body(self, name: str | int) -> Element: ...
        def joint(self, name: str | int) -> Element: ...
        def geom(self, name: str | int) -> Element: ...
        def mesh(self, name: str | int) -> Element: ...
        def site(self, name: str | int) -> Element: ...
        def actuator(self, name: str | int) -> Element: ...
        def key(self, name: str | int) -> Element: ...
        def tendon(self, name: str | int) -> Element: ...
        def pair(self, name: str | int) -> Element: ...

    def __init__(self) -> None:
        raise TypeError("use Model.load(path) or Model.from_mujoco(mj_model)")

    @classmethod
    def _make(cls, handle: Handle, report: Iterable[ReportEntry] = (),
              sizes: Mapping[str, int] = MappingProxyType({})) -> Model:
        self: Model = object.__new__(cls)
        self.__dict__.update(sizes)
        self._handle = handle
        self._address = handle.address
        _lib.OBJECTS[handle.address] = self
        self._views = {}
        self._option = Option(self)
        self._report = report if isinstance(report, _Report) else _Report(report)
        return self

    @classmethod
    def load(cls, path: Path, **settings: Any) -> Model:
        """Load a scene: .xml and .mjb through MuJoCo, .json by the library itself. What is not as in
        MuJoCo is in `report`, and told by one `ModelWarning`, a line for each feature. Settings
        (`dijoco.settings()`) that are given are stronger than the scene's:
        Model.load("scene.xml", timestep=0.01, contact="none"). One more is guide_bodies, the pairs
        of bodies that a guide acts between, by names or patterns: [("rod", "cube*")]; []: all."""
        model = cls._load(path)
        warn_ignored(model)
        return model._with(settings)

    def _forget_sizes(self) -> None:
        """What was kept of sizes, as the arrays have become others."""
        for name in [n for n in self.__dict__ if n in _SIZES or n == "_sizes"]:
            del self.__dict__[name]

    def _with(self, settings: dict[str, Any]) -> Model:
        """This model, of which nobody has views, with settings that were given as keyword
        arguments."""
        pairs = settings.pop("guide_bodies", None)
        if pairs is not None:
            self._guide(pairs)
        for name in settings:
            if name not in setting.TABLE:
                raise TypeError(setting.unknown(name, ("guide_bodies",), "setting"))
        self._option.update(settings)
        return self

    def _guide(self, pairs: Any) -> None:
        names, pairs = [], list(pairs)
        for pair in pairs:
            if isinstance(pair, (str, bytes)) or len(pair) != 2:
                raise ValueError("guide_bodies: %r is no pair of names" % (pair,))
            names += [_lib.text(name, "guide_bodies") for name in pair]
        array = (ctypes.c_char_p * max(len(names), 1))(*names)
        call(core.dj_setGuideBodies, self._address, len(pairs), array)
        self._views.clear()   # the arrays have moved

    @classmethod
    def _load(cls, path: Path) -> Model:
        path, model, report = os.fsdecode(path), c_void_p(), c_void_p()
        name = _lib.path_bytes(path)
        if path.lower().endswith(".json"):
            call(core.dj_loadModel, byref(model), name)
        else:
            library = _lib.plugin()
            try:
                call(library.dj_loadMJCF, byref(model), byref(report), None, name)
            except _lib.Error as error:  # MuJoCo's text is without the path
                raise _lib.Error("%s: %s" % (path, error), error.status) from None
        return cls._make(Handle(model.value, core.dj_deleteModel), take_report(report.value))

    @classmethod
    def from_text(cls, text: str, **settings: Any) -> Model:
        """A model from the text of a .json scene; settings as in `load`."""
        model = c_void_p()
        call(core.dj_loadModelText, byref(model), _lib.text(text, "text"))
        return cls._make(Handle(model.value, core.dj_deleteModel))._with(settings)

    @classmethod
    def from_xml_string(cls, xml: str, assets: dict[str, bytes] | None = None,
                        **settings: Any) -> Model:
        """A model from the text of MJCF, by MuJoCo's package; assets: files that it names, as
        mujoco.MjModel.from_xml_string takes them. Warns and takes settings as `load`."""
        import mujoco
        return cls.from_mujoco(mujoco.MjModel.from_xml_string(xml, assets), **settings)

    @classmethod
    def of(cls, model: AnyModel) -> Model:
        """A `Model` as it is; one from a `mujoco.MjModel`."""
        if "MjModel" in [c.__name__ for c in type(model).__mro__]:
            return cls.from_mujoco(model)
        _lib.expect(model, cls, "model")
        return model

    @classmethod
    def from_mujoco(cls, mj_model: MjModel, **settings: Any) -> Model:
        """A model from a `mujoco.MjModel`, which is not needed afterwards. Warns as `load`, and
        takes settings as it does."""
        address = mujoco_address(mj_model, "MjModel")
        found, report = c_void_p(), c_void_p()
        call(_lib.plugin().dj_importMuJoCo, byref(found), byref(report), address)
        model = cls._make(Handle(found.value, core.dj_deleteModel), take_report(report.value))
        warn_ignored(model)
        return model._with(settings)

    def save(self, path: Path) -> None:
        """Write a .json scene; loading it gives an equal model."""
        call(core.dj_saveModel, self._address, _lib.path_bytes(path))

    def save_mjcf(self, path: Path, scene: Path, key: Mapping[str, Any] | None = None) -> None:
        """Write the scene (.xml, .mjb or .json) that this model was loaded from as MJCF, with the
        parameters and options that were set since; stock MuJoCo loads it. key: a dict for one more
        keyframe, with any of name, time, qpos (nq,), qvel (nv,), act (na,), ctrl (nu,), mocap_pos
        (nmocap, 3), mocap_quat (nmocap, 4)."""
        table, kept = self._key(key)
        call(_lib.plugin().djm_writeMJCF, _lib.path_bytes(path), _lib.path_bytes(scene),
             self._address, None if table is None else byref(table))
        del kept

    def _key(self, key: Mapping[str, Any] | None) -> tuple[_CKey | None, object]:
        """A djKeyDef and the arrays that it points to."""
        if key is None:
            return None, ()
        shapes = {"qpos": (self.nq,), "qvel": (self.nv,), "act": (self.na,), "ctrl": (self.nu,),
                  "mocap_pos": (self.nmocap, 3), "mocap_quat": (self.nmocap, 4)}
        known = ["name", "time"] + list(shapes)
        for name in key:
            if name not in known:
                raise ValueError("key: unknown '%s', expected %s" % (name, ", ".join(known)))
        arrays = {name: _lib.numbers(key[name], shape, name) for name, shape in shapes.items()
                  if name in key}
        table = _CKey(name=_lib.text(key.get("name", ""), "key.name"), time=key.get("time", 0),
                      **{name: array.ctypes.data for name, array in arrays.items()})
        return table, arrays

    def copy(self, **settings: Any) -> Model:
        """A model of its own with equal numbers, but for the settings that are given."""
        model = c_void_p()
        call(core.dj_copyModel, byref(model), self._address)
        sizes = {name: self.__dict__[name] for name in _SIZES if name in self.__dict__}
        made = self._make(Handle(model.value, core.dj_deleteModel), self._report, sizes)
        return made._with(settings)

    def to_text(self) -> str:
        """The text of a .json scene, of which `from_text` makes an equal model."""
        text = c_void_p()
        call(core.dj_saveModelText, byref(text), self._address)
        try:
            return ctypes.string_at(text).decode()
        finally:
            core.dj_deleteText(text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles hold the model's text, but nothing of MuJoCo's."""
        if self.option["contact"] == "mujoco":
            raise TypeError("a Model with contact mujoco cannot be pickled: its MjModel can")
        return _restored, (type(self), zlib.compress(self.to_text().encode(), 1),
                           list(self._report), self._report.lines)

    def __copy__(self) -> Model:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Model:
        return self.copy()

    def _field(self, name: str) -> tuple[NDArray[Any], bool]:
        """View of a field, rows x columns, and whether it is a single number."""
        found = self._views.get(name)
        if found is None:
            field = CArray()
            if core.dj_modelArray(byref(field), self._address, name.encode()) < 0:
                raise AttributeError("a model has no field '%s'" % name)
            flat = name not in _TABLES and not name.startswith(("opt.", "contact."))
            number = flat and field.rows == 1 and field.columns == 1 and name in _NUMBERS
            found = (_lib.view(field, self._handle, flat)
                     if name.partition(".")[1] == "" else
                     _lib.view(field, self._handle, False)[0], number)
            self._views[name] = found
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "." in name:
            raise AttributeError(name)
        array, number = self._field(name)
        if not number:
            return array
        value = array[0].item()
        if name in _SIZES:
            self.__dict__[name] = value  # it does not change
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name != "option":
            raise AttributeError("'%s' of a model cannot be set: set_param and option change it"
                                 % name)
        super().__setattr__(name, value)

    @staticmethod
    def _field_names() -> list[str]:
        return _FIELDS

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) | {n for n in _FIELDS if "." not in n})

    def __repr__(self) -> str:
        sizes = " ".join("%s=%d" % (n, getattr(self, n)) for n in ("nq", "nv", "nu", "na", "nbody"))
        return "<dijoco.Model %s>" % sizes

    @property
    def option(self) -> Option:
        """Options (`Option`), to be read and set like a dict: model.option["timestep"] = 0.01."""
        return self._option

    @option.setter
    def option(self, values: Mapping[str, Any]) -> None:
        self._option.update(values)

    @property
    def tangent_size(self) -> int:
        """Entries of a tangent state: 2 nv + na, and 2 nv of an integrator's history."""
        return core.dj_tangentSize(self._address)

    @property
    def settings(self) -> dict[str, float]:
        """Contact settings in force, as a dict: those of `dijoco.settings()` that a rule may choose
        and their length_scale; range (m), weight (N), radius (m), gravity (m/s^2)."""
        names = [n for n in _FIELDS if n.startswith("contact.")]
        return {n[8:]: self._field(n)[0][0].item() for n in names}

    @property
    def report(self) -> list[ReportEntry]:
        """What the import from MuJoCo does not carry exactly: a list of `ReportEntry`."""
        return list(self._report)

    # ---- names

    def names(self, kind: str) -> list[str]:
        """Names of all elements of a kind ("body", "joint", "geom", "mesh", "site", "actuator",
        "key", "tendon", "pair"), "" where one has none."""
        number = _kind(kind)
        count = core.dj_objectCount(self._address, number)
        return [core.dj_id2name(self._address, number, i).decode() for i in range(count)]

    def id(self, kind: str, name: str) -> int:
        """Index of the element with a name (or "#index")."""
        found = core.dj_name2id(self._address, _kind(kind), _lib.text(name, "name"))
        if found < 0:
            raise ValueError("there is no %s '%s'" % (kind, name))
        return found

    # ---- parameters

    def _param(self, name: str) -> CParam:
        param = CParam()
        call(core.dj_paramId, byref(param), self._address, _lib.text(name, "name"))
        return param

    def match(self, name: str) -> list[str]:
        """Names of the parameters that a name stands for, in the model's order: `*` in the
        place of kind, element or parameter ("geom/leg_*/friction") stands for any characters, alone
        for all of them."""
        error, text = _lib.CError(), _lib.text(name, "name")
        count = core.dj_matchParams(None, 0, self._address, text, byref(error))
        if count < 0:
            _lib.fail(count, error.text.decode(errors="replace"))
        if "*" not in name:
            return [name]
        params = (CParam * count)()
        core.dj_matchParams(params, count, self._address, text, byref(error))
        names = []
        for param in params:
            size = core.dj_paramNameSize(self._address, byref(param))
            found = core.dj_paramName(ctypes.create_string_buffer(size), size, self._address,
                                      byref(param))
            names.append(found.decode())
        return names

    def param(self, name: str) -> Array:
        """Values (nvalue,) of a parameter such as "body/cart/mass" or "geom/#3/size"."""
        param = self._param(name)
        value = np.empty(param.nvalue)
        status = core.dj_getParam(value.ctypes.data, self._address, byref(param))
        return value if status >= 0 else _lib.fail(status, "%s: cannot be read" % name)

    def set_param(self, name: str, value: ArrayLike) -> None:
        """Set a parameter: a number or (nvalue,), or each that a pattern stands for (`match`).
        Quaternions and axes are normalised."""
        matched = self.match(name)
        if matched != [name]:
            for each in matched:
                self.set_param(each, value)
            return
        param = self._param(name)
        array = np.asarray(value)
        if array.ndim == 0:
            array = array.reshape(1)
        array = _lib.numbers(array, (param.nvalue,), name)
        call(core.dj_setParam, self._address, byref(param), array.ctypes.data)

    def param_tangent(self, name: str) -> int:
        """Entries of a derivative by a parameter: its size, or 3 for each quaternion."""
        return self._param(name).ntangent

    def follow_geoms(self, compiled: Model, rule: str = "exact") -> None:
        """Make masses and inertias follow the geoms, which were changed by `set_param`; `compiled`
        is the model before these changes. rule: "exact", "lumped" or "union" (docs/tasks.md)."""
        _lib.expect(compiled, Model, "compiled")
        number = core.dj_inertiaRuleByName(_lib.text(rule, "rule"))
        if number <= 0:
            raise ValueError("rule: must be exact, lumped or union, not %r" % rule)
        call(core.dj_followGeomsBy, self._address, compiled._address, number)

    def renew_facets(self, compiled: Model) -> int:
        """Have meshes count by the facets of their hulls as they are from now on, in `follow_geoms`.
        Returns how many meshes have other facets than before."""
        _lib.expect(compiled, Model, "compiled")
        changed = ctypes.c_int()
        call(core.dj_renewFacets, byref(changed), self._address, compiled._address)
        return changed.value

    def overlap(self, body: str | None = None) -> dict[str, Any]:
        """What a body's meshes and boxes fill, and what of it counts more than once; of all bodies,
        each for itself, without a name. Returns a dict: hulls, sum and union (m3), overlap (their
        difference), share (overlap/sum), error (a bound, m3)."""
        number = -1
        if body is not None:
            number = self.id("body", body)
        out = _lib.CHullOverlap()
        call(core.dj_bodyOverlap, byref(out), self._address, number)
        return {"hulls": out.nhull, "sum": out.sum, "union": out.whole, "overlap": out.overlap,
                "share": out.share, "error": out.error}

    # ---- configurations

    def integrate_pos(self, qpos: ArrayLike, v: ArrayLike, scale: float = 1.0) -> Array:
        """The configuration (nq,) that `v` (nv,) times `scale` leads to from `qpos` (nq,)."""
        qpos = _lib.numbers(qpos, (self.nq,), "qpos")
        v = _lib.numbers(v, (self.nv,), "v")
        out = np.empty(self.nq)
        core.dj_integratePos(out.ctypes.data, self._address, qpos.ctypes.data, v.ctypes.data, scale)
        return out

    def differentiate_pos(self, qpos1: ArrayLike, qpos2: ArrayLike, scale: float = 1.0) -> Array:
        """The velocity (nv,) that leads from qpos1 to qpos2 (nq,) in the time `scale`."""
        qpos1 = _lib.numbers(qpos1, (self.nq,), "qpos1")
        qpos2 = _lib.numbers(qpos2, (self.nq,), "qpos2")
        out = np.empty(self.nv)
        core.dj_differentiatePos(out.ctypes.data, self._address, scale, qpos1.ctypes.data,
                                 qpos2.ctypes.data)
        return out


_SIZES = frozenset(n for n in _FIELDS if n[0] == "n" and "_" not in n and n != "names")
_NUMBERS = _SIZES | {"gravity_ramp", "total_mass", "moving_mass"}


def _kind(kind: str) -> int:
    if kind not in KINDS:
        raise ValueError("unknown kind %r, expected one of %s" % (kind, ", ".join(KINDS)))
    return KINDS.index(kind)


def mujoco_address(thing: Any, kind: str) -> int:
    """Address of the struct in a mujoco.MjModel or MjData."""
    names = [c.__name__ for c in type(thing).__mro__]
    if kind not in names or not hasattr(thing, "_address"):
        raise TypeError("expected a mujoco.%s, not %s" % (kind, type(thing).__name__))
    return thing._address
