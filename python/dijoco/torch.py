"""Steps, runs, losses of tasks and touches of implicit surfaces as differentiable functions of
PyTorch tensors.

    import dijoco.torch

    qpos, qvel, act = dijoco.torch.rollout(model, ctrl, params={"geom/box/friction": friction})
    qpos[-1, 0].backward()

Tensors of any floating type and device are accepted; the library computes in double precision on
the CPU. Results have the widest type of the tensors given, and are where the first of them is.
Derivatives by qpos are by its numbers, a quaternion p meaning p/|p|: they chain with what PyTorch
itself does to these numbers. First derivatives only, by backward passes: second ones, torch.func
and forward mode raise.
"""
import functools

import numpy as np
import torch

from . import _autodiff, _lib
from .implicit import VALUES, ImplicitPair
from .task import Design

_NAMES = ("qpos", "qvel", "act", "ctrl")


def _array(tensor):
    return tensor.detach().numpy()


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
    return [_cotangent(x) if batch is not None else _cotangent(x)[None] for x in tensors]


def _unbatched(arrays, tails, dims):
    """Cotangents (B, ...) as tensors; summed for arguments without a batch axis."""
    return tuple(torch.from_numpy(x if dim > len(tail) else x[0] if len(x) == 1 else x.sum(0))
                 for x, tail, dim in zip(arrays, tails, dims))


# ---- first derivatives, and nothing else ---------------------------------------------------------

_SECOND = ("dijoco.torch: there are no second derivatives (hessian, hvp, jvp by double backward, a "
           "loss of gradients). Take differences of gradients instead, (g(x + h v) - g(x - h v))/2h,"
           " or Gauss-Newton products by data.step_jvp; where the gradient's value alone is meant, "
           "detach() it")
_FORWARD = "dijoco.torch: there is no forward mode; use backward(), or data.step_jvp for a step"
_FUNC = ("dijoco.torch: torch.func (grad, jacrev, vmap...) is not supported: use backward() or "
         "torch.autograd.grad, and a batch axis in front of the arguments in place of vmap")


class _Last(torch.autograd.Function):
    """Cotangents, which have no derivative by what they follow from: it is asked for in vain, and
    not answered by zero."""

    @staticmethod
    def forward(ctx, count, *tensors):
        return tuple(x.view_as(x) for x in tensors[:count])

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError(_SECOND)


def _last(backward):
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
        for i, x in zip(places, _Last.apply(len(places), *(out[i] for i in places), *sources)):
            out = out[:i] + (x,) + out[i + 1:]
        return out
    return run


class _Function(torch.autograd.Function):
    @staticmethod
    def jvp(ctx, *_):
        raise NotImplementedError(_FORWARD)


def _apply(function, *args):
    if getattr(torch._C, "_are_functorch_transforms_active", bool)():
        raise RuntimeError(_FUNC)
    return function.apply(*args)


def _cotangent(tensor):
    try:
        return tensor.detach().numpy()
    except RuntimeError as error:   # of a batch that is made by PyTorch
        raise RuntimeError("dijoco.torch: batches of cotangents (vectorize=True, is_grads_batched) "
                           "are not supported; call once for each: vectorize=False") from error


class _Step(_Function):
    @staticmethod
    def forward(ctx, model, data, derivatives, tails, batch, *state):
        ctx.made = _autodiff.Step(model, data, *_batched(state, tails, batch), derivatives)
        ctx.shape = tails, batch, [x.dim() for x in state]
        ctx.sources = state
        return _results(ctx.made, batch)

    @staticmethod
    @_last
    def backward(ctx, *cotangents):
        tails, batch, dims = ctx.shape
        parts = ctx.made.vjp(*_covectors(cotangents, batch))
        return (None,) * 5 + _unbatched(parts, tails, dims)


class _Run(_Function):
    @staticmethod
    def forward(ctx, model, data, derivatives, tails, batch, names, *tensors):
        state, params = tensors[:4], dict(zip(names, map(_copy, tensors[4:])))
        ctx.made = _autodiff.Run(model, data, params, *_batched(state, tails, batch), derivatives)
        ctx.shape = tails, batch, [x.dim() for x in state]
        ctx.sources = tensors
        return _results(ctx.made, batch)

    @staticmethod
    @_last
    def backward(ctx, *cotangents):
        tails, batch, dims = ctx.shape
        *parts, by_params = ctx.made.vjp(*_covectors(cotangents, batch))
        return ((None,) * 6 + _unbatched(parts, tails, dims) +
                tuple(map(torch.from_numpy, by_params)))


class _Touch(_Function):
    @staticmethod
    def forward(ctx, pair, derivatives, *poses):
        ctx.made = _autodiff.Touches(pair, *map(_copy, poses), derivatives)
        ctx.sources = poses
        return tuple(torch.from_numpy(x.copy()) for x in ctx.made.values)

    @staticmethod
    @_last
    def backward(ctx, *cotangents):
        parts = ctx.made.vjp(*map(_cotangent, cotangents))
        return (None, None) + tuple(map(torch.from_numpy, parts))


class _Losses(_Function):
    @staticmethod
    def forward(ctx, design, derivatives, x):
        losses, ctx.gradients = design.evaluate_scenes(_array(x), derivatives)
        ctx.sources = (x,)
        return torch.from_numpy(losses)

    @staticmethod
    @_last
    def backward(ctx, cotangents):
        return None, None, torch.from_numpy(_cotangent(cotangents) @ ctx.gradients)


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
    standard = None if all(x is not None for x in given) else _autodiff.defaults(model, data)
    batch, tensors = None, []
    for name, tail, value in zip(_NAMES, tails, given):
        tensor = _double(standard[name] if value is None else value, name)
        batch = _autodiff.check_shape(name, tensor.shape, tail, batch)
        tensors.append(tensor)
    values = [_double(value, name).reshape(-1) for name, value in params.items()]
    return tensors, values, batch, _like(*given, *params.values())


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


def step(model, qpos, qvel, ctrl=None, act=None, params=None, data=None):
    """One step: qpos (nq,), qvel (nv,), act (na,) after it.

    qpos (nq,), qvel (nv,), ctrl (nu,), act (na,): the start; where ctrl and act are None, those of
    data, else zeros. Any of them may have a batch axis in front, (B, nq) and so on; results then
    have it, too, and the batch runs on several threads. params: dict name -> tensor of as many
    entries as `model.param(name)` has, in place of the model's values, the same for all of a
    batch; derivatives by quaternions and axes are by their numbers, which need not be normalised.
    data: a `dijoco.Data` whose other inputs act; it is not changed.
    """
    if params:
        if ctrl is None:
            ctrl = torch.from_numpy(_autodiff.defaults(model, data)["ctrl"])
        ctrl = _tensor(ctrl).unsqueeze(-2)
        return tuple(x[..., 1, :] for x in rollout(model, ctrl, qpos, qvel, act, params, data))
    n = _autodiff.sizes(model)
    tails = ((n.nq,), (n.nv,), (n.na,), (n.nu,))
    tensors, _, batch, like = _prepare(model, data, tails, (qpos, qvel, act, ctrl), {})
    derivatives = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
    return _as(_apply(_Step, model, data, derivatives, tails, batch, *tensors), like)


def rollout(model, ctrl, qpos0=None, qvel0=None, act0=None, params=None, data=None):
    """A run of T steps: qpos (T+1, nq), qvel (T+1, nv), act (T+1, na); row 0 is the start.

    ctrl (T, nu); qpos0 (nq,), qvel0 (nv,), act0 (na,): the start; where None, that of data, else
    the model's reference at rest. Batches, params and data: as for `step`, ctrl (B, T, nu).
    """
    params, ctrl = params or {}, _tensor(ctrl)
    if ctrl.dim() < 2:
        raise ValueError("ctrl: expected shape (T, %d), not %s" % (model.nu, tuple(ctrl.shape)))
    n = _autodiff.sizes(model)
    tails = ((n.nq,), (n.nv,), (n.na,), (ctrl.shape[-2], n.nu))
    tensors, values, batch, like = _prepare(model, data, tails, (qpos0, qvel0, act0, ctrl), params)
    derivatives = torch.is_grad_enabled() and any(x.requires_grad for x in tensors + values)
    results = _apply(_Run, model, data, derivatives, tails, batch, tuple(params), *tensors, *values)
    return _as(results, like)


def losses(design, x):
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


def implicit(pair, pose_a, pose_b):
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
