// Pictures of solids: triangles with a depth for each pixel, so that nothing but a canvas is used.
"use strict";

const background = [251, 250, 248];
const pack = (c) => (255 << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;

// A colour by how bright it is, 64 levels; the second half is of darker triangles.
function makeRamp(color, contrast) {
  const rgb = [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16)), ramp = [];
  for (let i = 0; i < 128; i++) {
    const f = (0.55 + 0.6 * (i % 64) / 63) * (i > 63 ? 1 - contrast : 1);
    ramp.push(pack(rgb.map((x) => Math.round(f > 1 ? 255 - (255 - x) * (2 - f) : x * f))));
  }
  return Uint32Array.from(ramp);
}

function Picture(width, height) {
  this.width = width;
  this.height = height;
  this.image = new ImageData(width, height);
  this.color = new Uint32Array(this.image.data.buffer);
  this.depth = new Float32Array(width * height);
  this.id = new Uint16Array(width * height);
}

Picture.prototype.clear = function () {
  this.color.fill(pack(background));
  this.depth.fill(Infinity);
  this.id.fill(0);
};

// A triangle of corners v[i], v[i + 1]... = x, y, depth, brightness that shows its front. Ghosts,
// whose id is 0, cover every other pixel.
Picture.prototype.fill = function (v, i, ramp, shift, id) {
  const ax = v[i], ay = v[i + 1], bx = v[i + 4] - ax, by = v[i + 5] - ay, cx = v[i + 8] - ax,
        cy = v[i + 9] - ay, area = bx * cy - cx * by;
  if (!(area < 0)) return;
  const bz = v[i + 6] - v[i + 2], cz = v[i + 10] - v[i + 2], bl = v[i + 7] - v[i + 3],
        cl = v[i + 11] - v[i + 3];
  const zx = (bz * cy - cz * by) / area, zy = (cz * bx - bz * cx) / area,
        lx = (bl * cy - cl * by) / area, ly = (cl * bx - bl * cx) / area;
  const low = Math.max(Math.ceil(ay + Math.min(0, by, cy) - 0.5), 0);
  const high = Math.min(Math.floor(ay + Math.max(0, by, cy) - 0.5), this.height - 1);
  for (let y = low; y <= high; y++) {
    const at = y + 0.5 - ay;
    let left = Infinity, right = -Infinity;
    const cross = function (x0, y0, x1, y1) {
      if (y0 === y1 || (at - y0) * (at - y1) > 0) return;
      const x = x0 + (at - y0) / (y1 - y0) * (x1 - x0);
      left = Math.min(left, x);
      right = Math.max(right, x);
    };
    cross(0, 0, bx, by);
    cross(bx, by, cx, cy);
    cross(cx, cy, 0, 0);
    const first = Math.max(Math.ceil(ax + left - 0.5001), 0);   // no gaps between neighbours
    const end = Math.min(Math.floor(ax + right - 0.4999), this.width - 1);
    let z = v[i + 2] + zx * (first + 0.5 - ax) + zy * at;
    let l = v[i + 3] + lx * (first + 0.5 - ax) + ly * at;
    for (let x = first, k = y * this.width + first; x <= end; x++, k++, z += zx, l += lx) {
      if (z >= this.depth[k] || (id === 0 && (x + y & 1))) continue;
      this.depth[k] = z;
      if (id > 0) this.id[k] = id;
      this.color[k] = ramp[shift + Math.max(0, Math.min(63, 63 * l | 0))];
    }
  }
};

// Dark lines between geoms.
Picture.prototype.outline = function () {
  const w = this.width, id = this.id, color = this.color;
  for (let k = 0; k + w < id.length; k++) {
    if (id[k] === id[k + 1] && id[k] === id[k + w]) continue;
    const c = color[k];
    color[k] = (255 << 24 | (c >>> 17 & 127) << 16 | (c >>> 9 & 127) << 8 | (c >>> 1 & 127)) >>> 0;
  }
};

// ---- the camera

const home = {azimuth: film.view.azimuth, elevation: film.view.elevation, zoom: 1};
let camera;

function goHome() {
  camera = Object.assign({}, home, {shift: [0, 0, 0]});
}

function axes() {
  const a = camera.azimuth, e = camera.elevation;
  const back = [Math.cos(a) * Math.cos(e), Math.sin(a) * Math.cos(e), Math.sin(e)];
  const right = [-Math.sin(a), Math.cos(a), 0];
  const up = [-Math.cos(a) * Math.sin(e), -Math.sin(a) * Math.sin(e), Math.cos(e)];
  const l = back.map((x, k) => 0.62 * x - 0.42 * right[k] + (k === 2 ? 0.9 : 0));
  const s = Math.hypot(...l) || 1;
  return {right, up, forward: back.map((x) => -x), light: l.map((x) => x / s)};
}

// Pixels a metre in a picture so wide and high.
const scaleOf = (w, h) => camera.zoom * Math.min(w / film.view.width, h / film.view.height);
