"""Steps and runs as differentiable functions of JAX arrays.

    import jax
    import dijoco.jax

    jax.config.update("jax_enable_x64", True)

    def loss(friction):
        qpos, _, _ = dijoco.jax.rollout(model, ctrl, params={"geom/box/friction": friction})
        return qpos[-1, 0]

    jax.grad(jax.jit(loss))(friction)

The library runs on the host, in double precision, through `jax.pure_callback`: this works under
jit, grad, jvp, hessian and vmap; batches, vmap's and those of a batch axis in the arguments
themselves, run on several threads (`dijoco.Batch`). Without jax_enable_x64 JAX rounds states and derivatives to single
precision, which is coarse for contact. The model and data are read when a compiled function runs, not
when it is traced: do not change them in between. First derivatives in both modes, second ones of
reverse mode (jax.hessian, jvp and grad of grad); forward mode of forward mode and third ones raise.
Derivatives by qpos are by its numbers, a quaternion p meaning p/|p|.
"""
from __future__ import annotations

import os
from typing import Any, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _autodiff
from .data import Data
from .model import Model

# A callback holds a thread of XLA's pool while XLA copies its larger arguments on another: with a
# pool of one, as on a single processor, it waits for ever. The pool is made at JAX's first use.
if len(os.sched_getaffinity(0)) == 1:
    os.environ.setdefault("PJRT_NPROC", "2")


_MODES = ("dijoco.jax: there are first derivatives, and second ones by reverse mode (hessian, jvp of "
          "grad, grad of grad); of forward mode (jvp, jacfwd) there are no further ones, and no third "
          "ones: take differences")


class _Job:
    """What a call is of, besides arrays: a step (names None) or a run with parameters."""

    def __init__(self, model: Model, data: Data | None,
                 names: tuple[str, ...] | None) -> None:
        self.key = id(model), id(data), names
        self.model, self.data, self.names = model, data, names

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return isinstance(other, _Job) and self.key == other.key

    def made(self, x, derivatives):
        if self.names is None:
            return _autodiff.Step(self.model, self.data, *x, derivatives=derivatives)
        params = dict(zip(self.names, x[4:]))
        return _autodiff.Run(self.model, self.data, params, *x[:4], derivatives=derivatives)

    def second(self, x):
        if self.names is None:
            return _autodiff.OneStep(self.model, self.data, *x)
        return self.made(x, True)

    def changes(self, t):
        return list(t) if self.names is None else list(t[:4]) + [list(t[4:])]

    def flat(self, parts):
        return list(parts) if self.names is None else list(parts[:-1]) + list(parts[-1])


# Arrays that follow each other: inputs x, cotangents c, changes t of x and s of c, and v, which is led
# back to x and to c; y are qpos, qvel, act. What each call does, and how many of its arrays it is not
# linear in (None: all).
def _run(job, n, *x):
    made = job.made(x, False)
    return made.qpos, made.qvel, made.act


def _push(job, n, *args):
    return job.second(args[:n]).push(*job.changes(args[n:]))


def _pull(job, n, *args):
    return job.flat(job.made(args[:n], True).vjp(*args[n:]))


def _bend(job, n, *args):
    x, c, t, s = args[:n], args[n:n + 3], args[n + 3:2 * n + 3], args[2 * n + 3:]
    made = job.second(x)
    bent = job.flat(made.bend(c, *job.changes(t)))
    pulled = job.flat(made.vjp(*s) if job.names is not None else job.made(x, True).vjp(*s))
    return [a + b for a, b in zip(bent, pulled)]


def _fold(job, n, *args):
    x, c, v = args[:n], args[n:n + 3], args[n + 3:]
    made, v = job.second(x), job.changes(v)
    return job.flat(made.bend(c, *v)) + list(made.push(*v))


_WORK = {"run": _run, "push": _push, "pull": _pull, "bend": _bend, "fold": _fold}


def _shapes(kind, job, n, *args):
    x = [a.shape for a in args[:n]]
    axes = (x[0][0],) if job.names is None else (x[3][0], x[3][1] + 1)
    y = [axes + (k,) for k in (job.model.nq, job.model.nv, job.model.na)]
    return {"run": y, "push": y, "pull": x, "bend": x, "fold": x + y}[kind]


def _host(*args, kind, job, n):
    """Call the work on the host, with doubles."""
    dtype = jnp.result_type(float)
    results = [jax.ShapeDtypeStruct(shape, dtype) for shape in _shapes(kind, job, n, *args)]

    def call(*values):
        made = _WORK[kind](job, n, *[np.array(value, np.float64) for value in values])
        return [np.asarray(array, dtype) for array in made]

    return jax.pure_callback(call, results, *args, vmap_method="sequential")


_call = Primitive("dijoco")
_call.multiple_results = True
_call.def_impl(_host)


@_call.def_abstract_eval
def _abstract(*args, kind, job, n):
    dtype = jnp.result_type(float)
    return [jax.core.ShapedArray(shape, dtype) for shape in _shapes(kind, job, n, *args)]


mlir.register_lowering(_call, mlir.lower_fun(_host, multiple_results=True))


# What results: what is as the inputs, x, or as the run, y.
_OUTS = {"run": "y", "push": "y", "pull": "x", "bend": "x", "fold": "xy"}


def _batch(args, axes, *, kind, job, n):
    """A batch of batches is one. Parameters that these share are repeated."""
    size = next(a.shape[d] for a, d in zip(args, axes) if d is not None)
    moved = [a[None] if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(args, axes)]
    single = [a.ndim == 2 for a in moved[:n]]   # parameters, for all members
    members, folded = moved[0].shape[1], []
    for a in moved:
        a = a[:, None] if a.ndim == 2 else a
        tail = a.shape[2:]
        folded.append(jnp.broadcast_to(a, (size, members, *tail)).reshape(-1, *tail))
    out = _call.bind(*folded, kind=kind, job=job, n=n)
    sums = [s for of in _OUTS[kind] for s in (single if of == "x" else [False] * 3)]
    out = [x.reshape(size, members, *x.shape[1:]) for x in out]
    return [x.sum(1) if s else x for x, s in zip(out, sums)], [0] * len(out)


batching.primitive_batchers[_call] = _batch


def _tangent(args, tangents, kind, job, n):
    """Forward mode: of what is linear in its last arrays, by these alone."""
    fill = [ad.instantiate_zeros(t) for t in tangents]
    if kind == "run":
        return _call.bind(*args, *fill, kind="push", job=job, n=n)
    if kind == "pull":
        return _call.bind(*args, *fill, kind="bend", job=job, n=n)
    fixed = n if kind == "push" else n + 3
    if any(type(t) is not ad.Zero for t in tangents[:fixed]):
        raise NotImplementedError(_MODES)
    return _call.bind(*args[:fixed], *fill[fixed:], kind=kind, job=job, n=n)


def _forward(args, tangents, **how):
    return _call.bind(*args, **how), _tangent(args, tangents, **how)


ad.primitive_jvps[_call] = _forward


def _transpose(cotangents, *args, kind, job, n):
    """Of a call that is linear in its last arrays, which are undefined."""
    fixed = {"push": n, "pull": n, "bend": n + 3, "fold": n + 3}[kind]
    led = [ad.instantiate_zeros(c) for c in cotangents]
    other = {"push": "pull", "pull": "push", "bend": "fold", "fold": "bend"}[kind]
    out = _call.bind(*args[:fixed], *led, kind=other, job=job, n=n)
    return [None] * fixed + [x if ad.is_undefined_primal(a) else None
                             for x, a in zip(out, args[fixed:])]


ad.primitive_transposes[_call] = _transpose


def _real(value, name):
    value = jnp.asarray(value)
    if jnp.iscomplexobj(value):
        raise TypeError("%s: expected real numbers, not %s" % (name, value.dtype))
    return jnp.asarray(value, float)


def _prepare(model, data, tails, given, params):
    """Arguments as arrays (B, ...), parameters (nvalue,) or (B, nvalue), and the batch or None."""
    standard, batch, arrays = _autodiff.defaults(model, data), None, []
    for name, tail, value in zip(("qpos", "qvel", "act", "ctrl"), tails, given):
        value = _real(standard[name] if value is None else value, name)
        batch = _autodiff.check_shape(name, value.shape, tail, batch)
        arrays.append(value)
    values = []
    for name, value in params.items():
        value, n = _real(value, name), _autodiff.param_size(model, name)
        each = value.ndim > 0 and value.size == len(value) * n != n   # of each of a batch
        values.append(value.reshape(-1, n) if each else value.reshape(-1))
        batch = _autodiff.check_shape(name, values[-1].shape, (n,), batch)
    return [jnp.broadcast_to(x, (batch or 1,) + t) for x, t in zip(arrays, tails)], values, batch


def _finish(results, batch):
    return tuple(r if batch is not None else r[0] for r in results)


def step(model: Model, qpos: Any, qvel: Any, ctrl: Any = None, act: Any = None,
         params: Mapping[str, Any] | None = None,
         data: Data | None = None) -> tuple[jax.Array, jax.Array, jax.Array]:
    """One step: qpos (nq,), qvel (nv,), act (na,) after it.

    qpos (nq,), qvel (nv,), ctrl (nu,), act (na,): the start; where ctrl and act are None, those of
    data, else zeros. Any of them may have a batch axis in front, (B, nq) and so on; results then
    have it, too. params: dict name -> array of as many entries as `model.param(name)` has, in place
    of the model's values, for all of a batch, or with its axis in front for each; derivatives by quaternions and axes are by their numbers, which need not
    be normalised. data: a `dijoco.Data` whose other inputs act; it is not changed.
    """
    if params:
        if ctrl is None:
            ctrl = _autodiff.defaults(model, data)["ctrl"]
        ctrl = _real(ctrl, "ctrl")[..., None, :]
        return tuple(x[..., 1, :] for x in rollout(model, ctrl, qpos, qvel, act, params, data))
    tails = ((model.nq,), (model.nv,), (model.na,), (model.nu,))
    arrays, _, batch = _prepare(model, data, tails, (qpos, qvel, act, ctrl), {})
    return _finish(_call.bind(*arrays, kind="run", job=_Job(model, data, None), n=4), batch)


def rollout(model: Model, ctrl: Any, qpos0: Any = None, qvel0: Any = None, act0: Any = None,
            params: Mapping[str, Any] | None = None,
            data: Data | None = None) -> tuple[jax.Array, jax.Array, jax.Array]:
    """A run of T steps: qpos (T+1, nq), qvel (T+1, nv), act (T+1, na); row 0 is the start.

    ctrl (T, nu); qpos0 (nq,), qvel0 (nv,), act0 (na,): the start; where None, that of data, else
    the model's reference at rest. Batches, params and data: as for `step`, ctrl (B, T, nu). The
    derivative runs once more.
    """
    params, ctrl = params or {}, _real(ctrl, "ctrl")
    if ctrl.ndim < 2:
        raise ValueError("ctrl: expected shape (T, %d), not %s" % (model.nu, ctrl.shape))
    tails = ((model.nq,), (model.nv,), (model.na,), (ctrl.shape[-2], model.nu))
    arrays, values, batch = _prepare(model, data, tails, (qpos0, qvel0, act0, ctrl), params)
    job = _Job(model, data, tuple(params))
    return _finish(_call.bind(*arrays, *values, kind="run", job=job, n=4 + len(values)), batch)
