"""Gymnasium's environments with our step: its checker, its observations, many at a time."""
import pickle
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("gymnasium.envs.mujoco")
mujoco = pytest.importorskip("mujoco")

import dijoco  # noqa: E402
import pages  # noqa: E402
import dijoco.envs  # noqa: E402
import dijoco.gym  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", dijoco.gym.NAMES)
def test_checker(name):
    env = gymnasium.make("dijoco/%s-v5" % name)
    check_env(env.unwrapped, skip_render_check=True)
    assert env.spec.max_episode_steps == gymnasium.spec(name + "-v5").max_episode_steps
    assert env.observation_space == gymnasium.make(name + "-v5").observation_space


def test_step_is_ours():
    """What a Context does with the same data; what the class makes of it is gymnasium's."""
    env = gymnasium.make("dijoco/Ant-v5", settings={"restitution": "given"})
    env.reset(seed=4)
    env.action_space.seed(4)
    own, data = env.unwrapped, mujoco.MjData(env.unwrapped.model)
    context = dijoco.Context(own.model, sensors=True, restitution="given")
    assert own.context.model.option["restitution"] == "given"
    forces = 0
    for _ in range(60):
        action = env.action_space.sample()
        mujoco.mj_copyData(data, own.model, own.data)
        data.ctrl[:] = action
        context.step(data, own.frame_skip)
        seen, reward, *_ = env.step(action)
        for field in ("qpos", "qvel", "qacc", "cfrc_ext", "xpos", "cvel"):
            assert (getattr(own.data, field) == getattr(data, field)).all(), field
        assert (seen == own._get_obs()).all()
        forces += abs(seen[-13 * 6:]).max() > 0.5
    assert forces > 5   # of the feet, in cfrc_ext


def test_without_contact_as_gymnasium():
    """In the air, by Euler, all that the humanoid's observation holds is stock MuJoCo's."""
    envs = gymnasium.make("Humanoid-v5"), gymnasium.make("dijoco/Humanoid-v5")
    action = np.linspace(-0.3, 0.3, 17).astype(np.float32)
    seen = []
    for env in envs:
        env.reset(seed=1)
        own = env.unwrapped
        own.model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        qpos = own.init_qpos.copy()
        qpos[2] += 3
        own.set_state(qpos, own.init_qvel + 0.1)
        for _ in range(3):
            found = env.step(action)[:2]
        seen.append(found)
    parts = envs[0].unwrapped.observation_structure
    assert len(seen[0][0]) == 348 and parts["cfrc_ext"] == 13 * 6
    for a, b in zip(seen[0], seen[1]):
        assert np.allclose(a, b, rtol=1e-6, atol=1e-6)
    wrong = seen[0][0].copy()
    wrong[30] += 1e-4
    assert not np.allclose(wrong, seen[1][0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_vector(mode):
    """Each environment as it is alone, by any number of threads, also when it falls and starts anew."""
    id, n = "dijoco/Hopper-v5", 5
    runs = []
    for threads in (1, 3):
        envs = gymnasium.make_vec(id, num_envs=n, threads=threads, autoreset_mode=mode)
        assert isinstance(envs.unwrapped, dijoco.gym.VectorEnv)
        envs.action_space.seed(9)
        run = [envs.reset(seed=7)[0]]
        ends = 0
        for _ in range(120):
            seen, reward, ended, cut, _ = envs.step(envs.action_space.sample())
            run += [seen, reward, ended, cut]
            ends += ended.sum()
        assert ends > 3
        runs.append(run)
        envs.close()
    assert all((a == b).all() for a, b in zip(*runs))

    alone = gymnasium.vector.SyncVectorEnv(
        [lambda: gymnasium.make(id)] * n, autoreset_mode=gymnasium.vector.AutoresetMode(mode))
    alone.action_space.seed(9)
    run = [alone.reset(seed=7)[0]]
    for _ in range(120):
        run += alone.step(alone.action_space.sample())[:4]
    assert all((a == b).all() for a, b in zip(run, runs[0]))


def test_settings_reach_all():
    envs = gymnasium.make_vec("dijoco/Hopper-v5", num_envs=2, threads=1,
                              settings={"preset": "smooth"}, reset_noise_scale=0)
    hard = gymnasium.make_vec("dijoco/Hopper-v5", num_envs=2, threads=1, reset_noise_scale=0)
    alone = gymnasium.make("dijoco/Hopper-v5", settings={"preset": "smooth"}, reset_noise_scale=0)
    for e in (envs, hard, alone):
        e.reset(seed=0)
    for _ in range(30):
        seen = [e.step(np.zeros(e.action_space.shape, np.float32))[0] for e in (envs, hard, alone)]
    assert (seen[0][1] == seen[2]).all() and abs(seen[0] - seen[1]).max() > 1e-6


def test_pickles():
    env = gymnasium.make("dijoco/Walker2d-v5", settings={"preset": "smooth"}).unwrapped
    copied = pickle.loads(pickle.dumps(env))
    assert type(copied) is type(env) and copied.context.model.option["preset"] == "smooth"
    results = []
    for e in (env, copied):
        e.reset(seed=2)
        results.append(e.step(np.full(6, 0.3, np.float32))[0])
    assert (results[0] == results[1]).all()


def test_refused():
    with pytest.raises(TypeError, match="expected a class of gymnasium's MujocoEnv"):
        dijoco.gym.own(dict)
    with pytest.raises(TypeError, match="expected environments with our step"):
        dijoco.gym.VectorEnv(lambda: gymnasium.make("Hopper-v5"), 2)
    with pytest.raises(Exception, match="contcat"):
        gymnasium.make("dijoco/Hopper-v5", settings={"contcat": "penalty"})
    env = gymnasium.make("dijoco/Hopper-v5").unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="dimension"):
        env.step(np.zeros(5, np.float32))


def test_page(root, shown):
    """The manual's example runs."""
    block, = pages.python(root, "gymnasium")
    scope = shown(block)
    assert scope["observation"].shape == (16, 11) and np.isfinite(scope["reward"]).all()
    assert scope["env"].unwrapped.context.model.option["restitution"] == "given"


# ---- environments of our own -------------------------------------------------------------------

def pusher(places):
    """Forces on the disc: round to the far side of the box, then towards the mark."""
    disc, box, mark = places
    to = (mark - box) / np.linalg.norm(mark - box)
    side, place = np.array([-to[1], to[0]]), disc - box
    along, beside = place @ to, place @ side
    around = side * (np.sign(beside) or 1)
    if along > -0.1:
        aim = box + 0.2 * around - 0.05 * to if abs(beside) < 0.15 else box - 0.15 * to + 0.1 * around
    else:
        aim = mark - 0.15 * to if abs(beside) < 0.03 else box - 0.15 * to
    return np.clip(15 * (aim - disc), -1, 1).astype(np.float32)


@pytest.mark.parametrize("name", dijoco.gym.OWN)
def test_own_checker(name):
    env = gymnasium.make("dijoco/%s-v0" % name)
    check_env(env.unwrapped, skip_render_check=True)
    assert env.spec.max_episode_steps == dijoco.gym.OWN[name]
    env.reset(seed=2)
    again = pickle.loads(pickle.dumps(env.unwrapped))
    a, b = env.reset(seed=5)[0], again.reset(seed=5)[0]
    for _ in range(5):
        action = env.action_space.sample()
        a, b = env.step(action)[0], again.step(action)[0]
    assert (a == b).all()


def test_own_push():
    """A simple controller succeeds in both engines; the reward tells."""
    for env in (gymnasium.make("dijoco/Push-v0").unwrapped, dijoco.envs.Push()):
        for seed in range(10):
            env.reset(seed=seed)
            for _ in range(200):
                seen, reward, over, _, info = env.step(pusher(env._places()))
                assert not over
                if info["is_success"]:
                    break
            assert info["is_success"] and info["distance"] < 0.05, seed
            assert np.allclose(np.linalg.norm(seen[11:13]), info["distance"])
            assert np.isclose(reward, sum(info[k] for k in info if k.startswith("reward_")))


def test_own_quadruped():
    """It stands under an action of 0, its feet bear its weight, and random actions make it fall."""
    env = gymnasium.make("dijoco/Quadruped-v0", reset_noise_scale=0.0).unwrapped
    env.reset(seed=0)
    for _ in range(100):
        seen, reward, over, *_ = env.step(np.zeros(12, np.float32))
        assert not over
    forces = seen[35:].reshape(4, 6)
    assert np.isclose(abs(forces[:, 5].sum()), 1, atol=0.02)   # in units of its weight
    assert seen[0] > 0.25 and abs(seen[17:35]).max() < 0.02 and np.isclose(reward, 0.5, atol=1e-2)
    fell, random = 0, np.random.default_rng(0)
    for seed in range(3):
        env.reset(seed=seed)
        for _ in range(300):
            if env.step(random.uniform(-1, 1, 12).astype(np.float32))[2]:
                fell += 1
                break
    assert fell > 0
    with pytest.raises(ValueError):
        env.step(np.zeros(3, np.float32))


@pytest.mark.parametrize("name", dijoco.gym.OWN)
def test_own_vector(name):
    envs = gymnasium.make_vec("dijoco/%s-v0" % name, num_envs=3, threads=2)
    alone = gymnasium.make("dijoco/%s-v0" % name)
    seen = envs.reset(seed=7)[0]
    first = alone.reset(seed=7)[0]
    assert (seen[0] == first).all()
    envs.action_space.seed(1)
    for _ in range(10):
        actions = envs.action_space.sample()
        seen, first = envs.step(actions)[0], alone.step(actions[0])[0]
        assert (seen[0] == first).all()
