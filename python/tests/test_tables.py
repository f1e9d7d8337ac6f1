"""The tables of losses, parameters, maps and optimizers, and names with patterns."""
import command
import numpy as np
import pytest

import dijoco

TABLES = dijoco.tables()
ELEMENT = {"body": "cart", "joint": "angle", "actuator": "push", "geom": "#0", "site": "#0",
           "mesh": "#0"}


@pytest.mark.parametrize("topic", list(TABLES))
def test_command_has_the_same(topic):
    rows = command.run("help", topic, "--json")["rows"]
    names = [next(iter(row.values())) for row in rows]
    found = [e.name for e in TABLES[topic]]
    assert names[:len(found)] == found and len(set(found)) == len(found) >= 3


def test_keys():
    losses = {e.name: e for e in TABLES["losses"]}
    assert losses["position"].unit == "m^2"
    assert [k.name for k in losses["position"].keys] == ["body", "site", "geom", "target", "index"]
    target = losses["velocity"].keys[-1]
    assert (target.holds, target.size) == ("numbers", 3)
    assert (target.required, target.default) == (False, "0")


def test_parameters(cartpole):
    seen = 0
    for entry in TABLES["parameters"]:
        kind = entry.name.split("/")[0]
        name = entry.name.replace("/N/", "/%s/" % ELEMENT.get(kind, ""))
        try:
            value = cartpole.param(name)
        except dijoco.Error as error:   # the scene has no mesh...
            assert name in str(error)
            continue
        new = value if name.endswith(("quat", "axis")) else 1.125 * value
        cartpole.set_param(name, new)
        np.testing.assert_allclose(cartpole.param(name), new, rtol=1e-15)
        with pytest.raises(ValueError, match=name):
            cartpole.set_param(name, np.append(value, 1))
        seen += 1
    assert seen >= 20
    with pytest.raises(dijoco.Error, match="damping"):
        cartpole.param("joint/angle/colour")


def task(root, **more):
    return dict({"scene": str(root / "examples" / "cartpole.json"), "horizon": 5,
                 "loss": [{"type": "qpos", "joint": "angle", "target": 0.2}],
                 "variables": [{"name": "ctrl"}]}, **more)


def test_optimizer_keywords(root):
    how = {"type": "lbfgsb", "memory": 3, "iterations": 3}
    by_task = dijoco.optimize(task(root, optimizer=how))
    by_words = dijoco.optimize(task(root), **how)
    assert by_words["loss_last"] == by_task["loss_last"] < by_task["loss_first"]
    for name, bad in (("rate", -1), ("memory", 1.5), ("beta1", 1), ("type", "luck"),
                      ("radius", "far"), ("speed", 1)):
        with pytest.raises((dijoco.Error, TypeError), match="luck" if name == "type" else name):
            dijoco.optimize(task(root), **{name: bad})


def test_unknown(root):
    with pytest.raises(dijoco.Error, match="luck.*position.*effort"):
        dijoco.Design(task(root, loss=[{"type": "luck"}]))


def test_match(cartpole):
    assert cartpole.match("body/*/mass") == ["body/%s/mass" % n for n in cartpole.names("body")[1:]]
    assert cartpole.match("joint/a*e/damping") == ["joint/angle/damping"]
    assert cartpole.match("joint/angle/damping") == ["joint/angle/damping"]
    with pytest.raises(dijoco.Error, match="joint/z.*angle"):
        cartpole.match("joint/z*/damping")
    cartpole.set_param("joint/*/damping", 0.25)
    assert (cartpole.jnt_damping == 0.25).all() and cartpole.njnt > 1
    with pytest.raises(ValueError, match="joint/x/damping"):
        cartpole.set_param("joint/*/damping", [1, 2])


def test_gradient_of_patterns(cartpole):
    run = dijoco.rollout(cartpole, np.full((5, cartpole.nu), 0.3))
    weights = np.ones((6, cartpole.nv))
    names = cartpole.match("joint/*/damping")
    one = run.vjp(qpos=weights, params=names)
    both = run.vjp(qpos=weights, params=["joint/*/damping"])
    assert list(both.params) == names
    for name in names:
        np.testing.assert_array_equal(both.params[name], one.params[name])
    data = dijoco.Data(cartpole)
    data.step()
    np.testing.assert_array_equal(data.last_params(["joint/*/damping"]), data.last_params(names))


def test_design_of_patterns(root):
    design = dijoco.Design(task(root, variables=[{"name": "joint/*/damping", "min": 0, "max": 2}]))
    assert design.names == design.model.match("joint/*/damping") and design.n == len(design.names)
    assert (design.upper == 2).all()
