"""Steps and runs as differentiable functions of JAX arrays.

    import jax
    import dijoco.jax

    jax.config.update("jax_enable_x64", True)

    def loss(friction):
        qpos, _, _ = dijoco.jax.rollout(model, ctrl, params={"geom/box/friction": friction})
        return qpos[-1, 0]

    jax.grad(jax.jit(loss))(friction)

The library runs on the host, in double precision, through `jax.pure_callback`: this works under
jit, grad and vmap (one member after another; a batch axis in the arguments themselves runs on
several threads). Without jax_enable_x64 JAX rounds states and derivatives to single precision,
which is coarse for contact. The model and data are read when a compiled function runs, not when
it is traced: do not change them in between. Reverse mode and first derivatives only: jvp, jacfwd
and hessian raise. Derivatives by qpos are by its numbers, a quaternion p meaning p/|p|.
"""
import functools
import os

import jax
import jax.numpy as jnp
import numpy as np

from . import _autodiff

# A callback holds a thread of XLA's pool while XLA copies its larger arguments on another: with a
# pool of one, as on a single processor, it waits for ever. The pool is made at JAX's first use.
if len(os.sched_getaffinity(0)) == 1:
    os.environ.setdefault("PJRT_NPROC", "2")


_MODES = ("dijoco.jax: there are only first derivatives in reverse mode (grad, vjp, jacrev); of a "
          "gradient g (hessian, jvp or grad of grad) take differences, (g(x + h v) - g(x - h v))/2h;"
          " for forward-mode (jvp, jacfwd) use jacrev, or data.step_jvp")


def _host(function, shapes, *arrays):
    """Call function(*arrays as doubles) on the host; results have these shapes."""
    dtype = jnp.result_type(float)
    results = [jax.ShapeDtypeStruct(shape, dtype) for shape in shapes]

    def call(*values):
        made = function(*[np.array(value, np.float64) for value in values])
        return [np.asarray(array, dtype) for array in made]

    @jax.custom_jvp
    def host(*values):
        return tuple(jax.pure_callback(call, results, *values, vmap_method="sequential"))

    @host.defjvp
    def refuse(primals, tangents):
        raise NotImplementedError(_MODES)

    return host(*arrays)


def _reverse(function, *args):
    """Call a function that has a derivative in reverse mode alone."""
    try:
        return function(*args)
    except TypeError as error:
        if "custom_vjp" in str(error):
            raise TypeError(_MODES) from error
        raise


def _state_shapes(model, *axes):
    return [axes + (n,) for n in (model.nq, model.nv, model.na)]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _step(fixed, qpos, qvel, act, ctrl):
    model, data = fixed

    def call(*start):
        made = _autodiff.Step(model, data, *start, False)
        return made.qpos, made.qvel, made.act

    return _host(call, _state_shapes(model, len(qpos)), qpos, qvel, act, ctrl)


def _step_forward(fixed, qpos, qvel, act, ctrl):
    model, data = fixed
    count, nx = len(qpos), model.tangent_size

    def call(*start):
        made = _autodiff.Step(model, data, *start, True)
        return made.qpos, made.qvel, made.act, made.A, made.B

    shapes = _state_shapes(model, count) + [(count, nx, nx), (count, nx, model.nu)]
    *after, A, B = _host(call, shapes, qpos, qvel, act, ctrl)
    return tuple(after), (qpos, after[0], A, B)


def _step_backward(fixed, kept, cotangents):
    model, _ = fixed

    def call(*arrays):
        return _autodiff.step_vjp(model, *arrays)

    count = len(kept[0])
    shapes = _state_shapes(model, count) + [(count, model.nu)]
    return _host(call, shapes, *kept, *cotangents)


_step.defvjp(_step_forward, _step_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _run(fixed, qpos, qvel, act, ctrl, params):
    model, data, names = fixed

    def call(qpos, qvel, act, ctrl, *params):
        made = _autodiff.Run(model, data, dict(zip(names, params)), qpos, qvel, act, ctrl, False)
        return made.qpos, made.qvel, made.act

    shapes = _state_shapes(model, ctrl.shape[0], ctrl.shape[1] + 1)
    return _host(call, shapes, qpos, qvel, act, ctrl, *params)


def _run_forward(fixed, *arguments):
    return _run(fixed, *arguments), arguments


def _run_backward(fixed, arguments, cotangents):
    model, data, names = fixed
    qpos, qvel, act, ctrl, params = arguments

    def call(qpos, qvel, act, ctrl, gq, gv, ga, *params):
        made = _autodiff.Run(model, data, dict(zip(names, params)), qpos, qvel, act, ctrl, True)
        *parts, by_params = made.vjp(gq, gv, ga)
        return parts + by_params

    shapes = [x.shape for x in (qpos, qvel, act, ctrl) + tuple(params)]
    *parts, = _host(call, shapes, qpos, qvel, act, ctrl, *cotangents, *params)
    return tuple(parts[:4]) + (parts[4:],)


_run.defvjp(_run_forward, _run_backward)


def _real(value, name):
    value = jnp.asarray(value)
    if jnp.iscomplexobj(value):
        raise TypeError("%s: expected real numbers, not %s" % (name, value.dtype))
    return jnp.asarray(value, float)


def _prepare(model, data, tails, given):
    """Arguments as arrays (B, ...), and the batch or None."""
    standard, batch, arrays = _autodiff.defaults(model, data), None, []
    for name, tail, value in zip(("qpos", "qvel", "act", "ctrl"), tails, given):
        value = _real(standard[name] if value is None else value, name)
        batch = _autodiff.check_shape(name, value.shape, tail, batch)
        arrays.append(value)
    return [jnp.broadcast_to(x, (batch or 1,) + t) for x, t in zip(arrays, tails)], batch


def _finish(results, batch):
    return tuple(r if batch is not None else r[0] for r in results)


def step(model, qpos, qvel, ctrl=None, act=None, params=None, data=None):
    """One step: qpos (nq,), qvel (nv,), act (na,) after it.

    qpos (nq,), qvel (nv,), ctrl (nu,), act (na,): the start; where ctrl and act are None, those of
    data, else zeros. Any of them may have a batch axis in front, (B, nq) and so on; results then
    have it, too. params: dict name -> array of as many entries as `model.param(name)` has, in place
    of the model's values; derivatives by quaternions and axes are by their numbers, which need not
    be normalised. data: a `dijoco.Data` whose other inputs act; it is not changed.
    """
    if params:
        if ctrl is None:
            ctrl = _autodiff.defaults(model, data)["ctrl"]
        ctrl = _real(ctrl, "ctrl")[..., None, :]
        return tuple(x[..., 1, :] for x in rollout(model, ctrl, qpos, qvel, act, params, data))
    tails = ((model.nq,), (model.nv,), (model.na,), (model.nu,))
    arrays, batch = _prepare(model, data, tails, (qpos, qvel, act, ctrl))
    return _finish(_reverse(_step, (model, data), *arrays), batch)


def rollout(model, ctrl, qpos0=None, qvel0=None, act0=None, params=None, data=None):
    """A run of T steps: qpos (T+1, nq), qvel (T+1, nv), act (T+1, na); row 0 is the start.

    ctrl (T, nu); qpos0 (nq,), qvel0 (nv,), act0 (na,): the start; where None, that of data, else
    the model's reference at rest. Batches, params and data: as for `step`, ctrl (B, T, nu). The
    derivative runs once more.
    """
    params, ctrl = params or {}, _real(ctrl, "ctrl")
    if ctrl.ndim < 2:
        raise ValueError("ctrl: expected shape (T, %d), not %s" % (model.nu, ctrl.shape))
    tails = ((model.nq,), (model.nv,), (model.na,), (ctrl.shape[-2], model.nu))
    arrays, batch = _prepare(model, data, tails, (qpos0, qvel0, act0, ctrl))
    values = [_real(value, name).reshape(-1) for name, value in params.items()]
    return _finish(_reverse(_run, (model, data, tuple(params)), *arrays, values), batch)
