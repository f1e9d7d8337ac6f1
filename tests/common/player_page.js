// Runs the scripts of a report's player in a page of as few parts as they need, without a browser:
// `node player_page.js report.html HASH [KEY...]` draws, presses the keys on the first picture, draws
// after each, and prints JSON: for each drawing the texts, and of each picture how many colours it
// has and how many lines and discs are drawn over it.
"use strict";
const fs = require("fs"), vm = require("vm");

const page = fs.readFileSync(process.argv[2], "utf8"), waiting = [], listeners = {};

class ImageData {
  constructor(width, height) {
    Object.assign(this, {width, height, data: new Uint8ClampedArray(4 * width * height)});
  }
}

class Element {
  constructor(tag) {
    Object.assign(this, {tag, children: [], style: {}, attributes: {}, listeners: {}, value: "",
                         checked: true, title: "", text: "", clientWidth: 320, clientHeight: 240});
  }
  set textContent(text) {
    this.text = text;
    this.children = [];
  }
  get textContent() { return this.text; }
  set innerHTML(text) { this.html = text; }
  append(...list) { this.children.push(...list); }
  setAttribute(name, value) { this.attributes[name] = value; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener(type, f) { this.listeners[type] = f; }
  focus() {}
  getContext() {
    const none = () => undefined, over = this.over = {lines: 0, discs: 0};
    return {setTransform: none, beginPath: none, moveTo: none, lineTo: none,
            stroke: () => over.lines++, fill: none, arc: () => over.discs++,
            putImageData: (image) => { this.image = image; }};
  }
}

const elements = {};
for (const [, tag, id] of page.matchAll(/<(\w+)[^>]* id="(player[\w-]*)"/g)) {
  elements[id] = new Element(tag);
}
elements["player-data"].text = page.match(/id="player-data">([^]*?)<\/script>/)[1];
const scope = {
  document: {getElementById: (id) => elements[id], createElement: (tag) => new Element(tag)},
  window: {innerWidth: 1200, addEventListener: (type, f) => { listeners[type] = f; }},
  location: {hash: process.argv[3]}, performance: {now: () => 0}, ImageData, URLSearchParams,
  requestAnimationFrame: (f) => waiting.push(f), matchMedia: () => ({matches: false}),
};
vm.createContext(scope);
for (const [, text] of page.matchAll(/<script>([^]*?)<\/script>/g)) vm.runInContext(text, scope);

let now = 0;
function draw() {
  for (const f of waiting.splice(0)) f(now += 50);
  const canvases = elements["player-views"].children.map((figure) => figure.children[1]);
  return {clock: elements["player-clock"].text, said: elements["player-said"].text,
          play: elements["player-play"].text,
          legend: elements["player-legend"].children.map((item) => item.children.join("")),
          pictures: canvases.map((c) => Object.assign(
            {colors: new Set(new Uint32Array(c.image.data.buffer)).size,
             sum: new Uint32Array(c.image.data.buffer).reduce((s, x) => (31 * s + x) % 1000003, 0)},
            c.over))};
}
const out = [draw()];
for (const key of process.argv.slice(4)) {
  const canvas = elements["player-views"].children[0].children[1];
  canvas.listeners.keydown({key, preventDefault() {}});
  out.push(draw());
}
console.log(JSON.stringify(out));
