"""Runs as files: what Data and Context write, and that the command repeats it."""
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import dijoco

COMMAND = pathlib.Path(os.environ["DIJOCO_LIBRARY_DIR"]).parent / "bin" / "dijoco"
CUBE = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="0 0 1"/>
  <body name="cube" pos="0 0 0.11"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
  <body name="arm" pos="0 2 2"><joint name="hinge" axis="1 0 0" damping="0.1"/>
    <geom type="capsule" size=".05" fromto="0 0 0 0 0 -1"/></body></worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator></mujoco>"""


def replay(path, *arguments):
    """What `dijoco replay --json` says of it; its exit status."""
    done = subprocess.run([str(COMMAND), "replay", str(path), "--json", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def same(path, steps, calls=None):
    status, found = replay(path)
    assert status == 0, found
    assert found["status"] == "same" and found["steps"] == steps
    assert calls is None or found["calls"] == calls
    return found


def use(data):
    """15 steps, by different ways."""
    data.qvel[0] = 0.5
    data.step(4)
    data.ctrl = [0.3]
    state = data.get_state()
    data.step(3)
    data.transition()
    data.set_state(state)
    data.xfrc_applied[1, 0] = 2
    data.step(8)
    data.last_transition()


@pytest.fixture
def mj_model():
    return pytest.importorskip("mujoco").MjModel.from_xml_string(CUBE)


def test_data(mj_model, tmp_path):
    data = dijoco.Data(mj_model, record=tmp_path / "a")
    assert data.record_path == str(tmp_path / "a")
    use(data)
    data.copy().step(5)   # not of this record
    with pytest.raises(dijoco.Error, match="is being recorded"):
        data.start_record(tmp_path / "b")
    data.stop_record()
    assert data.record_path is None
    found = same(tmp_path / "a", 15)
    assert found["difference"] is None and found["ended"]
    status, found = replay(tmp_path / "a", "--step", "15")
    assert status == 0
    np.testing.assert_array_equal(found["state"]["qpos"], data.qpos)
    np.testing.assert_array_equal(found["state"]["qvel"], data.qvel)
    np.testing.assert_array_equal([c["gap"] for c in found["state"]["contacts"]],
                                  data.contacts.gap)


def test_parameters(mj_model, tmp_path):
    """What has been set on a model, before and in between."""
    model = dijoco.Model.of(mj_model).copy()
    model.set_param("body/cube/mass", 2.5)
    data = dijoco.Data(model, record=tmp_path / "a")
    data.step(20)
    model.set_param("geom/box/size", [0.09, 0.1, 0.11])
    data.step(20)
    model.option["stiffness"] = 2 * model.option["stiffness"]
    data.step(20)
    data.stop_record()
    same(tmp_path / "a", 60)


def test_change(mj_model, tmp_path):
    data = dijoco.Data(mj_model, record=tmp_path / "a")
    data.step(9)
    data.stop_record()
    lines = (tmp_path / "a").read_text().splitlines()
    end = json.loads(lines[2 + 2 * 5 + 1])
    end["now"]["qvel"][2] += 1e-16
    lines[2 + 2 * 5 + 1] = json.dumps(end)
    (tmp_path / "b").write_text("\n".join(lines) + "\n")
    status, found = replay(tmp_path / "b")
    assert status == 1 and found["status"] == "differs"
    difference = found["difference"]
    assert (difference["call"], difference["step"], difference["array"],
            difference["entry"]) == (6, 6, "qvel", 2)
    assert float(difference["recorded"]) == end["now"]["qvel"][2]


def test_context(mj_model, tmp_path):
    """Substeps, derivatives, and a change of the MjModel, which is imported anew."""
    mujoco = pytest.importorskip("mujoco")
    d = mujoco.MjData(mj_model)
    context = dijoco.Context(mj_model, substeps=2, record=tmp_path / "a")
    d.ctrl[0] = 0.2
    context.step(d, 5)
    context.transition(d)
    mj_model.body_mass[1] *= 2
    context.step(d, 5)
    context.model.option["tolerance"] = 1e-6
    context.step(d)
    context.data.stop_record()
    status, found = replay(tmp_path / "a")
    assert status == 0, found
    assert found["steps"] >= 22


def test_environment(mj_model, tmp_path, monkeypatch):
    """Each gets a file of its own."""
    monkeypatch.setenv("DIJOCO_RECORD", str(tmp_path / "run"))
    data, other = dijoco.Data(mj_model), dijoco.Data(mj_model)
    code = ("import mujoco, dijoco, sys; m = mujoco.MjModel.from_xml_string(sys.argv[1]); "
            "d = mujoco.MjData(m); c = dijoco.Context(m); c.step(d, 3); print(c.data.record_path)")
    path = subprocess.run([sys.executable, "-c", code, CUBE], stdout=subprocess.PIPE, check=True,
                          text=True).stdout.strip()
    assert [data.record_path, other.record_path, path] == [
        str(tmp_path / ("run" + end)) for end in ("", ".2", ".3")]
    assert dijoco.Data(mj_model, record=False).record_path is None
    data.step(2)
    other.step(4)
    for path, steps in ((data.record_path, 2), (other.record_path, 4), (path, 3)):
        same(path, steps)   # what has been done so far


def test_plugin(tmp_path):
    """Inside mj_step, also after a change of the MjModel, for which the context is made anew."""
    code = """if True:
        import mujoco, dijoco.mujoco, sys
        dijoco.mujoco.register_plugins()
        m = mujoco.MjModel.from_xml_string(sys.argv[1])
        d = mujoco.MjData(m)
        d.qvel[0] = 1
        mujoco.mj_step(m, d, 20)
        m.body_mass[1] *= 1.5
        mujoco.mj_step(m, d, 20)"""
    scene = """<mujoco><option timestep="0.005"/><extension><plugin plugin="dijoco.contact">
      <instance name="c"/></plugin></extension><worldbody>
      <geom type="plane" size="0 0 1" contype="0" conaffinity="0"/>
      <body pos="0 0 0.11"><plugin instance="c"/><freejoint/>
        <geom type="box" size=".1 .1 .1" contype="0" conaffinity="0"/></body>
      </worldbody></mujoco>"""
    pytest.importorskip("mujoco")
    subprocess.run([sys.executable, "-c", code, scene], check=True, cwd=tmp_path,
                   env={**os.environ, "DIJOCO_RECORD": str(tmp_path / "run")})
    status, found = replay(tmp_path / "run")
    assert status == 0 and found["steps"] >= 40, found
    assert (tmp_path / "run").read_text().count('{"model"') == 2
    assert not (tmp_path / "run.2").exists()


def test_page(root, tmp_path, monkeypatch):
    """What docs/record.md shows runs as it stands there."""
    mujoco = pytest.importorskip("mujoco")
    text = (root / "docs" / "record.md").read_text()
    (tmp_path / "models").symlink_to(root / "models")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(COMMAND.parent), prepend=os.pathsep)
    commands, = re.findall(r"```sh\n(.*?)```", text, re.S)
    for command in commands.splitlines():
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0, command
    assert "contacts" in done.stdout and "the same to the last bit" in done.stdout
    block, = re.findall(r"```python\n(.*?)```", text, re.S)
    exec(compile(block, "docs/record.md", "exec"), {"mujoco": mujoco})
    same(tmp_path / "run.record", 100)
