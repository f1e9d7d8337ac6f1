"""States and tangents of bdf2, whose state has a history."""
import numpy as np
import pytest

import dijoco
from dijoco import _autodiff


@pytest.fixture
def model(root):
    return dijoco.Model.load(str(root / "examples" / "cartpole.json"), integrator="bdf2",
                             timestep=0.01)


@pytest.fixture
def data(model):
    data = dijoco.Data(model)
    data.qvel = [0.5, -2]
    data.ctrl = [3]
    data.step(4)
    return data


def test_state(model, data):
    """The state has the history, and a run continues from it."""
    nv = model.nv
    assert model.tangent_size == 4 * nv and model.na == 0
    state = data.get_state()
    assert state.shape == (1 + 2 * nv + 1 + 2 * nv,) and state[1 + 2 * nv] == 1
    before = data.copy()
    data.step(3)
    other = dijoco.Data(model)
    other.set_state(state)
    other.ctrl = [3]
    other.step(3)
    np.testing.assert_array_equal(other.get_state(), data.get_state())
    other.reset()
    other.qpos, other.qvel, other.ctrl = before.qpos, before.qvel, before.ctrl
    other.step(3)
    assert abs(other.qpos - data.qpos).max() > 1e-6   # another run: it began without


def test_by_hand(model, data):
    """What is written to qpos and qvel, also through a kept view, drops the history."""
    qpos, qvel = data.history
    view = data.qpos
    data.ctrl[:] = 1
    assert data.history is not None
    for write in (lambda: view.__setitem__(0, view[0] + 1e-9), lambda: setattr(data, "qvel", [1, 1]),
                  lambda: data.reset(), lambda: setattr(data, "history", None)):
        data.history = qpos, qvel
        np.testing.assert_array_equal(data.history[0], qpos)
        np.testing.assert_array_equal(data.history[1], qvel)
        write()
        assert data.history is None
    data.history = qpos, qvel
    model.option["timestep"] = 0.005
    assert data.history is None
    with pytest.raises(ValueError, match="history: qvel"):
        data.history = qpos, qvel[:1]
    with pytest.raises((dijoco.Error, ValueError), match="history: qpos"):
        data.history = [np.nan, 0], qvel
    model.option["integrator"] = "bdf1"   # and back: the next step begins without
    data.step()
    assert data.history is None and data.transition()[0].shape == (2 * model.nv,) * 2
    model.option["integrator"] = "bdf2"
    assert data.history is None
    data.step()
    assert data.history is not None
    plain = dijoco.Data(model.copy(integrator="bdf1"))
    plain.step()
    assert plain.history is None


def test_derivatives(model, data):
    """A is by (q, v, q-, v-): differences by set_state, and products."""
    nv, before = model.nv, data.copy()
    state = data.get_state()
    A, B = data.transition()
    assert A.shape == (4 * nv, 4 * nv) and B.shape == (4 * nv, 1)
    assert abs(A[:nv, 2 * nv:]).max() > 0.1
    before.step()
    A2, B2 = before.last_transition()
    np.testing.assert_allclose(A2, A, atol=1e-12)
    lam = np.sin(np.arange(4 * nv) + 1)
    dx, du = before.step_vjp(lam)
    np.testing.assert_allclose(dx, A.T @ lam, atol=1e-9)
    np.testing.assert_allclose(du, B.T @ lam, atol=1e-9)
    np.testing.assert_allclose(before.step_jvp(lam, [2]), A @ lam + B @ [2], atol=1e-9)
    assert before.last_params(["joint/angle/damping"]).shape == (4 * nv, 1)
    other = dijoco.Data(model)
    for k in range(4 * nv):
        at = 1 + k if k < 2 * nv else 2 + k
        sides = []
        for e in (1e-6, -1e-6):
            moved = state.copy()
            moved[at] += e
            other.set_state(moved)
            other.ctrl = [3]
            other.step()
            sides.append(np.delete(other.get_state(), [0, 1 + 2 * nv]))
        np.testing.assert_allclose((sides[0] - sides[1]) / 2e-6, A[:, k], atol=1e-5)
    for k in range(2 * nv):   # writes drop the history: what follows them is not A
        sides = []
        for e in (1e-6, -1e-6):
            other.set_state(state)
            view = other.qpos if k < nv else other.qvel
            view[k % nv] += e
            assert other.history is None
            other.step()
            sides.append(np.concatenate([other.qpos, other.qvel]))
        assert abs((sides[0] - sides[1]) / 2e-6 - A[:2 * nv, k]).max() > 0.01


def test_rollout(model, data):
    """Runs go on with data's history, and have derivatives by it."""
    nv, ctrl = model.nv, np.full((6, 1), 0.5)
    final = np.zeros((7, nv))
    final[-1, 1] = 1
    run = dijoco.rollout(model, ctrl, data=data)
    grad = run.vjp(qpos=final)
    start = {"qpos0": data.qpos.copy(), "qvel0": data.qvel.copy()}
    same = dijoco.rollout(model, ctrl, history=data.history, **start)
    np.testing.assert_array_equal(same.qpos, run.qpos)
    anew = dijoco.rollout(model, ctrl, **start)
    assert abs(anew.qpos - run.qpos).max() > 1e-6
    assert not anew.vjp(qpos=final).history_qvel0.any()
    assert abs(grad.history_qpos0).max() > 1e-3 and abs(grad.history_qvel0).max() > 1e-3
    for part, found in ((0, grad.history_qpos0), (1, grad.history_qvel0)):
        for k in range(nv):
            sides = []
            for e in (1e-5, -1e-5):
                history = [x.copy() for x in data.history]
                history[part][k] += e
                sides.append(dijoco.rollout(model, ctrl, history=history, **start).qpos[-1, 1])
            np.testing.assert_allclose((sides[0] - sides[1]) / 2e-5, found[k], rtol=1e-5, atol=1e-9)
    for k in (0, 5):
        sides = []
        for e in (1e-5, -1e-5):
            other = ctrl.copy()
            other[k] += e
            sides.append(dijoco.rollout(model, other, data=data).qpos[-1, 1])
        np.testing.assert_allclose((sides[0] - sides[1]) / 2e-5, grad.ctrl[k, 0], rtol=1e-5)


def test_batch(model):
    """A step of a batch, what PyTorch and JAX differentiate, begins and ends without a history."""
    nv = model.nv
    start = [np.array([x]) for x in ([0.1, 0.2], [0.5, -2.0], np.zeros(0), [3.0])]
    step = _autodiff.Step(model, None, *start, derivatives=True)
    assert step.A.shape == (1, 4 * nv, 4 * nv)
    pulled = step.vjp(*(np.array([x]) for x in ([1.0, 2], [3, 4], np.zeros(0))))
    assert [x.shape for x in pulled] == [(1, nv), (1, nv), (1, 0), (1, 1)]
    np.testing.assert_allclose(np.concatenate(pulled[:2], 1)[0], [1, 2, 3, 4] @ step.A[0, :4, :4])


@pytest.mark.parametrize("integrator", ["position", "bdf1"])
def test_without(cartpole, integrator):
    cartpole.option["integrator"] = integrator
    assert cartpole.tangent_size == 2 * cartpole.nv + cartpole.na
    assert np.shape(dijoco.Data(cartpole).transition()[0]) == (cartpole.tangent_size,) * 2
