"""PyTorch: touches of implicit surfaces by poses. Skipped where PyTorch is not installed."""
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import dijoco  # noqa: E402
import dijoco.torch as djt  # noqa: E402
from dijoco import _autodiff  # noqa: E402
from implicit_shapes import POSE_A, POSE_B, SHAPES, VALUES, VECTORS, random_poses  # noqa: E402

CHECK = {"eps": 1e-6, "atol": 1e-6, "rtol": 1e-5}


@pytest.fixture
def pair():
    return dijoco.ImplicitPair(SHAPES["superellipsoid"], SHAPES["truncated_cone"])


def leaves(*poses, **kwargs):
    return [torch.tensor(np.array(pose), requires_grad=True, **kwargs) for pose in poses]


def check(pair, *poses):
    def function(*poses):
        return tuple(djt.implicit(pair, *poses).values())

    return torch.autograd.gradcheck(function, leaves(*poses), **CHECK)


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_gradcheck(a, b):
    pair = dijoco.ImplicitPair(SHAPES[a], SHAPES[b])
    assert check(pair, POSE_A, POSE_B)


def test_gradcheck_of_batches(pair):
    a, b = random_poses(6, 4)
    assert check(pair, a.reshape(2, 3, 7), b.reshape(2, 3, 7))
    assert check(pair, POSE_A, b)
    assert check(pair, a.reshape(2, 3, 7), b[:3])


def test_gradcheck_of_one_pose(pair):
    """The other one has no gradient."""
    b, = leaves(POSE_B)

    def function(b):
        return djt.implicit(pair, POSE_A, b)["gap"]

    assert torch.autograd.gradcheck(function, [b], **CHECK)


def test_gradcheck_finds_a_wrong_map(pair, monkeypatch):
    right = _autodiff.pose_from_twist
    monkeypatch.setattr(_autodiff, "pose_from_twist",
                        lambda pose, g: right(pose * [1, 1, 1, 1, -1, -1, -1], g))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        check(pair, POSE_A, POSE_B)


def test_batches(pair):
    a, b = random_poses(6, 7)
    together = djt.implicit(pair, *(torch.tensor(pose).reshape(2, 3, 7) for pose in (a, b)))
    assert list(together) == list(VALUES)
    for name, x in together.items():
        assert tuple(x.shape) == ((2, 3, 3) if name in VECTORS else (2, 3))
        for i in range(6):
            single = djt.implicit(pair, a[i], b[i])[name]
            assert tuple(single.shape) == ((3,) if name in VECTORS else ())
            np.testing.assert_allclose(x[i // 3, i % 3], single, atol=1e-10)
            np.testing.assert_allclose(single, pair.evaluate(a[i], b[i])[name], atol=1e-10)
    empty = djt.implicit(pair, torch.ones(0, 7), torch.ones(1, 7))
    assert tuple(empty["x"].shape) == (0, 3)


def test_agrees_with_twists(pair):
    a, b = leaves(POSE_A, POSE_B)
    djt.implicit(pair, a, b)["gap"].backward()
    out = pair.evaluate(POSE_A, POSE_B, derivatives=True)
    np.testing.assert_allclose(a.grad[:3], out["dgap"][3:6], atol=1e-9)
    np.testing.assert_allclose(b.grad[:3], out["dgap"][9:], atol=1e-9)
    assert np.abs(out["dgap"]).max() > .1
    assert abs(float(a.grad[3:] @ a[3:])) < 1e-12  # its length is of no effect


def test_results_keep_what_derivatives_need(pair):
    def run(spoil):
        poses = leaves(POSE_A, POSE_B)
        out = djt.implicit(pair, *poses)
        loss = out["x"].sum()
        if spoil:
            pair.evaluate(POSE_B, POSE_A, derivatives=True)
            with torch.no_grad():
                for tensor in poses + list(out.values()):
                    tensor.zero_()
        return torch.autograd.grad(loss, poses)

    for x, y in zip(run(False), run(True)):
        torch.testing.assert_close(x, y, rtol=1e-9, atol=1e-9)


def test_types(pair):
    single, = leaves(POSE_A, dtype=torch.float32)
    out = djt.implicit(pair, single, POSE_B)
    assert all(x.dtype == torch.float32 for x in out.values())
    out["gap"].backward()
    assert single.grad.dtype == torch.float32 and single.grad.abs().max() > .1
    double, = leaves(POSE_B)
    assert djt.implicit(pair, single, double)["gap"].dtype == torch.float64
    listed = djt.implicit(pair, POSE_A, POSE_B)["x"]
    assert listed.dtype == torch.float64
    np.testing.assert_allclose(listed, pair.evaluate(POSE_A, POSE_B)["x"], atol=1e-12)
    assert not djt.implicit(pair, POSE_A, POSE_B)["x"].requires_grad
    with torch.no_grad():
        assert not djt.implicit(pair, single, double)["x"].requires_grad


def test_errors(pair):
    pose, = leaves(POSE_A)
    with pytest.raises(TypeError, match="pair: expected a dijoco.ImplicitPair, not dict"):
        djt.implicit(SHAPES["superellipsoid"], pose, pose)
    with pytest.raises(ValueError, match=r"pose_a: expected shape \(..., 7\), not \(6,\)"):
        djt.implicit(pair, pose[:6], pose)
    with pytest.raises(ValueError, match=r"pose_b: expected shape \(..., 7\), not \(\)"):
        djt.implicit(pair, pose, torch.tensor(1.))
    with pytest.raises(ValueError, match=r"pose_b: shape \(3, 7\) does not broadcast"):
        djt.implicit(pair, pose.repeat(2, 1), pose.repeat(3, 1))
    with pytest.raises(ValueError, match="pose_b: not finite"):
        djt.implicit(pair, pose, pose * float("nan"))
    with pytest.raises(ValueError, match="pose_a: its quaternion is zero"):
        djt.implicit(pair, pose * 0, pose)
    loss = djt.implicit(pair, pose, POSE_B)["gap"].square()
    first, = torch.autograd.grad(loss, pose, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivatives"):
        first.sum().backward()
