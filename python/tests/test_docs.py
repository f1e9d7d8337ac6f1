"""What the pages show runs: the code of each in one interpreter, from the tree's root."""
import json
import re

import pytest

import dijoco
from mj import mujoco


def test_tour(root, monkeypatch, capsys):
    if not hasattr(mujoco, "__version__"):
        pytest.skip("the package mujoco is not installed")
    monkeypatch.chdir(root)
    blocks = re.findall(r"```python\n(.*?)```", (root / "docs" / "python.md").read_text(), re.S)
    assert len(blocks) == 10
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), scope)
    out = capsys.readouterr().out
    assert "True" in out and "nan" not in out
    assert scope["best"]["loss_last"] < scope["best"]["loss_first"]


def test_batches(root, monkeypatch, capsys):
    if not hasattr(mujoco, "__version__"):
        pytest.skip("the package mujoco is not installed")
    monkeypatch.chdir(root)
    scope = {}
    for block in blocks_of(root, "batches.md", "python"):
        exec(compile(block, "docs/batches.md", "exec"), scope)
    out = capsys.readouterr().out
    assert "(64, 21, %d)" % scope["model"].nq in out and "nan" not in out
    assert not scope["batch"].failed.any() and scope["A"].shape[0] == 8


def test_sweeps(root, monkeypatch):
    if not hasattr(mujoco, "__version__"):
        pytest.skip("the package mujoco is not installed")
    monkeypatch.chdir(root)
    scope = {}
    for block in blocks_of(root, "sweep.md", "python"):
        exec(compile(block, "docs/sweep.md", "exec"), scope)
    assert scope["table"].passed.all() and (scope["by_friction"].loss_last < 0.01).all()


def blocks_of(root, page, language):
    return re.findall(r"```%s\n(.*?)```" % language, (root / "docs" / page).read_text(), re.S)


def test_task(root):
    if not hasattr(mujoco, "__version__"):
        pytest.skip("the package mujoco is not installed")
    task = json.loads(blocks_of(root, "tasks.md", "json")[0])
    result = dijoco.grad(task, check=True, folder=root / "models" / "throw")
    assert result["status"] == "ok" and all(c["passed"] for c in result["certificate"])


def test_readme(root, monkeypatch):
    """The README's scene bounces as it says, its plugin carries, its Python runs."""
    if not hasattr(mujoco, "__version__"):
        pytest.skip("the package mujoco is not installed")
    monkeypatch.chdir(root)
    scene, plugin = blocks_of(root, "../README.md", "xml")
    data = dijoco.Data(dijoco.Model.from_mujoco(mujoco.MjModel.from_xml_string(scene)))
    rise = []
    while data.time < 1:
        data.step()
        rise.append(data.qpos[2])
    hit = rise.index(min(rise))
    assert max(rise[hit:]) == pytest.approx(0.1 + 0.8 ** 2 * 0.9, abs=2e-3)
    falls_on_floor("<mujoco>" + plugin)
    block, = blocks_of(root, "../README.md", "python")
    scope = {}
    exec(compile(block, "README.md", "exec"), scope)
    gradient = scope["gradient"]
    assert gradient.ctrl.shape == (240, scope["m"].nu) and abs(gradient.ctrl).max() > 0
    assert abs(gradient.params["geom/box/friction"]).max() > 0


def test_derivatives(root):
    """The lines that take the place of mjd_transitionFD."""
    import numpy as np
    import dijoco.mujoco  # noqa: F401
    m = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><body>
      <joint name="hinge" axis="0 1 0" damping=".1"/><geom size=".1" pos=".5 0 0"/>
    </body></worldbody><actuator><motor joint="hinge"/></actuator></mujoco>""")
    d, n = mujoco.MjData(m), 2 * m.nv + m.na
    scope = {"m": m, "d": d, "dijoco": dijoco, "A": np.zeros((n, n)), "B": np.zeros((n, m.nu))}
    block, = blocks_of(root, "mujoco_derivatives.md", "python")
    exec(compile(block, "docs/mujoco_derivatives.md", "exec"), scope)
    best = np.zeros((n, n))
    mujoco.mjd_transitionFD(m, d, 1e-6, True, best, scope["B"] * 0, None, None)
    assert abs(scope["A"] - best).max() < 1e-4 * abs(best).max()


def falls_on_floor(scene):
    """A box comes to rest on a plane, by the plugin that the scene names."""
    m = mujoco.MjModel.from_xml_string(scene + """
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody></mujoco>""")
    d = mujoco.MjData(m)
    for _ in range(500):
        mujoco.mj_step(m, d)
    assert abs(d.qpos[2] - 0.1) < 2e-3 and d.ncon == 0


def test_scenes(root):
    """The XML of mujoco.md, completed to scenes."""
    dijoco.register_plugins()
    contact, gap = blocks_of(root, "mujoco.md", "xml")
    falls_on_floor(contact.replace("...", ""))
    m = mujoco.MjModel.from_xml_string("<mujoco>" + gap + """
  <worldbody>
    <geom name="fingertip" size=".02"/><geom name="cup" size=".05" pos="0 0 .3"/>
  </worldbody></mujoco>""")
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert d.sensor("reach").data[0] == pytest.approx(0.23, abs=1e-3)
