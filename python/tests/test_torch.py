"""PyTorch: gradcheck of steps and runs with contact, their agreement with the library's own
derivatives, batches, arguments. Skipped where PyTorch is not installed."""
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import autodiff_scene  # noqa: E402
import dijoco  # noqa: E402
import pages  # noqa: E402
import dijoco.torch as djt  # noqa: E402
from dijoco import _autodiff  # noqa: E402

STATE = ("qpos", "qvel", "act")
CHECK = {"eps": 2e-8, "atol": 1e-4, "rtol": 1e-4}


@pytest.fixture(scope="module")
def scene():
    return autodiff_scene.make()


def leaves(state, names, **kwargs):
    return [torch.tensor(state[name], requires_grad=True, **kwargs) for name in names]


def check_step(model, state):
    def function(qpos, qvel, act, ctrl):
        return djt.step(model, qpos, qvel, ctrl, act)

    return torch.autograd.gradcheck(function, leaves(state, STATE + ("ctrl",)), **CHECK)


def check_rollout(model, state, names, steps=4):
    values = autodiff_scene.params(model, *names)
    ctrl = np.tile(state["ctrl"], (steps, 1)) * np.linspace(.5, 1.5, steps)[:, None]

    def function(qpos, qvel, act, ctrl, *tensors):
        return djt.rollout(model, ctrl, qpos, qvel, act, dict(zip(names, tensors)))

    inputs = leaves(state, STATE) + leaves({"ctrl": ctrl}, ["ctrl"]) + leaves(values, names)
    return torch.autograd.gradcheck(function, inputs, **CHECK)


def test_gradcheck_of_a_step(scene):
    assert check_step(*scene)


def test_gradcheck_of_a_step_with_params(scene):
    model, state = scene
    names = ("geom/box/friction", "body/box/mass")

    def function(*tensors):
        return djt.step(model, state["qpos"], state["qvel"], state["ctrl"], state["act"],
                        dict(zip(names, tensors)))

    assert torch.autograd.gradcheck(function, leaves(autodiff_scene.params(model, *names), names),
                                    **CHECK)


def test_gradcheck_of_a_rollout(scene):
    assert check_rollout(*scene, autodiff_scene.PARAMS)


def test_gradcheck_of_a_chain(scene):
    """Steps chain with each other and with what torch does to the numbers of quaternions."""
    model, state = scene

    def function(qpos, qvel, act):
        for _ in range(3):
            qpos, qvel, act = djt.step(model, qpos * 1.1, qvel, act=act)
            qpos = qpos + .01 * qpos.roll(1)
        return qpos, qvel

    assert torch.autograd.gradcheck(function, leaves(state, STATE), **CHECK)


def test_gradcheck_without_quaternions(cartpole):
    """Here tangent vectors and numbers are the same arrays; a batch of two starts."""
    random = np.random.default_rng(4)
    values = {"qpos": random.standard_normal((2, 2)), "qvel": random.standard_normal(2),
              "ctrl": random.standard_normal((3, 1)), "mass": cartpole.param("body/pole/mass")}

    def function(qpos, qvel, ctrl, mass):
        return djt.rollout(cartpole, ctrl, qpos, qvel, params={"body/pole/mass": mass})[:2]

    assert torch.autograd.gradcheck(function, leaves(values, values), **CHECK)

    def function(qpos, qvel, ctrl):
        return djt.step(cartpole, qpos, qvel, ctrl)[:2]

    assert torch.autograd.gradcheck(function, leaves(dict(values, ctrl=values["ctrl"][0]),
                                                     ("qpos", "qvel", "ctrl")), **CHECK)


def half_of(method):
    return lambda *args: method(*args) / 2


def tangents_as_numbers(self, q, g):
    """Takes a quaternion's tangent for its last three numbers: right to first order at identity."""
    out = np.zeros(g.shape[:-1] + (self.nq,))
    out[..., self.plain_q] = g[..., self.plain_v]
    out[..., self.quat[:, 1:]] = 2 * g[..., self.spin]
    return out


@pytest.mark.parametrize("name, wrong", [
    ("to_tangent", half_of(_autodiff.Coordinates.to_tangent)),
    ("from_tangent", half_of(_autodiff.Coordinates.from_tangent)),
    ("from_tangent", tangents_as_numbers)])
def test_gradcheck_finds_a_wrong_map(scene, monkeypatch, name, wrong):
    monkeypatch.setattr(_autodiff.Coordinates, name, wrong)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        check_step(*scene)


def test_gradcheck_finds_wrong_params(scene, monkeypatch):
    monkeypatch.setattr(_autodiff, "param_from_tangent", lambda model, name, value, g: 1.01 * g)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        check_rollout(*scene, ("geom/box/friction",))


def moves(model, q, w):
    """How the numbers of qpos (nq,) move along a tangent vector w (nv,), by differences."""
    q = model.integrate_pos(q, np.zeros(model.nv))  # normalised
    return (model.integrate_pos(q, w, 1e-6) - model.integrate_pos(q, w, -1e-6)) / 2e-6


def test_rollout_agrees_with_vjp(scene):
    """Against Rollout.vjp, the tangent spaces mapped by integrate_pos."""
    model, state = scene
    state = dict(state, qpos=model.integrate_pos(state["qpos"], np.zeros(model.nv)))
    names = ("geom/box/friction", "body/box/mass", "geom/box/size")
    random = np.random.default_rng(1)
    ctrl = state["ctrl"] + .1 * random.standard_normal((10, model.nu))
    run = dijoco.rollout(model, ctrl, *(state[name] for name in STATE))
    inputs = leaves(state, STATE) + leaves({"ctrl": ctrl}, ["ctrl"])
    tensors = leaves({name: model.param(name) for name in names}, names)
    results = djt.rollout(model, inputs[3], *inputs[:3], dict(zip(names, tensors)))
    for name, result in zip(STATE, results):
        assert np.array_equal(result.detach().numpy(), getattr(run, name))

    G = [random.standard_normal(r.shape) for r in results]
    sum((r * torch.tensor(g)).sum() for r, g in zip(results, G)).backward()
    basis = np.eye(model.nv)
    dq = [[G[0][k] @ moves(model, run.qpos[k], w) for w in basis] for k in range(len(run.qpos))]
    wanted = run.vjp(np.array(dq), G[1], G[2], names)
    got = [inputs[0].grad.numpy() @ moves(model, state["qpos"], w) for w in basis]
    np.testing.assert_allclose(got, wanted.qpos0, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(inputs[1].grad, wanted.qvel0, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(inputs[2].grad, wanted.act0, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(inputs[3].grad, wanted.ctrl, rtol=1e-7, atol=1e-9)
    for name, tensor in zip(names, tensors):
        np.testing.assert_allclose(tensor.grad, wanted.params[name], rtol=1e-7, atol=1e-9)
    assert abs(wanted.params["geom/box/friction"][0]) > 1e-2


def test_steps_agree_with_a_rollout(scene):
    model, state = scene
    ctrl = torch.tensor(np.tile(state["ctrl"], (6, 1)), requires_grad=True)
    qpos, qvel, act = (torch.tensor(state[name]) for name in STATE)
    run = djt.rollout(model, ctrl, qpos, qvel, act)
    by_run, = torch.autograd.grad(run[0][-1].sum() + run[1][-1].square().sum(), ctrl)
    for k in range(6):
        qpos, qvel, act = djt.step(model, qpos, qvel, ctrl[k], act)
    by_steps, = torch.autograd.grad(qpos.sum() + qvel.square().sum(), ctrl)
    # Without the run's warm starts: equal to the solver's tolerance.
    np.testing.assert_allclose(qpos.detach(), run[0][-1].detach(), atol=1e-8)
    np.testing.assert_allclose(by_steps, by_run, rtol=1e-4, atol=1e-6)


def test_batches(scene):
    model, state = scene
    B, T, random = 5, 8, np.random.default_rng(2)
    ctrl = torch.tensor(random.standard_normal((B, T, model.nu)), requires_grad=True)
    qvel = torch.tensor(state["qvel"] + .1 * random.standard_normal((B, model.nv)))
    qpos, = leaves(state, ["qpos"])
    mass, = leaves({"mass": model.param("body/box/mass")}, ["mass"])
    params = {"body/box/mass": mass}
    together = djt.rollout(model, ctrl, qpos, qvel, params=params)
    assert [tuple(x.shape) for x in together] == [(B, T + 1, n) for n in
                                                  (model.nq, model.nv, model.na)]
    single = [djt.rollout(model, ctrl[b], qpos, qvel[b], params=params) for b in range(B)]
    inputs = (ctrl, qpos, mass)
    one = torch.autograd.grad(sum(s[0].square().sum() for s in single), inputs)
    all_ = torch.autograd.grad(together[0].square().sum(), inputs)
    for x, y in zip(together, zip(*single)):
        assert torch.equal(x, torch.stack(y))
    for x, y in zip(one, all_):
        torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-12)

    after = djt.step(model, qpos, qvel, ctrl[:, 0])
    single = [djt.step(model, qpos, qvel[b], ctrl[b, 0]) for b in range(B)]
    for x, y in zip(after, zip(*single)):
        assert torch.equal(x, torch.stack(y))
    one, = torch.autograd.grad(sum(s[1].sum() for s in single), qpos)
    all_, = torch.autograd.grad(after[1].sum(), qpos)
    torch.testing.assert_close(one, all_, rtol=1e-12, atol=1e-12)


def test_other_inputs_come_from_data(scene):
    model, state = scene
    data = dijoco.Data(model)
    data.qpos, data.qvel, data.act, data.ctrl = (state[n] for n in STATE + ("ctrl",))
    data.xfrc_applied[model.id("body", "box"), :3] = 1, 2, 3
    before = data.get_state()
    got = djt.step(model, data.qpos, data.qvel, data=data)
    run = djt.rollout(model, state["ctrl"][None], data=data)
    assert np.array_equal(before, data.get_state())
    data.step()
    for name, x, y in zip(STATE, got, run):
        assert np.array_equal(x.numpy(), getattr(data, name))
        np.testing.assert_allclose(y[1].numpy(), getattr(data, name), atol=1e-9)


def test_a_changed_model_counts(scene):
    model, state = scene
    model = model.copy()
    first = djt.step(model, state["qpos"], state["qvel"])[1]
    model.set_param("option/gravity", [0, 0, 9.81])
    second = djt.step(model, state["qpos"], state["qvel"])[1]
    fresh = djt.step(model.copy(), state["qpos"], state["qvel"])[1]
    assert not torch.equal(first, second) and torch.equal(second, fresh)
    model.option["integrator"] = "variational"
    third = djt.step(model, state["qpos"], state["qvel"])[1]
    assert not torch.equal(second, third)
    assert torch.equal(third, djt.step(model.copy(), state["qpos"], state["qvel"])[1])


def test_results_keep_what_derivatives_need(scene):
    """Writing to arguments and results after the call changes no derivative."""
    model, state = scene

    def run(spoil):
        qpos, mass = leaves({"q": state["qpos"], "m": model.param("body/box/mass")}, "qm")
        result = djt.rollout(model, np.tile(state["ctrl"], (3, 1)), qpos,
                             params={"body/box/mass": mass})
        loss = result[0][-1].sum()
        if spoil:
            with torch.no_grad():
                for tensor in (qpos, mass) + result:
                    tensor.zero_()
        return torch.autograd.grad(loss, (qpos, mass))

    for x, y in zip(run(False), run(True)):
        assert torch.equal(x, y)


def test_types(scene):
    model, state = scene
    qpos, qvel = leaves(state, ["qpos", "qvel"], dtype=torch.float32)
    after = djt.step(model, qpos, qvel)
    assert all(x.dtype == torch.float32 for x in after)
    after[1].sum().backward()
    assert qpos.grad.dtype == torch.float32 and qpos.grad.isfinite().all()
    mass = {"body/box/mass": torch.tensor([.5], dtype=torch.float64)}
    assert djt.step(model, qpos, qvel, params=mass)[0].dtype == torch.float64
    assert djt.step(model, state["qpos"], state["qvel"])[0].dtype == torch.float64
    with torch.no_grad():
        assert not djt.step(model, qpos, qvel)[0].requires_grad
    assert not djt.step(model, state["qpos"], state["qvel"])[0].requires_grad


def test_tour(root, shown):
    """What the manual says on PyTorch and JAX runs; both give the same derivative."""
    pytest.importorskip("jax")
    scopes = [shown(block) for block in pages.python(root, "torch", "jax")]
    assert len(scopes) == 3
    by_torch, = [s for s in scopes if "after" in s]
    by_jax, = [s for s in scopes if "jax" in s]
    derivatives = by_jax["jax"].grad(by_jax["loss"], (0, 1))(
        by_jax["ctrl"], by_jax["model"].param("geom/box/friction"))
    for ours, theirs in zip((by_torch["ctrl"], by_torch["friction"]), derivatives):
        np.testing.assert_allclose(ours.grad.numpy(), theirs, rtol=1e-12, atol=1e-14)
    assert by_torch["friction"].grad[0] != 0


def test_errors(scene):
    model, state = scene
    qpos, qvel = leaves(state, ["qpos", "qvel"])
    with pytest.raises(ValueError, match="qvel: expected shape"):
        djt.step(model, qpos, qpos)
    with pytest.raises(ValueError, match="a batch of 3, another argument has 2"):
        djt.step(model, qpos.repeat(2, 1), qvel.repeat(3, 1))
    with pytest.raises(ValueError, match="ctrl: expected shape"):
        djt.rollout(model, torch.zeros(model.nu))
    with pytest.raises(dijoco.Error, match="qvel"):
        djt.step(model, qpos, qvel * float("nan"))
    with pytest.raises(dijoco.Error, match="body/nobody"):
        djt.rollout(model, torch.zeros(2, model.nu), params={"body/nobody/mass": 1.})
    with pytest.raises(dijoco.Error, match="mass"):
        djt.rollout(model, torch.zeros(2, model.nu), params={"body/box/mass": torch.tensor(-1.)})
    with pytest.raises(TypeError, match="qvel: expected real numbers, not torch.complex128"):
        djt.step(model, qpos, qvel + 0j)
    with pytest.raises(TypeError, match="body/box/mass: expected real"):
        djt.rollout(model, torch.zeros(2, model.nu), params={"body/box/mass": torch.tensor(1j)})


def linear(run):
    return run[1].sum()


def square(run):
    return run[1].square().sum()


@pytest.mark.parametrize("loss", [linear, square])
def test_second_derivatives(scene, loss):
    """Also those of a loss that is linear in the state, whose cotangent is constant: hessian, hvp, jvp
    by double backward, torch.func and forward mode agree with differences of gradients."""
    model, state = scene
    qpos, qvel = leaves(state, ["qpos", "qvel"])
    qpos = qpos.detach()
    ctrl = torch.full((3, model.nu), .2, dtype=torch.float64)
    functional, func = torch.autograd.functional, torch.func

    def step(v):
        return loss(djt.step(model, qpos, v))

    def run(c):
        return loss(djt.rollout(model, c, qpos, qvel.detach()))

    def mass(x):
        return loss(djt.rollout(model, ctrl, qpos, qvel.detach(), params={"body/box/mass": x}))

    one = torch.tensor(model.param("body/box/mass"))
    for function, x in ((step, qvel.detach()), (run, ctrl), (mass, one)):
        H = functional.hessian(function, x).reshape(x.numel(), x.numel())
        size = H.abs().max()
        assert size > 0 and (H - H.T).abs().max() <= 1e-6 * size
        with pytest.raises(RuntimeError, match="vectorize=False, or take torch.func"):
            functional.hessian(function, x, vectorize=True)
        for other in (func.hessian(function)(x), func.jacrev(func.jacrev(function))(x)):
            assert (other.reshape(H.shape) - H).abs().max() <= 1e-6 * size
        v = torch.linspace(-1, 1, x.numel(), dtype=torch.float64).reshape(x.shape) + .1
        Hv = functional.hvp(function, x, v)[1]
        assert (Hv.reshape(-1) - H @ v.reshape(-1)).abs().max() <= 1e-6 * size
        slope = functional.jvp(function, x, v)[1]
        assert abs(slope - func.jvp(function, (x,), (v,))[1]) <= 1e-9 * (1 + abs(slope))
        e = 1e-5
        ahead, back = (func.grad(function)(x + s * e * v) for s in (1, -1))
        assert ((ahead - back) / (2 * e) - Hv).abs().max() <= 1e-3 * size
    first, = torch.autograd.grad(step(qvel), qvel, create_graph=True)
    np.testing.assert_array_equal(first.detach(), torch.autograd.grad(step(qvel), qvel)[0])
    first.square().sum().backward()   # a penalty on the gradient
    H = functional.hessian(step, qvel.detach())
    np.testing.assert_allclose(qvel.grad, 2 * H @ first.detach(), rtol=1e-6,
                               atol=1e-6 * qvel.grad.abs().max())


SMOOTH = """{"dijoco_model": 1, "option": {"timestep": 0.01, "integrator": "%s", "contact": "none"},
"bodies": [{"name": "world"},
 {"name": "brick", "pos": [0, 0, 0.2], "mass": 0.5, "inertia": [0.02, 0.03, 0.04]},
 {"name": "tail", "pos": [0, 1, 1], "ipos": [0, 0, -0.1], "mass": 0.3,
  "inertia": [0.02, 0.03, 0.01]},
 {"name": "arm", "parent": "tail", "ipos": [0, 0, -0.1], "mass": 0.3,
  "inertia": [0.02, 0.03, 0.01]}],
"joints": [{"name": "free", "type": "free", "body": "brick"},
 {"name": "ball", "type": "ball", "body": "tail", "stiffness": 0.3},
 {"name": "hinge", "type": "hinge", "body": "arm", "axis": [0, 1, 0.3]}],
"actuators": [{"name": "m", "joint": "hinge", "gear": [0.3, 0, 0, 0, 0, 0], "dyn": "filter",
               "tau": 0.05}]}"""


@pytest.mark.parametrize("integrator", ["euler", "position", "bdf2"])
def test_gradgradcheck(tmp_path, integrator):
    """By quaternions and axes that are not normalised, masses, references, activations and a batch."""
    path = tmp_path / "smooth.json"
    path.write_text(SMOOTH % integrator)
    model, random = dijoco.Model.load(str(path)), np.random.default_rng(2)
    names = ["body/arm/mass", "body/arm/quat", "joint/hinge/axis", "joint/ball/springref"]
    params = [np.array(model.param(n)) for n in names]
    params[1], params[2] = 1.2 * params[1] + .1, 1.5 * params[2]
    state = [model.qpos0 + .2 * random.standard_normal(model.nq),
             random.standard_normal(model.nv), random.standard_normal(model.na),
             random.standard_normal((2, 3, model.nu))]
    inputs = [torch.tensor(x, requires_grad=True) for x in state + params]

    def run(qpos, qvel, act, ctrl, *values):
        return djt.rollout(model, ctrl, qpos, qvel, act, params=dict(zip(names, values)))

    def step(qpos, qvel, act, ctrl):
        return djt.step(model, qpos, qvel, ctrl, act)

    alone = inputs[:3] + [inputs[3][0, 0].detach().requires_grad_()]
    for function, given in ((run, inputs), (step, alone)):
        torch.autograd.gradcheck(function, given, atol=1e-6, check_forward_ad=True)
        torch.autograd.gradgradcheck(function, given, atol=1e-6)


def test_vmap(scene):
    model, state = scene
    qpos, qvel = leaves(state, ["qpos", "qvel"])
    batch = torch.stack([qvel, 1.1 * qvel, .9 * qvel]).detach()

    def step(v):
        return djt.step(model, qpos.detach(), v)[1]

    together = djt.step(model, qpos.detach(), batch)[1]
    np.testing.assert_allclose(torch.func.vmap(step)(batch), together, rtol=1e-12, atol=1e-14)
    each = torch.func.vmap(torch.func.grad(lambda v: step(v).square().sum()))(batch)
    one = torch.func.grad(lambda v: step(v).square().sum())(batch[1])
    np.testing.assert_allclose(each[1], one, rtol=1e-9, atol=1e-12)


def test_third_derivatives_are_refused(scene):
    model, state = scene
    qpos, qvel = leaves(state, ["qpos", "qvel"])

    def step(v):
        return djt.step(model, qpos, v)[1].square().sum()

    first, = torch.autograd.grad(step(qvel), qvel, create_graph=True)
    second, = torch.autograd.grad(first.sum(), qvel, create_graph=True)
    with pytest.raises(NotImplementedError, match="no third derivatives.*detach"):
        torch.autograd.grad(second.sum(), qvel)
    with pytest.raises(NotImplementedError, match="no third derivatives"):
        torch.func.jvp(torch.func.hessian(step), (qvel.detach(),), (qvel.detach(),))


def test_other_arrays(scene):
    """Lists are doubles; arrays may be of any strides."""
    model, state = scene
    ctrl = np.linspace(.1, .3, 3 * model.nu).reshape(3, model.nu)
    expected = djt.rollout(model, torch.tensor(ctrl), state["qpos"], state["qvel"])[0]
    backward, wide = ctrl[::-1].copy()[::-1], np.repeat(ctrl, 2, 1)[:, ::2]
    for same in (ctrl.tolist(), backward, np.asfortranarray(ctrl), wide,
                 torch.tensor(ctrl.T.copy()).t()):
        found = djt.rollout(model, same, state["qpos"], state["qvel"])[0]
        assert found.dtype == torch.float64
        np.testing.assert_array_equal(found, expected)
    ctrl.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        djt.rollout(model, ctrl, state["qpos"], state["qvel"])


def test_parameters_of_each_member(scene):
    """A batch axis of parameters: the results and derivatives of single calls."""
    model, state = scene
    names = ("geom/box/friction", "option/gravity", "body/box/mass")
    base = autodiff_scene.params(model, *names)
    B, T = 3, 6
    ctrl = torch.randn(T, model.nu, dtype=torch.float64, generator=torch.manual_seed(3))
    given = {n: torch.stack([torch.as_tensor(base[n]) * (1 + .1 * i) for i in range(B)])
             for n in names}
    given["body/box/mass"] = given["body/box/mass"].reshape(B)   # of numbers as they are
    weight = torch.randn(B, T + 1, model.nq, dtype=torch.float64)
    for batched in (ctrl, ctrl.expand(B, T, -1) * torch.arange(1., B + 1)[:, None, None]):
        tensors = {n: x.clone().requires_grad_() for n, x in given.items()}
        u = batched.clone().requires_grad_()
        qpos, _, _ = djt.rollout(model, u, params=tensors)
        assert qpos.shape == (B, T + 1, model.nq)
        grads = torch.autograd.grad((weight * qpos).sum(), [u, *tensors.values()])
        total = torch.zeros_like(u)
        for i in range(B):
            ones = {n: x[i].detach().clone().requires_grad_() for n, x in given.items()}
            ui = (u if u.dim() == 2 else u[i]).detach().clone().requires_grad_()
            one, _, _ = djt.rollout(model, ui, params=ones)
            torch.testing.assert_close(one, qpos[i].detach(), rtol=0, atol=0)
            each = torch.autograd.grad((weight[i] * one).sum(), [ui, *ones.values()])
            for mine, his in zip(grads[1:], each[1:]):
                torch.testing.assert_close(mine[i], his, rtol=1e-12, atol=1e-14)
            if u.dim() == 2:
                total += each[0]
            else:
                total[i] = each[0]
        torch.testing.assert_close(grads[0], total, rtol=1e-12, atol=1e-14)

    def loss(friction):
        return djt.rollout(model, ctrl, params={names[0]: friction})[0].square().sum()

    friction = given[names[0]]
    v = torch.randn_like(friction)
    Hv = torch.autograd.functional.hvp(loss, friction, v)[1]
    for i in range(B):
        one = torch.autograd.functional.hvp(loss, friction[i], v[i])[1]
        torch.testing.assert_close(Hv[i], one, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="a batch of 2|another argument has"):
        djt.rollout(model, ctrl.expand(2, T, -1), params={names[0]: friction})


def test_vmap_is_one_batch(scene, monkeypatch):
    """What is mapped over is folded into batches, nested ones, too, with what they share."""
    model, state = scene
    made = []
    run = _autodiff.Run.__init__

    def counted(self, model, data, params, qpos, *rest, **more):
        made.append(len(qpos))
        run(self, model, data, params, qpos, *rest, **more)

    monkeypatch.setattr(_autodiff.Run, "__init__", counted)
    S, B, T = 4, 3, 5
    g = torch.Generator().manual_seed(5)
    ctrl = torch.randn(S, B, T, model.nu, dtype=torch.float64, generator=g)
    gravity = torch.randn(S, 3, dtype=torch.float64, generator=g)
    qvel = torch.randn(B, model.nv, dtype=torch.float64, generator=g)

    def loss(ctrl, gravity, qvel):
        qpos = djt.rollout(model, ctrl, qvel0=qvel, params={"option/gravity": gravity})[0]
        return qpos[..., -1, :].square().sum()

    grad = torch.func.grad(loss, argnums=(0, 1, 2))
    one = [grad(ctrl[s], gravity[s], qvel) for s in range(S)]   # batches of B share gravity
    made.clear()
    mapped = torch.func.vmap(grad, in_dims=(0, 0, None))(ctrl, gravity, qvel)
    assert set(made) == {S * B}
    for mine, his in zip(mapped, zip(*one)):
        torch.testing.assert_close(mine, torch.stack(his), rtol=1e-12, atol=1e-13)
    made.clear()
    nested = torch.func.vmap(torch.func.vmap(grad, in_dims=(0, None, 0)), in_dims=(0, 0, None))(
        ctrl, gravity, qvel)
    assert set(made) == {S * B}
    torch.testing.assert_close(nested[0], mapped[0], rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(nested[1].sum(1), mapped[1], rtol=1e-12, atol=1e-13)
    hessian = torch.func.hessian(lambda u: loss(u, gravity[0], qvel[0]))
    each = torch.func.vmap(hessian)(ctrl[:2, 0])
    torch.testing.assert_close(each[1], hessian(ctrl[1, 0]), rtol=1e-9, atol=1e-12)
    ahead = torch.func.vmap(lambda u, du: torch.func.jvp(
        lambda x: loss(x, gravity[0], qvel[0]), (u,), (du,))[1])(ctrl[:, 0], ctrl[:, 1])
    for s in range(S):
        mine = (grad(ctrl[s, 0], gravity[0], qvel[0])[0] * ctrl[s, 1]).sum()
        torch.testing.assert_close(ahead[s], mine, rtol=1e-10, atol=1e-12)


def test_compile(scene):
    """Whole graphs, with the results and derivatives of eager calls."""
    model, state = scene
    qpos, qvel = (torch.tensor(state[name]) for name in ("qpos", "qvel"))
    B, T = 3, 4
    g = torch.Generator().manual_seed(6)
    ctrl = torch.randn(B, T, model.nu, generator=g)                      # single precision
    friction = torch.tensor(autodiff_scene.params(model, "geom/box/friction")["geom/box/friction"])
    masses = torch.tensor([1., 1.5, 2.], dtype=torch.float64)
    data = dijoco.Data(model)
    data.qfrc_applied[0] = .5

    def loss(ctrl, friction, masses):
        run = djt.rollout(model, ctrl.tanh(), qpos, qvel, data=data,
                          params={"geom/box/friction": friction, "body/box/mass": masses})
        after = djt.step(model, run[0][:, -1], run[1][:, -1], ctrl[:, 0], run[2][:, -1])
        alone = djt.step(model, qpos, run[1][0, -1])
        return sum((x * x).sum() for x in (*run, *after, *alone))

    def graded(function):
        inputs = [x.clone().requires_grad_() for x in (ctrl, friction, masses)]
        value = function(*inputs)
        return value, torch.autograd.grad(value, inputs)

    value, gradient = graded(loss)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        mine, his = graded(compiled)
        torch.testing.assert_close(mine, value, rtol=1e-12, atol=0)
        for a, b, x in zip(his, gradient, (ctrl, friction, masses)):
            assert a.dtype == x.dtype and a.shape == x.shape
            torch.testing.assert_close(a, b, rtol=1e-5 if x is ctrl else 1e-9, atol=1e-9)
    single = torch.compile(lambda u: djt.rollout(model, u), fullgraph=True, backend="aot_eager")
    results = single(ctrl[0])
    assert [x.dtype for x in results] == [torch.float32] * 3
    for a, b in zip(results, djt.rollout(model, ctrl[0])):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    with pytest.raises(Exception, match="expected shape"):
        torch.compile(lambda u: djt.rollout(model, u), fullgraph=True, backend="aot_eager")(
            torch.zeros(T, model.nu + 1))


def test_operators_pass_pytorch_s_checks(scene):
    from dijoco import _torch_ops
    model, state = scene
    qpos, qvel = (torch.tensor(state[name], requires_grad=True) for name in ("qpos", "qvel"))
    ctrl = torch.zeros(3, model.nu, dtype=torch.float64, requires_grad=True)
    mass = torch.tensor([1.], dtype=torch.float64, requires_grad=True)
    torch.library.opcheck(_torch_ops.call, (
        "rollout", model._address, 0, "body/box/mass", ctrl, qpos, qvel, None, [mass]))
    torch.library.opcheck(_torch_ops.call, (
        "step", model._address, 0, "", None, qpos, qvel, None, []))
