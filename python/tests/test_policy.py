"""The example that searches for policies in stock MuJoCo."""
import importlib.util
import types
import xml.etree.ElementTree

import numpy as np
import pytest

from mj import mujoco

# A paddle below a ball, which it can throw; a car that tips over when it is pushed from above.
RAISE = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body pos="0 0 .1"><joint name="lift" type="slide" axis="0 0 1" damping="5"/>
    <geom type="box" size="%g .1 .02" mass="1"/></body>
  <body name="ball" pos=".1 0 .2"><freejoint/><geom type="sphere" size=".03" mass=".1"/></body>
</worldbody><actuator><position joint="lift" kp="400"/><motor joint="lift"/></actuator></mujoco>"""
WALK = """<mujoco><option timestep="0.005" gravity="0 0 0"/><worldbody>
  <body pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
    <body><joint name="arm" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 .5" size=".02"/></body>
  </body></worldbody><actuator><position joint="arm" kp="2"/></actuator></mujoco>"""
# A body with a hinge across and one along on either side.
PAIR = """<mujoco><option timestep="0.005" gravity="0 0 0"/><worldbody>
  <body pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
    <body pos="-.1 0 0"><joint name="l_pitch" axis="1 0 0"/><joint name="l_roll" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02"/></body>
    <body pos=".1 0 0"><joint name="r_pitch" axis="1 0 0"/><joint name="r_roll" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02"/></body>
  </body></worldbody><actuator><position joint="l_pitch" kp="2"/><position joint="l_roll" kp="2"/>
  <position joint="r_pitch" kp="2"/><position joint="r_roll" kp="2"/></actuator></mujoco>"""


@pytest.fixture
def policy(root):
    if not hasattr(mujoco, "__version__"):
        pytest.skip("the package mujoco is not installed")
    path = root / "python" / "examples" / "policy.py"
    spec = importlib.util.spec_from_file_location("policy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(path, text):
    path.write_text(text)
    return str(path)


def options(**changed):
    return types.SimpleNamespace(**{**dict(body=None, mark=np.zeros(3), time=0.6, size=0.3,
                                           frequency=1, push=0.1, mirror=None), **changed})


def test_designs(policy, tmp_path, capsys):
    """A paddle below the ball throws it, one that is too short does not."""
    short = write(tmp_path / "short.xml", RAISE % 0.05)
    long = write(tmp_path / "long.xml", RAISE % 0.2)
    out = tmp_path / "curves.svg"
    args = ["--body", "ball", "--time", "0.6", "--episodes", "48", "--seeds", "2",
            "--method", "cem", "--out", str(out)]
    assert policy.main(["raise", short, long, *args]) == 0
    assert "more by every method" in capsys.readouterr().out
    picture = xml.etree.ElementTree.fromstring(out.read_text())
    assert len(picture.findall("{*}polyline")) == 2
    assert policy.main(["raise", long, short, *args]) == 1


def test_search(policy, tmp_path):
    """Later policies are better, the same seed is the same search, and only servos move."""
    task = policy.Task(write(tmp_path / "long.xml", RAISE % 0.2), "raise", options(body="ball"))
    assert task.moves == [0]
    first, again = (policy.cem(task, 3, 240) for _ in range(2))
    assert first == again and len(first) == 10
    assert np.mean(first[-3:]) > first[0]


def test_fall(policy, tmp_path):
    """An upright second is worth its part of the episode; one that tips over ends it, for nothing;
    the end counts as much as the whole."""
    task = policy.Task(write(tmp_path / "walk.xml", WALK), "walk",
                       options(mark=np.array([0, 3.0, 0]), time=2, push=0))
    assert task.step(np.zeros(1)) == (False, pytest.approx(policy.HOLD / 2, abs=1e-6))
    task.data.qvel[1] = 5
    over, reward = task.step(np.zeros(1))
    assert not over     # MuJoCo tells places before its last step
    assert reward == pytest.approx(policy.HOLD / 2 * (1 + 5 * (policy.HOLD - 0.005)), rel=1e-6)
    task.data.qvel[3] = 40
    assert task.step(np.zeros(1)) == (True, 0)
    assert policy.run(task, lambda: np.zeros(1), (0, 0)) == pytest.approx(2, abs=1e-5)


def test_push(policy, tmp_path):
    """Starts differ by the push, and those of a trial do not."""
    task = policy.Task(write(tmp_path / "walk.xml", WALK), "walk", options(push=0.2))
    task.reset((0.5, -1))
    assert task.data.qvel[:3] == pytest.approx([0.1, -0.2, 0])
    task.reset()
    assert task.data.qvel[:3] == pytest.approx(np.zeros(3))
    seen = []
    one, two = (policy.trial(task, lambda: seen.append(task.data.qvel[0]) or np.zeros(1))
                for _ in range(2))
    assert one == two and len(set(seen)) >= policy.TRIALS


def test_mirror(policy, tmp_path):
    """Right joints do half a turn later what left ones do, in the mirror."""
    task = policy.Task(write(tmp_path / "pair.xml", PAIR), "walk",
                       options(mark=np.array([0, 3.0, 0]), mirror=["l_", "r_"]))
    one, other, sign = task.pairs
    assert (one, other, list(sign)) == ([0, 1], [2, 3], [1, -1])
    weights = np.random.default_rng(1).standard_normal((2, len(task.features())))
    task.data.qpos[:7] = [0, 0, 1, *np.array([1, 0.1, 0.2, 0.3]) / np.sqrt(1.14)]
    task.data.qvel[:6] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    mujoco.mj_forward(task.model, task.data)
    now = policy.linear(task, weights)()
    # The mirror image by x, half a turn of the clock later.
    task.data.qpos[4:7] *= [1, -1, -1]
    task.data.qvel[:6] *= [-1, 1, 1, 1, -1, -1]
    mujoco.mj_forward(task.model, task.data)
    task.at += round(0.5 / task.model.opt.timestep)
    assert policy.linear(task, weights)() == pytest.approx(now[[2, 3, 0, 1]] * [1, -1, 1, -1])
    assert abs(now).min() > 1e-3 and now[0] != pytest.approx(now[2])


def test_controls(policy, tmp_path):
    """Controls are those of the file, row by row, plus the action."""
    ctrl = tmp_path / "ctrl.csv"
    ctrl.write_text("ctrl[0],ctrl[1]\n" + "".join("%g,%g\n" % (k / 100, -k) for k in range(20)))
    scene = write(tmp_path / "long.xml", RAISE % 0.2) + "," + str(ctrl)
    task = policy.Task(scene, "raise", options(body="ball", time=9, size=0.5))
    over = False
    while not over:
        over, _ = task.step([2])
        assert task.data.ctrl == pytest.approx([(task.at - 1) / 100 + 0.5, 1 - task.at])
    assert task.at == 20


def test_targets(policy, tmp_path):
    """Without controls an action is about the joint's start, for as long as it is held."""
    task = policy.Task(write(tmp_path / "pair.xml", PAIR), "walk", options(size=0.2))
    task.step([1, -1, 0.5, 3])
    assert task.at > 1 and task.data.ctrl == pytest.approx([0.2, -0.2, 0.1, 0.2])


def test_sac(policy, tmp_path):
    pytest.importorskip("torch")
    task = policy.Task(write(tmp_path / "long.xml", RAISE % 0.2), "raise", options(body="ball"))
    results = policy.sac(task, 0, 48)   # it learns from the 14th episode on
    assert len(results) == 2 and np.all(np.isfinite(results)) and results[0] != results[1]
