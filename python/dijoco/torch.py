"""Steps and runs as differentiable functions of PyTorch tensors.

    import dijoco.torch

    qpos, qvel, act = dijoco.torch.rollout(model, ctrl, params={"geom/box/friction": friction})
    qpos[-1, 0].backward()

Tensors of any floating type and device are accepted; the library computes in double precision on
the CPU. Derivatives by qpos are by its numbers, a quaternion p meaning p/|p|: they chain with
what PyTorch itself does to these numbers. First derivatives only.
"""
import torch
from torch.autograd.function import once_differentiable

from . import _autodiff


def _array(tensor):
    return tensor.detach().numpy().copy()  # what is kept must not change with the tensor


def _tensors(*arrays):
    return tuple(torch.tensor(array) for array in arrays)  # copies, for the same reason


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, model, data, derivatives, qpos, qvel, act, ctrl):
        made = _autodiff.Step(model, data, *map(_array, (qpos, qvel, act, ctrl)), derivatives)
        ctx.made = made
        return _tensors(made.qpos, made.qvel, made.act)

    @staticmethod
    @once_differentiable
    def backward(ctx, *covectors):
        return (None, None, None) + _tensors(*ctx.made.vjp(*map(_array, covectors)))


class _Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx, model, data, derivatives, names, qpos, qvel, act, ctrl, *params):
        values = dict(zip(names, map(_array, params)))
        made = _autodiff.Run(model, data, values, *map(_array, (qpos, qvel, act, ctrl)),
                             derivatives)
        ctx.made = made
        return _tensors(made.qpos, made.qvel, made.act)

    @staticmethod
    @once_differentiable
    def backward(ctx, *covectors):
        *parts, by_params = ctx.made.vjp(*map(_array, covectors))
        return (None, None, None, None) + _tensors(*parts, *by_params)


def _prepare(model, data, tails, given, params):
    """Arguments as tensors (B, ...) of doubles on the CPU; the batch or None; the type and device
    of results."""
    standard, like, batch, tensors = _autodiff.defaults(model, data), None, None, []
    for name, tail, value in zip(("qpos", "qvel", "act", "ctrl"), tails, given):
        if value is None:
            value = torch.from_numpy(standard[name])
        else:
            value = torch.as_tensor(value)
            like = value if like is None or value.requires_grad else like
        batch = _autodiff.check_shape(name, value.shape, tail, batch)
        tensors.append(value)
    values = []
    for name, value in params.items():
        value = torch.as_tensor(value)
        like = value if like is None else like
        values.append(value.to("cpu", torch.float64).reshape(-1))
    if like is None or not like.is_floating_point():
        like = torch.zeros(0, dtype=torch.float64)
    for i, (value, tail) in enumerate(zip(tensors, tails)):
        value = value.to("cpu", torch.float64)
        if value.dim() == len(tail):
            value = value.unsqueeze(0)
        tensors[i] = value.expand((batch or 1,) + tail)
    return tensors, values, batch, like


def _finish(results, batch, like):
    return tuple((r if batch is not None else r[0]).to(like.device, like.dtype) for r in results)


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
        ctrl = torch.as_tensor(ctrl).unsqueeze(-2)
        return tuple(x[..., 1, :] for x in rollout(model, ctrl, qpos, qvel, act, params, data))
    tails = ((model.nq,), (model.nv,), (model.na,), (model.nu,))
    tensors, _, batch, like = _prepare(model, data, tails, (qpos, qvel, act, ctrl), {})
    derivatives = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    return _finish(_Step.apply(model, data, derivatives, *tensors), batch, like)


def rollout(model, ctrl, qpos0=None, qvel0=None, act0=None, params=None, data=None):
    """A run of T steps: qpos (T+1, nq), qvel (T+1, nv), act (T+1, na); row 0 is the start.

    ctrl (T, nu); qpos0 (nq,), qvel0 (nv,), act0 (na,): the start; where None, that of data, else
    the model's reference at rest. Batches, params and data: as for `step`, ctrl (B, T, nu).
    """
    params, ctrl = params or {}, torch.as_tensor(ctrl)
    if ctrl.dim() < 2:
        raise ValueError("ctrl: expected shape (T, %d), not %s" % (model.nu, tuple(ctrl.shape)))
    tails = ((model.nq,), (model.nv,), (model.na,), (ctrl.shape[-2], model.nu))
    tensors, values, batch, like = _prepare(model, data, tails, (qpos0, qvel0, act0, ctrl), params)
    derivatives = torch.is_grad_enabled() and any(t.requires_grad for t in tensors + values)
    results = _Run.apply(model, data, derivatives, tuple(params), *tensors, *values)
    return _finish(results, batch, like)
