"""Counts components, tunnels (genus) and cavities of a body of a scene: python3 genus.py SCENE.xml
BODY [CELL ...]. A cell of a lattice is solid where its centre is inside of one of the body's convex
hulls as MuJoCo has them; the numbers are those of the union of the closed solid cells, by its Euler
characteristic. CELL (m) is by default 1/200 and 1/133 of the body's size."""
import sys

import mujoco
import numpy as np


def facets(m, geom):
    """Planes n.x <= d of a mesh geom, in the body's frame."""
    mesh = m.geom_dataid[geom]
    graph = m.mesh_graph[m.mesh_graphadr[mesh]:]
    nvert, nface = graph[0], graph[1]
    face = graph[2 + 3 * nvert + 3 * nface:][:3 * nface].reshape(-1, 3)
    vert = m.mesh_vert[m.mesh_vertadr[mesh]:][:m.mesh_vertnum[mesh]].astype(float)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, m.geom_quat[geom])
    vert = vert @ turn.reshape(3, 3).T + m.geom_pos[geom]
    a, b, c = (vert[face[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    size = np.linalg.norm(n, axis=1)
    n = n[size > 1e-14] / size[size > 1e-14, None]
    return n, (n @ vert.T).max(axis=1), vert


def solid(m, body, cell):
    """(nx, ny, nz) which cells are solid, with an empty rim; where the lattice begins."""
    geoms = [g for g in range(m.ngeom) if m.geom_bodyid[g] == body
             and m.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH]
    hulls = [facets(m, g) for g in geoms]
    low = np.min([v.min(axis=0) for *_, v in hulls], axis=0) - 2.3183 * cell
    high = np.max([v.max(axis=0) for *_, v in hulls], axis=0) + 2 * cell
    out = np.zeros(np.ceil((high - low) / cell).astype(int) + 1, bool)
    for n, d, v in hulls:
        first = np.floor((v.min(axis=0) - low) / cell).astype(int)
        last = np.ceil((v.max(axis=0) - low) / cell).astype(int) + 1
        axes = [low[k] + cell * (np.arange(first[k], last[k]) + .5) for k in range(3)]
        x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        inside = (x @ n.T <= d + 1e-6).all(axis=-1)
        out[tuple(slice(first[k], last[k]) for k in range(3))] |= inside
    return out, low


def count_components(cells, near):
    """Components of cells; near: offsets of neighbours (half of them)."""
    label = np.where(cells, np.arange(cells.size).reshape(cells.shape), -1)
    while True:
        before = label.copy()
        for d in near:
            a = tuple(slice(max(0, -k), min(s, s - k)) for k, s in zip(d, label.shape))
            b = tuple(slice(max(0, k), min(s, s + k)) for k, s in zip(d, label.shape))
            both = (label[a] >= 0) & (label[b] >= 0)
            least = np.where(both, np.minimum(label[a], label[b]), label[a])
            label[a] = least
            label[b] = np.where(both, np.minimum(least, label[b]), label[b])
        flat = label.ravel()   # follow the labels
        on = flat >= 0
        flat[on] = flat[flat[on]]
        if (label == before).all():
            return len(np.unique(label[label >= 0]))


def topology(cells):
    """(components, genus, cavities) of the union of closed cells."""
    s = np.pad(cells, 1)
    lattice = {}
    for bits in range(8):   # bits: along which axes an element of the complex has no extent
        e = s
        for k in range(3):
            if bits >> k & 1:
                cut = [slice(None)] * 3
                cut[k] = slice(1, None)
                other = [slice(None)] * 3
                other[k] = slice(None, -1)
                e = e[tuple(cut)] | e[tuple(other)]
        lattice[bits] = int(e.sum())
    euler = sum((-1) ** (3 - bin(bits).count("1")) * n for bits, n in lattice.items())
    every = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)
             if (i, j, k) > (0, 0, 0)]
    components = count_components(s, every)
    cavities = count_components(~s, [(1, 0, 0), (0, 1, 0), (0, 0, 1)]) - 1
    return components, components + cavities - euler, cavities


def main(scene, name, *sizes):
    m = mujoco.MjModel.from_xml_path(scene)
    body = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, name)
    extent = max(np.ptp(solid(m, body, .005)[0].shape), 0)
    sizes = [float(s) for s in sizes] or [.001, .0015]
    for cell in sizes:
        cells, _ = solid(m, body, cell)
        print("cell %g m: components %d, genus %d, cavities %d, volume %.4g m3"
              % (cell, *topology(cells), cells.sum() * cell ** 3))


if __name__ == "__main__":
    main(*sys.argv[1:])
