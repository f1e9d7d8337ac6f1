"""Iterative LQG with bounded controls, for a mujoco.MjModel whose sensors are the residuals.

The cost of a run is sum_t [sum_i weight_i (sensordata_i - target_i)^2 + effort |ctrl|^2], with the
last state's sensors counted `final` times. An engine has step(data), forward(data) and
transition(data) -> A, B, C, D, as mj_step, mj_forward and mjd_transitionFD.
"""
import time

import mujoco
import numpy as np

STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


class ILQG:
    """Improves `ctrl` (horizon, nu) from any start; `seconds` tells where the time went."""

    def __init__(self, model, engine, weight, target, effort, final, horizon):
        self.model, self.engine, self.data = model, engine, mujoco.MjData(model)
        self.weight, self.target = np.array(weight), np.array(target)
        self.effort, self.final, self.horizon = effort, final, horizon
        self.low, self.high = model.actuator_ctrlrange.T
        self.ctrl = np.zeros((horizon, model.nu))
        self.damping = 1e-6
        self.seconds = {"steps": 0.0, "derivatives": 0.0, "sweeps": 0.0}

    def cost(self, sensors, ctrl):
        return self.weight @ (sensors - self.target)**2 + self.effort * ctrl @ ctrl

    def improve(self, start, iterations):
        """Lower the cost of the run from a state; returns the cost."""
        states, ctrls, sensors, cost = self.rollout(start, lambda t, x: self.ctrl[t])
        for _ in range(iterations):
            derivatives = self.derivatives(states, ctrls)
            for _ in range(6):
                k, K, promise = self.sweep(ctrls, sensors, derivatives)
                for alpha in 0.35**np.arange(6):
                    new = self.rollout(start, lambda t, x: ctrls[t] + alpha * k[t]
                                       + K[t] @ self.difference(states[t], x))
                    if new[3] < cost - 1e-3 * alpha * promise:
                        break
                else:
                    self.damping = min(10 * self.damping, 1e4)
                    continue
                states, ctrls, sensors, cost = new
                self.damping = max(self.damping / 5, 1e-6)
                break
        self.ctrl = ctrls
        return cost

    def rollout(self, start, policy):
        """Run policy(t, state) from a state; returns states, controls, sensors and the cost."""
        clock, m, d = time.perf_counter(), self.model, self.data
        states, ctrls, sensors, cost = [start], [], [], 0.0
        mujoco.mj_setState(m, d, start, STATE)
        for t in range(self.horizon):
            d.ctrl[:] = np.clip(policy(t, states[-1]), self.low, self.high)
            self.engine.step(d)  # sensors are those of the step's start
            ctrls.append(d.ctrl.copy())
            sensors.append(d.sensordata.copy())
            cost += self.cost(sensors[-1], ctrls[-1])
            states.append(np.empty_like(start))
            mujoco.mj_getState(m, d, states[-1], STATE)
        self.engine.forward(d)
        sensors.append(d.sensordata.copy())
        cost += self.final * self.cost(sensors[-1], np.zeros(m.nu))
        self.seconds["steps"] += time.perf_counter() - clock
        return states, np.array(ctrls), np.array(sensors), cost if np.isfinite(cost) else np.inf

    def difference(self, a, b):
        """State b - a as a tangent vector (2 nv + na)."""
        nq, nv = self.model.nq, self.model.nv
        dx = np.concatenate([np.zeros(nv), (b - a)[1 + nq:]])
        mujoco.mj_differentiatePos(self.model, dx[:nv], 1, a[1:1 + nq], b[1:1 + nq])
        return dx

    def derivatives(self, states, ctrls):
        clock, out = time.perf_counter(), []
        for state, ctrl in zip(states, [*ctrls, ctrls[-1]]):
            mujoco.mj_setState(self.model, self.data, state, STATE)
            self.data.ctrl[:] = ctrl
            out.append(self.engine.transition(self.data))
        self.seconds["derivatives"] += time.perf_counter() - clock
        return out

    def sweep(self, ctrls, sensors, derivatives):
        """Riccati's recursion: changes k of the controls, gains K, and the decrease promised."""
        clock, slope = time.perf_counter(), 2 * self.weight * (sensors - self.target)
        C = derivatives[-1][2]
        vx, vxx = self.final * C.T @ slope[-1], 2 * self.final * (C.T * self.weight) @ C
        k, K, promise = np.zeros_like(ctrls), np.zeros((*ctrls.shape, vx.size)), 0.0
        one = np.eye(ctrls.shape[1])
        for t in reversed(range(self.horizon)):
            A, B, C = derivatives[t][:3]
            vA, vB = vxx @ A, vxx @ B
            qx, qu = C.T @ slope[t] + A.T @ vx, 2 * self.effort * ctrls[t] + B.T @ vx
            qxx, qux = 2 * (C.T * self.weight) @ C + A.T @ vA, B.T @ vA
            quu = 2 * self.effort * one + B.T @ vB
            damped = quu + self.damping * one
            k[t], free = bounded_step(damped, qu, self.low - ctrls[t], self.high - ctrls[t])
            K[t, free] = -np.linalg.solve(damped[np.ix_(free, free)], qux[free])
            promise -= k[t] @ (qu + quu @ k[t] / 2)
            vx = qx + K[t].T @ (quu @ k[t] + qu) + qux.T @ k[t]
            vxx = qxx + K[t].T @ quu @ K[t] + K[t].T @ qux + qux.T @ K[t]
        self.seconds["sweeps"] += time.perf_counter() - clock
        return k, K, promise


def bounded_step(H, g, low, high):
    """Minimise g.k + k.H.k/2, fixing in turn what leaves the box; returns k and which are free."""
    k, free = np.zeros(g.size), np.ones(g.size, bool)
    while free.any():
        rest = g[free] + H[np.ix_(free, ~free)] @ k[~free]
        k[free] = -np.linalg.solve(H[np.ix_(free, free)], rest)
        out = free & ((k < low) | (k > high))
        if not out.any():
            break
        k[out], free = np.clip(k, low, high)[out], free & ~out
    return k, free
