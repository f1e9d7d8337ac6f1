"""Gymnasium environments of our own: `Push` and `Quadruped`, by stock MuJoCo's step.

`dijoco.gym` registers both with our step, as `dijoco/Push-v0` and `dijoco/Quadruped-v0`. The classes
here are for comparison: a policy that was learned there is played here.
"""
from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from gymnasium import utils
from gymnasium.envs.mujoco import MujocoEnv
from gymnasium.spaces import Box

from ._types import Array

__all__ = ["Push", "Quadruped"]

SCENES = pathlib.Path(__file__).resolve().parent / "scenes"


class _Scene(MujocoEnv, utils.EzPickle):  # type: ignore[misc]
    """An environment of one of the scenes; `size`: of its observation."""

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "depth_array"]}

    def __init__(self, scene: str, frame_skip: int, size: int, **kwargs: Any) -> None:
        MujocoEnv.__init__(self, str(SCENES / scene), frame_skip,
                           observation_space=Box(-np.inf, np.inf, (size,), np.float64), **kwargs)
        self.metadata = dict(self.metadata, render_fps=int(round(1 / self.dt)))

    def _begin(self) -> None:
        """What is right after a reset: of all but states."""

    def reset_model(self) -> Array:
        self._begin()
        self.set_state(*self._start())
        return self._get_obs()


class Push(_Scene):
    """A disc, driven by two forces (actions in [-1, 1], of 10 N), is to push a box to a mark.

    Observation, 15 numbers: place and velocity of the disc (4), place of the box from the disc (2), cosine
    and sine of its turn, its velocity and rate of turning (3), place of the mark from the box (2), height
    and tilt of the box (2). Places are horizontal. Reward: -(distance from box to mark) - `reach_weight`
    (distance from disc to box) - `ctrl_cost_weight` |action|^2. `info`: "distance", and "is_success" where
    that is below 5 cm. It ends after 200 steps of 40 ms, and where the box is tipped over.
    """

    def __init__(self, reach_weight: float = 0.1, ctrl_cost_weight: float = 0.01,
                 spread: float = 0.3, **kwargs: Any) -> None:
        utils.EzPickle.__init__(self, reach_weight, ctrl_cost_weight, spread, **kwargs)
        self._reach, self._cost, self._spread = reach_weight, ctrl_cost_weight, spread
        super().__init__("push.xml", 4, 15, **kwargs)

    def _begin(self) -> None:
        self.data.mocap_pos[0, :2] = (0.5, 0) + self._spread * self.np_random.uniform(-1, 1, 2)

    def _start(self) -> tuple[Array, Array]:
        qpos, qvel = self.init_qpos.copy(), self.init_qvel.copy()
        angle = self.np_random.uniform(-np.pi, np.pi) / 2
        turn = self.np_random.uniform(-np.pi, np.pi)
        qpos[:2] = 0.3 - 0.3 * np.cos(angle), -0.3 * np.sin(angle)   # from its place in the scene
        qpos[5:9] = np.cos(turn / 2), 0, 0, np.sin(turn / 2)
        return qpos, qvel

    def _places(self) -> tuple[Array, Array, Array]:
        data = self.data
        return (data.body("disc").xpos[:2], data.body("box").xpos[:2], data.mocap_pos[0, :2])

    def _get_obs(self) -> Array:
        disc, box, mark = self._places()
        frame, qvel = self.data.body("box").xmat.reshape(3, 3), self.data.qvel
        return np.concatenate([
            disc, qvel[:2], box - disc, frame[:2, 0], qvel[2:4], qvel[7:8], mark - box,
            [self.data.body("box").xpos[2], frame[2, 2]]])

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        self.do_simulation(action, self.frame_skip)
        disc, box, mark = self._places()
        distance, cost = np.linalg.norm(box - mark), self._cost * np.square(action).sum()
        reach = self._reach * np.linalg.norm(disc - box)
        info = {"distance": distance, "is_success": bool(distance < 0.05),
                "reward_distance": -distance, "reward_reach": -reach, "reward_ctrl": -cost}
        over = bool(self.data.body("box").xmat[8] < 0.5)
        if self.render_mode == "human":
            self.render()
        return self._get_obs(), float(-distance - reach - cost), over, False, info


class Quadruped(_Scene):
    """A robot of a dog's size with twelve servos is to run along x.

    Actions in [-1, 1] turn what the servos aim at by half a radian from where they stand. Observation, 59
    numbers: height and quaternion of the trunk (5), twelve angles, all velocities (18), and the contact
    forces and torques on the four calves (`cfrc_ext`, 24, cut at `force_limit` times the robot's weight
    and in units of that weight). Reward: `forward_reward_weight` times the speed along x, +
    `healthy_reward` - `ctrl_cost_weight` |action|^2 - `contact_cost_weight` |forces|^2. It ends after 1000
    steps of 20 ms, and where the trunk is lower than 12 cm or upside down.
    """

    def __init__(self, forward_reward_weight: float = 1.0, healthy_reward: float = 0.5,
                 ctrl_cost_weight: float = 0.02, contact_cost_weight: float = 1e-3,
                 force_limit: float = 2.0, reset_noise_scale: float = 0.05, **kwargs: Any) -> None:
        utils.EzPickle.__init__(self, forward_reward_weight, healthy_reward, ctrl_cost_weight,
                                contact_cost_weight, force_limit, reset_noise_scale, **kwargs)
        self._forward, self._healthy = forward_reward_weight, healthy_reward
        self._cost, self._contact_cost = ctrl_cost_weight, contact_cost_weight
        self._limit, self._noise = force_limit, reset_noise_scale
        super().__init__("quadruped.xml", 4, 59, **kwargs)
        self._stand = self.model.key("stand").qpos.copy()
        names = ("front_left", "front_right", "rear_left", "rear_right")
        self._calves = [self.model.body(name + "_calf").id for name in names]
        self._weight = self.model.body_mass.sum() * np.linalg.norm(self.model.opt.gravity)

    def _start(self) -> tuple[Array, Array]:
        noise = self.np_random.uniform(-self._noise, self._noise, self.model.nq)
        qpos = self._stand + noise * (np.arange(self.model.nq) >= 7)
        return qpos, self.init_qvel + self._noise * self.np_random.standard_normal(self.model.nv)

    def _forces(self) -> Array:
        limit = self._limit
        return np.clip(self.data.cfrc_ext[self._calves].ravel() / self._weight, -limit, limit)

    def _get_obs(self) -> Array:
        return np.concatenate([self.data.qpos[2:], self.data.qvel, self._forces()])

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        before = self.data.qpos[0]
        self.do_simulation(action, self.frame_skip)
        speed = (self.data.qpos[0] - before) / self.dt
        cost = self._cost * np.square(action).sum()
        contact = self._contact_cost * np.square(self._forces()).sum()
        finite = np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qvel).all()
        healthy = finite and self.data.qpos[2] > 0.12 and self.data.body("trunk").xmat[8] > 0
        info = {"x_position": self.data.qpos[0], "x_velocity": speed,
                "reward_forward": self._forward * speed, "reward_ctrl": -cost,
                "reward_contact": -contact, "reward_survive": self._healthy * healthy}
        reward = self._forward * speed + self._healthy * healthy - cost - contact
        if self.render_mode == "human":
            self.render()
        return self._get_obs(), float(reward), not healthy, False, info
