"""Both engines side by side: what is kept of them, pictures, the slider, and the window under Xvfb."""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

from mj import mujoco

if not hasattr(mujoco, "__version__"):
    pytest.skip("the package mujoco is not installed", allow_module_level=True)

from dijoco import twin, view  # noqa: E402

SCENE = """<mujoco model="twin">
  <visual><headlight ambient=".6 .6 .6"/></visual>
  <worldbody><geom type="plane" size="2 2 .1" rgba=".8 .8 .8 1"/>
    <body name="ball" pos="-.5 0 .2"><freejoint/><geom size=".2" rgba=".2 .8 .2 1"/></body>
    <body name="box" pos=".5 0 .4"><freejoint/><geom type="box" size=".2 .2 .15"/></body>
  </worldbody>
  <keyframe><key name="high" qpos="-.5 0 1 1 0 0 0 .5 0 1 1 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def model():
    return mujoco.MjModel.from_xml_string(SCENE)


@pytest.fixture(scope="module", autouse=True)
def quiet():
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def pair(model):
    return twin.Twin(model)


class Still:
    """In the place of an artist, without OpenGL."""

    def __init__(self, model):
        self._model, self.planes, self.forces = model, True, True
        self.camera = view.find_camera(model, None)


@pytest.fixture
def control(model, pair):
    return twin.Control(pair, Still(model), twin.Layout(400, 226), 1.0)


def test_engines(model, pair):
    """What rests is carried, by both, along normals that point at what is carried."""
    pair.advance(1)
    assert pair.end == pytest.approx(1) and len(pair.engines[0].frames) == 501
    weight = model.body_mass.sum() * 9.81
    for engine in pair.engines:
        last = engine.at(1)
        assert last.time == pytest.approx(1) and len(last.contacts) >= 2
        force, normal = last.contacts[:, 6:], last.contacts[:, 3:6]
        assert abs(force.sum(0)) @ [1, 1, 0] < 0.02 * weight
        assert force[:, 2].sum() == pytest.approx(weight, rel=0.02)
        assert ((force * normal).sum(1) > -1e-9).all() and np.allclose((normal ** 2).sum(1), 1)
        assert (abs(last.contacts[:, 2]) < 0.02).all()     # on the floor
        assert engine.at(0).time == 0 and engine.at(0.0041).time == pytest.approx(0.004)
        assert engine.at(9).time == last.time and len(engine.at(0).contacts) == 0
    assert 0 < pair.apart(1) < 0.01 and pair.apart(0) == 0


def test_keyframe(model):
    assert twin.Twin(model, 0).engines[1].at(0).qpos[2] == 1
    assert view.make_twin(model, "high").engines[0].at(0).qpos[2] == 1
    for name in ("low", "1"):
        with pytest.raises(view.ViewError, match="no keyframe '%s'; the scene has: high" % name):
            view.make_twin(model, name)


def test_slider(control):
    x, _, width, _ = control.layout.bar
    control.press(x + width / 4, 3, "LEFT")
    assert control.time == pytest.approx(0.25) and not control.playing
    assert control.twin.end == pytest.approx(0.25, abs=2e-3)
    control.move(x + width / 2, 100)
    assert control.time == pytest.approx(0.5)
    control.move(5000, 3)
    assert control.time == 1
    control.move(0, 3)
    control.release()
    control.move(300, 3)
    assert control.time == 0 and control.twin.end == pytest.approx(1)
    control.limit = np.inf     # then the slider ends with what is known
    control.press(x + width / 2, 3, "LEFT")
    assert control.time == pytest.approx(0.5)


def test_keys(control):
    control.tick(0.1)
    assert control.time == pytest.approx(0.1)
    control.tick(5, budget=0.05)          # a frame does not wait for all of it
    assert control.time == pytest.approx(0.15) and control.twin.end == pytest.approx(0.15)
    control.key("SPACE")
    control.tick(5)
    assert control.time == pytest.approx(0.15)
    control.key("RIGHT")
    assert control.time == pytest.approx(0.152)
    control.key("LEFT")
    control.key("LEFT")
    assert control.time == pytest.approx(0.148)
    control.key("HOME")
    control.key("LEFT")
    assert control.time == 0
    control.key("SPACE")
    control.tick(5)
    assert control.time == 1              # the limit
    control.key("P")
    control.key("F")
    assert not control.artist.planes and not control.artist.forces
    control.key("")


def test_camera(control):
    camera = control.artist.camera
    before = camera.azimuth, camera.distance
    control.press(100, 100, "LEFT")
    control.move(150, 100)
    control.release()
    control.scroll(1)
    assert camera.azimuth != before[0] and camera.distance < before[1]
    control.move(10, 10)
    assert control.time == 0 and control.playing


def call(folder, *arguments, **environment):
    paths = [str(pathlib.Path(view.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.run([sys.executable, "-W", "ignore", *map(str, arguments)], cwd=folder,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
                          capture_output=True, text=True, timeout=300)


PICTURES = """
from dijoco import png, view
m = view.load_scene("scene.xml")
pair = view.make_twin(m)
with view.TwinPainter(pair, (200, 150)) as painter:
    pair.advance(1)
    for name, t, planes, forces in (("a", .5, 1, 1), ("b", 1, 1, 1), ("c", 1, 0, 1),
                                    ("d", 1, 0, 0)):
        painter.artist.planes, painter.artist.forces = planes, forces
        png.write_png(name + ".png", painter.draw_twin(pair, t, 1).copy())
"""


def pixels(path):
    """A PNG file of dijoco.png, each row the difference from the one above."""
    import struct
    import zlib
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    at, body = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, -1)[:, 1:]
    return np.cumsum(rows, 0, dtype=np.uint8).reshape(height, width, 3)


def test_pictures(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)
    done = call(tmp_path, "-c", PICTURES)
    if "no OpenGL" in done.stderr:
        pytest.skip("no off-screen rendering")
    assert done.returncode == 0, done.stderr
    a, b, c, d = (pixels(tmp_path / (name + ".png")).astype(int) for name in "abcd")
    assert a.shape == (150 + twin.BAR, 400, 3)
    handle = a[-twin.BAR // 2].sum(1).argmax()      # the brightest: half way
    assert abs(handle - 200) < 6 and a[-twin.BAR // 2, 100].sum() > a[-twin.BAR // 2, 300].sum()
    views = slice(60, 150)                          # below the texts
    for one, other in ((b, c), (c, d)):             # planes, forces, in both halves
        for half in (slice(0, 200), slice(200, 400)):
            assert (abs(one - other)[views, half].sum(2) > 30).sum() > 20
    # without them the engines look alike; planes and forces have each one's colour
    assert (abs(d[views, :200] - d[views, 200:]).sum(2) > 60).mean() < 0.02
    blue = (b - d)[views, :200].mean((0, 1))
    orange = (b - d)[views, 200:].mean((0, 1))
    assert blue[2] > blue[0] and orange[0] > orange[2]


def test_command(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)

    def run(*arguments):
        return call(tmp_path, "-m", "dijoco.view", *arguments)

    for arguments, text in (
            (("--compare", "scene.xml", "a.csv"), "--compare makes the runs itself"),
            (("--compare", "scene.xml", "--contacts"), "--compare makes the runs itself"),
            (("scene.xml",), "one run or two, not 0"),
            (("scene.xml", "a.csv", "--time", "1"), "--time and --keyframe are for --compare"),
            (("--compare", "scene.xml", "--keyframe", "low"), "there is no keyframe 'low'"),
            (("--compare", "scene.xml", "--time", "-1"), "no positive number")):
        done = run(*arguments)
        assert done.returncode == 2 and text in done.stderr and done.stderr.count("\n") == 1
    done = run("--compare", "scene.xml", "--time", ".2", "--size", "80x60", "--frames", "pictures")
    if "no OpenGL" in done.stderr:
        pytest.skip("no off-screen rendering")
    assert done.returncode == 0 and done.stdout == "6 pictures in pictures\n", done.stderr
    assert pixels(tmp_path / "pictures" / "frame_0005.png").shape == (60 + twin.BAR, 160, 3)


WINDOW = """
import glfw
from dijoco import png, view, window

count, found = 0, []

def called(setter, w, *arguments):
    '''What the window calls at an event.'''
    function = setter(w, None)
    function(w, *arguments)
    setter(w, function)

def each(control, picture, w):
    global count
    count += 1
    if count == 3:
        x, y, width, height = control.layout.bar
        glfw.set_cursor_pos(w, x + width / 4, control.layout.height - 3)
        glfw.poll_events()
        called(glfw.set_mouse_button_callback, w, glfw.MOUSE_BUTTON_LEFT, glfw.PRESS, 0)
        called(glfw.set_mouse_button_callback, w, glfw.MOUSE_BUTTON_LEFT, glfw.RELEASE, 0)
    if count == 5:
        found.append((control.time, control.playing))
        png.write_png("window.png", picture.copy())
        called(glfw.set_key_callback, w, glfw.KEY_RIGHT, 0, glfw.PRESS, 0)
        called(glfw.set_scroll_callback, w, 0, 1)
        found.append((control.time, picture.shape))
        called(glfw.set_key_callback, w, glfw.KEY_ESCAPE, 0, glfw.PRESS, 0)
    assert count < 100
    return True

m = view.load_scene("scene.xml")
window.show(view.make_twin(m), view.find_camera(m, None), limit=1, size=(400, 226), each=each)
print(found)
"""


@pytest.fixture
def display():
    """A display without a screen."""
    program = shutil.which("Xvfb")
    if not program:
        pytest.skip("there is no Xvfb")
    read, write = os.pipe()
    server = subprocess.Popen([program, "-displayfd", str(write), "-screen", "0", "800x600x24"],
                              pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    yield ":" + number
    server.terminate()
    server.wait()


def test_window(tmp_path, display):
    """The slider, keys and the wheel in a real window, and what it shows."""
    (tmp_path / "scene.xml").write_text(SCENE)
    done = call(tmp_path, "-c", WINDOW, DISPLAY=display, MUJOCO_GL="glfw")
    assert done.returncode == 0, done.stderr
    (time, playing), (later, shape) = eval(done.stdout.splitlines()[-1])
    assert abs(time - 0.25) < 0.01 and playing is False and abs(later - time - 0.002) < 1e-9
    picture = pixels(tmp_path / "window.png").astype(int)
    assert picture.shape == shape == (226, 400, 3)
    assert abs(picture[-twin.BAR // 2].sum(1).argmax() - (twin.EDGE + 0.25 * 380)) < 6
    assert picture[60:200, :200].std() > 5 and picture[60:200, 200:].std() > 5


def test_no_display(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)
    done = call(tmp_path, "-m", "dijoco.view", "--compare", "scene.xml", DISPLAY="",
                WAYLAND_DISPLAY="")
    assert done.returncode == 2 and "no display for the window; --frames" in done.stderr
