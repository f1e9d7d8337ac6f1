"""PPO of stable-baselines3 on gymnasium's Hopper-v5, for the curve of python/examples/shac.py.

    pip install stable-baselines3 gymnasium mujoco
    python ppo_hopper.py --minutes 5 --curve ppo.csv
    python ppo_hopper.py --env dijoco/Hopper-v5           our step in place of MuJoCo's

The hyperparameters are those of RL Baselines3 Zoo for Hopper, the environments 4 at a time in one
process. Trials: 8 episodes without noise of the returns and ends that shac.py has.
"""
import argparse
import time

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env


class Curve(BaseCallback):
    """Rows: seconds, steps, return, length; ends after some minutes."""

    def __init__(self, env, minutes, every):
        super().__init__()
        self.env, self.minutes, self.every = gymnasium.make(env), minutes, every
        self.rows, self.next = [], every

    def _on_training_start(self):
        self.start = time.monotonic()

    def _on_step(self):
        return time.monotonic() - self.start < 60 * self.minutes

    def _on_rollout_end(self):
        if self.num_timesteps >= self.next:
            self.next = self.num_timesteps + self.every
            self.measure()

    def measure(self):
        total, length = 0.0, 0
        for k in range(8):
            obs, _ = self.env.reset(seed=1000 + k)
            over = False
            while not over:
                action, _ = self.model.predict(obs, deterministic=True)
                obs, reward, fell, cut, _ = self.env.step(action)
                total, length, over = total + reward, length + 1, fell or cut
        self.rows.append((time.monotonic() - self.start, self.num_timesteps, np.nan, total / 8,
                          length / 8))
        print("%6.0f s %8d steps: return %7.1f in %5.0f steps" % (
            self.rows[-1][:2] + self.rows[-1][3:]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="Hopper-v5")
    parser.add_argument("--steps", type=int, default=2000000)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=20000, help="steps between trials")
    parser.add_argument("--curve", help="CSV: seconds, steps, reward (empty), return, length")
    args = parser.parse_args()
    if args.env.startswith("dijoco/"):
        import dijoco.gym  # noqa: F401
    torch.set_num_threads(1)
    envs = make_vec_env(args.env, 4, seed=args.seed)
    model = PPO("MlpPolicy", envs, seed=args.seed, device="cpu", n_steps=128, batch_size=32,
                gamma=0.999, learning_rate=9.80828e-05, ent_coef=0.00229519, clip_range=0.2,
                n_epochs=5, gae_lambda=0.99, max_grad_norm=0.7, vf_coef=0.835671,
                policy_kwargs=dict(log_std_init=-2, ortho_init=False,
                                   activation_fn=torch.nn.ReLU,
                                   net_arch=dict(pi=[256, 256], vf=[256, 256])))
    curve = Curve(args.env, args.minutes, args.every)
    model.learn(args.steps, callback=curve)
    curve.measure()
    if args.curve:
        np.savetxt(args.curve, curve.rows, fmt="%.6g", delimiter=",", comments="",
                   header="seconds,steps,reward,return,length")


if __name__ == "__main__":
    main()
