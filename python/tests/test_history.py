"""States and tangents of an integrator with a history: a library with the integrators of
tests/methods (in the place of bdf1: two steps), in a process of its own."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = pathlib.Path(os.environ.get("DIJOCO_BUILD", ROOT / "build")) / "tests" / "methods"
CODE = """
import sys
import numpy as np
import dijoco
from dijoco import _autodiff

model = dijoco.Model.load(sys.argv[1], integrator="bdf1", timestep=0.01)
nv = model.nv
assert model.tangent_size == 4 * nv and model.na == 0
data = dijoco.Data(model)
data.qvel = [0.5, -2]
data.ctrl = [3]
data.step(4)

# The state has the history, and a run continues from it.
state = data.get_state()
assert state.shape == (1 + 2 * nv + 1 + 2 * nv,) and state[1 + 2 * nv] == 1
before = data.copy()
A, B = data.transition()
assert A.shape == (4 * nv, 4 * nv) and B.shape == (4 * nv, 1)
assert abs(A[:nv, 2 * nv:]).max() > 0.1
data.step(3)
end = data.get_state()
other = dijoco.Data(model)
other.set_state(state)
other.ctrl = [3]
other.step(3)
np.testing.assert_array_equal(other.get_state(), end)
other.reset()
other.qpos, other.qvel, other.ctrl = before.qpos, before.qvel, before.ctrl
other.step(3)
assert abs(other.qpos - data.qpos).max() > 1e-6   # another run: it began without

# Products and columns of all of the tangent state.
before.step()
after = before.get_state()
A2, B2 = before.last_transition()
np.testing.assert_allclose(A2, A, atol=1e-12)
lam = np.sin(np.arange(4 * nv) + 1)
dx, du = before.step_vjp(lam)
np.testing.assert_allclose(dx, A.T @ lam, atol=1e-9)
np.testing.assert_allclose(du, B.T @ lam, atol=1e-9)
np.testing.assert_allclose(before.step_jvp(lam, [2]), A @ lam + B @ [2], atol=1e-9)
assert before.last_params(["joint/angle/damping"]).shape == (4 * nv, 1)
for k, at in ((0, 1), (2 * nv, 2 + 2 * nv), (3 * nv + 1, 3 + 3 * nv)):  # qpos, both of the history
    sides = []
    for e in (1e-6, -1e-6):
        moved = state.copy()
        moved[at] += e
        other.set_state(moved)
        other.ctrl = [3]
        other.step()
        sides.append(np.delete(other.get_state(), [0, 1 + 2 * nv]))
    np.testing.assert_allclose((sides[0] - sides[1]) / 2e-6, A[:, k], atol=1e-5)

# Runs and their adjoint: by differences of the last position.
ctrl = np.full((6, 1), 0.5)
final = np.zeros((7, nv))
final[-1, 1] = 1
grad = dijoco.rollout(model, ctrl, qvel0=[0.5, -2]).vjp(qpos=final)
for k in (0, 5):
    sides = []
    for e in (1e-5, -1e-5):
        other = ctrl.copy()
        other[k] += e
        sides.append(dijoco.rollout(model, other, qvel0=[0.5, -2]).qpos[-1, 1])
    np.testing.assert_allclose((sides[0] - sides[1]) / 2e-5, grad.ctrl[k, 0], rtol=1e-5)

# A step of a batch: what PyTorch and JAX differentiate. It begins and ends without a history.
start = [np.array([x]) for x in ([0.1, 0.2], [0.5, -2.0], np.zeros(0), [3.0])]
step = _autodiff.Step(model, None, *start, True)
assert step.A.shape == (1, 4 * nv, 4 * nv)
pulled = step.vjp(*(np.array([x]) for x in ([1.0, 2], [3, 4], np.zeros(0))))
assert [x.shape for x in pulled] == [(1, nv), (1, nv), (1, 0), (1, 1)]
np.testing.assert_allclose(np.concatenate(pulled[:2], 1)[0], [1, 2, 3, 4] @ step.A[0, :4, :4])
print("passed")
"""


@pytest.mark.skipif(not LIBRARIES.exists(), reason="no library with the tests' integrators")
def test_history(root):
    environment = dict(os.environ, DIJOCO_LIBRARY_DIR=str(LIBRARIES),
                       PYTHONPATH=str(ROOT / "python"))
    done = subprocess.run([sys.executable, "-c", CODE, str(root / "examples" / "cartpole.json")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment, timeout=120)
    assert done.stdout == "passed\n" and done.returncode == 0, done.stdout


@pytest.mark.parametrize("integrator", ["position", "bdf1"])
def test_without(cartpole, integrator):
    cartpole.option["integrator"] = integrator
    assert cartpole.tangent_size == 2 * cartpole.nv + cartpole.na
    import dijoco
    assert np.shape(dijoco.Data(cartpole).transition()[0]) == (cartpole.tangent_size,) * 2
