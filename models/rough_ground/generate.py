"""Writes scene.json and task.json: a ball is thrown over rough ground, to stop at a target."""

import json
import math
import pathlib

FOLDER = pathlib.Path(__file__).parent
N, HALF = 33, 1.6


def height(x, y):
    """A bowl with waves, m."""
    waves = math.sin(3.1 * x + 0.4) * math.cos(2.7 * y) + 0.6 * math.sin(4.3 * y - 1.7 * x)
    return round(0.12 + 0.05 * (x * x + y * y) + 0.035 * waves, 6)


def main():
    at = [-HALF + 2 * HALF * k / (N - 1) for k in range(N)]
    scene = {
        "dijoco_model": 1, "name": "rough_ground",
        "option": {"timestep": 0.004},
        "bodies": [{"name": "world"},
                   {"name": "ball", "parent": "world", "pos": [-0.9, -0.5, 0.5], "mass": 0.5,
                    "inertia": [0.002, 0.002, 0.002]}],
        "joints": [{"name": "ball", "type": "free", "body": "ball"}],
        "hfields": [{"name": "ground", "size": [HALF, HALF, 0.2],
                     "heights": [[height(x, y) for x in at] for y in at]}],
        "geoms": [{"name": "ground", "type": "hfield", "body": "world", "hfield": "ground"},
                  {"name": "ball", "type": "sphere", "body": "ball", "size": [0.1, 0, 0],
                   "friction": [0.8, 0.005, 0.0001]}],
    }
    task = {
        "scene": "scene.json", "integrator": "euler", "timestep": 0.004, "horizon": 200,
        "initial": {"qpos": [-0.9, -0.5, 0.36, 1, 0, 0, 0], "qvel": [0.8, 0.4, 0, 0, 0, 0]},
        "loss": [{"type": "position", "body": "ball", "target": [0.4, 0.3, 0.25], "weight": 1}],
        "variables": [{"name": "qvel0", "index": [0, 1]}, {"name": "hfield/ground/heights"}],
        "optimizer": {"type": "lbfgsb", "iterations": 60},
    }
    (FOLDER / "scene.json").write_text(json.dumps(scene, indent=1) + "\n")
    (FOLDER / "task.json").write_text(json.dumps(task, indent=1) + "\n")


if __name__ == "__main__":
    main()
