"""Batches: the bits of single data, arrays in place, worlds that fail alone, gradients."""
import threading
import time
import warnings

import numpy as np
import pytest

import dijoco
from dijoco import _autodiff

N, T = 5, 12


@pytest.fixture
def robot(root):
    return dijoco.Model.load(root / "examples" / "cartpole.json")


def started(model, threads=2, n=N):
    batch = dijoco.Batch(model, n, threads=threads)
    rng = np.random.default_rng(1)
    batch.qvel[:] = rng.normal(size=batch.qvel.shape)
    return batch


def single(model, i, n=N):
    data = dijoco.Data(model)
    rng = np.random.default_rng(1)
    data.qvel = rng.normal(size=(n, model.nv))[i]
    return data


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_steps_and_runs_are_those_of_data(robot, box, threads):
    for model in robot, box:
        batch = started(model, threads)
        assert len(batch) == N and "5 worlds" in repr(batch)
        rng = np.random.default_rng(2)
        ctrl = rng.normal(size=(N, T, model.nu))
        for k in range(3):
            assert batch.step(ctrl[:, k], 2) == 0
        at = batch.qpos.copy()
        run = batch.rollout(ctrl)
        assert run.qpos.shape == (N, T + 1, model.nq) and run.act.shape == (N, T + 1, model.na)
        np.testing.assert_array_equal(run.qpos[:, 0], at)
        for i in range(N):
            data = single(model, i)
            for k in range(3):
                data.ctrl = ctrl[i, k]
                data.step(2)
            for k in range(T):
                np.testing.assert_array_equal(run.qpos[i, k], data.qpos)
                np.testing.assert_array_equal(run.qvel[i, k], data.qvel)
                data.ctrl = ctrl[i, k]
                data.step()
            for name in "qpos", "qvel", "xpos", "xquat", "geom_xmat":
                np.testing.assert_array_equal(getattr(batch, name)[i], getattr(data, name))
            assert batch.time[i] == data.time
            assert batch.stats.steps[i] == data.stats.steps == T + 6
            assert batch.stats.residual[i] == data.stats.residual


def test_transition(box):
    batch = started(box)
    batch.step(n=3)
    A, B = batch.transition()
    for i in range(N):
        data = single(box, i)
        data.step(3)
        a, b = data.transition()
        np.testing.assert_array_equal(A[i], a)
        np.testing.assert_array_equal(B[i], b)


def test_arrays_are_the_library_s(box):
    batch = dijoco.Batch(box, 3)
    assert batch.qpos.base is not None and batch.qpos.flags.c_contiguous
    assert batch.xfrc_applied.shape == (3, box.nbody, 6) and batch.geom_xmat.shape[2] == 9
    assert batch.mocap_pos.shape == (3, 0, 3) and batch.ctrl.shape == (3, box.nu)
    view = batch.qpos
    batch.step()
    assert view is batch.qpos and view[0, 2] < box.qpos0[2]
    batch.active[1] = 0
    kept = batch.qpos[1].copy()
    batch.step()
    np.testing.assert_array_equal(batch.qpos[1], kept)
    batch.qvel = np.ones((3, box.nv))
    assert (batch.qvel == 1).all()
    with pytest.raises(ValueError, match="shape"):
        batch.qvel = np.ones(box.nv)
    with pytest.raises(ValueError, match="read-only"):
        batch.xpos[0] = 1
    del batch
    assert (view == view).all()


@pytest.mark.parametrize("checkpoint", [0, 1, 5])
def test_gradients(robot, checkpoint):
    rng = np.random.default_rng(3)
    ctrl, wq = rng.normal(size=(N, T, robot.nu)), rng.normal(size=(N, T + 1, robot.nv))
    wu = rng.normal(size=ctrl.shape)
    batch = started(robot)
    run = batch.rollout(ctrl, gradient=True, checkpoint=checkpoint)
    assert run.nbytes > 0 and "12 steps" in repr(run)
    for _ in range(2):
        g = run.vjp(qpos=wq, qvel=wq, params="body/*/mass", ctrl=wu)
    for i in range(N):
        data = single(robot, i)
        one = dijoco.rollout(robot, ctrl[i], data=data)
        np.testing.assert_array_equal(run.qpos[i], one.qpos)
        h = one.vjp(qpos=wq[i], qvel=wq[i], params="body/*/mass", ctrl=wu[i])
        for name in "ctrl", "qpos0", "qvel0":
            np.testing.assert_array_equal(getattr(g, name)[i], getattr(h, name))
        assert list(g.params) == list(h.params)
        for name in h.params:
            np.testing.assert_array_equal(g.params[name][i], h.params[name])


def test_checkpoints_of_one_run(robot):
    ctrl = np.random.default_rng(4).normal(size=(T, robot.nu))
    w = np.ones((T + 1, robot.nv))
    whole = dijoco.rollout(robot, ctrl).vjp(qpos=w).ctrl
    few = dijoco.rollout(robot, ctrl, checkpoint=3).vjp(qpos=w).ctrl
    np.testing.assert_array_equal(whole, few)
    with pytest.raises(ValueError, match="checkpoint"):
        dijoco.rollout(robot, ctrl, checkpoint=-1)


def test_failures_are_alone(robot):
    batch, other = started(robot), started(robot)
    ctrl = np.zeros((N, T, robot.nu))
    ctrl[3, 7] = np.nan
    with pytest.warns(dijoco.StepWarning, match="of 5 worlds 1 failed; world 3: step 7: ctrl"):
        run = batch.rollout(ctrl)
    assert batch.failed.tolist() == [False, False, False, True, False]
    assert batch.status[3] < 0 and batch.error(3).startswith("step 7") and batch.error(2) == ""
    assert not np.isnan(run.qpos[3, 7]).any() and np.isnan(run.qpos[3, 8:]).all()
    ctrl[3, 7] = 0
    good = other.rollout(ctrl)
    keep = [0, 1, 2, 4]
    np.testing.assert_array_equal(run.qpos[keep], good.qpos[keep])
    batch.reset(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert batch.step() == 0
    assert not batch.failed.any() and batch.time[3] < batch.time[0]


def test_models_of_their_own(robot):
    mass = np.linspace(1, 2, N)
    batch = started(robot)
    batch.set_params({"body/cart/mass": mass})
    batch.world_model(2).set_param("joint/angle/damping", .3)
    batch.step(n=20)
    for i in range(N):
        model = robot.copy()
        model.set_param("body/cart/mass", mass[i])
        if i == 2:
            model.set_param("joint/angle/damping", .3)
        data = single(model, i)
        data.step(20)
        np.testing.assert_array_equal(batch.qpos[i], data.qpos)
    assert batch.model.param("body/cart/mass") == robot.param("body/cart/mass")
    assert batch.world_model(1).param("body/cart/mass") == mass[1]
    with pytest.raises(dijoco.Error, match="world 1: "):
        batch.set_params({"body/cart/mass": [1, -1, 1, 1, 1]})
    with pytest.raises(ValueError):
        batch.set_params({"body/cart/mass": [1, 2]})


def test_single_worlds(box):
    batch, data = started(box), dijoco.Data(box)
    batch.step(n=4)
    batch.get(data, 2)
    np.testing.assert_array_equal(data.qpos, batch.qpos[2])
    np.testing.assert_array_equal(data.xpos, batch.xpos[2])
    data.qvel[:] = 0
    batch.set(4, data)
    np.testing.assert_array_equal(batch.qpos[4], batch.qpos[2])
    assert (batch.qvel[4] == 0).all()
    batch.reset()
    np.testing.assert_array_equal(batch.qpos, np.tile(box.qpos0, (N, 1)))
    for wrong in -1, N:
        with pytest.raises(IndexError):
            batch.get(data, wrong)
    with pytest.raises(dijoco.Error, match="keyframe"):
        batch.reset(0, 99)


def test_arguments(robot):
    for arguments in ((robot, 0), (robot, 2, -1)):
        with pytest.raises(dijoco.Error, match="positive|negative"):
            dijoco.Batch(*arguments)
    with pytest.raises(TypeError):
        dijoco.Batch("model", 2)
    batch = dijoco.Batch(robot, 2)
    for ctrl in np.zeros((2, 3)), np.zeros((3, 4, robot.nu)), np.zeros((2, 0, robot.nu)):
        with pytest.raises(ValueError, match="shape"):
            batch.rollout(ctrl)
    with pytest.raises(ValueError):
        batch.step(n=-1)


def test_python_s_lock_is_released(box):
    batch = started(box, n=400)
    worker = threading.Thread(target=batch.step, kwargs={"n": 400})
    worker.start()
    ticks, start = 0, time.monotonic()
    while worker.is_alive() and time.monotonic() - start < 60:
        time.sleep(.001)
        ticks += 1
    worker.join()
    assert ticks > 3


def test_runs_tell_of_their_steps(box):
    """Runs of batches warn as those of single data do, of each kind of step by its own name."""
    qpos, qvel, act = np.array([box.qpos0] * 2), np.zeros((2, box.nv)), np.zeros((2, box.na))
    qpos[1, 2] = box.geom_size[-1, 2] - .01   # in the floor
    with pytest.warns(dijoco.StepWarning) as told:
        _autodiff.Run(box, None, {}, qpos, qvel, act, np.zeros((2, 3, box.nu)),
                      derivatives=False)
    assert ["recovering_steps" in str(w.message) for w in told] == [True]
