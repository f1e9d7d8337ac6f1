"""Gymnasium's MuJoCo environments, and those of `dijoco.envs`, with our step; needs `gymnasium`.

    import gymnasium
    import dijoco.gym

    env = gymnasium.make("dijoco/Hopper-v5")
    env = gymnasium.make("dijoco/Ant-v5", settings={"preset": "smooth"}, reset_noise_scale=0)
    envs = gymnasium.make_vec("dijoco/Humanoid-v5", num_envs=64, threads=4)
    env = gymnasium.make("dijoco/Quadruped-v0")

Observations, rewards, ends, seeds and keyword arguments are gymnasium's own; the forces and motions
that they are of are ours, `cfrc_ext` included. `env.unwrapped.context` is the `Context`. Scenes with
RK4 (hopper, half_cheetah...) run by our `euler` at their timestep.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping

import mujoco
import numpy as np

import gymnasium
from gymnasium.envs.mujoco import mujoco_env
from gymnasium.vector import SyncVectorEnv

from ._types import ArrayLike, MjData, MjModel
from .mj_batch import ContextBatch
from .mujoco import Context

__all__ = ["OurStep", "VectorEnv", "own", "NAMES", "OWN"]

# Of gymnasium's environments: dijoco/NAME-v5, also called dijoco/NAME-v0.
NAMES = ("Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum",
         "InvertedPendulum", "Pusher", "Reacher", "Swimmer", "Walker2d")
# Of dijoco.envs: dijoco/NAME-v0, and steps of an episode.
OWN = {"Push": 200, "Quadruped": 1000}


class OurStep:
    """Before a class of MujocoEnv: its steps are ours. `settings`: of the `Context`, by name."""

    if TYPE_CHECKING:   # of MujocoEnv
        model: MjModel
        data: MjData
        _ezpickle_kwargs: dict[str, Any]

    def __init__(self, *args: Any, settings: Mapping[str, Any] | None = None,
                 **kwargs: Any) -> None:
        self.context: Any = None   # the base class resets before there is one
        self._found: MjData | None = None
        super().__init__(*args, **kwargs)
        self.context = Context(self.model, sensors=True, **(settings or {}))
        if settings and hasattr(self, "_ezpickle_kwargs"):
            self._ezpickle_kwargs = dict(self._ezpickle_kwargs, settings=settings)

    def _step_mujoco_simulation(self, ctrl: ArrayLike, n_frames: int) -> None:
        self.data.ctrl[:] = ctrl
        found, self._found = self._found, None
        if found is None:
            self.context.step(self.data, n_frames)
        else:
            mujoco.mj_copyData(self.data, self.model, found)


def own(cls: type) -> type:
    """A class of MujocoEnv with our step."""
    if not (isinstance(cls, type) and issubclass(cls, mujoco_env.MujocoEnv)):
        raise TypeError("own: expected a class of gymnasium's MujocoEnv, not %r" % (cls,))
    return type(cls.__name__, (OurStep, cls), {"__doc__": cls.__doc__, "__module__": __name__,
                                               "__qualname__": cls.__name__})


class VectorEnv(SyncVectorEnv):  # type: ignore[misc]
    """Environments of one kind, whose steps a `ContextBatch` takes together, by `threads` threads (0: one
    for each processor). Each has the observations that it would have alone, by any number of threads.

        envs = dijoco.gym.VectorEnv(lambda: gymnasium.make("dijoco/Hopper-v5"), 16, threads=4)

    The model is the first one's: what is changed of others' has no effect.
    """

    def __init__(self, make: Callable[[], Any], num_envs: int, threads: int = 0,
                 **kwargs: Any) -> None:
        super().__init__([make] * num_envs, **kwargs)
        first = self.envs[0].unwrapped
        if not isinstance(first, OurStep):
            raise TypeError("VectorEnv: expected environments with our step, as dijoco/Hopper-v5, "
                            "not %r" % first)
        self._batch = ContextBatch(first.model, threads, sensors=True, **first.context._given)
        self._datas = [mujoco.MjData(first.model) for _ in self.envs]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """As gymnasium's: the worlds' steps are taken side by side."""
        moved, datas = [], []
        for env, data, action, over in zip(self.envs, self._datas, actions, self._autoreset_envs):
            env = env.unwrapped
            if over or np.shape(action) != (env.model.nu,):
                continue   # reset in its place, or refused by the environment itself
            mujoco.mj_copyData(data, env.model, env.data)
            data.ctrl[:] = action
            moved.append(env)
            datas.append(data)
        if datas:
            self._batch.step(datas, self.envs[0].unwrapped.frame_skip)
        for env, data in zip(moved, datas):
            env._found = data
        return super().step(actions)


def _vector(id: str) -> Callable[..., VectorEnv]:
    """What gymnasium.make_vec calls, with vectorization_mode="vector_entry_point"."""
    def make(num_envs: int, threads: int = 0, autoreset_mode: Any = "NextStep",
             **kwargs: Any) -> VectorEnv:
        return VectorEnv(lambda: gymnasium.make(id, **kwargs), num_envs, threads,
                         autoreset_mode=autoreset_mode)
    return make


def _register_one(id: str, entry: _Entry, **spec: Any) -> None:
    if id not in gymnasium.registry:
        gymnasium.register(id, entry_point=entry, vector_entry_point=_vector(id), **spec)


def _register() -> None:
    for name in NAMES:
        spec = gymnasium.spec(name + "-v5")
        module, found = spec.entry_point.split(":")
        for id in ("dijoco/%s-v5" % name, "dijoco/%s-v0" % name):
            _register_one(id, _Entry(module, found), max_episode_steps=spec.max_episode_steps,
                          reward_threshold=spec.reward_threshold, kwargs=spec.kwargs)
    for name, steps in OWN.items():
        _register_one("dijoco/%s-v0" % name, _Entry("dijoco.envs", name), max_episode_steps=steps)


class _Entry:
    """Makes an environment; its module is imported, and its class made, when that is asked for."""

    classes: dict[str, type] = {}

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, **kwargs: Any) -> Any:
        cls = self.classes.get(self.name)
        if cls is None:
            module = __import__(self.module, fromlist=[self.name])
            cls = self.classes[self.name] = own(getattr(module, self.name))
            globals()[self.name] = cls   # where pickle looks for it
        return cls(**kwargs)


_register()
