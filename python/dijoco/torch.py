"""Steps, runs, losses of tasks and touches of implicit surfaces as differentiable functions of
PyTorch tensors.

    import dijoco.torch

    qpos, qvel, act = dijoco.torch.rollout(model, ctrl, params={"geom/box/friction": friction})
    qpos[-1, 0].backward()

Tensors of any floating type and device are accepted; the library computes in double precision on
the CPU. Results have the widest type of the tensors given, and are where the first of them is.
Derivatives by qpos are by its numbers, a quaternion p meaning p/|p|: they chain with what PyTorch
itself does to these numbers. `step`, `rollout` and `losses` have second derivatives, too, by
backward passes of backward passes (hvp, hessian, gradgradcheck, penalties on gradients); `step` and
`rollout` are open to torch.func (grad, jacrev, jvp, hessian, vmap) and forward mode. Third ones
raise, and second ones of `implicit`. Under torch.compile `step` and `rollout` are operators of the
graph, with first derivatives.
"""
from __future__ import annotations

import functools
from typing import Any, Mapping

import numpy as np
import torch

from . import _autodiff, _lib, _torch_ops
from .data import Data
from .implicit import VALUES, ImplicitPair
from .model import Model
from .task import Design

_NAMES = ("qpos", "qvel", "act", "ctrl")


def _array(tensor):
    try:
        return tensor.detach().numpy()
    except RuntimeError as error:   # of a batch that is made by PyTorch, but not by torch.func
        raise RuntimeError("dijoco.torch: batches of cotangents (vectorize=True, is_grads_batched) "
                           "are not supported; call once for each: vectorize=False, or take "
                           "torch.func") from error


def _copy(tensor):
    return np.array(_array(tensor))  # what is kept must not change with the tensor


def _batched(tensors, tails, batch):
    """Arrays (B, ...) of tensors, some of which have no batch axis."""
    arrays = [_copy(x)[None] if x.dim() == len(tail) else _copy(x)
              for x, tail in zip(tensors, tails)]
    if batch is not None:
        arrays = [x if len(x) == batch else np.broadcast_to(x, (batch,) + x.shape[1:])
                  for x in arrays]
    return arrays


def _results(made, batch):
    """qpos, qvel, act as tensors of their own."""
    return tuple(torch.from_numpy((x if batch is not None else x[0]).copy())
                 for x in (made.qpos, made.qvel, made.act))


def _covectors(tensors, batch):
    return [_array(x) if batch is not None else _array(x)[None] for x in tensors]


def _unbatched(arrays, tails, dims):
    """Cotangents (B, ...) as tensors; summed for arguments without a batch axis."""
    return tuple(torch.from_numpy(x if dim > len(tail) else x[0] if len(x) == 1 else x.sum(0))
                 for x, tail, dim in zip(arrays, tails, dims))


# ---- what has no further derivative ----------------------------------------------------------------

_SECOND = ("dijoco.torch: there are no second derivatives of touches (hessian, hvp, jvp by double "
           "backward, a loss of gradients). Take differences of gradients instead, (g(x + h v) - "
           "g(x - h v))/2h; where the gradient's value alone is meant, detach() it")
_THIRD = ("dijoco.torch: there are no third derivatives, nor derivatives of forward mode by where it is "
          "taken: where the value alone is meant, detach() it")
_FORWARD = "dijoco.torch: there is no forward mode; use backward()"
_FUNC = ("dijoco.torch: torch.func (grad, jacrev, vmap...) is not supported: use backward() or "
         "torch.autograd.grad, and a batch axis in front of the arguments in place of vmap")


class _Last(torch.autograd.Function):
    """Cotangents, which have no derivative by what they follow from: it is asked for in vain, and
    not answered by zero."""

    @staticmethod
    def forward(ctx, text, count, *tensors):
        ctx.text = text
        return tuple(x.view_as(x) for x in tensors[:count])

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError(ctx.text)


def _last(backward, text=_SECOND):
    """A backward pass whose results have no derivative. ctx.sources: what it is by, besides the
    cotangents."""
    @functools.wraps(backward)
    def run(ctx, *cotangents):
        with torch.no_grad():
            out = backward(ctx, *cotangents)
        sources = [x for x in (*cotangents, *ctx.sources) if x is not None and x.requires_grad]
        if not torch.is_grad_enabled() or not sources:
            return out
        places = [i for i, x in enumerate(out) if x is not None]
        last = _Last.apply(text, len(places), *(out[i] for i in places), *sources)
        for i, x in zip(places, last):
            out = out[:i] + (x,) + out[i + 1:]
        return out
    return run


class _Function(torch.autograd.Function):
    @staticmethod
    def jvp(ctx, *_):
        raise NotImplementedError(_FORWARD)


def _is_transformed():
    return getattr(torch._C, "_are_functorch_transforms_active", bool)()


def _apply(function, *args):
    if _is_transformed():
        raise RuntimeError(_FUNC)
    return function.apply(*args)


# ---- steps and runs --------------------------------------------------------------------------------

class _Job:
    """What steps or runs are made of, besides tensors: qpos, qvel, act, ctrl and parameters."""

    def __init__(self, model, data, derivatives, tails, batch, names=None, nvalues=()):
        self.model, self.data, self.derivatives = model, data, derivatives
        self.tails, self.batch, self.names, self.nvalues = tails, batch, names, nvalues

    def all_tails(self):
        """Shapes of inputs, without batches."""
        return (*self.tails, *((n,) for n in self.nvalues))

    def result_tails(self):
        """The same of results."""
        states = [tail[-1:] for tail in self.tails[:3]]
        return states if self.names is None else [(self.tails[3][0] + 1,) + t for t in states]

    def of_batch(self, batch):
        """This job for another batch, of which every input has the axis."""
        return _Job(self.model, self.data, self.derivatives, self.tails, batch, self.names,
                    self.nvalues)

    def make(self, inputs, derivatives):
        """The run, or the step, of tensors."""
        state = _batched(inputs[:4], self.tails, self.batch)
        if self.names is None:
            return _autodiff.Step(self.model, self.data, *state, derivatives=derivatives)
        params = dict(zip(self.names, map(_copy, inputs[4:])))
        return _autodiff.Run(self.model, self.data, params, *state, derivatives=derivatives)

    def _made(self, held, inputs):
        """One that has derivatives: that of the forward pass, where there is one."""
        if not held.made or not held.derivatives:
            held.made, held.derivatives = self.make(inputs, True), True
        return held.made

    def _second(self, held, inputs):
        if self.names is not None:
            return self._made(held, inputs)
        if held.second is None:
            state = _batched(inputs, self.tails, self.batch)
            held.second = _autodiff.OneStep(self.model, self.data, *state)
        return held.second

    def _outputs(self, arrays):
        return tuple(torch.from_numpy(np.array(x if self.batch is not None else x[0]))
                     for x in arrays)

    def run(self, held, inputs):
        held.derivatives = self.derivatives
        held.made = self.make(inputs, held.derivatives)
        return _results(held.made, self.batch)

    def _inputs(self, inputs, parts):
        """As the inputs are: arrays of a batch, and a list of those by parameters."""
        *state, by_params = parts if self.names is not None else (*parts, [])
        return (_unbatched(state, self.tails, [x.dim() for x in inputs[:4]]) +
                tuple(map(torch.from_numpy, by_params)))

    def pull(self, held, inputs, cotangents):
        parts = self._made(held, inputs).vjp(*_covectors(cotangents, self.batch))
        return self._inputs(inputs, parts)

    def _changes(self, tensors):
        state = _batched(tensors[:4], self.tails, self.batch)
        return state + ([[_copy(x) for x in tensors[4:]]] if self.names is not None else [])

    def push(self, held, inputs, changes):
        return self._outputs(self._second(held, inputs).push(*self._changes(changes)))

    def bend(self, held, inputs, cotangents, changes):
        parts = self._second(held, inputs).bend(_covectors(cotangents, self.batch),
                                                *self._changes(changes))
        return self._inputs(inputs, parts)


class _Held:
    """What a forward pass leaves for derivatives."""

    def __init__(self) -> None:
        self.made, self.derivatives, self.second = None, False, None


# Tensors that follow each other: inputs x, cotangents c, changes t of x and s of c, and v and w, which
# are led back to x and to c.
#   run   x -> y           push  x, t -> dy              pull  x, c -> g
#   bend  x, c, t, s -> how g changes                    fold  x, c, v -> v led back to x and to c
# push, bend and fold are linear in what comes after x, or x and c: by that they have derivatives, by
# x and c none.

class _None(torch.autograd.Function):
    """A zero whose derivative by what it depends on is asked for in vain."""

    @staticmethod
    def forward(*tensors):
        return torch.zeros((), dtype=torch.float64)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *_):
        raise NotImplementedError(_THIRD)

    jvp = backward

    @staticmethod
    def vmap(info, in_dims, *tensors):
        return _None.apply(*(x if d is None else x.select(d, 0)
                             for x, d in zip(tensors, in_dims))), None


class _Call(torch.autograd.Function):
    """A call of a job, and what all have in common. `ARGS` and `OUTS` say what follows what: x, as
    the inputs, and y, as the results. Batches that PyTorch makes are folded into the job's; those of
    cotangents or changes alone are loops on what one forward pass has left."""

    @classmethod
    def _vmap(cls, info, in_dims, job, held, *tensors):
        dims = in_dims[2:]
        if all(d is None for d in dims[:_count(job)]):
            outs = [cls.apply(job, held, *(x if d is None else x.select(d, k)
                                           for x, d in zip(tensors, dims)))
                    for k in range(info.batch_size)]
            return tuple(map(torch.stack, zip(*outs))), (0,) * len(outs[0])
        moved = [x.unsqueeze(0) if d is None else x.movedim(d, 0) for x, d in zip(tensors, dims)]
        tails = job.all_tails()
        single = [x.dim() - 1 == len(tail) for x, tail in zip(moved, tails)]   # without a batch axis
        whole = [t for kind in cls.ARGS for t in (tails if kind == "x" else job.result_tails())]
        folded = [_folded(x, tail, info.batch_size, job.batch) for x, tail in zip(moved, whole)]
        outs = cls.apply(job.of_batch(info.batch_size * (job.batch or 1)), _Held(), *folded)
        kinds = [s for kind in cls.OUTS for s in (single if kind == "x" else [False] * 3)]
        return tuple(_unfolded(x, info.batch_size, job.batch, sums)
                     for x, sums in zip(outs, kinds)), (0,) * len(outs)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.job, ctx.held = inputs[:2]
        ctx.save_for_backward(*inputs[2:])
        ctx.save_for_forward(*inputs[2:])


def _count(job):
    return 4 + len(job.names or ())


def _folded(x, tail, size, batch):
    """A tensor (size or 1, ...) as one of size * batch members."""
    if x.dim() - 1 == len(tail):
        x = x.unsqueeze(1)
    return x.expand(size, batch or 1, *tail).reshape(-1, *tail)


def _unfolded(x, size, batch, sums):
    """The other way; sums: of what the job's batch shares."""
    x = x.reshape(size, batch or 1, *x.shape[1:])
    return x if batch is not None and not sums else x.sum(1)


def _guarded(function, fixed, job, held, *tensors):
    """A call that is linear in tensors after the first `fixed`; the derivative by these raises."""
    none = _None.apply(*tensors[:fixed])
    return tuple(x + none for x in function.apply(job, held, *tensors))


def _changes(tangents, tensors):
    return tuple(torch.zeros_like(x) if t is None else t for t, x in zip(tangents, tensors))


def _by_linear(function, fixed, ctx, tangents):
    """Forward mode of a call that is linear in what comes after `fixed`."""
    args = ctx.saved_tensors
    if any(t is not None for t in tangents[:fixed]):
        raise NotImplementedError(_THIRD)
    return _guarded(function, fixed, ctx.job, ctx.held, *args[:fixed],
                    *_changes(tangents[fixed:], args[fixed:]))


class _Run(_Call):
    ARGS, OUTS = "x", "y"

    @staticmethod
    def forward(job, held, *x):
        return job.run(held, x)

    @staticmethod
    def backward(ctx, *c):
        return (None, None) + _Pull.apply(ctx.job, ctx.held, *ctx.saved_tensors, *c)

    @staticmethod
    def jvp(ctx, _, __, *t):
        x = ctx.saved_tensors
        return _guarded(_Push, len(x), ctx.job, ctx.held, *x, *_changes(t, x))

    @staticmethod
    def vmap(info, in_dims, *args):
        return _Run._vmap(info, in_dims, *args)


class _Push(_Call):
    ARGS, OUTS = "xx", "y"

    @staticmethod
    def forward(job, held, *args):
        n = _count(job)
        return job.push(held, args[:n], args[n:])

    @staticmethod
    def backward(ctx, *c):
        n = _count(ctx.job)
        return (None,) * (2 + n) + _Pull.apply(ctx.job, ctx.held, *ctx.saved_tensors[:n], *c)

    @staticmethod
    def jvp(ctx, _, __, *t):
        return _by_linear(_Push, _count(ctx.job), ctx, t)

    @staticmethod
    def vmap(info, in_dims, *args):
        return _Push._vmap(info, in_dims, *args)


class _Pull(_Call):
    ARGS, OUTS = "xy", "x"

    @staticmethod
    def forward(job, held, *args):
        n = _count(job)
        return job.pull(held, args[:n], args[n:])

    @staticmethod
    def backward(ctx, *v):
        args = ctx.saved_tensors
        return (None, None) + _guarded(_Fold, len(args), ctx.job, ctx.held, *args, *v)

    @staticmethod
    def jvp(ctx, _, __, *t):
        args = ctx.saved_tensors
        return _guarded(_Bend, len(args), ctx.job, ctx.held, *args, *_changes(t, args))

    @staticmethod
    def vmap(info, in_dims, *args):
        return _Pull._vmap(info, in_dims, *args)


class _Bend(_Call):
    ARGS, OUTS = "xyxy", "x"

    @staticmethod
    def forward(job, held, *args):
        n = _count(job)
        x, c, t, s = args[:n], args[n:n + 3], args[n + 3:2 * n + 3], args[2 * n + 3:]
        bent, pulled = job.bend(held, x, c, t), job.pull(held, x, s)
        return tuple(a + b for a, b in zip(bent, pulled))

    @staticmethod
    def backward(ctx, *v):
        fixed = _count(ctx.job) + 3
        return (None,) * (2 + fixed) + _guarded(_Fold, fixed, ctx.job, ctx.held,
                                                *ctx.saved_tensors[:fixed], *v)

    @staticmethod
    def jvp(ctx, _, __, *t):
        return _by_linear(_Bend, _count(ctx.job) + 3, ctx, t)

    @staticmethod
    def vmap(info, in_dims, *args):
        return _Bend._vmap(info, in_dims, *args)


class _Fold(_Call):
    ARGS, OUTS = "xyx", "xy"

    @staticmethod
    def forward(job, held, *args):
        n = _count(job)
        x, c, v = args[:n], args[n:n + 3], args[n + 3:]
        return job.bend(held, x, c, v) + job.push(held, x, v)

    @staticmethod
    def backward(ctx, *w):
        fixed = _count(ctx.job) + 3
        return (None,) * (2 + fixed) + _guarded(_Bend, fixed, ctx.job, ctx.held,
                                                *ctx.saved_tensors[:fixed], *w)

    @staticmethod
    def jvp(ctx, _, __, *t):
        return _by_linear(_Fold, _count(ctx.job) + 3, ctx, t)

    @staticmethod
    def vmap(info, in_dims, *args):
        return _Fold._vmap(info, in_dims, *args)


class _Touch(_Function):
    @staticmethod
    def forward(ctx, pair, derivatives, *poses):
        ctx.made = _autodiff.Touches(pair, *map(_copy, poses), derivatives=derivatives)
        ctx.sources = poses
        return tuple(torch.from_numpy(x.copy()) for x in ctx.made.values)

    @staticmethod
    @_last
    def backward(ctx, *cotangents):
        parts = ctx.made.vjp(*map(_array, cotangents))
        return (None, None) + tuple(map(torch.from_numpy, parts))


class _Losses(_Function):
    @staticmethod
    def forward(ctx, design, derivatives, x):
        losses, ctx.gradients = design.evaluate_scenes(_array(x), derivatives)
        ctx.design = design
        ctx.save_for_backward(x)
        return torch.from_numpy(losses)

    @staticmethod
    def backward(ctx, cotangents):
        return None, None, _LossPull.apply(ctx.design, ctx.gradients, *ctx.saved_tensors, cotangents)


class _LossPull(_Function):
    """The gradient of losses, by x and by what each counts."""

    @staticmethod
    def forward(ctx, design, gradients, x, cotangents):
        ctx.design, ctx.gradients, ctx.sources = design, gradients, (x, cotangents)
        return torch.from_numpy(_array(cotangents) @ gradients)

    @staticmethod
    @functools.partial(_last, text=_THIRD)
    def backward(ctx, v):
        x, cotangents = ctx.sources
        products = ctx.design.hvp_scenes(_array(x), _array(v))
        return (None, None, torch.from_numpy(_array(cotangents) @ products),
                torch.from_numpy(ctx.gradients @ _array(v)))


def _tensor(value):
    """PyTorch makes singles of lists, and takes no arrays with negative strides."""
    if isinstance(value, torch.Tensor):
        return value
    return torch.from_numpy(np.array(value, order="C"))


def _double(value, name):
    value = _tensor(value)
    if value.is_complex():
        raise TypeError("%s: expected real numbers, not %s" % (name, value.dtype))
    if value.dtype == torch.float64 and value.device.type == "cpu":
        return value
    return value.to("cpu", torch.float64)


def _prepare(model, data, tails, given, params):
    """The arguments as doubles on the CPU: qpos, qvel, act, ctrl and parameters; the batch or
    None; the widest type and the first device of floating-point tensors among them, or None."""
    standard = {} if all(x is not None for x in given) else _autodiff.defaults(model, data)
    batch, tensors = None, []
    for name, tail, value in zip(_NAMES, tails, given):
        tensor = _double(standard[name] if value is None else value, name)
        batch = _autodiff.check_shape(name, tensor.shape, tail, batch)
        tensors.append(tensor)
    values = []
    for name, value in params.items():
        value, n = _double(value, name), _autodiff.param_size(model, name)
        each = value.dim() > 0 and value.numel() == len(value) * n != n   # of each of a batch
        values.append(value.reshape(-1, n) if each else value.reshape(-1))
        batch = _autodiff.check_shape(name, values[-1].shape, (n,), batch)
    return tensors, values, batch, _like(*given, *params.values())


def _call(job, tensors):
    """What is kept for derivatives must not change with the caller's tensors."""
    if job.derivatives:
        tensors = [x.clone() for x in tensors]
    return _Run.apply(job, _Held(), *tensors)


def _needs_derivatives(tensors):
    return _is_transformed() or (torch.is_grad_enabled() and any(x.requires_grad for x in tensors))


def _like(*given):
    """The widest type and the first device of floating-point tensors among these, or None."""
    like = None
    for value in given:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            dtype, device = like or (value.dtype, value.device)
            like = torch.promote_types(dtype, value.dtype), device
    return like


def _as(results, like):
    if like is None or (like[0] == torch.float64 and like[1].type == "cpu"):
        return results
    return tuple(x.to(like[1], like[0]) for x in results)


# ---- under torch.compile ---------------------------------------------------------------------------

def _compiled(kind, model, data, given, params):
    """The call as one operator of the graph."""
    return _torch_ops.call(kind, model._address, 0 if data is None else data._address,
                           "\n".join(params), *given, list(params.values()))


def _op_forward(kind, model, data, given, params):
    ctrl, qpos, qvel, act = given
    if kind == "step":
        return step(model, qpos, qvel, ctrl, act, params, data)
    return rollout(model, ctrl, qpos, qvel, act, params, data)


def _op_pull(kind, model, data, given, params, cotangents):
    """Cotangents on the tensors that are given and on parameters, of the types of these."""
    ctrl, *start = given
    cotangents = [_double(c, "cotangent") for c in cotangents]
    if kind == "step":   # a run of one
        ctrl = _double(_autodiff.defaults(model, data)["ctrl"] if ctrl is None else ctrl, "ctrl")
        ctrl = ctrl.unsqueeze(-2)
        cotangents = [torch.stack([torch.zeros_like(c), c], -2) for c in cotangents]
    n = _autodiff.sizes(model)
    tails = ((n.nq,), (n.nv,), (n.na,), (ctrl.shape[-2], n.nu))
    tensors, values, batch, _ = _prepare(model, data, tails, (*start, ctrl), params)
    job = _Job(model, data, True, tails, batch, tuple(params),
               tuple(value.shape[-1] for value in values))
    by_qpos, by_qvel, by_act, by_ctrl, *by_params = job.pull(_Held(), tensors + values, cotangents)
    found = (by_ctrl, by_qpos, by_qvel, by_act, *by_params)
    return [g.reshape(x.shape).to(x.device, x.dtype).clone()
            for x, g in zip((*given, *params.values()), found) if x is not None]


_torch_ops._work.update(forward=_op_forward, pull=_op_pull, like=_like)


def step(model: Model, qpos: Any, qvel: Any, ctrl: Any = None, act: Any = None,
         params: Mapping[str, Any] | None = None,
         data: Data | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """One step: qpos (nq,), qvel (nv,), act (na,) after it.

    qpos (nq,), qvel (nv,), ctrl (nu,), act (na,): the start; where ctrl and act are None, those of
    data, else zeros. Any of them may have a batch axis in front, (B, nq) and so on; results then
    have it, too, and the batch runs on several threads (`dijoco.Batch`). params: dict name -> tensor
    of as many entries as `model.param(name)` has, in place of the model's values, for all of a
    batch, or with its axis in front for each; derivatives by quaternions and axes are by their
    numbers, which need not be normalised.
    data: a `dijoco.Data` whose other inputs act; it is not changed.
    """
    if torch.compiler.is_compiling():
        return _compiled("step", model, data, (ctrl, qpos, qvel, act), params or {})
    if params:
        if ctrl is None:
            ctrl = torch.from_numpy(_autodiff.defaults(model, data)["ctrl"])
        ctrl = _tensor(ctrl).unsqueeze(-2)
        return tuple(x[..., 1, :] for x in rollout(model, ctrl, qpos, qvel, act, params, data))
    n = _autodiff.sizes(model)
    tails = ((n.nq,), (n.nv,), (n.na,), (n.nu,))
    tensors, _, batch, like = _prepare(model, data, tails, (qpos, qvel, act, ctrl), {})
    return _as(_call(_Job(model, data, _needs_derivatives(tensors), tails, batch), tensors), like)


def rollout(model: Model, ctrl: Any, qpos0: Any = None, qvel0: Any = None, act0: Any = None,
            params: Mapping[str, Any] | None = None,
            data: Data | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A run of T steps: qpos (T+1, nq), qvel (T+1, nv), act (T+1, na); row 0 is the start.

    ctrl (T, nu); qpos0 (nq,), qvel0 (nv,), act0 (na,): the start; where None, that of data, else
    the model's reference at rest. Batches, params and data: as for `step`, ctrl (B, T, nu).
    """
    if torch.compiler.is_compiling():
        return _compiled("rollout", model, data, (ctrl, qpos0, qvel0, act0), params or {})
    params, ctrl = params or {}, _tensor(ctrl)
    if ctrl.dim() < 2:
        raise ValueError("ctrl: expected shape (T, %d), not %s" % (model.nu, tuple(ctrl.shape)))
    n = _autodiff.sizes(model)
    tails = ((n.nq,), (n.nv,), (n.na,), (ctrl.shape[-2], n.nu))
    tensors, values, batch, like = _prepare(model, data, tails, (qpos0, qvel0, act0, ctrl), params)
    derivatives = _needs_derivatives(tensors + values)
    job = _Job(model, data, derivatives, tails, batch, tuple(params),
               tuple(value.shape[-1] for value in values))
    return _as(_call(job, tensors + values), like)


def losses(design: Design, x: Any) -> torch.Tensor:
    """Loss of each scene of a `dijoco.Design` (scenes,), one number without `scenes`, before its
    weight; the task's loss is losses(design, x) @ torch.as_tensor(design.weights).

    x (n,), or a dict: name of a variable -> tensor of its entries in x (`design.slice`), where
    those that are not named are as in `design.x0`. Scenes run on as many threads as the Design has.
    """
    _lib.expect(design, Design, "design")
    if isinstance(x, dict):
        given, parts = {name: _double(value, name) for name, value in x.items()}, []
        like = _like(*x.values())
        for name in given:
            design.slice(name)   # an error where there is none
        for name in design.names:
            part = torch.from_numpy(design.x0[design.slice(name)].copy())
            value = given.get(name, part)
            if value.numel() != part.numel():
                raise ValueError("%s: expected %d numbers, not shape %s"
                                 % (name, part.numel(), tuple(value.shape)))
            parts.append(value.reshape(-1))
        whole = torch.cat(parts)
    else:
        whole, like = _double(x, "x"), _like(x)
    derivatives = torch.is_grad_enabled() and whole.requires_grad
    return _as((_apply(_Losses, design, derivatives, whole),), like)[0]


def implicit(pair: ImplicitPair, pose_a: Any, pose_b: Any) -> dict[str, torch.Tensor]:
    """The touch of a `dijoco.ImplicitPair` at poses (..., 7), [x, y, z, qw, qx, qy, qz] each, whose
    axes before the last broadcast: a dict of tensors alpha (...), x (..., 3), normal (..., 3), gap
    (...), point_a (..., 3), point_b (..., 3), as of `dijoco.implicit`. The quaternions need not be
    normalised. Members are evaluated one after another, each from the solution of the last.
    """
    _lib.expect(pair, ImplicitPair, "pair")
    poses = []
    for name, value in (("pose_a", pose_a), ("pose_b", pose_b)):
        poses.append(_double(value, name))
        if poses[-1].shape[-1:] != (7,):
            raise ValueError("%s: expected shape (..., 7), not %s"
                             % (name, tuple(poses[-1].shape)))
    try:
        batch = torch.broadcast_shapes(*(pose.shape[:-1] for pose in poses))
    except RuntimeError:
        raise ValueError("pose_b: shape %s does not broadcast with %s, that of pose_a"
                         % (tuple(poses[1].shape), tuple(poses[0].shape))) from None
    poses = [pose.expand(batch + (7,)).reshape(-1, 7) for pose in poses]
    derivatives = torch.is_grad_enabled() and any(x.requires_grad for x in poses)
    results = _as(_apply(_Touch, pair, derivatives, *poses), _like(pose_a, pose_b))
    return {name: x.reshape(batch + x.shape[1:]) for name, x in zip(VALUES, results)}
