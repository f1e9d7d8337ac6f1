// The player of a report: its runs, what is drawn over their pictures, time, keys and mouse.
"use strict";

const element = (id) => document.getElementById("player-" + id);
const length = film.times[last] || 0;

// ---- runs

const runs = film.runs.map(function (data, i) {
  const run = Object.assign({}, data, {frames: decode(data), shown: true, path: []});
  run.look = film.looks[film.look[i]].map(build);
  run.ramp = makeRamp(run.color, 0.12);
  for (let k = 0; k < run.frames.length; k++) {
    run.path.push(moved(poseOf(run, {frame: k, part: 0}, film.traced), run.point));
  }
  return run;
});
// Planes are lighter than what stands on them.
const ramps = film.geoms.map((geom, g) => film.looks[0][g].type === "plane"
  ? makeRamp("#d9d4ca", 0.05) : makeRamp(geom.color, 0.12));

const flexRamps = film.flexes.map((flex) => makeRamp(flex.color, 0.12));

// Forces are drawn by the root of their size, the longest fifty-th like this one.
const reference = (function () {
  const all = [];
  runs.forEach((run) => run.touches.forEach(function (list) {
    for (let i = 0; i < list.length; i += 8) {
      const f = Math.hypot(list[i + 5], list[i + 6], list[i + 7]);
      if (f > 0) all.push(f);
    }
  }));
  all.sort((a, b) => a - b);
  return all.length > 0 ? all[Math.floor(0.98 * (all.length - 1))] : 0;
})();

const kinds = [
  {color: "#c2272d", text: "contact"},
  {color: "#777777", text: "inside, without a force"},
  {color: "#1d7a3c", text: "sticks"},
  {color: "#e07b00", text: "slips"},
  {color: "#7a3fa0", text: "acts from afar (guide)"},
];

// What acts at a frame: points with the force on what moves, of two moving ones on the later.
function touchesAt(run, frame) {
  const list = run.touches[Math.min(frame, run.touches.length - 1)], out = [];
  for (let i = 0; i < list.length; i += 8) {
    const pair = film.pairs[list[i]], second = film.geoms[pair[1]];
    const sign = second && film.bodies[second.body].moves ? 1 : -1;
    out.push({kind: list[i + 1], at: [2, 3, 4].map((k) => list[i + k] * film.unit),
              force: [5, 6, 7].map((k) => sign * list[i + k])});
  }
  return out;
}

// ---- drawing

const views = [];
let time = 0, playing = false, layout = "beside";

// What moves in one of several runs has the run's colour. A ghost is a little behind, so that the
// solid one is seen where they coincide, and has nothing that stands.
function drawRun(picture, run, at, view, scale, ghost, many) {
  const light = view.light, w = picture.width / 2, h = picture.height / 2, c = view.center;
  let v = new Float32Array(0);
  film.geoms.forEach(function (geom, g) {
    const solid = run.look[g], n = solid.p.length / 3;
    const own = many && film.bodies[geom.body].moves;
    if (ghost && !own) return;
    const pose = poseOf(run, at, geom.body), R = pose.R;
    if (v.length < 4 * n) v = new Float32Array(4 * n);
    const rows = [view.right, view.up, view.forward, light].map((r) =>
      [0, 1, 2].map((k) => r[0] * R[k] + r[1] * R[3 + k] + r[2] * R[6 + k]));
    const d = pose.p.map((x, k) => x - c[k]);
    const x0 = w + scale * dot(view.right, d), y0 = h - scale * dot(view.up, d);
    const z0 = dot(view.forward, d) + (ghost ? 0.003 * film.view.width : 0);
    const [X, Y, Z, L] = rows, p = solid.p, m = solid.n;
    for (let i = 0, k = 0; k < 4 * n; i += 3, k += 4) {
      v[k] = x0 + scale * (X[0] * p[i] + X[1] * p[i + 1] + X[2] * p[i + 2]);
      v[k + 1] = y0 - scale * (Y[0] * p[i] + Y[1] * p[i + 1] + Y[2] * p[i + 2]);
      v[k + 2] = z0 + Z[0] * p[i] + Z[1] * p[i + 1] + Z[2] * p[i + 2];
      const bright = L[0] * m[i] + L[1] * m[i + 1] + L[2] * m[i + 2];
      v[k + 3] = bright > 0 ? 0.28 + 0.72 * bright : 0.28 + 0.28 * bright;
    }
    const ramp = own ? run.ramp : ramps[g];
    for (let k = 0; k < n / 3; k++) {
      picture.fill(v, 12 * k, ramp, 64 * solid.dark[k], ghost ? 0 : g + 1);
    }
  });
  drawFlexes(picture, run, at, view, scale, ghost, many);
}

// Triangles of a flex between its vertices, or tubes of its edges: corners, three a triangle.
function trianglesOf(flex, x) {
  if (flex.face) return flex.face.map((i) => x[i]);
  const out = [], r = flex.radius;
  for (let i = 0; i < flex.edge.length; i += 2) {
    const a = x[flex.edge[i]], b = x[flex.edge[i + 1]], d = b.map((y, k) => y - a[k]);
    const k = d.map(Math.abs).indexOf(Math.min(...d.map(Math.abs)));
    const e = [0, 1, 2].map((j) => j === k ? 1 : 0);
    const u = unitOf(crossOf(d, e)), w = unitOf(crossOf(d, u)), ring = [];
    for (let s = 0; s < 8; s++) {
      const c = r * Math.cos(s * Math.PI / 4), t = r * Math.sin(s * Math.PI / 4);
      ring.push([a, b].map((p) => p.map((y, j) => y + c * u[j] + t * w[j])));
    }
    ring.forEach(function (p, s) {
      const q = ring[(s + 1) % 8];
      out.push(p[0], q[0], q[1], p[0], q[1], p[1]);
    });
  }
  return out;
}

// Both sides are shown, bright by where they look. Normals of a cloth are the means of those of the
// triangles at a vertex.
function drawFlexes(picture, run, at, view, scale, ghost, many) {
  const w = picture.width / 2, h = picture.height / 2, v = new Float32Array(12);
  film.flexes.forEach(function (flex, f) {
    if (ghost && !many) return;
    const x = [], ramp = many ? run.ramp : flexRamps[f], normal = new Map();
    for (let i = 0; i < flex.vert.length; i += 4) {
      x.push(moved(poseOf(run, at, flex.vert[i]), flex.vert.slice(i + 1, i + 4)));
    }
    const corners = trianglesOf(flex, x);
    for (let i = 0; i < corners.length; i += 3) {
      const [a, b, c] = corners.slice(i, i + 3);
      const n = crossOf(b.map((y, k) => y - a[k]), c.map((y, k) => y - a[k]));
      [a, b, c].forEach(function (p) {
        const sum = normal.get(p) || [0, 0, 0];
        normal.set(p, sum.map((y, k) => y + n[k]));
      });
    }
    for (let i = 0; i < corners.length; i += 3) {
      const [a, b, c] = corners.slice(i, i + 3);
      const n = crossOf(b.map((y, k) => y - a[k]), c.map((y, k) => y - a[k]));
      const back = dot(n, view.forward) > 0;
      (back ? [a, c, b] : [a, b, c]).forEach(function (p, k) {
        const d = p.map((y, j) => y - view.center[j]), m = unitOf(normal.get(p));
        const bright = dot(view.light, m) * (dot(m, view.forward) > 0 ? -1 : 1);
        v[4 * k] = w + scale * dot(view.right, d);
        v[4 * k + 1] = h - scale * dot(view.up, d);
        v[4 * k + 2] = dot(view.forward, d) + (ghost ? 0.003 * film.view.width : 0);
        v[4 * k + 3] = bright > 0 ? 0.28 + 0.72 * bright : 0.28 + 0.28 * bright;
      });
      picture.fill(v, 0, ramp, 0, ghost ? 0 : film.geoms.length + f + 1);
    }
  });
}

function drawArrow(pen, from, to, color) {
  const dx = to[0] - from[0], dy = to[1] - from[1], size = Math.hypot(dx, dy);
  if (size < 2) return;
  const head = Math.min(9, 0.5 * size), ux = dx / size, uy = dy / size;
  pen.strokeStyle = pen.fillStyle = color;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(from[0], from[1]);
  pen.lineTo(to[0] - 0.7 * head * ux, to[1] - 0.7 * head * uy);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(to[0], to[1]);
  pen.lineTo(to[0] - head * ux - 0.45 * head * uy, to[1] - head * uy + 0.45 * head * ux);
  pen.lineTo(to[0] - head * ux + 0.45 * head * uy, to[1] - head * uy - 0.45 * head * ux);
  pen.fill();
}

// Over the picture, in pixels of the page: paths, targets, contact points.
function drawOver(pen, run, at, view, w, h, scale, many) {
  const place = function (x) {
    const d = x.map((y, k) => y - view.center[k]);
    return [w / 2 + scale * dot(view.right, d), h / 2 - scale * dot(view.up, d)];
  };
  if (element("paths").checked) {
    pen.strokeStyle = run.color;
    pen.lineWidth = 1.6;
    pen.beginPath();
    run.path.slice(0, at.frame + 1).forEach((x) => pen.lineTo(...place(x)));
    pen.lineTo(...place(moved(poseOf(run, at, film.traced), run.point)));
    pen.stroke();
  }
  pen.strokeStyle = "#c2272d";
  pen.lineWidth = 2;
  film.targets.forEach(function (t) {
    const p = place(t);
    pen.beginPath();
    pen.arc(p[0], p[1], 6, 0, 2 * Math.PI);
    pen.moveTo(p[0] - 10, p[1]);
    pen.lineTo(p[0] + 10, p[1]);
    pen.moveTo(p[0], p[1] - 10);
    pen.lineTo(p[0], p[1] + 10);
    pen.stroke();
  });
  const points = element("points").checked, forces = element("forces").checked;
  if (!points && !forces) return;
  touchesAt(run, at.part < 0.5 ? at.frame : at.frame + 1).forEach(function (t) {
    const f = Math.hypot(...t.force), p = place(t.at), color = kinds[t.kind].color;
    if (t.kind !== 1 && f < 1e-4 * reference) return;
    if (forces && f > 0) {
      const size = 0.2 * w * Math.min(Math.sqrt(f / reference), 1.5) / f;
      drawArrow(pen, p, [p[0] + size * dot(view.right, t.force),
                         p[1] - size * dot(view.up, t.force)], many ? run.color : color);
    }
    if (!points) return;
    pen.beginPath();
    pen.arc(p[0], p[1], 3.6, 0, 2 * Math.PI);
    pen.fillStyle = t.kind === 1 ? "#ffffff" : color;
    pen.fill();
    pen.strokeStyle = t.kind === 1 ? color : "#ffffff";
    pen.lineWidth = 1;
    pen.stroke();
  });
}

// While it moves with a pixel of the page each; else with four.
function drawView(target) {
  const canvas = target.canvas, w = Math.max(canvas.clientWidth, 60);
  const h = Math.round((w > 700 ? 0.5 : 0.75) * w);
  const fine = playing || dragging ? 1 : 2, at = frameAt(time);
  const W = Math.round(w * fine), H = Math.round(h * fine);
  if (canvas.width !== W || canvas.height !== H) {
    canvas.width = W;
    canvas.height = H;
    target.picture = new Picture(W, H);
  }
  const picture = target.picture, view = axes(), scale = scaleOf(w, h);
  view.center = film.view.center.map((x, k) => x + camera.shift[k]);
  picture.clear();
  const many = target.runs.length > 1, solid = target.runs.find((run) => run === runs[1]) ||
    target.runs[0];
  target.runs.forEach((run) => drawRun(picture, run, at, view, scale * fine, run !== solid, many));
  picture.outline();
  const pen = canvas.getContext("2d");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.putImageData(picture.image, 0, 0);
  pen.setTransform(fine, 0, 0, fine, 0, 0);
  target.runs.forEach((run) => drawOver(pen, run, at, view, w, h, scale, many));
}

// Four digits at most.
const short = (x) => String(Number(x.toPrecision(3)));

function say() {
  const at = frameAt(time), frame = at.part < 0.5 ? at.frame : at.frame + 1;
  const text = runs.filter((run) => run.shown).map(function (run) {
    const list = touchesAt(run, frame), all = run.all ? run.all[frame] : list.length;
    const most = list.reduce((x, t) => Math.max(x, Math.hypot(...t.force)), 0);
    const ended = frame >= run.frames.length && run.note ? " (" + run.note + ")" : "";
    const some = all > list.length ? ", of which the strongest " + list.length + " are shown" : "";
    return run.name + ended + ": " + all + " contact point" + (all === 1 ? "" : "s") + some +
      (most > 0 ? ", largest force " + short(most) + " N" : "");
  });
  element("said").textContent = text.join("; ") + ".";
}

function draw() {
  views.forEach(drawView);
  element("time").value = String(time);
  element("clock").textContent = time.toFixed(3) + " of " + short(length) + " s";
  say();
}

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(function () {
    asked = false;
    draw();
  });
}

// ---- time

let before = 0, waited = 0;
function tick(now) {
  if (!playing) return;
  const passed = Math.min(Math.max((now - before) / 1000, 0), 0.1);
  before = now;
  if (time < length) time = Math.min(time + passed * Number(element("speed").value), length);
  else if (!element("loop").checked) play(false);
  else if ((waited += passed) > 1) time = waited = 0;   // a moment to look at the end
  draw();
  requestAnimationFrame(tick);
}

function play(on) {
  if (on && !playing) {
    if (time >= length) time = 0;
    before = performance.now();
    waited = 0;
    requestAnimationFrame(tick);
  }
  playing = on;
  element("play").textContent = on ? "Pause" : "Play";
  element("said").setAttribute("aria-live", on ? "off" : "polite");
  redraw();
}

function goTo(t) {
  time = Math.min(Math.max(t, 0), length);
  waited = 0;
  redraw();
}

function stepFrame(by) {
  const at = frameAt(time), now = by > 0 || at.part === 0 ? at.frame : at.frame + 1;
  play(false);
  goTo(film.times[Math.min(Math.max((at.part === 1 ? at.frame + 1 : now) + by, 0), last)]);
}

// ---- input

let dragging = null;
const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

function turn(dx, dy) {
  camera.azimuth -= dx;
  camera.elevation = Math.min(Math.max(camera.elevation + dy, -quarter), quarter);
}

function shift(dx, dy, scale) {
  const view = axes();
  for (let k = 0; k < 3; k++) camera.shift[k] += (-dx * view.right[k] + dy * view.up[k]) / scale;
}

function zoom(factor) {
  camera.zoom = Math.min(Math.max(camera.zoom * factor, 0.05), 200);
}

function listen(canvas) {
  const scale = () => scaleOf(canvas.clientWidth, canvas.clientHeight);
  canvas.addEventListener("pointerdown", function (e) {
    dragging = [e.clientX, e.clientY];
    canvas.setPointerCapture(e.pointerId);
    canvas.focus({preventScroll: true});
  });
  canvas.addEventListener("pointermove", function (e) {
    if (!dragging) {
      hover(canvas, e);
      return;
    }
    const dx = e.clientX - dragging[0], dy = e.clientY - dragging[1];
    dragging = [e.clientX, e.clientY];
    if (e.shiftKey || e.buttons > 1) shift(dx, dy, scale());
    else turn(0.008 * dx, 0.008 * dy);
    redraw();
  });
  ["pointerup", "pointercancel"].forEach((type) => canvas.addEventListener(type, function () {
    dragging = null;
    redraw();
  }));
  canvas.addEventListener("wheel", function (e) {
    if (document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(Math.exp(-0.0015 * e.deltaY));
    redraw();
  }, {passive: false});
  canvas.addEventListener("keydown", function (e) {
    const arrow = arrows[e.key];
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (arrow && e.shiftKey) shift(-20 * arrow[0], -20 * arrow[1], scale());
    else if (arrow) turn(-0.08 * arrow[0], -0.08 * arrow[1]);
    else if (e.key === "+" || e.key === "=") zoom(1.15);
    else if (e.key === "-") zoom(1 / 1.15);
    else if (e.key === "0") goHome();
    else if (e.key === " ") play(!playing);
    else if (e.key === ",") stepFrame(-1);
    else if (e.key === ".") stepFrame(1);
    else if (e.key === "Home") goTo(0);
    else if (e.key === "End") goTo(length);
    else return;
    e.preventDefault();
    redraw();
  });
}

// The name of what the mouse is over.
function hover(canvas, e) {
  const target = views.find((v) => v.canvas === canvas), picture = target && target.picture;
  if (!picture) return;
  const box = canvas.getBoundingClientRect();
  const x = Math.floor((e.clientX - box.left) / box.width * picture.width);
  const y = Math.floor((e.clientY - box.top) / box.height * picture.height);
  const id = picture.id[y * picture.width + x] - 1, geom = film.geoms[id];
  const flex = film.flexes[id - film.geoms.length];
  const body = geom && film.bodies[geom.body].name;
  canvas.title = flex ? flex.name : !geom ? "" : geom.name && geom.name !== body ? geom.name + " of " + body : body;
}

// ---- the page

function arrange() {
  const shown = runs.filter((run) => run.shown), box = element("views");
  const groups = layout === "over" ? [shown] : shown.map((run) => [run]);
  views.length = 0;
  box.textContent = "";
  box.style.gridTemplateColumns = window.innerWidth < 700
    ? "1fr" : "repeat(" + Math.max(groups.length, 1) + ",1fr)";
  groups.filter((group) => group.length > 0).forEach(function (group) {
    const figure = document.createElement("figure"), title = document.createElement("h3");
    const canvas = document.createElement("canvas");
    title.textContent = group.map((run) => run.name).join(", ");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Moving picture: " + title.textContent);
    canvas.setAttribute("aria-describedby", "player-help player-said");
    figure.append(title, canvas);
    box.append(figure);
    views.push({canvas, runs: group, picture: null});
    listen(canvas);
  });
  redraw();
}

function addRuns() {
  runs.forEach(function (run) {
    const label = document.createElement("label"), input = document.createElement("input");
    input.type = "checkbox";
    input.checked = run.shown;
    input.addEventListener("change", function () {
      run.shown = input.checked;
      arrange();
    });
    run.input = input;
    label.append(input, " " + run.name + " ");
    label.style.borderBottom = "3px solid " + run.color;
    label.style.marginRight = "14px";
    element("runs").append(label);
  });
}

function addLegend() {
  const used = new Set();
  runs.forEach((run) => run.touches.forEach(function (list) {
    for (let i = 1; i < list.length; i += 8) used.add(list[i]);
  }));
  const add = function (drawing, text) {
    const item = document.createElement("li");
    item.innerHTML = "<svg viewBox='0 0 34 14' aria-hidden='true'>" + drawing + "</svg>";
    item.append(text);
    element("legend").append(item);
  };
  kinds.forEach(function (kind, i) {
    if (!used.has(i)) return;
    add("<circle cx='17' cy='7' r='4' stroke='" + kind.color + "' fill='" +
        (i === 1 ? "#fff" : kind.color) + "'/>", kind.text);
  });
  if (reference > 0) {
    add("<path d='M1 7H25' stroke='#444' stroke-width='2'/><path d='M33 7L23 2V12Z' fill='#444'/>",
        "force on what moves; lengths go by the root of its size, a fifth of a picture's width " +
        "is " + short(reference) + " N");
  } else {
    add("", "nothing touches");
  }
}

// t=0.5&play=0&layout=over&runs=0,1&azimuth=..&elevation=..&zoom=..&speed=..&points=0&forces=0
function readHash() {
  const ask = new URLSearchParams(location.hash.slice(1));
  const number = function (key) {
    const x = Number(ask.get(key));
    return ask.has(key) && isFinite(x) ? x : null;
  };
  ["azimuth", "elevation", "zoom"].forEach(function (key) {
    if (number(key) !== null) camera[key] = number(key);
  });
  ["points", "forces", "paths", "loop"].forEach(function (key) {
    if (ask.has(key)) element(key).checked = ask.get(key) !== "0";
  });
  if (ask.has("layout")) layout = ask.get("layout") === "over" ? "over" : "beside";
  element("layout").value = layout;
  if (ask.has("runs")) {
    const list = ask.get("runs").split(",").map(Number);
    runs.forEach(function (run, i) {
      run.shown = run.input.checked = list.includes(i);
    });
  }
  if (ask.has("speed")) addSpeed(number("speed"));
  arrange();
  if (number("t") !== null) goTo(number("t"));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  play(ask.has("play") ? ask.get("play") !== "0" : !calm);
}

function addSpeed(chosen) {
  const select = element("speed"), list = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
  if (chosen > 0 && !list.includes(chosen)) list.push(chosen);
  select.textContent = "";
  list.sort((a, b) => a - b).forEach(function (x) {
    const option = document.createElement("option");
    option.value = String(x);
    option.textContent = x + "\u00d7";
    select.append(option);
  });
  const slow = list.filter((x) => length / x >= 3);   // seconds that it takes at least
  select.value = String(chosen > 0 ? chosen : Math.min(slow.length ? slow.pop() : list[0], 1));
}

function start() {
  goHome();
  element("time").max = String(length);
  element("time").step = String(length / 1000 || 1);
  addSpeed(0);
  addRuns();
  addLegend();
  element("play").addEventListener("click", () => play(!playing));
  element("time").addEventListener("input", function () {
    play(false);
    goTo(Number(element("time").value));
  });
  element("layout").addEventListener("change", function () {
    layout = element("layout").value;
    arrange();
  });
  ["points", "forces", "paths"].forEach((id) => element(id).addEventListener("change", redraw));
  element("home").addEventListener("click", function () {
    goHome();
    redraw();
  });
  document.getElementById("player").removeAttribute("hidden");
  window.addEventListener("resize", arrange);
  window.addEventListener("hashchange", readHash);
  readHash();
}

start();
