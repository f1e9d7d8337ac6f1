"""Steps and runs as operators of PyTorch, which torch.compile keeps whole: their shapes are known
without running them. Models and data are known to operators by their addresses.

The operator's derivative runs once more; it has no further ones, but outside of torch.compile.
"""
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch

from . import _autodiff, _lib

Tensors = List[torch.Tensor]
Maybe = Optional[torch.Tensor]
_work: Dict[str, Callable[..., Any]] = {}   # what torch.py does: "forward", "pull", "like"


def _find(address):
    return _lib.OBJECTS[address] if address else None


def _called(model, data, names, params):
    return _find(model), _find(data), dict(zip(names.split("\n"), params)) if params else {}


def _shapes(kind, model, given, params):
    """Of the results: axes in front of the last, and sizes of that."""
    n, ctrl = _autodiff.sizes(model), given[0]
    rows = () if kind == "step" else tuple(ctrl.shape[-2:-1])
    tails = ((*rows, n.nu), (n.nq,), (n.nv,), (n.na,))
    batch = None
    for name, tail, x in zip(("ctrl", "qpos", "qvel", "act"), tails, given):
        if x is not None:
            batch = _autodiff.check_shape(name, x.shape, tail, batch)
    for name, value in params.items():
        size = _autodiff.param_size(model, name)
        if value.dim() > 0 and value.numel() == len(value) * size != size:
            batch = _autodiff.check_shape(name, (len(value), size), (size,), batch)
    axes = (() if batch is None else (batch,)) + tuple(t + 1 for t in rows)
    return [axes + (k,) for k in (n.nq, n.nv, n.na)]


@torch.library.custom_op("dijoco::call", mutates_args=())
def call(kind: str, model: int, data: int, names: str, ctrl: Maybe, qpos: Maybe, qvel: Maybe,
         act: Maybe, params: Tensors) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    found, other, params = _called(model, data, names, params)
    return tuple(x.clone() for x in _work["forward"](
        kind, found, other, (ctrl, qpos, qvel, act), params))


@call.register_fake
def _(kind, model, data, names, ctrl, qpos, qvel, act, params):
    found, _, params = _called(model, data, names, params)
    given = ctrl, qpos, qvel, act
    dtype, device = _work["like"](*given, *params.values()) or (torch.float64, "cpu")
    return tuple(torch.empty(shape, dtype=dtype, device=device)
                 for shape in _shapes(kind, found, given, params))


@torch.library.custom_op("dijoco::pull", mutates_args=())
def pull(kind: str, model: int, data: int, names: str, ctrl: Maybe, qpos: Maybe, qvel: Maybe,
         act: Maybe, params: Tensors, cotangents: Tensors) -> Tensors:
    found, other, params = _called(model, data, names, params)
    return _work["pull"](kind, found, other, (ctrl, qpos, qvel, act), params, cotangents)


@pull.register_fake
def _(kind, model, data, names, ctrl, qpos, qvel, act, params, cotangents):
    return [torch.empty_like(x, memory_format=torch.contiguous_format)
            for x in (ctrl, qpos, qvel, act, *params) if x is not None]


def _setup(ctx, inputs, output):
    *ctx.how, ctrl, qpos, qvel, act, params = inputs
    given = ctrl, qpos, qvel, act
    ctx.there = [x is not None for x in given]
    ctx.save_for_backward(*(x for x in given if x is not None), *params)


def _backward(ctx, *cotangents):
    saved = iter(ctx.saved_tensors)
    given = [next(saved) if there else None for there in ctx.there]
    found = iter(pull(*ctx.how, *given, list(saved), list(cotangents)))
    return (None,) * 4 + (*(next(found) if there else None for there in ctx.there), list(found))


call.register_autograd(_backward, setup_context=_setup)
