"""What torch.py and jax.py share: steps and runs of a batch as functions of plain coordinates, and
touches of implicit surfaces as functions of poses.

The library's derivatives are by tangent vectors: for a quaternion q by w in q exp(w). Those of a
framework are by the numbers of qpos, where a quaternion p means p/|p|. With q = p/|p|

    dw = 2 vec(q* dp) / |p|,

so that a cotangent g on w is (2/|p|) q (0, g) on p, and a cotangent G on the numbers of a unit
quaternion q is vec(q* G)/2 on w. Hinges and slides are the same in both.

Second derivatives are by w of q exp(w), S with gradient g. As w = 2 vec(q* dp)/|p| but for third
order, a change v = q* dp has by the numbers, in the frame of q,
    (-2 g.vec(v)/|p|^2,  2 S w/|p| - 2 v0 g/|p|^2).
"""
import concurrent.futures
import os
from typing import Any

import numpy as np

from . import _lib
from .batch import Batch
from .data import TOLD, Data, warn_of_steps
from .rollout import Rollout


class Coordinates:
    """Maps cotangents between the tangent space (n = nv entries) and the coordinates (nq)."""

    def __init__(self, nq, nv, quaternions):
        """quaternions: (first entry in qpos, first in qvel) of each."""
        self.nq, self.nv = nq, nv
        self.quat = np.array([[q + i for i in range(4)] for q, _ in quaternions], int)
        self.spin = np.array([[v + i for i in range(3)] for _, v in quaternions], int)
        self.plain_q = np.setdiff1d(np.arange(nq), self.quat)
        self.plain_v = np.setdiff1d(np.arange(nv), self.spin)

    def push(self, q, dq):
        """Change dq (..., nq) of the numbers of q (..., nq) as one (..., nv) of its tangent."""
        if not len(self.quat):
            return dq
        out = np.empty(dq.shape[:-1] + (self.nv,))
        out[..., self.plain_v] = dq[..., self.plain_q]
        p, norm = _unit(q[..., self.quat])
        out[..., self.spin] = _turned_back(p, dq[..., self.quat])[..., 1:] * (2 / norm)
        return out

    def pushed(self, q, w):
        """Change w (..., nv) of the tangent of unit q (..., nq) as one (..., nq) of its numbers."""
        if not len(self.quat):
            return w
        out = np.empty(w.shape[:-1] + (self.nq,))
        out[..., self.plain_q] = w[..., self.plain_v]
        out[..., self.quat] = _turned(q[..., self.quat], 0, w[..., self.spin] / 2)
        return out

    def rate(self, q, w, g):
        """By how much `to_tangent` of a fixed g (..., nq) changes where unit q (..., nq) does by its
        tangent w (..., nv)."""
        out = np.zeros(np.broadcast_shapes(g.shape, q.shape)[:-1] + (self.nv,))
        if len(self.quat):
            change = _turned(q[..., self.quat], 0, w[..., self.spin] / 2)
            out[..., self.spin] = _turned_back(change, g[..., self.quat])[..., 1:] / 2
        return out

    def bend(self, q, dq, g, Sw):
        """Hessian-vector product (..., nq) by the numbers of q (..., nq) along dq (..., nq), from the
        gradient g (..., nv) and the product Sw (..., nv) along the tangent."""
        if not len(self.quat):
            return Sw
        out = np.empty(Sw.shape[:-1] + (self.nq,))
        out[..., self.plain_q] = Sw[..., self.plain_v]
        p, norm = _unit(q[..., self.quat])
        v, g, Sw = _turned_back(p, dq[..., self.quat]), g[..., self.spin], Sw[..., self.spin]
        first = -2 * (g * v[..., 1:]).sum(-1, keepdims=True) / norm ** 2
        out[..., self.quat] = _turned(p, first, 2 * Sw / norm - 2 * v[..., :1] * g / norm ** 2)
        return out

    @classmethod
    def of_param(cls, nvalue, ntangent):
        """Those of a parameter: quaternions, or the spring's reference of a ball or free joint."""
        turned = ntangent == nvalue - 1
        return cls(nvalue, ntangent, [(nvalue - 4, ntangent - 3)] if turned else [])

    def to_tangent(self, q, g):
        """Cotangent g (..., nq) on the numbers of q (..., nq) as one (..., nv) on its tangent."""
        if not len(self.quat):
            return g
        out = np.empty(g.shape[:-1] + (self.nv,))
        out[..., self.plain_v] = g[..., self.plain_q]
        p, _ = _unit(q[..., self.quat])
        G = g[..., self.quat]
        s, v, a, b = p[..., :1], p[..., 1:], G[..., :1], G[..., 1:]
        out[..., self.spin] = (s * b - a * v - _cross(v, b)) / 2
        return out

    def from_tangent(self, q, g):
        """Cotangent g (..., nv) on the tangent of q (..., nq) as one (..., nq) on its numbers."""
        if not len(self.quat):
            return g
        out = np.empty(g.shape[:-1] + (self.nq,))
        out[..., self.plain_q] = g[..., self.plain_v]
        p, norm = _unit(q[..., self.quat])
        s, v, w = p[..., :1], p[..., 1:], g[..., self.spin] * (2 / norm)
        out[..., self.quat[:, 0]] = -(v * w).sum(-1)
        out[..., self.quat[:, 1:]] = s * w + _cross(v, w)
        return out


def _unit(p):
    """p/|p| and |p| of quaternions (..., 4). Zero stands for the identity, without derivatives."""
    norm = np.sqrt((p * p).sum(-1, keepdims=True))
    if not norm.all():
        zero = norm == 0
        p = np.where(zero, [1., 0, 0, 0], p)
        return p / np.where(zero, 1, norm), np.where(zero, np.inf, norm)
    return p / norm, norm


def _turned(q, s, v):
    """The product of quaternions q (..., 4) and (s, v)."""
    a, b = q[..., :1], q[..., 1:]
    return np.concatenate([a * s - (b * v).sum(-1, keepdims=True), a * v + s * b + _cross(b, v)],
                          -1)


def _turned_back(q, p):
    """The product q* p of quaternions (..., 4)."""
    a, b, s, v = q[..., :1], q[..., 1:], p[..., :1], p[..., 1:]
    return np.concatenate([a * s + (b * v).sum(-1, keepdims=True), a * v - s * b - _cross(b, v)],
                          -1)


def _cross(a, b):
    """a x b; for small arrays several times as fast as numpy's."""
    return (a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]])


class Sizes(Coordinates):
    """Sizes of a model, the coordinates of its qpos, and Data that nobody uses."""

    def __init__(self, model):
        quaternions = []
        ends_q = np.append(model.jnt_qposadr, model.nq)
        ends_v = np.append(model.jnt_dofadr, model.nv)
        for j in range(model.njnt):
            q, v = int(ends_q[j + 1]), int(ends_v[j + 1])
            if q - ends_q[j] > v - ends_v[j]:  # a joint's coordinates end with its quaternion
                quaternions.append((q - 4, v - 3))
        super().__init__(model.nq, model.nv, quaternions)
        self.na, self.nu = model.na, model.nu
        self.nx = model.tangent_size
        self.free = []  # to pop and to append are atomic


def sizes(model):
    """The model's `Sizes`, made once."""
    found = model.__dict__.get("_sizes")
    if found is None:
        found = model.__dict__["_sizes"] = Sizes(model)
    return found


def param_size(model, name):
    """Numbers of a parameter, of each that a pattern stands for."""
    names = model.match(name)
    return model._param(names[0] if names else name).nvalue


def param_from_tangent(model, name, value, g):
    """Derivative (nvalue,) by the numbers of a parameter from that by its tangent."""
    if name.endswith("/axis"):  # a means a/|a|, and g has no component along it
        return g / np.sqrt(value @ value)
    return Coordinates.of_param(value.size, g.size).from_tangent(value, g)


def param_push(name, value, change, ntangent):
    """Change of a parameter's tangent (ntangent,) from one of its numbers (nvalue,)."""
    if name.endswith("/axis"):  # what is along it counts for the second derivative
        return change / np.sqrt(value @ value)
    return Coordinates.of_param(value.size, ntangent).push(value, change)


def param_bend(name, value, change, g, product):
    """Hessian-vector product (nvalue,) by the numbers of a parameter; see `Coordinates.bend`."""
    if name.endswith("/axis"):
        return product / np.sqrt(value @ value)
    return Coordinates.of_param(value.size, g.size).bend(value, change, g, product)


def pose_from_twist(pose, g):
    """Cotangents g (..., 6) on twists (angular, linear; world axes) of bodies at poses (..., 7) as
    those on the poses' numbers. By w in world axes q becomes exp(w) q: g on w is (2/|p|) (0, g) q
    on p."""
    q, norm = _unit(pose[..., 3:])
    s, v, w = q[..., :1], q[..., 1:], g[..., :3] * (2 / norm)
    return np.concatenate([g[..., 3:], -(v * w).sum(-1, keepdims=True), s * w - _cross(v, w)], -1)


# ---- batches -----------------------------------------------------------------------------------

_executor = None


def _map(function, count):
    """[function(0), ..., function(count - 1)], on as many threads as there are processors."""
    global _executor
    if count == 1:
        return [function(0)]
    if _executor is None:
        _executor = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1, "dijoco")
    return list(_executor.map(function, range(count)))


def _forget_executor():
    global _executor
    _executor = None


os.register_at_fork(after_in_child=_forget_executor)  # threads are not inherited


def _warn(counts, count, things="steps"):
    """counts: of members that did not converge, then as `warn_of_steps` has them."""
    if counts[0]:
        _lib.warn_steps("%d of %d %s did not converge; derivatives are those at their best iterates"
                        % (counts[0], count, things))
    warn_of_steps((0, 0, 0), (0, *counts[1:]), count)


class Step:
    """One step of every member of a batch: qpos (B, nq), qvel (B, nv), act (B, na) after it."""

    def __init__(self, model, data, qpos, qvel, act, ctrl, *, derivatives: bool):
        """qpos (B, nq), qvel (B, nv), act (B, na), ctrl (B, nu): the start. data: a Data with
        other inputs, or None."""
        count, n = len(qpos), sizes(model)
        self.start, self.model = qpos, model
        self.qpos, self.qvel, self.act = (np.empty(x.shape) for x in (qpos, qvel, act))
        if derivatives:
            self.A, self.B = np.empty((count, n.nx, n.nx)), np.empty((count, n.nx, n.nu))

        def run(i):
            d = _take(n.free) or Data(model, record=False)
            if data is None:
                d.reset()
            else:
                d._check(_lib.core.dj_copyData(d._address, model._address, data._address))
            d.qpos, d.qvel, d.act, d.ctrl = qpos[i], qvel[i], act[i], ctrl[i]
            before = d._take_counts()
            d._run(_lib.core.dj_step, model._address, d._address)
            if derivatives:
                self.A[i], self.B[i] = d.last_transition()
            self.qpos[i], self.qvel[i], self.act[i] = d.qpos, d.qvel, d.act
            n.free.append(d)
            return np.subtract(d._take_counts(), before)

        _warn(tuple(sum(_map(run, count)).tolist()), count)

    def vjp(self, qpos, qvel, act):
        """As `step_vjp`."""
        return step_vjp(self.model, self.start, self.qpos, self.A, self.B, qpos, qvel, act)


def _take(free):
    try:
        return free.pop()
    except IndexError:
        return None


def step_vjp(model, start, end, A, B, qpos, qvel, act):
    """Cotangents on qpos, qvel, act, ctrl before a step from those on qpos (B, nq), qvel (B, nv),
    act (B, na) after it. start, end (B, nq): qpos before and after. The step begins without a
    history of the integrator, and what it leaves of one is dropped."""
    n = sizes(model)
    lam = np.concatenate([n.to_tangent(end, qpos), qvel, act], -1)[:, None]
    size = lam.shape[-1]  # of nx
    dx, du = (lam @ A[:, :size, :size])[:, 0], (lam @ B[:, :size])[:, 0]
    return n.from_tangent(start, dx[:, :n.nv]), dx[:, n.nv:2 * n.nv], dx[:, 2 * n.nv:], du


class Run:
    """A run of every member of a batch: qpos (B, T+1, nq), qvel (B, T+1, nv), act (B, T+1, na)."""

    def __init__(self, model, data, params, qpos, qvel, act, ctrl, *, derivatives: bool):
        """qpos (B, nq), qvel (B, nv), act (B, na): the start; ctrl (B, T, nu). params: dict name ->
        values, (nvalue,) for all or (B, nvalue). data: a Data with other inputs, or None."""
        self.params, self.start = params, qpos
        self.each = {name: value for name, value in params.items() if value.ndim == 2}
        if params:
            model = model.copy()
            for name, value in params.items():
                if name not in self.each:
                    model.set_param(name, value)
        self.model, self.data = model, data
        self.inputs = qvel, act, ctrl
        batch = Batch(model, len(ctrl))
        batch._strict = True
        if self.each:
            batch.set_params(self.each)
        if data is not None:
            for i in range(len(ctrl)):
                batch.set(i, data)
        batch.qpos, batch.qvel, batch.act = qpos, qvel, act
        batch.has_history[:] = batch.mocap_last_pos[:] = batch.mocap_last_quat[:] = 0
        self.made: Any = batch.rollout(ctrl, gradient=derivatives)
        self.qpos, self.qvel, self.act = self.made.qpos, self.made.qvel, self.made.act
        self.qpos[:, 0] = qpos  # as given, not normalised: its derivative is the identity
        _warn([batch.stats[name].sum() for name in TOLD], ctrl.shape[0] * ctrl.shape[1])
        self._runs = None

    @property
    def runs(self):
        """Of every member a `Rollout`, for what is not found of all at once."""
        if self._runs is None:
            def run(i):
                model = self.model.copy() if self.each else self.model
                for name, value in self.each.items():
                    model.set_param(name, value[i])
                qvel, act, ctrl = (x[i] for x in self.inputs)
                return Rollout(model, ctrl, self.start[i], qvel, act, self.data, True, None)
            self._runs = _map(run, len(self.start))
        return self._runs

    def vjp(self, qpos, qvel, act):
        """Cotangents on qpos0, qvel0, act0, ctrl, and a list of those on the parameters, from those
        on qpos (B, T+1, nq), qvel (B, T+1, nv), act (B, T+1, na)."""
        at = sizes(self.model)
        dq = np.array(at.to_tangent(self.qpos, qpos))
        dq[:, 0] = 0  # row 0 of qpos is qpos0 itself
        g = self.made.vjp(dq, qvel, act, list(self.params))
        by_params = []
        for name, value in self.params.items():   # of all that a pattern stands for
            all_of = sum(g.params[n] for n in self.model.match(name))
            by_params.append(
                np.stack([param_from_tangent(self.model, name, v, one)
                          for v, one in zip(value, all_of)]) if name in self.each
                else param_from_tangent(self.model, name, value, sum(all_of)))
        return (qpos[:, 0] + at.from_tangent(self.start, g.qpos0), g.qvel0, g.act0, g.ctrl,
                by_params)

    def push(self, qpos, qvel, act, ctrl, params):
        """Changes of qpos (B, T+1, nq), qvel (B, T+1, nv), act (B, T+1, na) along changes of the
        start, of ctrl (B, T, nu) and of parameters (a list)."""
        at = sizes(self.model)
        w, v, a = map(np.stack, zip(*self._tangents(qpos, qvel, act, ctrl, params)))
        out = np.array(at.pushed(self.qpos, w))
        out[:, 0] = qpos
        return out, v, a

    def _tangents(self, qpos, qvel, act, ctrl, params):
        """Of every member: tangents of qpos, qvel, act."""
        w = sizes(self.model).push(self.start, qpos)
        return _map(lambda i: self.runs[i].jvp(ctrl[i], w[i], qvel[i], act[i],
                                               self._values(params, i)), len(self.runs))

    def _values(self, params, i):
        """Changes of tangents of parameters of member i."""
        out = {}
        for (name, value), change in zip(self.params.items(), params):
            if name in self.each:
                value, change = value[i], change[i]
            out[name] = param_push(name, value, change, self._ntangent(name))
        return out

    def _ntangent(self, name):
        return self.model._param(self.model.match(name)[0]).ntangent

    def bend(self, cotangents, qpos, qvel, act, ctrl, params):
        """How `vjp` of cotangents on qpos, qvel, act changes along changes of the start, of ctrl and
        of parameters, the cotangents held fixed."""
        at = sizes(self.model)
        G, on_qvel, on_act = cotangents
        g = np.array(at.to_tangent(self.qpos, G))
        g[:, 0] = 0
        rate = np.zeros(g.shape)
        if len(at.quat):
            w = np.stack([t[0] for t in self._tangents(qpos, qvel, act, ctrl, params)])
            rate = at.rate(self.qpos, w, G)
            rate[:, 0] = 0
        start = at.push(self.start, qpos)

        def run(i):
            held = {"qpos": g[i], "qvel": on_qvel[i], "act": on_act[i]}
            return (self.runs[i].vjp(**held, params=list(self.params)),
                    self.runs[i].hvp(held, ctrl[i], start[i], qvel[i], act[i],
                                     self._values(params, i), rates={"qpos": rate[i]}))

        first, second = zip(*_map(run, len(self.runs)))
        stack = {name: np.stack([getattr(p, name) for p in second])
                 for name in ("qpos0", "qvel0", "act0", "ctrl")}
        by_qpos = np.stack([p.qpos0 for p in first])
        by_params = [self._bent(name, value, change, first, second)
                     for (name, value), change in zip(self.params.items(), params)]
        return (at.bend(self.start, qpos, by_qpos, stack["qpos0"]), stack["qvel0"], stack["act0"],
                stack["ctrl"], by_params)

    def _bent(self, name, value, change, first, second):
        """How derivatives by a parameter change."""
        names = self.model.match(name)
        both = [[sum(p.params[n] for n in names) for p in parts] for parts in (first, second)]
        if name in self.each:
            return np.stack([param_bend(name, *one) for one in zip(value, change, *both)])
        return param_bend(name, value, change, sum(both[0]), sum(both[1]))


class OneStep:
    """One step of every member of a batch as a run of it, for second derivatives."""

    def __init__(self, model, data, qpos, qvel, act, ctrl):
        self.run = Run(model, data, {}, qpos, qvel, act, ctrl[:, None],
                       derivatives=True)

    def push(self, qpos, qvel, act, ctrl):
        """As `Run.push`, of the state after the step."""
        return [x[:, 1] for x in self.run.push(qpos, qvel, act, ctrl[:, None], [])]

    def bend(self, cotangents, qpos, qvel, act, ctrl):
        """As `Run.bend`."""
        padded = [np.stack([np.zeros_like(x), x], 1) for x in cotangents]
        *parts, by_ctrl, _ = self.run.bend(padded, qpos, qvel, act, ctrl[:, None], [])
        return (*parts, by_ctrl[:, 0])


_PARTS = (1, 4, 7, 8, 11)  # where each of implicit.VALUES but the first begins


class Touches:
    """The touch of an `ImplicitPair` at every member of a batch: `values` are alpha (B,), x (B, 3),
    normal (B, 3), gap (B,), point_a (B, 3), point_b (B, 3)."""

    def __init__(self, pair, pose_a, pose_b, *, derivatives: bool):
        """pose_a, pose_b (B, 7)."""
        self.poses = pose_a, pose_b
        found, self.jac, missed = pair._batch(pose_a, pose_b, derivatives)
        self.values = [part if part.shape[1] == 3 else part[:, 0]
                       for part in np.split(found, _PARTS, 1)]
        _warn((missed, 0, 0), len(found), "touches")

    def vjp(self, *cotangents):
        """Cotangents on pose_a and pose_b (B, 7) from those on the values."""
        g = np.concatenate([x if x.ndim == 2 else x[:, None] for x in cotangents], 1)
        twist = (g[:, None] @ self.jac)[:, 0]
        return [pose_from_twist(pose, part)
                for pose, part in zip(self.poses, np.split(twist, 2, 1))]


# ---- arguments ---------------------------------------------------------------------------------

def defaults(model, data):
    """Start and controls where none are given: of data, else the reference at rest."""
    if data is None:
        n = sizes(model)
        return {"qpos": np.array(model.qpos0), "qvel": np.zeros(n.nv), "act": np.zeros(n.na),
                "ctrl": np.zeros(n.nu)}
    return {name: np.array(getattr(data, name)) for name in ("qpos", "qvel", "act", "ctrl")}


def check_shape(name, shape, tail, batch):
    """Whether an argument has a batch axis in front of `tail`; the batch so far and its own."""
    shape = tuple(shape)
    if shape == tail:
        return batch
    if len(shape) != len(tail) + 1 or shape[1:] != tail or shape[0] == 0:
        raise ValueError("%s: expected shape %s, or (B,) + that with B > 0, not %s"
                         % (name, tail, shape))
    if batch is not None and batch != shape[0]:
        raise ValueError("%s: a batch of %d, another argument has %d" % (name, shape[0], batch))
    return shape[0]
