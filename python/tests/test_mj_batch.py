"""Batches of MuJoCo's data: the bits of single contexts, data that fail alone."""
import warnings

import numpy as np
import pytest

import dijoco
from mj import mujoco

SCENE = """
<mujoco>
  <option timestep=".004"/>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body pos="0 0 .12"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body pos=".5 0 .5"><joint name="hinge" axis="0 1 0" damping=".02"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/></body>
  </worldbody>
  <actuator><motor joint="hinge"/></actuator>
  <sensor><jointpos joint="hinge"/></sensor>
</mujoco>"""
N, T = 5, 20

pytestmark = pytest.mark.filterwarnings("ignore::dijoco.ModelWarning")


@pytest.fixture
def model():
    return mujoco.MjModel.from_xml_string(SCENE)


def datas(model, n=N):
    out = [mujoco.MjData(model) for _ in range(n)]
    for i, d in enumerate(out):
        d.qvel[0] = .2 * i
        d.qpos[7] = .1 * i
    return out


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bits_are_those_of_contexts(model, threads):
    ctrl = np.random.default_rng(1).normal(size=(N, T, 1))
    contexts = dijoco.ContextBatch(model, threads, friction_eps=1e-3)
    assert contexts.threads == threads and "nq=8" in repr(contexts)
    many, own = datas(model), datas(model)
    run = contexts.rollout(many, ctrl)
    assert contexts.step(many, 3) == 0 and not contexts.failed.any()
    A, B, C, D = contexts.transition(many, sensors=True)
    for i, d in enumerate(own):
        context = dijoco.Context(model, friction_eps=1e-3)
        for k in range(T):
            np.testing.assert_array_equal(run.qpos[i, k], d.qpos)
            d.ctrl[:] = ctrl[i, k]
            context.step(d)
        np.testing.assert_array_equal(run.qvel[i, T], d.qvel)
        context.step(d, 3)
        for name in "qpos", "qvel", "qacc", "cfrc_ext", "sensordata":
            np.testing.assert_array_equal(getattr(many[i], name), getattr(d, name))
        for mine, his in zip((A, B, C, D), context.transition(d, sensors=True)):
            np.testing.assert_array_equal(mine[i], his)


def test_failures_are_alone(model):
    contexts = dijoco.ContextBatch(model, 2, substeps=2)
    many, own = datas(model), datas(model)
    many[2].qvel[0] = np.nan
    with pytest.warns(dijoco.StepWarning, match="of 5 data 1 failed; data 2: step 0: qvel"):
        contexts.step(many, 4)
    assert contexts.failed.tolist() == [i == 2 for i in range(N)]
    assert contexts.error(2).startswith("step 0") and contexts.error(1) == ""
    context = dijoco.Context(model, substeps=2)
    context.step(own[4], 4)
    np.testing.assert_array_equal(many[4].qpos, own[4].qpos)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        contexts.step(many[:2])


def test_arguments(model):
    contexts = dijoco.ContextBatch(model, 1)
    many = datas(model)
    with pytest.raises(ValueError, match="twice"):
        contexts.step([many[0], many[0]])
    with pytest.raises(ValueError, match="shape"):
        contexts.rollout(many, np.zeros((N, 1)))
    with pytest.raises(TypeError, match="keyword"):
        dijoco.ContextBatch(model, nothing=1)
    other = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(ValueError):
        contexts.step([mujoco.MjData(other)])
    assert contexts.step([]) == 0
    assert isinstance(contexts.report, list)
