"""`python -m dijoco.view`: pictures of runs, and what it says about bad input."""
import os
import pathlib
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import dijoco
from mj import mujoco
from dijoco import png, view

SCENE = """<mujoco model="two">
  <visual><headlight ambient=".6 .6 .6"/></visual>
  <worldbody><geom type="plane" size="2 2 .1" rgba=".8 .8 .8 1"/>
    <camera name="side" pos="0 -3 .6" xyaxes="1 0 0 0 0 1"/>
    <camera name="top" pos="0 0 4"/>
    <body name="ball" pos="-.6 0 1"><freejoint/><geom size=".2" rgba="1 .2 .2 1"/></body>
    <body name="box" pos=".6 0 .15"><freejoint/><geom type="box" size=".2 .2 .15"
      rgba=".2 .2 1 1"/></body>
  </worldbody></mujoco>"""


def header(nq, nv, na=0):
    return ",".join(["time"] + ["qpos[%d]" % i for i in range(nq)]
                    + ["qvel[%d]" % i for i in range(nv)] + ["act[%d]" % i for i in range(na)])


def write_run(path, model, steps=100, push=0.0):
    """A run of stock MuJoCo, as `dijoco simulate --out` writes it; the box starts at speed push."""
    data = mujoco.MjData(model)
    data.qvel[6] = push
    rows = []
    for _ in range(steps + 1):
        rows.append([data.time, *data.qpos, *data.qvel])
        mujoco.mj_step(model, data)
    np.savetxt(path, rows, fmt="%.17g", delimiter=",", header=header(model.nq, model.nv),
               comments="")
    return rows


@pytest.fixture
def folder(tmp_path):
    """A folder with scene.xml, a.csv and b.csv, in which the box slides away."""
    (tmp_path / "scene.xml").write_text(SCENE)
    model = mujoco.MjModel.from_xml_string(SCENE)
    write_run(tmp_path / "a.csv", model)
    write_run(tmp_path / "b.csv", model, push=1.5)
    return tmp_path


def call(folder, *arguments, **environment):
    """Runs the command in the folder."""
    paths = [str(pathlib.Path(view.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.run([sys.executable, "-m", "dijoco.view", *map(str, arguments)], cwd=folder,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
                          capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def offscreen():
    """Skips where nothing can be drawn."""
    code = ("from dijoco import view\n"
            "m = view.import_mujoco().MjModel.from_xml_string('<mujoco/>')\n"
            "view.Painter(m, (8, 8)).close()")
    paths = [str(pathlib.Path(view.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    if done.returncode != 0:
        pytest.skip("no offscreen OpenGL: %s" % done.stderr.strip().splitlines()[-1])


def chunks(path):
    """The chunks of a PNG file, checksums verified."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = [], 8
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        crc, = struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        assert crc == zlib.crc32(kind + body)
        found.append((kind, body))
        at += 12 + size
    assert found[0][0] == b"IHDR" and found[-1] == (b"IEND", b"")
    return found


def decode(path):
    """All images of a PNG file, (n, height, width, 3)."""
    found = chunks(path)
    width, height, depth, colour = struct.unpack(">IIBB", found[0][1][:10])
    assert (depth, colour) == (8, 2)
    images = []
    for kind, body in found:
        if kind not in (b"IDAT", b"fdAT"):
            continue
        rows = np.frombuffer(zlib.decompress(body[4:] if kind == b"fdAT" else body), np.uint8)
        rows = rows.reshape(height, 1 + 3 * width)
        assert (rows[:, 0] == 2).all()
        images.append(np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3))
    return np.array(images)


def centre(image, channel):
    """Mean column and row of the pixels where one colour stands out."""
    image = image.astype(int)
    others = [k for k in range(3) if k != channel]
    rows, columns = np.nonzero(image[..., channel] > 30 + image[..., others].max(axis=-1))
    assert len(rows) > 20
    return columns.mean(), rows.mean()


def test_png(tmp_path):
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (3, 5, 7, 3), dtype=np.uint8)
    png.write_png(tmp_path / "one.png", images[0])
    assert (decode(tmp_path / "one.png") == images[:1]).all()
    with png.Writer(tmp_path / "all.png", 3, delay=0.25) as writer:
        for image in images:
            writer.write(image)
    assert (decode(tmp_path / "all.png") == images).all()
    kinds = [kind for kind, _ in chunks(tmp_path / "all.png")]
    assert kinds == [b"IHDR", b"acTL", b"fcTL", b"IDAT", b"fcTL", b"fdAT", b"fcTL", b"fdAT",
                     b"IEND"]
    numbers = [struct.unpack(">I", body[:4])[0] for kind, body in chunks(tmp_path / "all.png")
               if kind in (b"fcTL", b"fdAT")]
    assert numbers == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="uint8"):
        png.write_png(tmp_path / "bad.png", images[0].astype(float))
    assert not (tmp_path / "bad.png").exists()


def test_png_is_whole_or_not_there(tmp_path):
    """Links, permissions, failures: as with every file that we write."""
    image = np.zeros((2, 2, 3), np.uint8)
    png.write_png(tmp_path / "old.png", image)
    (tmp_path / "old.png").chmod(0o640)
    old = (tmp_path / "old.png").read_bytes()
    (tmp_path / "link.png").symlink_to("old.png")
    names = sorted(os.listdir(tmp_path))
    with pytest.raises(ZeroDivisionError):
        with png.Writer(tmp_path / "link.png") as writer:
            writer.write(image)
            raise ZeroDivisionError
    with pytest.raises(ValueError, match="image of"):
        with png.Writer(tmp_path / "new.png", 2, delay=1) as writer:
            writer.write(image)
            writer.write(image[1:])
    writer = png.Writer(tmp_path / "old.png")
    writer.write(image + 1)
    del writer
    assert (tmp_path / "old.png").read_bytes() == old and sorted(os.listdir(tmp_path)) == names
    with pytest.raises(dijoco.Error, match="/dev/full: cannot be written: No space"):
        png.write_png("/dev/full", image)

    png.write_png(tmp_path / "link.png", image + 1)
    assert (decode(tmp_path / "old.png") == 1).all()
    assert (tmp_path / "link.png").is_symlink()
    assert (tmp_path / "old.png").stat().st_mode & 0o7777 == 0o640
    assert sorted(os.listdir(tmp_path)) == names
    with pytest.raises(ValueError, match="closed"):
        writer = png.Writer(tmp_path / "old.png")
        writer.close()
        writer.close()


def test_frames(folder, offscreen):
    done = call(folder, "scene.xml", "a.csv", "--frames", "out/pictures", "--every", 50, "--size",
                "200x120", "--camera", "side")
    assert done.returncode == 0, done.stderr
    names = sorted(p.name for p in (folder / "out/pictures").iterdir())
    assert names == ["frame_0000.png", "frame_0001.png", "frame_0002.png"]
    frames = [decode(folder / "out/pictures" / name) for name in names]
    assert all(frame.shape == (1, 120, 200, 3) for frame in frames)
    ball = [centre(frame[0], 0) for frame in frames]
    assert ball[2][1] > ball[1][1] + 1 > ball[0][1] + 2         # falls
    assert abs(ball[2][0] - ball[0][0]) < 1
    assert ball[0][0] < 100 < centre(frames[0][0], 2)[0]        # left of the box


def test_two_runs(folder, offscreen):
    done = call(folder, "scene.xml", "a.csv", "b.csv", "--out", "both.png", "--size", "160x120",
                "--camera", "top", "--speed", "0.5")
    assert done.returncode == 0, done.stderr
    images = decode(folder / "both.png")
    assert images.shape == (11, 120, 320, 3)                    # 0.2 s at half speed, 25 per s
    left, right = images[:, :, :160], images[:, :, 160:]
    assert abs(centre(left[0], 2)[0] - centre(right[0], 2)[0]) < 1
    assert centre(right[-1], 2)[0] > centre(left[-1], 2)[0] + 4
    assert (left[0, :30, :40] != right[0, :30, :40]).any()      # names
    frame = next(body for kind, body in chunks(folder / "both.png") if kind == b"fcTL")
    assert struct.unpack(">HH", frame[20:24]) == (40, 1000)


def test_contacts(folder, offscreen):
    """With --contacts more is drawn."""
    pictures = []
    for extra in [], ["--contacts"]:
        done = call(folder, "scene.xml", "a.csv", "--out", "c.png", "--every", 200, *extra)
        assert done.returncode == 0, done.stderr
        pictures.append(decode(folder / "c.png"))
    assert (pictures[0] != pictures[1]).any()


def violet(image):
    """Number of pixels in the colour of the plugin's separating planes."""
    red, green, blue = (image.astype(int)[..., k] for k in range(3))
    return int(((blue > red + 25) & (red > green + 10)).sum())


def test_plugin(folder, offscreen):
    """A scene that holds our plugin: it is loaded, and draws separating planes."""
    text = SCENE.replace("<worldbody>", '<extension><plugin plugin="dijoco.contact"><instance '
                         'name="dj"/></plugin></extension><option><flag contact="disable"/>'
                         '</option><worldbody>')
    (folder / "ours.xml").write_text(text)
    seen = []
    for extra in [], ["--contacts"]:
        done = call(folder, "ours.xml", "a.csv", "--out", "c.png", "--every", 200, *extra)
        assert done.returncode == 0, done.stderr
        seen.append(violet(decode(folder / "c.png")[0]))
    assert seen[0] == 0 and seen[1] > 200


def test_picture(folder, offscreen):
    """The picture in the README can be made."""
    script = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "contact_picture.py"
    environment = dict(os.environ)
    if "MUJOCO_GL" not in environment:
        environment.update(DISPLAY="", WAYLAND_DISPLAY="")
    done = subprocess.run([sys.executable, str(script), "p.png"], cwd=folder, capture_output=True,
                          text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    left, right = np.split(decode(folder / "p.png")[0], 2, axis=1)
    assert violet(right) > violet(left) + 5000


def test_read_run(folder):
    model = mujoco.MjModel.from_xml_string(SCENE)
    rows = np.array(write_run(folder / "a.csv", model))
    run = view.read_run(folder / "a.csv", model)
    assert run.name == "a" and run.time.shape == (101,)
    assert (run.qpos == rows[:, 1:15]).all() and (run.qvel == rows[:, 15:]).all()
    assert run.act.shape == (101, 0)
    assert [run.row(t) for t in (-1, 0, 0.0019, 0.002, 0.0999999999999, 9)] == [0, 0, 0, 1, 50, 100]
    times = view.frame_times([run], speed=0.5)
    assert np.allclose(times, np.arange(11) * 0.02)
    assert (view.frame_times([run], every=40) == run.time[[0, 40, 80]]).all()


def test_missing_activations(tmp_path):
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody><actuator>"
        "<general joint='j' dyntype='filter' dynprm='1'/><general joint='j' dyntype='filter' "
        "dynprm='1'/></actuator></mujoco>")
    for na in range(4):
        path = tmp_path / "run.csv"
        path.write_text(header(1, 1, na) + "\n" + ",".join(str(k) for k in range(3 + na)) + "\n")
        if na > 2:
            with pytest.raises(view.ViewError, match="3 columns of act, the scene has 2"):
                view.read_run(path, model)
        else:
            run = view.read_run(path, model)
            assert run.qpos.tolist() == [[1]] and run.qvel.tolist() == [[2]]
            assert run.act.tolist() == ([[3, 4]] if na == 2 else [[0, 0]])


def check_failure(folder, text, status, out, error):
    """One line that holds text, and nothing else."""
    assert status == 2, (out, error)
    assert error.count("\n") == 1 and error.startswith("dijoco.view: ") and text in error, error
    assert out == "" and not (folder / "x").exists() and not (folder / "x.png").exists()


@pytest.fixture
def expect(folder, capfd, monkeypatch):
    """Calls the command in the folder, in this process, and checks that it fails with this text."""
    def run(text, *arguments):
        capfd.readouterr()
        status = view.main([str(argument) for argument in arguments])
        check_failure(folder, text, status, *capfd.readouterr())
    monkeypatch.chdir(folder)
    return run


def edited(folder, name, edit):
    lines = (folder / "a.csv").read_text().splitlines()
    edit(lines)
    (folder / name).write_text("".join(line + "\n" for line in lines))
    return name


def test_bad_runs(folder, expect):
    def bad(text, name):
        expect("%s: %s" % (name, text), "scene.xml", name, "--frames", "x")

    (folder / "empty.csv").write_text("")
    bad("the file is empty", "empty.csv")
    (folder / "bytes.csv").write_bytes(bytes(range(128, 256)))
    bad("not a table of numbers", "bytes.csv")
    (folder / "other.csv").write_text(header(7, 6) + "\n" + ",".join("0" * 14) + "\n")
    bad("7 columns of qpos, the scene has 14", "other.csv")
    (folder / "act.csv").write_text(header(14, 12, 1) + "\n" + ",".join("0" * 28) + "\n")
    bad("1 columns of act, the scene has 0", "act.csv")
    bad("column 1 is called 't', not time",
        edited(folder, "t.csv", lambda l: l.__setitem__(0, l[0].replace("time", "t"))))
    bad("no rows", edited(folder, "none.csv", lambda l: l.__delitem__(slice(1, None))))
    bad("not a table of numbers", edited(folder, "word.csv", lambda l: l.append("zero," + l[-1])))
    bad("not a table of numbers", edited(folder, "short.csv", lambda l: l.append("1,2,3")))
    bad("rows have 3 numbers, the header 27 names",
        edited(folder, "narrow.csv", lambda l: l.__setitem__(slice(1, None), ["1,2,3"])))
    for value in "nan", "inf":
        bad("row 4: qpos[1] is %s" % value, edited(folder, value + ".csv", lambda l: l.__setitem__(
            4, ",".join(l[4].split(",")[:2] + [value] + l[4].split(",")[3:]))))
    bad("row 6: time does not increase",
        edited(folder, "back.csv", lambda l: l.__setitem__(6, l[2])))
    bad("No such file", "missing.csv")
    # Also the second one.
    expect("empty.csv: the file is empty", "scene.xml", "a.csv", "empty.csv", "--out",
           "x.png")


def test_bad_scenes(folder, expect):
    def bad(text, name):
        expect("%s: %s" % (name, text), name, "a.csv", "--frames", "x")

    (folder / "scene.json").write_text("{}")
    bad("MuJoCo does not draw .json scenes: give the .xml", "scene.json")
    bad("there is no such file", "missing.xml")
    bad("a scene is an .xml or .mjb file", "a.csv")
    (folder / "broken.xml").write_text("<mujoco>\n<worldbody>\n</mujoco>")
    bad("", "broken.xml")
    (folder / "plugin.xml").write_text('<mujoco><extension><plugin plugin="no.such"/></extension>'
                                       "</mujoco>")
    bad("", "plugin.xml")


@pytest.mark.parametrize("text, options", [
    ("'640' is no size", ["--size", "640"]), ("'0x9' is no size", ["--size", "0x9"]),
    ("'99999x9' is no size", ["--size", "99999x9"]), ("'0' is no positive", ["--every", "0"]),
    ("'1.5' is no positive", ["--every", "1.5"]), ("'nan' is no positive", ["--speed", "nan"]),
    ("'-1' is no positive", ["--speed=-1"]), ("not allowed with", ["--out", "x.png"]),
    ("no camera 'up'; the scene has: side, top", ["--camera", "up"]),
    ("no camera '2'", ["--camera", "2"]), ("unrecognized arguments", ["--fast"]),
    ("one run or two, not 3", ["a.csv", "b.csv"])])
def test_bad_options(expect, text, options):
    expect(text, "scene.xml", "a.csv", "--frames", "x", *options)


def test_bad_use(expect):
    expect("--every and --size are for", "scene.xml", "a.csv", "--every", 2)
    expect("x.gif: --out writes .png", "scene.xml", "a.csv", "--out", "x.gif")
    expect("one run or two, not 0", "scene.xml")


def test_bad_folder(folder, offscreen):
    done = call(folder, "scene.xml", "a.csv", "--out", "no/folder/x.png", "--every", 100)
    check_failure(folder, "no/folder/x.png: cannot be written: No such file", done.returncode,
                  done.stdout, done.stderr)


@pytest.mark.skipif(sys.platform != "linux", reason="a missing display is Linux' way")
def test_no_display(folder):
    environment = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_RUNTIME_DIR": str(folder)}
    done = call(folder, "scene.xml", "a.csv", **environment)
    check_failure(folder, "no display for MuJoCo's viewer; --frames", done.returncode, done.stdout,
                  done.stderr)
    done = call(folder, "scene.xml", "a.csv", "--frames", "x", MUJOCO_GL="glfw", **environment)
    check_failure(folder, "no OpenGL without a display (MUJOCO_GL=glfw", done.returncode,
                  done.stdout, done.stderr)


def test_no_mujoco(folder):
    """A package called mujoco that does not import."""
    (folder / "hidden" / "mujoco").mkdir(parents=True)
    (folder / "hidden" / "mujoco" / "__init__.py").write_text("raise ImportError('none here')")
    code = ("import sys; sys.path.insert(0, %r)\nfrom dijoco import view\n"
            "sys.exit(view.main(['scene.xml', 'a.csv']))" % str(folder / "hidden"))
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(
                              pathlib.Path(view.__file__).parents[1])}, timeout=300)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "MuJoCo's Python package is needed" in done.stderr and "none here" in done.stderr
