"""Model predictive control by iLQG: MuJoCo's step and mjd_transitionFD beside DiJoCo's.

    python mpc.py [hopper] [push] [--starts N] [--preset NAME] [--short] [--compare]

hopper: gymnasium's, to hop forward at 1 m/s. push: an arm, to push a box to a mark and turn it.
Every two steps, one iteration of iLQG improves the plan from the state that was reached. DiJoCo's
contact is that of its preset `smooth`; --preset none shows what the defaults give. "DiJoCo, smooth
A, B" steps with the defaults' contact, and plans by derivatives of the preset's. "MuJoCo, exact"
is MuJoCo's step with DiJoCo's derivatives of it, in place of mjd_transitionFD's. In the last row
MuJoCo's step has those of DiJoCo's, which is another step. The first start is the
scene's; others are moved a little, the same ones for all.

Runs through contact part at the least difference, and their costs with them. --compare therefore
improves each plan of a run with exact derivatives, too, and with centred differences, from the same
state and plan: costs of these plans beside the run's, and times.
"""
import argparse
import os
import pathlib
import sys
import time

import mujoco
import numpy as np

import dijoco
from ilqg import ILQG, STATE

ROOT = pathlib.Path(__file__).resolve().parents[2]
GYMNASIUM = pathlib.Path(os.environ.get("DIJOCO_GYMNASIUM", ROOT / "build/deps/gymnasium"))


class Stock:
    """MuJoCo's step; derivatives by forward or centred differences of it."""

    def __init__(self, model, centred=False):
        nx = 2 * model.nv + model.na
        shapes = [(i, j) for i in (nx, model.nsensordata) for j in (nx, model.nu)]
        self.step = lambda data: mujoco.mj_step(model, data)
        self.forward = lambda data: mujoco.mj_forward(model, data)

        def transition(data):
            out = [np.zeros(shape) for shape in shapes]
            mujoco.mjd_transitionFD(model, data, 1e-6, centred, *out)
            return out
        self.transition = transition


class Exact:
    """MuJoCo's step, its derivatives by formula."""

    def __init__(self, model):
        context = dijoco.Context(model, derivatives="mujoco")
        self.step, self.forward = context.step, context.forward
        self.transition = lambda data: context.transition(data, sensors=True)


class Ours:
    """DiJoCo's step and derivatives, with a preset of contact."""

    def __init__(self, model, preset):
        context = dijoco.Context(model)
        context.sensors = True
        context.model.option["preset"] = preset
        self.step, self.forward = context.step, context.forward
        self.transition = lambda data: context.transition(data, sensors=True)


class Smoothed(Ours):
    """DiJoCo's step with the contact of the defaults, derivatives of that of the preset `smooth`."""

    def __init__(self, model):
        super().__init__(model, "none")
        step = self.step.__self__
        self.transition = lambda data: step.transition(data, sensors=True, derivatives="smooth")


class Mixed(Stock):
    """MuJoCo's step, DiJoCo's derivatives."""

    def __init__(self, model, preset):
        super().__init__(model)
        self.transition = Ours(model, preset).transition


class Task:
    """A scene with sensors: rows of type, object's type and name, target and weight."""

    def __init__(self, path, sensors, change=None, key=None, **plan):
        spec = mujoco.MjSpec.from_file(str(path))
        if change:
            change(spec.option)
        for kind, of, name, _, _ in sensors:
            spec.add_sensor(type=getattr(mujoco.mjtSensor, "mjSENS_" + kind), objname=name,
                            objtype=getattr(mujoco.mjtObj, "mjOBJ_" + of))
        self.model, self.key = spec.compile(), key
        self.plan = dict(plan, target=np.hstack([row[3] for row in sensors]),
                         weight=np.hstack([row[4] for row in sensors]))

    def reset(self, start=0):
        """The scene's start, or one nearby: of a keyframe the motors alone are moved."""
        data, rng = mujoco.MjData(self.model), np.random.default_rng(start)
        if self.key:
            mujoco.mj_resetDataKeyframe(self.model, data, self.model.key(self.key).id)
        if start and self.key:
            data.qpos[:self.model.nu] += rng.uniform(-0.05, 0.05, self.model.nu)
        elif start:
            data.qpos += rng.uniform(-5e-3, 5e-3, self.model.nq)
            data.qvel += rng.uniform(-5e-3, 5e-3, self.model.nv)
        return data


def hopper():
    if not (GYMNASIUM / "hopper.xml").exists():
        sys.exit("%s is not there: scripts/fetch_models.sh fetches it" % (GYMNASIUM / "hopper.xml"))

    def change(option):  # the scene has RK4, which mjd_transitionFD refuses
        option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        option.timestep = 0.01
    task = Task(GYMNASIUM / "hopper.xml", [
        ("FRAMEPOS", "BODY", "torso", [0, 0, 1.2], [0, 0, 20]),
        ("JOINTVEL", "JOINT", "rootx", 1, 1),
        ("JOINTPOS", "JOINT", "rooty", 0, 5),
        ("JOINTVEL", "JOINT", "rooty", 0, 0.1),
        ("JOINTPOS", "JOINT", "thigh_joint", -0.3, 0.3),
        ("JOINTPOS", "JOINT", "leg_joint", -0.6, 0.3),
        ("JOINTPOS", "JOINT", "foot_joint", 0.3, 0.3)],
        change, effort=0.1, final=5, horizon=80)

    def outcome(path):
        speed = (path[-1, 1] - path[0, 1]) / (path[-1, 0] - path[0, 0])
        lowest = path[:, 2].min()
        return "%.2f m/s, torso above %.2f m" % (speed, lowest), lowest > 0.9 and speed > 0.4
    return task, 300, outcome


def push():
    task = Task(ROOT / "models/push_arm/scene.xml", [
        ("FRAMEPOS", "BODY", "box", [0.45, 0.3, 0], [100, 100, 0]),
        ("FRAMELINVEL", "BODY", "box", [0, 0, 0], [1, 1, 0]),
        ("FRAMEXAXIS", "BODY", "box", [0.866, 0.5, 0], [1, 1, 0]),
        ("FRAMEPOS", "BODY", "finger", [0.45, 0.2, 0], [1, 1, 0]),
        ("JOINTVEL", "JOINT", "shoulder", 0, 0.01),
        ("JOINTVEL", "JOINT", "elbow", 0, 0.01),
        ("JOINTVEL", "JOINT", "wrist", 0, 0.01)],
        key="start", effort=1e-3, final=20, horizon=60)

    def outcome(path):
        box, quat = path[-1, 4:6], path[-1, 7:11]
        miss = 1000 * np.linalg.norm(box - [0.45, 0.3])
        turn = abs(np.degrees(2 * np.arctan2(quat[3], quat[0])) - 30)
        return "%.0f mm and %.0f degrees off" % (miss, turn), miss < 30
    return task, 100, outcome


def control(task, engine, steps, start, watch=None):
    """MPC in an engine; returns the cost per step, the states, and where the time went.
    watch(plan, state, iterations) improves the plan in its place."""
    m, data = task.model, task.reset(start)
    plan, path, cost = ILQG(m, engine, **task.plan), [], 0.0
    if task.key:
        plan.ctrl[:] = data.qpos[:m.nu]  # servos at rest
    clock = time.perf_counter()
    for i in range(steps):
        path.append(np.empty(mujoco.mj_stateSize(m, STATE)))
        mujoco.mj_getState(m, data, path[-1], STATE)
        if i % 2 == 0:
            (watch or ILQG.improve)(plan, path[-1], 1 if i else 20)
        data.ctrl[:] = plan.ctrl[0]
        engine.step(data)
        cost += plan.cost(data.sensordata, data.ctrl)
        plan.ctrl = np.vstack([plan.ctrl[1:], plan.ctrl[-1:]])
    return cost / steps, np.array(path), time.perf_counter() - clock, plan.seconds


def compare(name, task, steps, starts):
    """Plans improved once with other derivatives; whether those with exact ones cost as much."""
    engines = {"exact": Exact(task.model), "centred": Stock(task.model, centred=True)}
    plans = {title: ILQG(task.model, engine, **task.plan) for title, engine in engines.items()}
    ratios, seconds = {title: [] for title in plans}, 0.0

    def watch(plan, state, iterations):
        ctrl, damping = plan.ctrl.copy(), plan.damping
        cost = plan.improve(state, iterations)
        for title, other in plans.items():
            other.ctrl, other.damping = ctrl.copy(), damping
            ratio = other.improve(state, iterations) / cost
            if iterations == 1:
                ratios[title].append(ratio)

    for start in range(starts):
        seconds += control(task, Stock(task.model), steps, start, watch)[3]["derivatives"]
    for title, plan in plans.items():
        near = np.abs(np.array(ratios[title]) - 1) < 0.01
        print("%-6s %-8s cost of the forward differences' within 1%% in %d of %d plans, median of "
              "the ratio %.6f; derivatives %.2f s beside %.2f s (%.2f)" % (
                  name, title, near.sum(), near.size, np.median(ratios[title]),
                  plan.seconds["derivatives"], seconds, plan.seconds["derivatives"] / seconds),
              flush=True)
    return np.mean(np.abs(np.array(ratios["exact"]) - 1) < 0.01) > 0.95


def main():
    tasks = {"hopper": hopper, "push": push}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="*", metavar="hopper|push")
    parser.add_argument("--short", action="store_true", help="half a second, two engines")
    parser.add_argument("--compare", action="store_true", help="derivatives on the same plans")
    parser.add_argument("--starts", type=int, default=1, metavar="N", help="from N starts")
    parser.add_argument("--preset", default="smooth", metavar="NAME", help="of DiJoCo's contact")
    args = parser.parse_args()
    failed = False
    if args.compare:
        for name in args.task or tasks:
            task, steps, _ = tasks[name]()
            failed |= not compare(name, task, 50 if args.short else steps, args.starts)
        sys.exit(failed)
    print("%41s  wall s: all = steps + derivatives + sweeps" % "start cost/step")
    for name in args.task or tasks:
        task, steps, outcome = tasks[name]()
        engines = {"MuJoCo": Stock(task.model), "MuJoCo, exact": Exact(task.model),
                   "DiJoCo": Ours(task.model, args.preset),
                   "DiJoCo, smooth A, B": Smoothed(task.model),
                   "MuJoCo, our A, B": Mixed(task.model, args.preset)}
        if args.short:
            steps = 50
            del engines["MuJoCo, our A, B"], engines["DiJoCo, smooth A, B"]
        no_worse = 0
        for start in range(args.starts):
            costs = {}
            for title, engine in engines.items():
                costs[title], path, wall, part = control(task, engine, steps, start)
                text, reached = outcome(path)
                print("%-6s %-19s %5d %8.4f %9.1f = %4.1f + %4.1f + %4.1f   %s" % (
                    name, title, start, costs[title], wall, *part.values(), text), flush=True)
                failed |= title == "DiJoCo" and not reached
            no_worse += costs["DiJoCo"] <= costs["MuJoCo"]
        print("%-6s DiJoCo's cost is no higher than MuJoCo's from %d of %d starts" % (
            name, no_worse, args.starts), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
