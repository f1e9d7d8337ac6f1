"""What the pages show runs, each block of Python by itself; those that need more packages are run in
test_torch.py, test_gym.py, test_sweep.py."""
import json
import re

import pytest

import dijoco
import pages
from conftest import ROOT
from mj import mujoco

PACKAGE = hasattr(mujoco, "__version__")   # or parts of it
BLOCKS = {"%s:%d" % (b.page, b.line): b for b in pages.python(ROOT)}


def of_tasks(scope):
    assert scope["best"]["loss_last"] < scope["best"]["loss_first"]
    assert scope["result"]["certificate"][0]["passed"]


def of_batches(scope):
    assert scope["run"].qpos.shape == (64, 21, scope["model"].nq)
    assert not scope["batch"].failed.any() and len(scope["A"]) == 64


def of_sweeps(scope):
    assert scope["table"].passed.all()
    # at .8 the box tumbles, and rounding decides whether it is led to its mark
    assert sorted(scope["by_friction"].loss_last)[1] < 0.01


def of_readme(scope):
    gradient = scope["gradient"]
    assert gradient.ctrl.shape == (240, scope["m"].nu) and abs(gradient.ctrl).max() > 0
    assert abs(gradient.params["geom/box/friction"]).max() > 0


def of_derivatives(scope):
    m, d, A, B = (scope[name] for name in "mdAB")
    d.qpos[5] += 0.1   # the box, from where differences would make and break contacts
    scope["dijoco"].mujoco.transition(m, d, A, B, None, None)
    best = A * 0
    mujoco.mjd_transitionFD(m, d, 1e-6, True, best, B * 0, None, None)
    assert abs(A - best).max() < 1e-4 * abs(best).max()


# Of some blocks what they say comes of it: (page, text of the block).
CHECKS = {("docs/python.md", "dijoco.receding("): of_tasks,
          ("docs/batches.md", "batch.rollout(ctrl)"): of_batches,
          ("docs/sweep.md", "by_friction"): of_sweeps, ("README.md", "gradient"): of_readme,
          ("docs/mujoco_derivatives.md", "transition("): of_derivatives}


def checks_of(block):
    return [check for (page, text), check in CHECKS.items()
            if page == block.page and text in block.code]


@pytest.mark.filterwarnings("ignore::dijoco.ModelWarning")
@pytest.mark.parametrize("name", BLOCKS)
def test_block(name, shown, capsys):
    block = BLOCKS[name]
    if not PACKAGE and re.search(r"import.*\bmujoco", block.code):
        pytest.skip("the package mujoco is not installed")
    scope = shown(block)
    assert "nan" not in capsys.readouterr().out
    for check in checks_of(block):
        check(scope)


def test_all_blocks_are_run():
    """By this file or by those that have what a block needs."""
    here = set(BLOCKS.values())
    others = {b for packages in (("torch", "jax"), ("gymnasium",),
                                 ("distributed", "mpi4py", "pyarrow"))
              for b in pages.python(ROOT, *packages)}
    assert here | others == set(pages.blocks(ROOT, "python")) and not here & others
    assert len(here) >= 15 and sum(len(checks_of(block)) for block in here) == len(CHECKS)


def blocks_of(root, page, language):
    return re.findall(r"```%s\n(.*?)```" % language, (root / "docs" / page).read_text(), re.S)


def test_task(root):
    if not hasattr(mujoco, "__version__"):
        pytest.skip("the package mujoco is not installed")
    task = json.loads(blocks_of(root, "tasks.md", "json")[0])
    result = dijoco.grad(task, check=True, folder=root / "models" / "throw")
    assert result["status"] == "ok" and all(c["passed"] for c in result["certificate"])


def test_readme(root, monkeypatch):
    """The README's scene bounces as it says, its plugin carries."""
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
