// Data of the player, as tools/player_shapes.c and player_frames.c write them: poses, and solids
// made of triangles. The other scripts of the page see what is here.
"use strict";

const film = JSON.parse(document.getElementById("player-data").textContent);

const last = film.times.length - 1;

// ---- poses

// Of each frame 7 numbers a body; frames after the first hold what has been added of those that
// move.
function decode(run) {
  const now = new Float64Array(run.poses[0]);
  return run.poses.map(function (list, i) {
    let at = 0;
    for (let b = 0; b < film.bodies.length && i > 0; b++) {
      for (let k = 0; k < 7 && film.bodies[b].moves; k++) now[7 * b + k] += list[at++];
    }
    return now.map((x, k) => x * (k % 7 < 3 ? film.unit : film.turn));
  });
}

// The frame before time t, and the part of the way to the next one.
function frameAt(t) {
  let low = 0, high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (film.times[middle] > t) high = middle; else low = middle;
  }
  const span = film.times[high] - film.times[low];
  return {frame: low, part: span > 0 ? Math.min(Math.max((t - film.times[low]) / span, 0), 1) : 0};
}

// Pose of a body: place and rotation (columns are axes). A run that has ended stays.
function poseOf(run, at, body) {
  const end = run.frames.length - 1, i = Math.min(at.frame, end), j = Math.min(at.frame + 1, end);
  const a = run.frames[i], b = run.frames[j], x = [];
  for (let k = 7 * body; k < 7 * body + 7; k++) x.push(a[k] + at.part * (b[k] - a[k]));
  return {p: x.slice(0, 3), R: matrix(x.slice(3))};
}

function matrix(q) {
  const s = 1 / (Math.hypot(q[0], q[1], q[2], q[3]) || 1);
  const w = q[0] * s, x = q[1] * s, y = q[2] * s, z = q[3] * s;
  return [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
          2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const turned = (R, v) => [dot(R, v), dot(R.slice(3), v), dot(R.slice(6), v)];
const crossOf = (u, v) => [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                           u[0] * v[1] - u[1] * v[0]];
const unitOf = function (v) {
  const s = Math.hypot(...v) || 1;
  return v.map((x) => x / s);
};
const moved = (pose, v) => turned(pose.R, v).map((x, k) => x + pose.p[k]);

// ---- shapes: corners with normals, three a triangle

function Solid() {
  this.p = [];
  this.n = [];
  this.dark = [];   // of a triangle: 1 where it is a darker one
}

Solid.prototype.triangle = function (corners, normals, dark) {
  for (let k = 0; k < 3; k++) {
    this.p.push(...corners[k]);
    this.n.push(...normals[k]);
  }
  this.dark.push(dark ? 1 : 0);
};

Solid.prototype.flat = function (a, b, c, dark) {
  const u = b.map((x, k) => x - a[k]), v = c.map((x, k) => x - a[k]);
  const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const s = Math.hypot(...n) || 1, unit = n.map((x) => x / s);
  this.triangle([a, b, c], [unit, unit, unit], dark);
};

// Rings of [radius, height, normal outward, normal upward] about z; every other quarter is darker
// and so shows spin. x and y are stretched.
function revolve(solid, ring, stretch) {
  const count = 32, f = stretch || [1, 1, 1];
  const corner = (r, k) => [r[0] * Math.cos(k) * f[0], r[0] * Math.sin(k) * f[1], r[1] * f[2]];
  const normal = function (r, k) {
    const n = [r[2] * Math.cos(k) / f[0], r[2] * Math.sin(k) / f[1], r[3] / f[2]];
    const s = Math.hypot(...n) || 1;
    return n.map((x) => x / s);
  };
  for (let i = 0; i + 1 < ring.length; i++) {
    for (let k = 0; k < count; k++) {
      const a = 2 * Math.PI * k / count, b = 2 * Math.PI * (k + 1) / count;
      const at = [[i, a], [i, b], [i + 1, b], [i + 1, a]];
      const dark = (k >> 3) % 2 === (ring[i][1] + ring[i + 1][1] > 0 ? 1 : 0);
      const p = at.map((x) => corner(ring[x[0]], x[1]));
      const n = at.map((x) => normal(ring[x[0]], x[1]));
      solid.triangle([p[0], p[1], p[2]], [n[0], n[1], n[2]], dark);
      solid.triangle([p[0], p[2], p[3]], [n[0], n[2], n[3]], dark);
    }
  }
}

function arc(radius, height, from, to) {
  const ring = [];
  for (let i = 0; i <= 8; i++) {
    const a = from + (to - from) * i / 8;
    ring.push([radius * Math.cos(a), radius * Math.sin(a) + height, Math.cos(a), Math.sin(a)]);
  }
  return ring;
}

const quarter = Math.PI / 2;
const makers = {
  sphere: (solid, s) => revolve(solid, arc(s[0], 0, -quarter, 0).concat(arc(s[0], 0, 0, quarter))),
  ellipsoid: (solid, s) =>
    revolve(solid, arc(1, 0, -quarter, 0).concat(arc(1, 0, 0, quarter)), s),
  capsule: (solid, s) =>
    revolve(solid, arc(s[0], -s[1], -quarter, 0).concat(arc(s[0], s[1], 0, quarter))),
  cylinder: function (solid, s) {
    revolve(solid, [[0, -s[1], 0, -1], [s[0], -s[1], 0, -1]]);
    revolve(solid, [[s[0], -s[1], 1, 0], [s[0], 0, 1, 0], [s[0], s[1], 1, 0]]);
    revolve(solid, [[s[0], s[1], 0, 1], [0, s[1], 0, 1]]);
  },
  box: function (solid, s) {
    const at = (k) => [k & 1 ? s[0] : -s[0], k & 2 ? s[1] : -s[1], k & 4 ? s[2] : -s[2]];
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
      .forEach(function (f) {
        solid.flat(at(f[0]), at(f[1]), at(f[2]));
        solid.flat(at(f[0]), at(f[2]), at(f[3]));
      });
  },
  // squares in turn, about the middle of the first view; an unlimited one is as large as that
  plane: function (solid, s, shape) {
    const R = matrix(shape.quat), c = film.view.center, far = 0.9 * Math.max(film.view.width, 1e-9);
    const d = c.map((x, k) => x - shape.pos[k]);
    const step = Math.pow(10, Math.floor(Math.log10(far / 2)));
    const size = far / step < 6 ? step / 2 : step, range = [];
    for (let k = 0; k < 2; k++) {
      const middle = d[0] * R[k] + d[1] * R[3 + k] + d[2] * R[6 + k];
      const low = size * Math.floor((middle - far) / size);
      const high = size * Math.ceil((middle + far) / size);
      range.push(s[k] > 0 ? [Math.max(low, -s[k]), Math.min(high, s[k])] : [low, high]);
    }
    const cuts = range.map(function (r) {
      const list = [r[0]];
      for (let x = size * (Math.floor(r[0] / size + 1e-9) + 1); x < r[1]; x += size) list.push(x);
      return list.concat(r[1]);
    });
    for (let i = 0; i + 1 < cuts[0].length && range[0][0] < range[0][1]; i++) {
      for (let j = 0; j + 1 < cuts[1].length && range[1][0] < range[1][1]; j++) {
        const x = cuts[0][i], y = cuts[1][j], X = cuts[0][i + 1], Y = cuts[1][j + 1];
        const dark = (Math.floor(x / size + 1e-6) + Math.floor(y / size + 1e-6)) & 1;
        solid.flat([x, y, 0], [X, y, 0], [X, Y, 0], dark);
        solid.flat([x, y, 0], [X, Y, 0], [x, Y, 0], dark);
      }
    }
  },
  mesh: function (solid, s, shape) {
    const at = (i) => [0, 1, 2].map((k) => shape.vert[3 * i + k] * shape.unit), f = shape.face;
    if (!shape.smooth) {
      for (let i = 0; i < f.length; i += 3) solid.flat(at(f[i]), at(f[i + 1]), at(f[i + 2]));
      return;
    }
    const plain = new Solid(), normal = new Float64Array(shape.vert.length);
    for (let i = 0; i < f.length; i += 3) {
      plain.flat(at(f[i]), at(f[i + 1]), at(f[i + 2]));
      for (let k = 0; k < 9; k++) normal[3 * f[i + (k / 3 | 0)] + k % 3] += plain.n[3 * i + k % 3];
    }
    const unit = function (i) {
      const n = normal.slice(3 * i, 3 * i + 3), s = Math.hypot(...n) || 1;
      return Array.from(n, (x) => x / s);
    };
    for (let i = 0; i < f.length; i += 3) {
      const v = [f[i], f[i + 1], f[i + 2]];
      solid.triangle(v.map(at), v.map(unit), false);
    }
  },
  none: function () {},
};

// In the frame of the body; look: all shapes of the run.
function build(shape, index, look) {
  const from = shape.like >= 0 ? look[shape.like] : shape;
  const solid = new Solid(), pose = {p: shape.pos, R: matrix(shape.quat)}, out = {};
  makers[shape.type](solid, shape.size, from);
  const count = solid.p.length / 3;
  out.p = new Float32Array(3 * count);
  out.n = new Float32Array(3 * count);
  out.dark = solid.dark;
  for (let i = 0; i < 3 * count; i += 3) {
    out.p.set(moved(pose, solid.p.slice(i, i + 3)), i);
    out.n.set(turned(pose.R, solid.n.slice(i, i + 3)), i);
  }
  return out;
}
