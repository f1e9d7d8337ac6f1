"""Closed meshes as convex hulls: the command's result, what is refused."""
import importlib.util
import sys

import numpy as np
import pytest

import command
import dijoco


@pytest.fixture
def ring(tmp_path):
    """Four boxes about a hole: a prism on a square with a square hole, 8 cells of 9."""
    outer = [(0, 0), (3, 0), (3, 3), (0, 3)]
    inner = [(1, 1), (2, 1), (2, 2), (1, 2)]
    points = [(x, y, z) for z in (0, 1) for x, y in outer + inner]
    faces = []
    for i in range(4):
        j = (i + 1) % 4
        faces += [(i, 4 + i, 4 + j, j), (8 + i, 8 + j, 12 + j, 12 + i),
                  (i, j, 8 + j, 8 + i), (4 + i, 12 + i, 12 + j, 4 + j)]
    lines = ["v %g %g %g" % p for p in points]
    lines += ["f " + " ".join(str(i + 1) for i in f) for f in faces]
    path = tmp_path / "ring.obj"
    path.write_text("\n".join(lines))
    return path


def test_blocks_are_the_commands(ring, tmp_path):
    ours = dijoco.decompose(ring, grid=(3, 3, 1))
    theirs = command.run("decompose", ring, "--json", "--grid", "3,3,1", "--out",
                         tmp_path / "d")
    assert (ours.method, ours.grid, len(ours.hulls)) == ("blocks", (3, 3, 1), 8)
    for name in ("volume", "volume_ratio", "overlap", "hausdorff", "hausdorff_error"):
        assert getattr(ours, name) == theirs[name]
    assert ours.volume == pytest.approx(8, rel=1e-14) and ours.volume_ratio == pytest.approx(1)
    for hull, entry in zip(ours.hulls, theirs["hulls"]):
        text = (tmp_path / "d" / entry["file"]).read_text().split("\n")
        rows = [[float(x) for x in line.split()[1:]] for line in text if line.startswith("v ")]
        np.testing.assert_array_equal(hull.vert, rows)
        assert hull.vert.shape == (8, 3) and hull.triangles.shape == (12, 3)
        assert hull.volume == entry["volume"] == pytest.approx(1)
        corners = hull.vert[hull.triangles]
        assert np.linalg.det(corners).sum() / 6 == pytest.approx(1)
    assert "8 hulls" in repr(ours) and "8 vertices" in repr(ours.hulls[0])
    few = dijoco.decompose(str(ring), method="blocks", hulls=8, vertices=5)
    assert few.grid == (3, 3, 1) and {len(h.vert) for h in few.hulls} == {5}
    assert few.volume_ratio < 1 and few.hausdorff > 0


@pytest.mark.skipif(importlib.util.find_spec("coacd") is not None, reason="coacd is installed")
def test_without_coacd(ring):
    assert dijoco.decompose(ring).method == "blocks"
    with pytest.raises(ValueError, match="pip install coacd"):
        dijoco.decompose(ring, method="coacd")


def test_coacd(ring, monkeypatch):
    """As its package gives hulls, here by one that stands in for it."""
    class Package:
        @staticmethod
        def Mesh(vert, tri):
            assert vert.shape == (16, 3) and tri.shape == (32, 3)
            return vert

        @staticmethod
        def set_log_level(level):
            assert level == "off"

        @staticmethod
        def run_coacd(mesh, max_convex_hull, seed):
            assert (max_convex_hull, seed) in ((3, 7), (1, 7))
            return [(mesh, None), (mesh * [1, 1, 0.5], None)]

    monkeypatch.setitem(sys.modules, "coacd", Package)
    result = dijoco.decompose(ring, hulls=3, seed=7)
    assert (result.method, result.grid) == ("coacd", None)
    assert [h.volume for h in result.hulls] == pytest.approx([9, 4.5])
    assert result.overlap == pytest.approx(4.5 / 13.5)
    assert result.volume_ratio == pytest.approx(9 / 8)
    joint, = dijoco.decompose(ring, hulls=1, seed=7, vertices=6).hulls  # two are too many
    assert len(joint.vert) <= 6


def _boxes(path, *boxes):
    """Boxes by their lower and upper corners, in one file."""
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    lines = ["v %g %g %g" % tuple(corners[i >> k & 1][k] for k in range(3))
             for corners in boxes for i in range(8)]
    lines += ["f " + " ".join(str(8 * b + i + 1) for i in f) for b in range(len(boxes)) for f in faces]
    path.write_text("\n".join(lines))
    return path


def test_shells_are_the_commands(ring, tmp_path):
    path = _boxes(tmp_path / "boxes.obj", ((0, 0, 0), (1, 1, 1)), ((1, 0, 0), (2, 1, 1)),
                  ((0, 0, .5), (1, 1, 2)))
    ours = dijoco.decompose(path, method="shells")
    theirs = command.run("decompose", path, "--json", "--method", "shells", "--out", tmp_path / "d")
    assert (ours.method, ours.grid) == ("shells", None)
    assert [hull.volume for hull in ours.hulls] == pytest.approx([1, 1, 1.5])
    assert [hull.volume for hull in ours.hulls] == [h["volume"] for h in theirs["hulls"]]
    for name in ("volume", "volume_ratio", "overlap", "hausdorff", "hausdorff_error"):
        assert getattr(ours, name) == theirs[name]
    assert ours.volume == pytest.approx(3) and ours.volume_ratio == pytest.approx(1)
    joint = dijoco.decompose(path, method="shells", hulls=1, vertices=8)
    assert len(joint.hulls) == 1 and joint.volume_ratio > 1
    crossed = tmp_path / "crossed.obj"
    lines = ring.read_text() + "\n" + "".join(
        "v %g %g %g\n" % p for p in ((.5, .5, .5), (2.5, .5, .5), (.5, 2.5, .5), (.5, .5, 2.5)))
    crossed.write_text(lines + "f 17 19 18\nf 17 18 20\nf 17 20 19\nf 18 19 20")
    unknown = dijoco.decompose(crossed, method="shells")
    assert len(unknown.hulls) == 2 and np.isnan([unknown.volume, unknown.volume_ratio]).all()
    with pytest.raises(ValueError, match="boxes.obj: .*4 triangles"):
        dijoco.decompose(path, method="blocks")


def test_errors(ring, tmp_path):
    text = ring.read_text()
    for change, message in ((text.rsplit("\n", 1)[0], "open"), (text + " x", "'x'"), ("", "no tri")):
        path = tmp_path / "bad.obj"
        path.write_text(change)
        with pytest.raises(ValueError, match="bad.obj: .*" + message):
            dijoco.decompose(path)
    for keys, message in (({"method": "hulls"}, "method"), ({"grid": (1, 2)}, "grid"),
                          ({"grid": (0, 1, 1)}, "grid"), ({"grid": (300, 1, 1)}, "ring.obj"),
                          ({"vertices": 3}, "vertices"), ({"hulls": 0}, "hulls"),
                          ({"hulls": 2, "grid": (1, 1, 1)}, "grid"), ({"seed": -1}, "seed"),
                          ({"grid": (1, 1, 1), "method": "coacd"}, "grid"),
                          ({"grid": (1, 1, 1), "method": "shells"}, "grid"),
                          ({"seed": 1, "method": "shells"}, "seed")):
        with pytest.raises(ValueError, match=message):
            dijoco.decompose(ring, **keys)
    with pytest.raises(TypeError):
        dijoco.decompose(ring, hulls=2.5)
    with pytest.raises(dijoco.Error, match="none.obj"):
        dijoco.decompose(tmp_path / "none.obj")
