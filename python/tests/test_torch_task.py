"""PyTorch: losses of a task's scenes, with derivatives by its variables. Skipped without PyTorch."""
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import dijoco  # noqa: E402
import dijoco.torch as djt  # noqa: E402
from test_scenes import TASK, folder  # noqa: E402, F401


@pytest.fixture
def design(folder):  # noqa: F811
    return dijoco.Design(TASK, folder)


def point(design):
    random = np.random.default_rng(3)
    return torch.tensor(design.x0 + 0.1 * random.standard_normal(design.n), requires_grad=True)


def test_gradcheck(design):
    """Against differences, each scene for itself."""
    assert torch.autograd.gradcheck(lambda x: djt.losses(design, x), point(design), eps=1e-6,
                                    atol=1e-6, rtol=1e-5)


def test_gradgradcheck(design):
    """The same of second derivatives; hvp of the sum is the design's own."""
    x = point(design)
    assert torch.autograd.gradgradcheck(lambda x: djt.losses(design, x), x, eps=1e-6, atol=1e-6,
                                        rtol=1e-5)
    weights = torch.as_tensor(design.weights)
    v = torch.linspace(-1, 1, design.n, dtype=torch.float64)

    def loss(x):
        return djt.losses(design, x) @ weights

    first, = torch.autograd.grad(loss(x), x, create_graph=True)
    product, = torch.autograd.grad(first @ v, x, create_graph=True)
    np.testing.assert_allclose(product.detach(), design.hvp(x.detach().numpy(), v.numpy()),
                               rtol=1e-9, atol=1e-12)
    with pytest.raises(RuntimeError, match="no third derivatives"):
        torch.autograd.grad(product.sum(), x)


def test_wrong_gradients_are_found(design, monkeypatch):
    right = dijoco.Design.evaluate_scenes
    monkeypatch.setattr(dijoco.Design, "evaluate_scenes", lambda self, x, gradient: (
        right(self, x)[0], right(self, x)[1][::-1].copy()))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        test_gradcheck(design)


def test_sum_is_the_tasks(design):
    x = point(design)
    losses = djt.losses(design, x)
    (losses @ torch.as_tensor(design.weights)).backward()
    loss, gradient = design.evaluate(x.detach().numpy())
    np.testing.assert_array_equal(losses.detach().numpy(), design.scene_losses())
    assert design.weights @ losses.detach().numpy() == pytest.approx(loss, rel=1e-14)
    np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=1e-12)


def test_variables(design):
    """By names; what is not named is as in x0."""
    mass = torch.tensor([1.3], requires_grad=True)
    losses = djt.losses(design, {"body/cart/mass": mass})
    assert losses.dtype == torch.float32 and losses.shape == (3,)
    losses[1].backward()
    x = design.x0.copy()
    x[design.slice("body/cart/mass")] = np.float32(1.3)
    want, gradients = design.evaluate_scenes(x)
    np.testing.assert_allclose(losses.detach().numpy(), want, rtol=1e-6)
    np.testing.assert_allclose(mass.grad.numpy(),
                               gradients[1][design.slice("body/cart/mass")], rtol=1e-6)
    with pytest.raises(ValueError, match="there is no variable 'x'"):
        djt.losses(design, {"x": mass})
    with pytest.raises(ValueError, match="ctrl: expected 30 numbers"):
        djt.losses(design, {"ctrl": mass})


def test_one_scene(folder):  # noqa: F811
    task = json.loads(json.dumps(TASK))
    task.pop("scenes")
    design = dijoco.Design(task, folder)
    with torch.no_grad():
        losses = djt.losses(design, torch.tensor(design.x0))
    assert losses.shape == (1,) and losses[0] == design.evaluate(design.x0)[0]
