"""What a call costs through PyTorch, through the package, and as plain calls of the C library.

    python python/benchmarks/torch_overhead.py [SCENE ...] [--steps 100] [--repeat 200]

Without scenes: models/push_arm, and gymnasium's hopper and humanoid (scripts/fetch_models.sh).
Medians of processor time in microseconds; the three ways alternate in one process, on one thread,
from one state in which the model touches the floor. Forward + backward of the plain calls are a
step and its vector-Jacobian product, or both passes over a tape that is reused.
"""
import argparse
import ctypes
import pathlib
import statistics
import time
from ctypes import byref, c_void_p

import numpy as np
import torch

import dijoco
import dijoco.torch
from dijoco._lib import CRollout, CRolloutResult, Handle, call, core

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENES = [ROOT / "models" / "push_arm" / "scene.xml",
          ROOT / "build" / "deps" / "gymnasium" / "hopper.xml",
          ROOT / "build" / "deps" / "gymnasium" / "humanoid.xml"]


def start(model):
    """State and controls: 0.1 s after the first contact, or after 1 s."""
    data, random = dijoco.Data(model), np.random.default_rng(0)
    ctrl = .1 * random.standard_normal(model.nu)
    data.ctrl = ctrl
    first = None
    while data.time < 1 and (first is None or data.time < first + .1):
        data.step()
        if first is None and len(data.contacts):
            first = data.time
    return {name: np.array(getattr(data, name)) for name in ("qpos", "qvel", "act", "ctrl")}


def plain_calls(model, state, steps):
    """The four jobs by calls of C functions on memory prepared beforehand."""
    m, data = model._address, dijoco.Data(model)
    d = data._address
    copies = [(getattr(data, name).ctypes.data, value.ctypes.data, value.nbytes)
              for name, value in state.items()]
    lam = np.ones(model.tangent_size)
    dx, du = np.zeros_like(lam), np.zeros(model.nu)
    lam_at, dx_at, du_at = (x.ctypes.data for x in (lam, dx, du))

    def step():
        core.dj_resetData(m, d)
        for copy in copies:
            ctypes.memmove(*copy)
        core.dj_step(m, d)

    def step_vjp():
        step()
        core.djd_stepVjp(m, d, dx_at, du_at, lam_at)

    ctrl = np.tile(state["ctrl"], (steps, 1))
    tape = c_void_p()
    call(core.djd_makeTape, byref(tape), m, steps)
    tape = Handle(tape.value, core.djd_deleteTape)
    qpos, qvel, act = (state[name].ctypes.data for name in ("qpos", "qvel", "act"))
    run, free = (CRollout(horizon=steps, qpos0=qpos, qvel0=qvel, act0=act, ctrl=ctrl.ctypes.data,
                          loss_only=loss_only) for loss_only in (False, True))
    dstate, grad = np.ones((steps + 1, model.tangent_size)), np.zeros_like(ctrl)
    result = CRolloutResult(grad_ctrl=grad.ctypes.data)

    def rollout():
        core.djd_rolloutForward(byref(result), m, d, byref(free), tape.address)

    def rollout_vjp():
        core.djd_rolloutForward(byref(result), m, d, byref(run), tape.address)
        core.djd_setCotangents(tape.address, m, dstate.ctypes.data, None)
        core.djd_rolloutBackward(byref(result), m, d, byref(run), tape.address)

    keep = (data, lam, dx, du, ctrl, tape, dstate, grad, state)
    return [step, step_vjp, rollout, rollout_vjp], keep


def package_calls(model, state, steps):
    """The same by Data and rollout."""
    data = dijoco.Data(model)
    lam, ctrl = np.ones(model.tangent_size), np.tile(state["ctrl"], (steps, 1))
    begin = [state[name] for name in ("qpos", "qvel", "act")]
    gq, gv, ga = (np.ones((steps + 1, n)) for n in (model.nv, model.nv, model.na))

    def step():
        data.reset()
        data.qpos, data.qvel, data.act = begin
        data.ctrl = state["ctrl"]
        data.step()

    def step_vjp():
        step()
        data.step_vjp(lam)

    def rollout(gradient=False):
        return dijoco.rollout(model, ctrl, *begin, gradient=gradient)

    def rollout_vjp():
        rollout(True).vjp(gq, gv, ga)

    return [step, step_vjp, rollout, rollout_vjp]


def torch_calls(model, state, steps):
    """The same by dijoco.torch, of tensors of doubles."""
    qpos, qvel, act, ctrl = (torch.tensor(state[name]) for name in ("qpos", "qvel", "act", "ctrl"))
    many = ctrl.repeat(steps, 1)
    inputs = [x.clone().requires_grad_() for x in (qpos, qvel, act, ctrl)]
    wanted = many.clone().requires_grad_()

    def ones(results):
        return [torch.ones_like(x) for x in results]

    def step():
        return dijoco.torch.step(model, qpos, qvel, ctrl, act)

    def step_vjp():
        results = dijoco.torch.step(model, *inputs[:2], inputs[3], inputs[2])
        torch.autograd.grad(results, inputs, ones(results))

    def rollout():
        return dijoco.torch.rollout(model, many, qpos, qvel, act)

    def rollout_vjp():
        results = dijoco.torch.rollout(model, wanted, qpos, qvel, act)
        torch.autograd.grad(results, wanted, ones(results))

    return [step, step_vjp, rollout, rollout_vjp]


def medians(functions, repeat):
    """Median times in microseconds of functions that are called by turns, all on this thread."""
    times = [[] for _ in functions]
    for k in range(repeat + 3):
        for function, list_ in zip(functions, times):
            begin = time.thread_time_ns()
            function()
            if k >= 3:  # after warming up
                list_.append(time.thread_time_ns() - begin)
    return [1e-3 * statistics.median(x) for x in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scenes", nargs="*", default=SCENES)
    parser.add_argument("--steps", type=int, default=100, help="of a rollout (100)")
    parser.add_argument("--repeat", type=int, default=200, help="of a step; rollouts a tenth")
    args = parser.parse_args()
    torch.set_num_threads(1)
    jobs = ("step", "step + backward", "%d steps" % args.steps, "%d steps + backward" % args.steps)
    print("%-10s %-20s %10s %10s %10s %14s" % ("scene", "us per call", "C", "package", "PyTorch",
                                               "PyTorch - C"))
    for scene in map(pathlib.Path, args.scenes):
        model = dijoco.Model.load(scene)
        state = start(model)
        plain, _keep = plain_calls(model, state, args.steps)
        ways = [plain] + [made(model, state, args.steps) for made in (package_calls, torch_calls)]
        name = scene.parent.name if scene.stem == "scene" else scene.stem
        for job, *functions in zip(jobs, *ways):
            repeat = args.repeat if job.startswith("step") else max(10, args.repeat // 10)
            c, package, pytorch = medians(functions, repeat)
            print("%-10s %-20s %10.1f %10.1f %10.1f %8.1f %+.0f%%"
                  % (name, job, c, package, pytorch, pytorch - c, 100 * (pytorch / c - 1)))


if __name__ == "__main__":
    main()
