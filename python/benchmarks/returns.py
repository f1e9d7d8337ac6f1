"""Curves of returns in one picture: `returns.py OUT.svg NAME=CURVE.csv...`, over steps and over seconds.

CURVE.csv is what shac.py and ppo_hopper.py write. Curves of the same name are seeds, which have one
colour. Needs matplotlib.
"""
import sys

import matplotlib.pyplot as plt
import numpy as np


def main():
    if len(sys.argv) < 3 or not all("=" in given for given in sys.argv[2:]):
        sys.exit(__doc__)
    plt.rcParams["svg.hashsalt"] = "dijoco"
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
    names = []
    for given in sys.argv[2:]:
        name, _, path = given.partition("=")
        with open(path, encoding="utf-8") as f:
            header = f.readline().strip().split(",")
        curve = dict(zip(header, np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2).T))
        first = name not in names
        names += [name] * first
        for axis, key, unit in zip(axes, ("steps", "seconds"), (1000, 1)):
            axis.plot(curve[key] / unit, curve["return"], color="C%d" % names.index(name),
                      label=name if first else None)
            axis.set_xlabel(key if unit == 1 else "thousands of " + key)
    axes[0].set_ylabel("return of Hopper-v5")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(sys.argv[1], metadata={"Date": None})   # the same bytes for the same curves


if __name__ == "__main__":
    main()
