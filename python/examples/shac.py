"""A hopper learns to hop by gradients of its own steps: short-horizon actor-critic (SHAC).

    python shac.py hopper.xml                       a million steps
    python shac.py hopper.xml --minutes 5 --seed 1 --out policy.npz --curve curve.csv
    python shac.py hopper.xml --replay policy.npz   in stock MuJoCo, without learning

hopper.xml is gymnasium's (`gymnasium/envs/mujoco/assets`); needs PyTorch. J. Xu and others,
*Accelerated Policy Learning with Parallel Differentiable Simulation*, 2022: from the states where B
worlds are, the policy acts for H steps; with a critic's value V of where it ends

    L = -1/(H B) sum over worlds (sum_{t<H} gamma^t r_t + gamma^H V(s_H)),

whose gradient goes through the steps (`dijoco.torch.rollout`, a batch each). The critic then learns
the values that follow from the rewards (TD(lambda)), and the next H steps begin where these ended.

Observations, ends and the return that is printed are those of gymnasium's Hopper-v5: 1 + dx/dt -
|a|^2/1000 a step of 8 ms, for 1000 steps or until it falls. A fall has no slope. So the reward that
is learned from has instead of 1 what falls off towards it: 1 - (angle/0.2)^2 - 200 max(0, 0.8-z)^2.
Trials are without noise, from starts that are always the same. Contact is by the preset `smooth`;
at the end the best policy is tried with contact as it is, and in stock MuJoCo.
"""
import argparse
import copy
import sys
import time

import numpy as np
import torch

import dijoco
import dijoco.torch

FRAME, LIMIT = 0.008, 1000          # s that an action holds; steps of an episode
GAMMA, LAMBDA = 0.99, 0.95


class Worlds:
    """B hoppers: qpos (B, 6), qvel (B, 6) as tensors, steps since each one's reset."""

    def __init__(self, scene, count, seed=0, **settings):
        self.model = dijoco.Model.load(scene, **settings)
        self.count, self.rng = count, np.random.default_rng(seed)
        self.frames = round(FRAME / self.model.option["timestep"])
        self.qpos, self.qvel = self.starts(count)
        self.age = torch.zeros(count)

    def starts(self, count):
        """As Hopper-v5's."""
        m = self.model
        noise = self.rng.uniform(-5e-3, 5e-3, (count, m.nq + m.nv))
        return torch.tensor(m.qpos0 + noise[:, :m.nq]), torch.tensor(noise[:, m.nq:])

    def detach(self):
        self.qpos, self.qvel = self.qpos.detach(), self.qvel.detach()

    def observe(self):
        return observe(self.qpos, self.qvel)

    def step(self, action):
        """Rewards to learn from, returns' own (B,), and which have fallen (B,); differentiable."""
        before = self.qpos[:, 0]
        ctrl = action.unsqueeze(1).expand(-1, self.frames, -1)
        qpos, qvel, _ = dijoco.torch.rollout(self.model, ctrl, self.qpos, self.qvel)
        self.qpos, self.qvel = qpos[:, -1], qvel[:, -1]
        self.age = self.age + 1
        speed = (self.qpos[:, 0] - before) / FRAME
        plain = 1 + speed - 1e-3 * action.square().sum(1)
        z, angle = self.qpos[:, 1], self.qpos[:, 2]
        shaped = plain - (angle / 0.2) ** 2 - 200 * (0.8 - z).clamp(min=0) ** 2
        return shaped, plain.detach(), fallen(self.qpos, self.qvel)

    def restart(self, which):
        """New starts where `which` (B,) is true."""
        qpos, qvel = self.starts(self.count)
        self.qpos = torch.where(which[:, None], qpos, self.qpos)
        self.qvel = torch.where(which[:, None], qvel, self.qvel)
        self.age = torch.where(which, 0, self.age)


def observe(qpos, qvel):
    return torch.cat([qpos[:, 1:], qvel.clamp(-10, 10)], 1)


def fallen(qpos, qvel):
    rest = torch.cat([qpos[:, 2:], qvel], 1).detach()
    return (rest.abs() > 100).any(1) | (qpos[:, 1] < 0.7) | (qpos[:, 2].abs() > 0.2)


def network(sizes, scale):
    layers = []
    for n, m in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(n, m), torch.nn.LayerNorm(m), torch.nn.SiLU()]
    layers = layers[:-2]
    with torch.no_grad():
        layers[-1].weight *= scale
    return torch.nn.Sequential(*layers)


class Agent(torch.nn.Module):
    """Policy, critic, and the scale of observations."""

    def __init__(self, nobs, nu):
        super().__init__()
        self.policy = network([nobs, 64, 64, nu], 0.1)
        self.spread = torch.nn.Parameter(torch.full((nu,), -1.0))
        self.critic = network([nobs, 64, 64, 1], 1)
        self.aim = copy.deepcopy(self.critic)           # follows the critic slowly
        self.register_buffer("mean", torch.zeros(nobs))
        self.register_buffer("square", torch.ones(nobs))
        self.seen = 0

    def scaled(self, obs):
        spread = (self.square - self.mean ** 2).clamp(min=1e-4).sqrt()
        return ((obs - self.mean) / spread).clamp(-10, 10)

    def see(self, obs):
        with torch.no_grad():
            self.seen += len(obs)
            share = len(obs) / self.seen
            self.mean += share * (obs.mean(0) - self.mean)
            self.square += share * (obs.square().mean(0) - self.square)

    def act(self, obs, noise=None):
        action = self.policy(self.scaled(obs))
        if noise is not None:
            action = action + self.spread.exp() * noise
        return torch.tanh(action)

    def value(self, obs):
        return self.aim(self.scaled(obs)).squeeze(1)


def window(agent, worlds, length, rng):
    """The loss of `length` steps, and what the critic learns from: lists of (B,) and (B, nobs)."""
    loss, total, discount = 0.0, torch.zeros(worlds.count), torch.ones(worlds.count)
    seen, rewards, values, ends = [], [], [], []
    for t in range(length):
        obs = worlds.observe()
        seen.append(obs.detach())
        noise = torch.tensor(rng.normal(size=(worlds.count, worlds.model.nu)))
        reward, _, fell = worlds.step(agent.act(obs, noise))
        total = total + discount * reward
        discount = discount * GAMMA
        value = torch.where(fell, 0, agent.value(worlds.observe()))
        over = fell | (worlds.age >= LIMIT)
        ended = over if t + 1 < length else torch.ones_like(over)
        loss = loss - torch.where(ended, total + discount * value, 0).sum()
        total, discount = torch.where(over, 0, total), torch.where(over, 1, discount)
        rewards.append(reward.detach())
        values.append(value.detach())
        ends.append(over)
        worlds.restart(over)
    return loss / (length * worlds.count), seen, rewards, values, ends


def targets(rewards, values, ends):
    """TD(lambda), from the last step to the first: what follows an episode's end does not count."""
    out, after = [], values[-1]
    for r, v, end in zip(reversed(rewards), reversed(values), reversed(ends)):
        after = r + GAMMA * torch.where(end, v, (1 - LAMBDA) * v + LAMBDA * after)
        out.append(after)
    return out[::-1]


def teach(agent, optimizer, obs, aims, rng, passes=8, parts=4):
    obs, aims = agent.scaled(torch.cat(obs)), torch.cat(aims)
    for _ in range(passes):
        for part in np.array_split(rng.permutation(len(obs)), parts):
            error = agent.critic(obs[part]).squeeze(1) - aims[part]
            optimizer.zero_grad()
            error.square().mean().backward()
            optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(agent.aim.parameters(), agent.critic.parameters()):
            slow += 0.2 * (fast - slow)


def trial(agent, scene, count=8, steps=LIMIT, **settings):
    """Mean return of Hopper-v5 and mean number of steps, by our step."""
    worlds = Worlds(scene, count, 12345, **settings)
    going, total, length = torch.ones(count, dtype=torch.bool), torch.zeros(count), 0
    with torch.no_grad():
        for _ in range(steps):
            _, reward, fell = worlds.step(agent.act(worlds.observe()))
            total += torch.where(going, reward, 0)
            length += going.sum().item()
            going &= ~fell
            if not going.any():
                break
    return total.mean().item(), length / count


def replay(agent, scene, count=8):
    """The same in stock MuJoCo, whose integrator of this scene is RK4."""
    import mujoco
    m = mujoco.MjModel.from_xml_path(str(scene))
    d, starts = mujoco.MjData(m), Worlds(scene, count, 12345)
    total, length = 0.0, 0
    for qpos, qvel in zip(starts.qpos, starts.qvel):
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = qpos, qvel
        for _ in range(LIMIT):
            q, v = torch.tensor(d.qpos)[None], torch.tensor(d.qvel)[None]
            with torch.no_grad():
                d.ctrl[:] = agent.act(observe(q, v))[0]
            x = d.qpos[0]
            mujoco.mj_step(m, d, round(FRAME / m.opt.timestep))
            total += 1 + (d.qpos[0] - x) / FRAME - 1e-3 * np.sum(d.ctrl ** 2)
            length += 1
            if fallen(torch.tensor(d.qpos)[None], torch.tensor(d.qvel)[None]):
                break
    return total / count, length / count


def learn(scene, count, length, steps, minutes, seed, settings, rate=2e-3, every=20, tell=print):
    """The agent, and rows of the curve: seconds, steps, mean reward a step, return, length."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    worlds = Worlds(scene, count, seed, **settings)
    worlds.age = torch.tensor(rng.integers(0, LIMIT, count) * 1.0)   # do not end together
    agent = Agent(worlds.observe().shape[1], worlds.model.nu)
    actor = torch.optim.Adam([*agent.policy.parameters(), agent.spread], rate, betas=(0.7, 0.95))
    critic = torch.optim.Adam(agent.critic.parameters(), rate, betas=(0.7, 0.95))
    curve, start, done, k, best = [], time.monotonic(), 0, 0, (-np.inf, None)
    while done < steps and time.monotonic() - start < 60 * minutes:
        share = max(done / steps, (time.monotonic() - start) / (60 * minutes))
        for group in (*actor.param_groups, *critic.param_groups):
            group["lr"] = rate * max(0.05, 1 - share)
        worlds.detach()
        agent.see(worlds.observe())
        loss, obs, rewards, values, ends = window(agent, worlds, length, rng)
        actor.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(actor.param_groups[0]["params"], 1.0)
        actor.step()
        agent.see(torch.cat(obs))
        teach(agent, critic, obs, targets(rewards, values, ends), rng)
        done, k = done + count * length, k + 1
        if k % every == 0 or done >= steps:
            got, lasted = trial(agent, scene, **settings)
            curve.append((time.monotonic() - start, done, torch.stack(rewards).mean().item(), got,
                          lasted))
            tell("%6.0f s %8d steps: reward %6.3f a step, return %7.1f in %5.0f steps" % curve[-1])
            if got > best[0]:
                best = got, copy.deepcopy(agent.state_dict())
    agent.load_state_dict(best[1])
    return agent, np.array(curve)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", help="gymnasium's hopper.xml")
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--horizon", type=int, default=32, help="steps of a window")
    parser.add_argument("--steps", type=int, default=1000000)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--preset", default="smooth", help="of contact (default: smooth)")
    parser.add_argument("--timestep", type=float, default=0.004)
    parser.add_argument("--out", help="the best policy, as .npz")
    parser.add_argument("--curve", help="CSV: seconds, steps, reward, return, length")
    parser.add_argument("--replay", metavar="POLICY.npz")
    parser.add_argument("--short", action="store_true", help="a check: does a step earn more?")
    args = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    settings = {"preset": args.preset, "timestep": args.timestep}
    if args.replay:
        agent = Agent(11, 3)
        saved = np.load(args.replay)
        agent.load_state_dict({name: torch.tensor(saved[name]) for name in saved})
    elif args.short:
        agent, curve = learn(args.scene, 8, 16, 8 * 16 * 24, 1e6, 0, settings, every=8)
        first, last = curve[0, 3], curve[:, 3].max()
        print("return %.1f, then %.1f" % (first, last))
        return 0 if last > 1.2 * first and np.isfinite(curve).all() else 1
    else:
        agent, curve = learn(args.scene, args.worlds, args.horizon, args.steps, args.minutes,
                             args.seed, settings)
        if args.curve:
            np.savetxt(args.curve, curve, fmt="%.6g", delimiter=",", comments="",
                       header="seconds,steps,reward,return,length")
        if args.out:
            np.savez(args.out, **{name: x.numpy() for name, x in agent.state_dict().items()})
    print("the policy: return %.1f in %.0f steps as learned" % trial(agent, args.scene, **settings))
    print("            return %.1f in %.0f steps with contact as it is" % trial(
        agent, args.scene, timestep=args.timestep))
    print("            return %.1f in %.0f steps in stock MuJoCo" % replay(agent, args.scene))
    return 0


if __name__ == "__main__":
    sys.exit(main())
