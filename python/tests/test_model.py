"""Models: loading, fields, options, names, parameters, errors."""
import copy
import gc
import json
import pickle

import numpy as np
import pytest

import dijoco


def test_load_and_sizes(cartpole):
    assert (cartpole.nq, cartpole.nv, cartpole.nu, cartpole.na, cartpole.nbody) == (2, 2, 1, 0, 3)
    assert cartpole.body_mass.shape == (3,) and cartpole.body_mass[1] == 1
    assert cartpole.body_pos.shape == (3, 3)
    assert cartpole.total_mass == pytest.approx(1.2)
    assert cartpole.key_qpos.shape == (cartpole.nkey, 2)
    assert cartpole.report == []
    assert "nq=2" in repr(cartpole)
    assert "body_mass" in dir(cartpole) and "opt.timestep" not in dir(cartpole)


def test_arrays_are_read_only_and_live_on(cartpole):
    mass = cartpole.body_mass
    with pytest.raises(ValueError, match="read-only"):
        mass[1] = 7
    cartpole.set_param("body/cart/mass", 3)
    assert mass[1] == 3  # the same memory
    del cartpole
    gc.collect()
    assert mass[1] == 3


def test_unknown_attribute(cartpole):
    with pytest.raises(AttributeError, match="no field 'body_mas'"):
        cartpole.body_mas
    with pytest.raises(TypeError, match="Model.load"):
        dijoco.Model()


def test_mistyped_assignments(cartpole):
    with pytest.raises(AttributeError, match="'timestep' of a model cannot be set: set_param"):
        cartpole.timestep = 0.1
    with pytest.raises(AttributeError, match="timestep"):
        cartpole.option.timestep = 0.1
    cartpole.option = {"timestep": 0.1}
    assert cartpole.option["timestep"] == 0.1
    with pytest.raises(AttributeError, match="qpso"):
        dijoco.Data(cartpole).qpso = [0, 0]


def test_load_errors(tmp_path):
    with pytest.raises(dijoco.Error, match="none.json") as caught:
        dijoco.Model.load(tmp_path / "none.json")
    assert caught.value.status == -5
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    with pytest.raises(dijoco.Error, match="bad.json"):
        dijoco.Model.load(str(bad))
    with pytest.raises(dijoco.Error):
        dijoco.Model.from_text("[]")
    with pytest.raises(TypeError):
        dijoco.Model.load(3.5)


def test_save(cartpole, tmp_path):
    path = tmp_path / "x.json"
    cartpole.save(path)
    other = dijoco.Model.load(path)
    np.testing.assert_array_equal(other.body_inertia, cartpole.body_inertia)
    third = dijoco.Model.from_text(path.read_text())
    np.testing.assert_array_equal(third.jnt_axis, cartpole.jnt_axis)
    with pytest.raises(dijoco.Error) as caught:
        cartpole.save(tmp_path / "no" / "x.json")
    assert caught.value.status == -5


def test_options(cartpole):
    option = cartpole.option
    assert option["timestep"] == 0.01 and option["contact"] == "separating_plane"
    np.testing.assert_array_equal(option["gravity"], [0, 0, -9.81])
    option["timestep"] = 0.002
    option["gravity"] = (0, 0, -1)
    option["contact"] = "none"
    option["integrator"] = 1
    assert option["integrator"] == "variational" and option["contact"] == "none"
    assert dict(cartpole.option)["timestep"] == 0.002
    assert list(option) == [s.name for s in dijoco.settings()]
    cartpole.option = {"integrator": "position", "max_iterations": 50}
    assert option["max_iterations"] == 50 and isinstance(option["max_iterations"], int)
    assert "timestep" in repr(option)


@pytest.mark.parametrize("name, value, text", [
    ("timestep", -1, "timestep"), ("timestep", np.nan, "timestep"),
    ("timestep", [1, 2], "expected 1 number"), ("gravity", 1, "expected 3 numbers"),
    ("integrator", 0.5, "not an integer"), ("integrator", 9, "integrator"),
    ("speed", 1, "speed: unknown option"), ("support", 2, "support")])
def test_bad_options(cartpole, name, value, text):
    before = dict(cartpole.option)
    with pytest.raises(dijoco.Error, match=text):
        cartpole.option[name] = value
    np.testing.assert_equal(dict(cartpole.option), before)


def test_bad_option_texts(cartpole):
    with pytest.raises(ValueError, match="expected one of position, variational"):
        cartpole.option["integrator"] = "leapfrog"
    with pytest.raises(ValueError, match="expected numbers"):
        cartpole.option["timestep"] = "fast"
    with pytest.raises(KeyError):
        cartpole.option["speed"]
    with pytest.raises(TypeError):
        del cartpole.option["timestep"]


def test_settings(box):
    settings = box.settings
    assert settings["weight"] == pytest.approx(9.81 * box.moving_mass)
    box.option["support"] = 0.05
    assert box.settings["support"] == 0.05 != settings["support"]


def test_names(cartpole):
    assert cartpole.names("joint") == ["x", "angle"]
    assert cartpole.id("joint", "angle") == 1
    assert cartpole.id("joint", "#0") == 0
    with pytest.raises(ValueError, match="there is no body 'nobody'"):
        cartpole.id("body", "nobody")
    with pytest.raises(ValueError, match="unknown kind 'rope'"):
        cartpole.names("rope")
    assert cartpole.names("tendon") == []


def test_params(cartpole):
    assert cartpole.param("body/cart/mass") == pytest.approx([1])
    cartpole.set_param("body/cart/mass", 2)
    cartpole.set_param("option/gravity", [0, 0, -5])
    assert cartpole.body_mass[1] == 2 and cartpole.option["gravity"][2] == -5
    cartpole.set_param("body/cart/quat", [2, 0, 0, 0])
    np.testing.assert_array_equal(cartpole.param("body/cart/quat"), [1, 0, 0, 0])
    assert cartpole.param_tangent("body/cart/quat") == 3
    assert cartpole.param_tangent("body/cart/mass") == 1


@pytest.mark.parametrize("name, value, error, text", [
    ("body/cart/mass", -1, dijoco.Error, "mass"), ("body/cart/mass", np.nan, dijoco.Error, "mass"),
    ("body/cart/mass", [1, 2], ValueError, r"body/cart/mass: expected shape \(1,\), not \(2,\)"),
    ("body/cart/mass", "x", ValueError, "expected numbers"),
    ("body/cart/mass", 1j, ValueError, "expected numbers"),
    ("body/none/mass", 1, dijoco.Error, "none"), ("body/cart/color", 1, dijoco.Error, "color"),
    ("", 1, dijoco.Error, "parameter")])
def test_bad_params(cartpole, name, value, error, text):
    with pytest.raises(error, match=text):
        cartpole.set_param(name, value)
    assert cartpole.body_mass[1] == 1
    with pytest.raises(dijoco.Error):
        cartpole.param(name + "/x")
    with pytest.raises(dijoco.Error):
        cartpole.param_tangent(name + "/x")


@pytest.mark.parametrize("duplicate", [lambda m: m.copy(), copy.copy, copy.deepcopy])
def test_copies_are_independent(cartpole, duplicate):
    other = duplicate(cartpole)
    other.set_param("body/cart/mass", 5)
    other.option["timestep"] = 0.5
    assert cartpole.body_mass[1] == 1 and cartpole.option["timestep"] == 0.01
    assert other.body_mass[1] == 5


def test_pickles(cartpole, box, root):
    """The same numbers, of which runs have the same bits."""
    pushed = dijoco.Model.from_text((root / "examples" / "box.json").read_text(), support=.002)
    pushed.set_param("body/#1/mass", .3)
    for model in cartpole, box, pushed:
        other = pickle.loads(pickle.dumps(model))
        assert other.to_text() == model.to_text() and repr(other.option) == repr(model.option)
        assert list(other.report) == list(model.report)
        other.option["timestep"] = .5
        assert model.option["timestep"] != .5
        data = dijoco.Data(model)
        data.qvel[:] = np.arange(model.nv) / 3
        data.qfrc_applied[0], data.gravity_scale = 1, .5
        data.step(7)
        twin = pickle.loads(pickle.dumps(data))
        assert twin.stats == data.stats and twin.gravity_scale == .5 and twin.time == data.time
        np.testing.assert_array_equal(twin.xpos, data.xpos)
        for _ in range(30):
            data.step()
            twin.step()
        np.testing.assert_array_equal(twin.get_state(), data.get_state())
        assert twin.stats == data.stats


def test_follow_geoms(root):
    model = dijoco.Model.load(root / "examples" / "box.json")
    geom = model.names("geom")[1] or "#1"
    size = model.param("geom/%s/size" % geom)
    changed = model.copy()
    changed.set_param("geom/%s/size" % geom, 2 * size)
    changed.follow_geoms(model)
    assert changed.body_mass[1] == pytest.approx(8 * model.body_mass[1])


# Two boxes as meshes, of which one half lies in the other, and a third vertex set within.
OVERLAP = {
    "dijoco_model": 1,
    "bodies": [{"name": "world"}, {"name": "pair", "mass": 3, "inertia": [1, 1, 1]}],
    "joints": [{"type": "free", "body": "pair"}],
    "meshes": [{"name": "m%d" % k, "vert": [[x + k, y, z] for x in (-1, 1) for y in (-1, 1)
                                            for z in (-1, 1)]} for k in (0, 1)],
    "geoms": [{"name": "g%d" % k, "type": "mesh", "mesh": "m%d" % k, "body": "pair"}
              for k in (0, 1)]}


def test_inertia_rules():
    model = dijoco.Model.from_text(json.dumps(OVERLAP))
    expected = {"hulls": 2, "sum": 16, "union": 12, "overlap": 4, "share": 0.25}
    for found in (model.overlap(), model.overlap("pair")):
        error = found.pop("error")
        assert found == pytest.approx(expected, abs=error) and 0 < error < 1e-6
    with pytest.raises(ValueError, match="there is no body 'x'"):
        model.overlap("x")
    lumped, united = model.copy(), model.copy()
    lumped.follow_geoms(model, "lumped")
    np.testing.assert_allclose(lumped.body_ipos[1], [0.5, 0, 0], atol=1e-14)
    assert lumped.body_mass[1] == 3
    # 16 masses at +-1 about 0 and about 1: 3 (1 + 1/4 + 1), 3 (1 + 1), 3 (1 + 1/4 + 1)
    np.testing.assert_allclose(np.sort(lumped.body_inertia[1]), [6, 6.75, 6.75])
    united.follow_geoms(model, rule="union")
    assert united.body_mass[1] == pytest.approx(3, abs=1e-6)   # its inertia is not of both geoms
    with pytest.raises(ValueError, match="rule: must be exact, lumped or union"):
        united.follow_geoms(model, "compiled")


def test_facets():
    model = dijoco.Model.from_text(json.dumps(OVERLAP))
    changed = model.copy()
    assert changed.renew_facets(model) == 0
    vert = changed.param("mesh/m0/vert")
    vert[:3] = 0                                    # a corner sinks
    changed.set_param("mesh/m0/vert", vert)
    assert changed.renew_facets(model) == 1
    assert changed.renew_facets(model) == 0


def test_configurations(box):
    rng = np.random.default_rng(1)
    q = np.r_[rng.normal(size=3), 0.5, 0.5, -0.5, 0.5]
    v = rng.normal(size=6)
    q2 = box.integrate_pos(q, v, 0.1)
    np.testing.assert_allclose(box.differentiate_pos(q, q2, 0.1), v, atol=1e-13)
    np.testing.assert_allclose(q2[:3], q[:3] + 0.1 * v[:3])
    with pytest.raises(ValueError, match=r"qpos: expected shape \(7,\)"):
        box.integrate_pos(q[:6], v)
    with pytest.raises(ValueError, match=r"v: expected shape \(6,\)"):
        box.integrate_pos(q, q)


def test_texts(cartpole):
    for call in (lambda x: cartpole.id("body", x), cartpole.param, cartpole.param_tangent,
                 lambda x: cartpole.set_param(x, 1), dijoco.Model.from_text):
        with pytest.raises(TypeError, match="expected a str, not int"):
            call(3)
        with pytest.raises(ValueError, match="cannot hold a zero"):
            call("body/cart/mass\0")
    with pytest.raises(ValueError, match="cannot hold a zero"):
        dijoco.Model.load("x.json\0")
    with pytest.raises(TypeError, match="compiled: expected a dijoco.Model, not str"):
        cartpole.follow_geoms("cartpole")


def test_sizes_of_copies(cartpole):
    assert cartpole.nq == 2 and cartpole.total_mass == pytest.approx(1.2)
    other = cartpole.copy()
    other.set_param("body/cart/mass", 5)
    assert other.nq == 2 and other.total_mass == pytest.approx(5.2)
    assert isinstance(other.nv, int) and other.names("body")[1] == "cart"


def test_paths(cartpole, tmp_path, root):
    folder = tmp_path / "a folder \u00e9"
    folder.mkdir()
    for path in (folder / "\u4e2d.json", str(folder / "b.json"), bytes(folder / "c.json")):
        cartpole.save(path)
        assert dijoco.Model.load(path).nq == 2


def test_guide_bodies(cartpole, tmp_path):
    path = tmp_path / "guided.json"
    model = cartpole.copy(guide=1e-3, guide_bodies=[("cart", "pole"), ("world", "p*")])
    model.save(path)
    pairs = json.loads(path.read_text())["guides"]
    pairs = sorted(sorted(pair.values()) for pair in pairs)
    assert pairs == [["cart", "pole"], ["pole", "world"]]
    assert list(model.body_mass) == list(cartpole.body_mass)
    again = dijoco.Model.load(path)
    again.copy(guide_bodies=[]).save(path)
    assert "guides" not in json.loads(path.read_text())
    with pytest.raises(dijoco.Error, match="'wheel'"):
        cartpole.copy(guide_bodies=[("cart", "wheel")])
    for bad in (["cart"], [("cart", "pole", "world")], "cart pole"):
        with pytest.raises(ValueError, match="no pair of names"):
            cartpole.copy(guide_bodies=bad)
    with pytest.raises(TypeError, match="expected a str"):
        cartpole.copy(guide_bodies=[("cart", 1)])
