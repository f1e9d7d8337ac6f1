"""Runs and their adjoint."""
import numpy as np
import pytest

import dijoco
from dijoco import _autodiff

T = 40


def test_states_are_those_of_steps(cartpole):
    rng = np.random.default_rng(3)
    ctrl = rng.normal(size=(T, 1))
    run = dijoco.rollout(cartpole, ctrl, qpos0=[0, 0.1], qvel0=[1, 0])
    data = dijoco.Data(cartpole)
    data.qpos, data.qvel = [0, 0.1], [1, 0]
    for k in range(T):
        np.testing.assert_array_equal(run.qpos[k], data.qpos)
        data.ctrl = ctrl[k]
        data.step()
    np.testing.assert_array_equal(run.qpos[T], data.qpos)
    np.testing.assert_array_equal(run.qvel[T], data.qvel)
    assert run.act.shape == (T + 1, 0) and run.time[-1] == pytest.approx(T * 0.01)
    assert run.unconverged_steps == 0 and "40 steps" in repr(run)
    np.testing.assert_array_equal(run.ctrl, ctrl)
    with pytest.raises(ValueError, match="read-only"):
        run.ctrl[0] = 1


def cartpole_loss(model, ctrl, qpos0, qvel0, wq, wv):
    run = dijoco.rollout(model, ctrl, qpos0, qvel0)
    return (wq * run.qpos).sum() + (wv * run.qvel).sum() + (ctrl ** 2).sum()


def test_gradient_against_differences(cartpole):
    cartpole.option["tolerance"] = 1e-13
    rng = np.random.default_rng(4)
    ctrl, q0, v0 = rng.normal(size=(T, 1)), 0.3 * rng.normal(size=2), rng.normal(size=2)
    wq, wv = rng.normal(size=(T + 1, 2)), rng.normal(size=(T + 1, 2))
    names = ["body/cart/mass", "option/gravity", "joint/angle/damping"]
    cartpole.set_param("joint/angle/damping", 0.1)
    run = dijoco.rollout(cartpole, ctrl, q0, v0)
    cartpole_mass = cartpole.param(names[0])
    g = run.vjp(qpos=wq, qvel=wv, params=names, ctrl=2 * ctrl)
    assert list(g.params) == names and g.params["option/gravity"].shape == (3,)
    du, dq, dv = rng.normal(size=(T, 1)), rng.normal(size=2), rng.normal(size=2)
    h = 1e-5

    def along(s):
        model = cartpole.copy()
        model.set_param(names[0], cartpole_mass + 0.5 * s)
        model.set_param(names[1], np.array([0, 0, -9.81]) + s * np.array([0.3, 0, 1]))
        model.set_param(names[2], 0.1 + 0.1 * s)
        return cartpole_loss(model, ctrl + s * du, q0 + s * dq, v0 + s * dv, wq, wv)

    difference = (along(h) - along(-h)) / (2 * h)
    parts = [(g.ctrl * du).sum(), g.qpos0 @ dq, g.qvel0 @ dv, 0.5 * g.params[names[0]][0],
             g.params[names[1]] @ [0.3, 0, 1], 0.1 * g.params[names[2]][0]]
    scale = np.abs(parts).sum()
    assert abs(sum(parts) - difference) < 1e-7 * scale
    for k in range(len(parts)):  # every part counts
        assert abs(sum(parts) - parts[k] - difference) > 1e-4 * scale


def test_gradient_through_contact(box):
    box.option["tolerance"] = 1e-12
    rng = np.random.default_rng(5)
    n = 30
    start = dijoco.Data(box)
    q0, v0 = start.qpos.copy(), np.r_[1, 0.5, -1, 0.3 * rng.normal(size=3)]
    w = rng.normal(size=6)

    def end(s, direction):
        q = box.integrate_pos(q0, direction[:6], s)
        return dijoco.rollout(box, np.zeros((n, 0)), q, v0 + s * direction[6:])

    run = end(0, np.zeros(12))
    assert len(run._data.contacts) > 0
    cotangent = np.zeros((n + 1, 6))
    cotangent[n] = w
    g = run.vjp(qpos=cotangent)
    assert g.ctrl.shape == (n, 0) and g.act0.shape == (0,) and g.params == {}
    direction = rng.normal(size=12)

    def central(h):
        ends = end(-h, direction).qpos[n], end(h, direction).qpos[n]
        return w @ box.differentiate_pos(*ends, 2 * h)

    h = 1e-6
    analytic = g.qpos0 @ direction[:6] + g.qvel0 @ direction[6:]
    assert analytic == pytest.approx((4 * central(h) - central(2 * h)) / 3, rel=1e-6)
    assert abs(g.qpos0 @ direction[:6]) > 1e-3 * abs(analytic)  # both parts count
    assert abs(g.qvel0 @ direction[6:]) > 1e-3 * abs(analytic)


def test_first_row_of_a_batch_is_its_start(box):
    """What PyTorch and JAX differentiate: row 0 of qpos is qpos0 as given, and counts once."""
    rng = np.random.default_rng(6)
    n, members = 5, 2
    start = rng.normal(size=(members, 7)) + [0, 0, 3, 0, 0, 0, 0]
    rest = [np.zeros((members, 6)), np.zeros((members, 0)), np.zeros((members, n, 0))]
    run = _autodiff.Run(box, None, {}, start, *rest, derivatives=True)
    np.testing.assert_array_equal(run.qpos[:, 0], start)
    on = [np.zeros(x.shape) for x in (run.qpos, run.qvel, run.act)]
    on[0][:, 0] = rng.normal(size=(members, 7))
    pulled = run.vjp(*on)
    np.testing.assert_array_equal(pulled[0], on[0][:, 0])
    assert not any(x.any() for x in pulled[1:4])


def test_many_covectors_from_one_run(cartpole):
    run = dijoco.rollout(cartpole, np.ones((T, 1)))
    rows = []
    for k in range(2):
        cotangent = np.zeros((T + 1, 2))
        cotangent[T, k] = 1
        rows.append(run.vjp(qpos=cotangent))
    both = run.vjp(qpos=np.r_[np.zeros((T, 2)), [[1, 1]]])
    np.testing.assert_allclose(rows[0].ctrl + rows[1].ctrl, both.ctrl, rtol=1e-12)
    again = run.vjp(qpos=np.r_[np.zeros((T, 2)), [[1, 0]]])
    np.testing.assert_array_equal(again.ctrl, rows[0].ctrl)
    zero = run.vjp()
    assert not zero.ctrl.any() and not zero.qpos0.any()


def test_derivatives_are_of_the_model_as_it_was(cartpole):
    run = dijoco.rollout(cartpole, np.ones((T, 1)), qpos0=[0, 1])
    cotangent = np.ones((T + 1, 2))
    before = run.vjp(qpos=cotangent, params=["body/cart/mass"])
    cartpole.set_param("body/cart/mass", 10)
    after = run.vjp(qpos=cotangent, params="body/cart/mass")
    np.testing.assert_array_equal(before.params["body/cart/mass"],
                                  after.params["body/cart/mass"])


def test_inputs_of_a_data(cartpole):
    data = dijoco.Data(cartpole)
    data.qpos, data.qfrc_applied = [0.5, 0.1], [3, 0]
    state = data.get_state()
    run = dijoco.rollout(cartpole, np.zeros((T, 1)), data=data)
    np.testing.assert_array_equal(run.qpos[0], [0.5, 0.1])
    np.testing.assert_array_equal(data.get_state(), state)
    data.step(T)
    np.testing.assert_array_equal(run.qpos[T], data.qpos)
    other = dijoco.rollout(cartpole, np.zeros((T, 1)), qpos0=[0, 0], data=data)
    np.testing.assert_array_equal(other.qpos[0], [0, 0])
    np.testing.assert_array_equal(other.qvel[0], data.qvel)


def test_states_only(cartpole):
    run = dijoco.rollout(cartpole, np.ones((T, 1)), gradient=False)
    full = dijoco.rollout(cartpole, np.ones((T, 1)))
    np.testing.assert_array_equal(run.qpos, full.qpos)
    with pytest.raises(ValueError, match="gradient=False"):
        run.vjp()


@pytest.mark.parametrize("arguments, text", [
    ({"ctrl": np.zeros(T)}, r"ctrl: expected shape \(T, 1\)"),
    ({"ctrl": np.zeros((T, 2))}, r"ctrl: expected shape \(T, 1\)"),
    ({"ctrl": np.zeros((0, 1))}, "T > 0"),
    ({"ctrl": [["a"]]}, "expected numbers"),
    ({"ctrl": np.zeros((T, 1)), "qpos0": [1]}, r"qpos0: expected shape \(2,\)"),
    ({"ctrl": np.zeros((T, 1)), "qvel0": [1]}, r"qvel0: expected shape \(2,\)"),
    ({"ctrl": np.zeros((T, 1)), "act0": [1]}, r"act0: expected shape \(0,\)")])
def test_bad_arguments(cartpole, arguments, text):
    with pytest.raises(ValueError, match=text):
        dijoco.rollout(cartpole, **arguments)


def test_numbers_that_are_not_finite(cartpole):
    ctrl = np.zeros((T, 1))
    ctrl[7] = np.nan
    with pytest.raises(dijoco.Error, match=r"ctrl of step 7: ctrl\[0\]"):
        dijoco.rollout(cartpole, ctrl)
    with pytest.raises(dijoco.Error, match=r"qpos\[1\]"):
        dijoco.rollout(cartpole, np.zeros((T, 1)), qpos0=[0, np.inf])


def test_bad_covectors(cartpole):
    run = dijoco.rollout(cartpole, np.zeros((T, 1)))
    for name, shape in (("qpos", (T, 2)), ("qvel", (T + 1, 3)), ("act", (T + 1, 1)),
                        ("ctrl", (T + 1, 1))):
        with pytest.raises(ValueError, match=name + ": expected shape"):
            run.vjp(**{name: np.zeros(shape)})
    with pytest.raises(dijoco.Error, match="none"):
        run.vjp(params=["body/none/mass"])


def test_data_of_another_model(cartpole, box):
    with pytest.raises(dijoco.Error):
        dijoco.rollout(cartpole, np.zeros((T, 1)), data=dijoco.Data(box))


def test_smooth_derivatives(root):
    """A chain of A and B of the preset smooth from the states of the run, which is the plain one."""
    model = dijoco.Model.load(root / "examples" / "box.json")
    data = dijoco.Data(model)
    data.qpos[2] = 0.101
    data.qvel[:3] = 0.5, 0, -0.3
    data.xfrc_applied[1, 0] = 0.2
    ctrl = np.zeros((30, model.nu))
    plain = dijoco.rollout(model, ctrl, data=data)
    run = dijoco.rollout(model, ctrl, data=data, derivatives="smooth", checkpoint=7)
    np.testing.assert_array_equal(run.qpos, plain.qpos)
    assert run.stats.steps == 30
    final = np.zeros((31, model.nv))
    final[-1] = np.arange(1, model.nv + 1)
    g = run.vjp(qpos=final, params="body/#1/mass")
    lam = np.concatenate([final[-1], np.zeros(model.nv)])
    smooth = dijoco.Data(model.copy(preset="smooth"))
    smooth.xfrc_applied[:] = data.xfrc_applied
    for k in range(29, -1, -1):
        smooth.qpos[:], smooth.qvel[:] = run.qpos[k], run.qvel[k]
        lam = smooth.transition()[0].T @ lam
    np.testing.assert_allclose(g.qpos0, lam[:model.nv], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(g.qvel0, lam[model.nv:], rtol=1e-8, atol=1e-10)
    assert g.params["body/#1/mass"] != 0
    assert abs(g.qvel0 - plain.vjp(qpos=final).qvel0).max() > 1e-3
    with pytest.raises(dijoco.Error, match="first derivatives"):
        dijoco.rollout(model, ctrl, data=data, derivatives="smooth").jvp(qvel0=np.ones(model.nv))
    with pytest.raises(ValueError, match="analytic or smooth"):
        dijoco.rollout(model, ctrl, derivatives="soft")
