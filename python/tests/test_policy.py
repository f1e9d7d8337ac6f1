"""The example that searches for policies in stock MuJoCo."""
import importlib.util
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


def test_designs(policy, tmp_path, capsys):
    """A paddle below the ball throws it, one that is too short does not."""
    short = write(tmp_path / "short.xml", RAISE % 0.05)
    long = write(tmp_path / "long.xml", RAISE % 0.2)
    out = tmp_path / "curves.svg"
    args = ["--body", "ball", "--time", "0.6", "--episodes", "24", "--seeds", "2",
            "--method", "cem", "--out", str(out)]
    assert policy.main(["raise", short, long, *args]) == 0
    assert "more by every method" in capsys.readouterr().out
    picture = xml.etree.ElementTree.fromstring(out.read_text())
    assert len(picture.findall("{*}polyline")) == 2
    assert policy.main(["raise", long, short, *args]) == 1


def test_search(policy, tmp_path):
    """Later episodes are better, the same seed is the same search, and only servos move."""
    scene = write(tmp_path / "long.xml", RAISE % 0.2)
    options = type("Options", (), dict(body="ball", mark=np.zeros(3), time=0.6, size=0.3,
                                       frequency=1))
    task = policy.Task(scene, "raise", options)
    assert task.moves == [0]
    first, again = (policy.cem(task, 3, 96) for _ in range(2))
    assert first == again and len(first) == 96
    assert np.mean(first[-24:]) > np.mean(first[:24])


def test_fall(policy, tmp_path):
    """An episode of walk ends where the body tips over, and costs one."""
    scene = write(tmp_path / "walk.xml", WALK)
    options = type("Options", (), dict(body=None, mark=np.array([0, 3.0, 0]), time=2, size=0.3,
                                       frequency=1))
    task = policy.Task(scene, "walk", options)
    task.reset()
    _, reward, over = task.step(np.zeros(1))
    assert not over and reward == pytest.approx(0.1 * policy.HOLD * 0.005, abs=1e-6)
    task.data.qvel[3] = 40
    _, reward, over = task.step(np.zeros(1))
    assert over and reward < -0.9


def test_controls(policy, tmp_path):
    """Controls are those of the file, row by row, plus the action."""
    ctrl = tmp_path / "ctrl.csv"
    ctrl.write_text("ctrl[0],ctrl[1]\n" + "".join("%g,%g\n" % (k / 100, -k) for k in range(20)))
    scene = write(tmp_path / "long.xml", RAISE % 0.2) + "," + str(ctrl)
    options = type("Options", (), dict(body="ball", mark=None, time=9, size=0.5, frequency=1))
    task = policy.Task(scene, "raise", options)
    task.reset()
    over = False
    while not over:
        _, _, over = task.step([2])
        assert task.data.ctrl == pytest.approx([(task.at - 1) / 100 + 0.5, 1 - task.at])
    assert task.at == 20


def test_sac(policy, tmp_path):
    pytest.importorskip("torch")
    scene = write(tmp_path / "long.xml", RAISE % 0.2)
    options = type("Options", (), dict(body="ball", mark=None, time=0.6, size=0.3, frequency=1))
    rewards = policy.sac(policy.Task(scene, "raise", options), 0, 20)   # it learns from the 14th on
    assert len(rewards) == 20 and np.all(np.isfinite(rewards))
    assert len(set(rewards)) > 1
