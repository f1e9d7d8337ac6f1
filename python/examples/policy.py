"""Search for a policy without gradients, in stock MuJoCo, for two designs: which one can do more?

    python policy.py walk biped/scene.xml result/scene_still.xml --mark 0,3,0 --mirror l_,r_
    python policy.py raise single_jaw/scene.xml,ctrl.csv result/scene.xml,ctrl.csv --body cross

A design is a scene, with controls (a CSV file, a row a step) that the policy corrects, or without,
when it corrects the servos' targets at the start. Rewards: `walk` towards a mark, upright; `raise`
an object and hold it; both as a mean over the episode, and at its end. Each episode begins with a
push of its own. The methods are the cross-entropy method (CEM, numpy), whose policy is linear in a
clock, the body's tilt and its velocities, and where PyTorch is installed soft actor-critic (SAC) by
these and the whole state. Each runs from every seed with the same budget for both designs. Every 24
episodes the policy that there is is tried, without noise, from four starts that are always the same
and do not count as episodes. Printed, and drawn: the mean of these four, the best so far, over
episodes; its mean and range over seeds.
"""
import argparse
import pathlib
import sys

import mujoco
import numpy as np

HOLD = 0.04       # s that one action holds
EVERY = 24        # episodes between two trials of the policy
TRIALS = 4        # starts of a trial


# ---- what is to be done -----------------------------------------------------------------------

class Walk:
    """Metres nearer to the mark, and 1, while it is upright: a lunge ends with nothing, who stands
    has half of what it is worth to walk a metre at once."""
    periodic = True

    def __init__(self, task):
        self.start, self.height = task.distance(), task.height()

    def value(self, task):
        fallen = task.tilt() > 0.5 or task.height() < 0.8 * self.height
        return (0 if fallen else 1 + self.start - task.distance()), fallen


class Raise:
    """Metres that the object is higher than at first."""
    periodic = False

    def __init__(self, task):
        self.start = task.height()

    def value(self, task):
        return task.height() - self.start, False


REWARDS = {"walk": Walk, "raise": Raise}


class Task:
    """One design, episode after episode."""

    def __init__(self, place, reward, options):
        scene, _, ctrl = place.partition(",")
        self.model = mujoco.MjModel.from_xml_path(scene)
        self.data = mujoco.MjData(self.model)
        self.reward, self.options = REWARDS[reward], options
        self.body = self.model.body(options.body).id if options.body else self._first_free()
        self.moves = [i for i in range(self.model.nu) if self._is_servo(i)]
        if not self.moves:
            sys.exit("policy: %s: no position actuator on a joint to give targets to" % scene)
        self.joints = self.model.actuator_trnid[self.moves, 0]
        self.hold = max(1, round(HOLD / self.model.opt.timestep))
        self.plan = np.loadtxt(ctrl, delimiter=",", skiprows=1, ndmin=2) if ctrl else None
        self.steps = len(self.plan) if ctrl else round(options.time / self.model.opt.timestep)
        self.ground = min([0.0] + [self.model.geom_pos[g, 2] for g in range(self.model.ngeom)
                                   if self.model.geom_type[g] == mujoco.mjtGeom.mjGEOM_PLANE])
        self.reset()
        self.pairs = self._pairs(*options.mirror) if options.mirror else None

    def _first_free(self):
        free = np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
        if not free.size:
            sys.exit("policy: no free body; name one by --body")
        return self.model.jnt_bodyid[free[0]]

    def _is_servo(self, i):
        on_joint = self.model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT
        return on_joint and self.model.actuator_biasprm[i, 1] != 0

    def _pairs(self, left, right):
        """Actions of the left joints, of their mirror images, and by which sign these turn."""
        names = [self.model.joint(j).name for j in self.joints]
        one = [i for i, name in enumerate(names) if name.startswith(left)]
        try:
            other = [names.index(right + names[i][len(left):]) for i in one]
        except ValueError as error:
            sys.exit("policy: --mirror: %s of the joints' names" % error)
        if not one or sorted(one + other) != list(range(len(names))):
            sys.exit("policy: --mirror: not all moved joints are left or right")
        axes = self.data.xaxis[self.joints]
        side = self.across()
        turned = 2 * np.outer(axes[one] @ side, side) - axes[one]
        return one, other, np.sign(np.sum(turned * axes[other], axis=1))

    def across(self):
        """The horizontal direction across the way to the mark, to the right."""
        ahead = (self.options.mark - self.first)[:2] if self.judge.periodic else np.array([0, 1])
        ahead = ahead / max(1e-9, np.linalg.norm(ahead))
        return np.array([ahead[1], -ahead[0], 0])

    def reset(self, push=(0, 0)):
        """To the scene's first keyframe, or its start, pushed. Returns what a policy sees."""
        m, d = self.model, self.data
        if m.nkey:
            mujoco.mj_resetDataKeyframe(m, d, 0)
        else:
            mujoco.mj_resetData(m, d)
        joint = m.body_jntadr[self.body]
        if joint >= 0 and m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            at = m.jnt_dofadr[joint]
            d.qvel[at:at + 2] += self.options.push * np.asarray(push)
        mujoco.mj_forward(m, d)
        self.rest = d.ctrl.copy()
        self.rest[self.moves] = d.qpos[m.jnt_qposadr[self.joints]]
        self.upright = d.xmat[self.body].reshape(3, 3)[2].copy()
        self.first = d.subtree_com[self.body].copy()
        self.at = 0
        self.judge = self.reward(self)
        self.right = d.xmat[self.body].reshape(3, 3).T @ self.across()
        return self.state()

    def tilt(self):
        """Angle by which the body's vertical axis has left it."""
        up = self.data.xmat[self.body].reshape(3, 3)[2]
        return np.arccos(np.clip(up @ self.upright, -1, 1))

    def height(self):
        return self.data.xipos[self.body, 2] - self.ground

    def distance(self):
        return np.linalg.norm((self.data.subtree_com[self.body] - self.options.mark)[:2])

    def ended(self):
        return self.at >= self.steps

    def features(self, mirrored=False):
        """1, a clock, periodic or hats over the episode, and how the body leans, turns and moves,
        each along the way and across; mirrored: as its mirror image sees it, half a turn later."""
        d = self.data
        t = self.at * self.model.opt.timestep
        if self.judge.periodic:
            turn = 2 * np.pi * self.options.frequency * t + np.pi * mirrored
            clock = [1, np.sin(turn), np.cos(turn)]
        else:
            clock = np.maximum(0, 1 - np.abs(6 * t / (self.steps * self.model.opt.timestep)
                                             - np.arange(7)))
        side = self.across()
        ahead = np.array([-side[1], side[0], 0])
        frame = d.xmat[self.body].reshape(3, 3)
        lean = frame @ self.upright
        speed = np.empty(6)
        mujoco.mj_objectVelocity(self.model, d, mujoco.mjtObj.mjOBJ_BODY, self.body, speed, 0)
        speed = np.tanh(speed)
        along = [ahead @ lean, side @ speed[:3], ahead @ speed[3:]]
        across = [side @ lean, ahead @ speed[:3], side @ speed[3:], speed[2],
                  ahead @ (frame @ self.right)]
        return np.concatenate([clock, along, np.multiply(-1 if mirrored else 1, across)])

    def state(self):
        """What SAC sees: positions but for where the whole is, velocities, how much of the episode
        is over, and the features."""
        d = self.data
        return np.concatenate([d.qpos[2 if self.judge.periodic else 0:], np.tanh(d.qvel / 5),
                               [self.at / self.steps], self.features()])

    def step(self, action):
        """HOLD seconds with an action in [-1, 1]. Returns whether it is over, and the reward."""
        first = self.at
        for _ in range(self.hold):
            if self.ended():
                break
            self.data.ctrl[:] = self.rest if self.plan is None else self.plan[self.at]
            self.data.ctrl[self.moves] += self.options.size * np.clip(action, -1, 1)
            mujoco.mj_step(self.model, self.data)
            self.at += 1
        if not np.all(np.isfinite(self.data.qpos)):
            self.reset()
            return True, -1.0
        value, over = self.judge.value(self)
        return (over or self.ended(),
                float(value * ((self.at - first) / self.steps + (1 if self.ended() else 0))))


def run(task, act, push):
    """Reward of an episode by a function that gives actions."""
    total, over = 0.0, False
    task.reset(push)
    while not over:
        over, reward = task.step(act())
        total += reward
    return total


def pushes(rng, count):
    """As parts of --push, along x and y."""
    return rng.uniform(-1, 1, (count, 2))


def trial(task, act):
    """Mean reward from the starts that are always the same."""
    return float(np.mean([run(task, act, p) for p in pushes(np.random.default_rng(99), TRIALS)]))


# ---- the cross-entropy method -----------------------------------------------------------------

def linear(task, weights):
    """The function that gives actions by weights (rows of moved or of left joints, features)."""
    def act():
        if not task.pairs:
            return np.tanh(weights @ task.features())
        one, other, sign = task.pairs
        out = np.empty(len(task.moves))
        out[one] = np.tanh(weights @ task.features())
        out[other] = sign * np.tanh(weights @ task.features(True))
        return out
    return act


def cem(task, seed, episodes):
    """Results of trials, one after the other."""
    rng = np.random.default_rng(seed)
    task.reset()
    shape = (len(task.pairs[0] if task.pairs else task.moves), len(task.features()))
    mean, spread, results = np.zeros(shape), np.full(shape, 0.5), []
    for _ in range(max(1, episodes // EVERY)):
        push = pushes(rng, 1)[0]
        tried = mean + spread * rng.standard_normal((EVERY, *shape))
        got = np.array([run(task, linear(task, w), push) for w in tried])
        best = tried[np.argsort(-got)[:EVERY // 5]]
        mean, spread = best.mean(0), 0.9 * best.std(0) + 0.1 * spread + 0.005
        results.append(trial(task, linear(task, mean)))
    return results


# ---- soft actor-critic ------------------------------------------------------------------------

def sac(task, seed, episodes):
    """The same by a Gaussian policy and two critics (Haarnoja et al. 2018), an update an action."""
    import torch
    from torch import nn
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng, batches = np.random.default_rng(seed), np.random.default_rng(seed)
    n_in, n_out = len(task.reset()), len(task.moves)

    def network(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
                             nn.Linear(128, outputs))

    actor = network(n_in, 2 * n_out)
    critics, slow = ([network(n_in + n_out, 1) for _ in range(2)] for _ in range(2))
    for c, s in zip(critics, slow):
        s.load_state_dict(c.state_dict())
    log_alpha = torch.zeros(1, requires_grad=True)
    rates = {"lr": 1e-3}
    actor_steps = torch.optim.Adam(actor.parameters(), **rates)
    critic_steps = torch.optim.Adam([p for c in critics for p in c.parameters()], **rates)
    alpha_steps = torch.optim.Adam([log_alpha], **rates)

    def choose(state):
        """An action and the logarithm of its density."""
        mean, log_std = actor(state).chunk(2, -1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 1).exp())
        x = normal.rsample()
        density = normal.log_prob(x) - 2 * (np.log(2) - x - nn.functional.softplus(-2 * x))
        return torch.tanh(x), density.sum(-1, keepdim=True)

    def least(networks, state, action):
        both = torch.cat([state, action], -1)
        return torch.min(*(c(both) for c in networks))

    def learn(memory):
        rows = [memory[i] for i in batches.integers(len(memory), size=64)]
        s, a, r, s2, end = (torch.as_tensor(np.array(x), dtype=torch.float32) for x in zip(*rows))
        r, end = r[:, None], end[:, None]
        with torch.no_grad():
            a2, density = choose(s2)
            value = least(slow, s2, a2) - log_alpha.exp() * density
            target = r + 0.99 * (1 - end) * value
        both = torch.cat([s, a], -1)
        loss = sum(((c(both) - target) ** 2).mean() for c in critics)
        critic_steps.zero_grad()
        loss.backward()
        critic_steps.step()
        a, density = choose(s)
        loss = (log_alpha.exp().detach() * density - least(critics, s, a)).mean()
        actor_steps.zero_grad()
        loss.backward()
        actor_steps.step()
        loss = -(log_alpha.exp() * (density.detach() - n_out)).mean()
        alpha_steps.zero_grad()
        loss.backward()
        alpha_steps.step()
        with torch.no_grad():
            for c, k in zip(critics, slow):
                for p, q in zip(c.parameters(), k.parameters()):
                    q.lerp_(p, 0.01)

    def act(noise=False):
        with torch.no_grad():
            state = torch.as_tensor(task.state(), dtype=torch.float32)
            best = torch.tanh(actor(state).chunk(2, -1)[0])
            return (choose(state)[0] if noise else best).numpy()

    memory, results = [], []
    for episode in range(1, episodes + 1):
        state, over = task.reset(pushes(rng, 1)[0]), False
        while not over:
            action = act(noise=True)
            over, reward = task.step(action)
            after = task.state()
            memory.append((state, action, reward, after, float(over)))
            state = after
            if len(memory) > 200:
                learn(memory)
        if episode % EVERY == 0 or episode == episodes < EVERY:
            results.append(trial(task, act))
    return results


def methods():
    found = {"CEM": cem}
    try:
        import torch                                        # noqa: F401
        found["SAC"] = sac
    except ImportError:
        print("PyTorch is not installed: no SAC")
    return found


# ---- what came out ----------------------------------------------------------------------------

def draw(curves):
    """An SVG picture: a panel for each method; {(method, design): (seeds, episodes)}."""
    wide, high, left, top = 300, 200, 60, 30
    names = list(dict.fromkeys(method for method, _ in curves))
    colors = {design: c for design, c in zip(dict.fromkeys(d for _, d in curves),
                                             ("#8a8578", "#1f5fa8"))}
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'font-family="sans-serif" font-size="11">'
           % (len(names) * (wide + left + 20), high + top + 60),
           '<rect width="100%" height="100%" fill="#fff"/>']
    for k, name in enumerate(names):
        mine = {d: c for (m, d), c in curves.items() if m == name}
        low = min(c.min() for c in mine.values())
        span = max(max(c.max() for c in mine.values()) - low, 1e-9)
        x0 = left + k * (wide + left + 20)

        def place(i, n, y):
            return "%.1f,%.1f" % (x0 + wide * i / max(1, n - 1),
                                  top + high * (1 - (y - low) / span))
        out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#bbb"/>'
                   % (x0, top, wide, high))
        out.append('<text x="%d" y="%d" font-weight="bold">%s</text>' % (x0, top - 10, name))
        for y in np.linspace(low, low + span, 5):
            out.append('<text x="%d" y="%.1f" text-anchor="end">%.3g</text>'
                       % (x0 - 6, top + high * (1 - (y - low) / span) + 4, y))
        for row, (design, c) in enumerate(mine.items()):
            n, mean = c.shape[1], c.mean(0)
            edge = [place(i, n, y) for i, y in enumerate(c.max(0))]
            edge += [place(i, n, y) for i, y in enumerate(c.min(0))][::-1]
            out.append('<polygon points="%s" fill="%s" opacity=".2"/>'
                       % (" ".join(edge), colors[design]))
            out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>'
                       % (" ".join(place(i, n, y) for i, y in enumerate(mean)), colors[design]))
            out.append('<text x="%d" y="%d" fill="%s">%s</text>'
                       % (x0 + 100 * row, top + high + 48, colors[design], design))
        out.append('<text x="%d" y="%d" text-anchor="middle">episodes (to %d); reward of the '
                   'best policy so far</text>' % (x0 + wide / 2, top + high + 20, n * EVERY))
    return "\n".join(out + ["</svg>\n"])


def vector(text):
    values = np.array([float(x) for x in text.split(",")])
    if values.shape != (3,):
        raise ValueError(text)
    return values


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("reward", choices=sorted(REWARDS))
    parser.add_argument("start", help="SCENE.xml[,CTRL.csv]")
    parser.add_argument("result", help="likewise")
    parser.add_argument("--body", help="what is rewarded (default: the first free one)")
    parser.add_argument("--mark", type=vector, default=np.zeros(3), metavar="X,Y,Z", help="of walk")
    parser.add_argument("--time", type=float, default=2.5, help="s, without controls")
    parser.add_argument("--size", type=float, default=0.3, help="of actions, rad or m")
    parser.add_argument("--frequency", type=float, default=1, help="of walk's features, Hz")
    parser.add_argument("--episodes", type=int, default=480)
    parser.add_argument("--push", type=float, default=0.1, help="of free starts, m/s at most")
    parser.add_argument("--mirror", type=lambda text: text.split(","), metavar="L,R",
                        help="joints that begin with these are mirror images, half a turn apart")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--method", help="one of CEM, SAC (default: all that there are)")
    parser.add_argument("--out", type=pathlib.Path, help="SVG file")
    options = parser.parse_args(arguments)
    curves, higher = {}, True
    for name, search in methods().items():
        if options.method and name != options.method.upper():
            continue
        last = {}
        for design in ("start", "result"):
            task = Task(getattr(options, design), options.reward, options)
            best = np.array([np.maximum.accumulate(search(task, seed, options.episodes))
                             for seed in range(options.seeds)])
            curves[name, design] = best
            last[design] = best[:, -1].mean()
            print("%s, %-6s best reward %.4g (%s)" % (
                name, design, last[design], ", ".join("%.4g" % x for x in best[:, -1])))
        higher = higher and last["result"] > last["start"]
    if not curves:
        sys.exit("policy: there is no method %r here" % options.method)
    if options.out:
        options.out.write_text(draw(curves), encoding="utf-8")
    print("the result's design gets %s" % ("more by every method" if higher else "no more"))
    return 0 if higher else 1


if __name__ == "__main__":
    sys.exit(main())
