"""Inside MuJoCo programs: our step and its derivatives on `mujoco.MjData`, and our plugins."""
import collections
import ctypes
from ctypes import byref, c_void_p

import numpy as np

from . import _lib
from ._lib import Handle, call, core
from .data import Data
from .model import Model, mujoco_address, take_report, warn_ignored

_SIZES = ("nq", "nv", "na", "nu", "nbody", "nmocap", "nsensordata", "nactuator",
          "ngeom", "nsite", "njnt")


PluginState = collections.namedtuple("PluginState", "model data")


def check_sizes(mj_model, mj_data):
    """C reads mj_data by the sizes of mj_model."""
    made_for = mj_data.model
    if made_for is not mj_model and any(getattr(made_for, n) != getattr(mj_model, n)
                                        for n in _SIZES):
        raise ValueError("mj_data: made for another model")


class _CStepOption(ctypes.Structure):
    _fields_ = [("substeps", ctypes.c_int), ("sensors", ctypes.c_bool)]


_lib.MIRRORS.update(djmStepOption=_CStepOption)


class Context:
    """Our step in place of mj_step, on MuJoCo's own data.

        context = dijoco.Context(mj_model)
        context.step(mj_data)
        A, B = context.transition(mj_data)

    It keeps the model as it was when the context was made: make a new one after changes of the
    MjModel. One `ModelWarning` tells what is not as in MuJoCo. Calls release Python's lock;
    those on one Context wait for each other. `status` is that of the last call: 1 where its step
    did not converge (the best iterate was kept), else 0.
    """

    __slots__ = ("_library", "_handle", "_address", "_mj_model", "_m", "_model", "_data", "_lock",
                 "status", "__weakref__")

    def __init__(self, mj_model):
        address = mujoco_address(mj_model, "MjModel")
        library = _lib.plugin()
        context, report = c_void_p(), c_void_p()
        call(library.djm_makeContext, byref(context), byref(report), address)
        handle = Handle(context.value, library.djm_deleteContext, (mj_model,))
        self._library, self._handle, self._address = library, handle, context.value
        self._mj_model, self._m, self.status = mj_model, address, 0
        self._model = Model._make(Handle(library.djm_model(self._address), keep=handle),
                                  take_report(report.value))
        warn_ignored(self._model)
        self._data = Data._of(self._model, Handle(library.djm_data(self._address), keep=handle))
        self._lock = self._data._lock

    @staticmethod
    def of_plugin(mj_model, mj_data):
        """What mj_data's dijoco.contact instance found in the last evaluation (mj_step,
        mj_forward...), or None where the model has none: a `PluginState` of `model` and `data`,
        which are copies."""
        m, d = mujoco_address(mj_model, "MjModel"), mujoco_address(mj_data, "MjData")
        check_sizes(mj_model, mj_data)
        library = _lib.plugin()
        context = library.djm_pluginContext(m, d)
        if not context:
            return None
        model = c_void_p()
        call(core.dj_copyModel, byref(model), library.djm_model(context))
        data = Data(Model._make(Handle(model.value, core.dj_deleteModel)))
        data._check(core.dj_copyData(data._address, model, library.djm_data(context)))
        return PluginState(data.model, data)

    def __reduce__(self):
        raise TypeError("a Context cannot be copied or pickled")

    @property
    def model(self):
        """The context's own `Model`; its options may be set."""
        return self._model

    @property
    def data(self):
        """The context's own `Data`: stats, contacts and body_forces of the last step."""
        return self._data

    @property
    def report(self):
        """What the import does not carry exactly: a list of `ReportEntry`."""
        return self._model.report

    @property
    def _option(self):
        return _CStepOption.from_address(self._library.djm_stepOption(self._address))

    @property
    def substeps(self):
        """Steps of timestep/substeps that make one; 1."""
        return self._option.substeps

    @substeps.setter
    def substeps(self, value):
        self._option.substeps = _lib.integer(value, "substeps")

    @property
    def sensors(self):
        """Whether `step` also fills, as mj_step does, what mj_forward finds at its start: poses,
        velocities, sensordata; False."""
        return self._option.sensors

    @sensors.setter
    def sensors(self, value):
        self._option.sensors = bool(value)

    def _target(self, mj_data):
        address = mujoco_address(mj_data, "MjData")
        check_sizes(self._mj_model, mj_data)
        return address

    def _check(self, status):
        self.status = status
        if status < 0 or status == _lib.SINGULAR:
            text = self._library.djm_errorText(self._address).decode(errors="replace")
            _lib.fail(status, text)
        return status

    def step(self, mj_data, n=1):
        """n steps: reads and writes time, qpos, qvel, act; writes qacc, qfrc_constraint, cfrc_ext.
        Returns 0, or 1 where a step did not converge (its best iterate was kept)."""
        d, worst = self._target(mj_data), 0
        n = _lib.count(n, "n")
        with self._lock:
            for _ in range(n):
                status = self._library.djm_step(self._m, d, self._address)
                if status != 0:
                    worst = max(worst, self._check(status))
            self.status = worst
        return worst

    def forward(self, mj_data):
        """In place of mj_forward: everything that it computes, with our contact."""
        d = self._target(mj_data)
        with self._lock:
            return self._check(self._library.djm_forward(self._m, d, self._address))

    def transition(self, mj_data, sensors=False):
        """Derivatives of the step from mj_data's state, which is not changed. With nx = 2 nv + na:
        A (nx, nx), B (nx, nu), and with sensors C (nsensordata, nx), D (nsensordata, nu), as
        mujoco.mjd_transitionFD has them."""
        m, d = self._mj_model, self._target(mj_data)
        nx = 2 * m.nv + m.na
        out = [np.zeros((nx, nx)), np.zeros((nx, m.nu))]
        if sensors:
            out += [np.zeros((m.nsensordata, nx)), np.zeros((m.nsensordata, m.nu))]
        pointers = [a.ctypes.data for a in out] + [None] * (4 - len(out))
        with self._lock:
            self._check(self._library.djm_transition(self._m, d, self._address, *pointers))
        return tuple(out)

    def sensor_is_analytic(self, sensor):
        """Whether a sensor's rows (name or index) of C and D are analytic; if not, they are centred
        differences."""
        index = sensor_index(self._mj_model, sensor)
        return bool(self._library.djm_sensorIsAnalytic(self._m, index))


def sensor_index(mj_model, sensor):
    """Index of a sensor."""
    if isinstance(sensor, str):
        return mj_model.sensor(sensor).id
    index = _lib.integer(sensor, "sensor")
    if not 0 <= index < mj_model.nsensor:
        raise ValueError("sensor: %d is not below %d" % (index, mj_model.nsensor))
    return index


def register_plugins():
    """Register dijoco.contact and dijoco.gap with MuJoCo. `import mujoco` calls it where this
    package is installed (entry point group mujoco.plugins)."""
    call(_lib.plugin().djm_registerPlugins)
