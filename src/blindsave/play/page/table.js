// Draws the tables: `Hall` with WebGL 2, the scene's triangles on a tree of joints; `Plan` from above, where there is none.
// Both take the same tables, each { qpos, hidden, tint, marks }, and know where on a table the pointer is.
"use strict";

const FOV = Math.tan(0.27), FAR_AWAY = 5.2, CENTRE = [-0.35, 0, 0.05];
const LIGHT = unit([0.35, -0.5, 1.0]);
const SOLID = [`#version 300 es
layout(location=0) in vec3 place; layout(location=1) in vec4 direction;
uniform mat4 model, view; out vec3 normal, world;
void main() { vec4 w = model * vec4(place, 1.0); world = w.xyz; normal = mat3(model) * direction.xyz; gl_Position = view * w; }`,
`#version 300 es
precision highp float;
in vec3 normal, world; out vec4 result;
uniform vec3 colour, eye, light; uniform float shine, lit, alpha; uniform vec2 field;
void main() {
  if (lit < 0.0) {  // a shadow on the table
    if (abs(world.x) > field.x || abs(world.y) > field.y) discard;
    result = vec4(0.0, 0.0, 0.0, alpha); return;
  }
  vec3 n = normalize(normal), v = normalize(eye - world), h = normalize(light + v);
  if (dot(n, v) < 0.0) n = -n;
  float key = max(dot(n, light), 0.0), sky = 0.5 + 0.5 * n.z, back = max(dot(n, normalize(vec3(-light.xy, 0.4))), 0.0);
  vec3 c = colour * mix(1.0, 0.30 + 0.22 * sky + 0.62 * key + 0.16 * back, lit) + lit * shine * 0.45 * pow(max(dot(n, h), 0.0), 40.0);
  result = vec4(c * alpha, alpha);
}`];
const FLAT = [`#version 300 es
layout(location=0) in vec3 place; layout(location=1) in vec4 tint; uniform mat4 view; out vec4 paint;
void main() { paint = tint; gl_Position = view * vec4(place, 1.0); }`,
`#version 300 es
precision highp float; in vec4 paint; out vec4 result; void main() { result = vec4(paint.rgb * paint.a, paint.a); }`];

function unit(v) { const n = Math.hypot(...v); return v.map(x => x / n); }
function cross(a, b) { return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]; }
function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
function times(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += a[4 * k + r] * b[4 * c + k];
    out[4 * c + r] = sum;
  }
  return out;
}
function turn(p, q) {
  const [a, b, c, d] = p, [w, x, y, z] = q;
  return [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w];
}
function placed(q, at) {
  const [w, x, y, z] = q;
  return new Float32Array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0, at[0], at[1], at[2], 1]);
}
const STILL = placed([1, 0, 0, 0], [0, 0, 0]);
// Flattens everything onto the table along the light.
const FALL = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, -LIGHT[0] / LIGHT[2], -LIGHT[1] / LIGHT[2], 0, 0, 0, 0, 0.0012, 1]);

/** Flat shapes on the playing field, as coloured triangles. */
class Marks {
  constructor() { this.values = []; }
  triangle(a, b, c, colour, alpha, z) {
    for (const p of [a, b, c]) this.values.push(p[0], p[1], z, colour[0], colour[1], colour[2], alpha);
  }
  ring(at, inner, outer, colour, alpha = 1, dashes = 0, z = 0.003) {
    const sides = dashes ? 2 * dashes : 28;
    for (let k = 0; k < sides; k++) {
      if (dashes && k % 2) continue;
      const p = [k, k + 1].map(i => 2 * Math.PI * i / sides).map(t => [Math.cos(t), Math.sin(t)]);
      const put = (radius, i) => [at[0] + radius * p[i][0], at[1] + radius * p[i][1]];
      this.triangle(put(inner, 0), put(outer, 0), put(outer, 1), colour, alpha, z);
      if (inner > 0) this.triangle(put(inner, 0), put(outer, 1), put(inner, 1), colour, alpha, z);
    }
  }
  line(a, b, width, colour, alpha = 1, dash = 0, z = 0.0035) {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, along = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    const side = [-along[1] * width / 2, along[0] * width / 2];
    for (let s = 0; s < length; s += dash ? 2 * dash : length) {
      const e = Math.min(length, dash ? s + dash : length), at = (d, k) => [a[0] + along[0] * d + k * side[0], a[1] + along[1] * d + k * side[1]];
      this.triangle(at(s, -1), at(e, -1), at(e, 1), colour, alpha, z);
      this.triangle(at(s, -1), at(e, 1), at(s, 1), colour, alpha, z);
    }
  }
}

/** Whether this browser draws without a graphics card: then shadows and fine edges cost more than they give. */
function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const told = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  const free = gl.getExtension("WEBGL_lose_context");
  if (free) free.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** What both ways of drawing share: the scene as the server packed it, and the canvas with its free room. */
class View {
  constructor(canvas, blob) {
    this.canvas = canvas; this.room = this.foot = 0;
    const size = new DataView(blob).getUint32(0, true);
    this.about = JSON.parse(new TextDecoder().decode(new Uint8Array(blob, 4, size)));
    this.parts = this.about.parts; this.bodies = this.about.bodies; this.sizes = this.about.sizes; this.begin = 4 + size;
  }

  /** Fit the canvas to its place on the page; `room` pixels above and `foot` below are left to words. */
  resize(room, foot) {
    const ratio = Math.min(window.devicePixelRatio || 1, this.plain ? 1 : 2), canvas = this.canvas;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    this.room = Math.min(0.4, room / Math.max(1, canvas.clientHeight));
    this.foot = Math.min(0.2, foot / Math.max(1, canvas.clientHeight));
  }

  /** Where a point of the page lies on which table: number, x, y in metres; null where no table can be. */
  pick(clientX, clientY, tables) {
    const box = this.canvas.getBoundingClientRect(), width = box.width / tables;
    return this.onTable(clientX, clientY, Math.min(tables - 1, Math.max(0, Math.floor((clientX - box.left) / width))), tables);
  }

  /** Where every body is, as a matrix. */
  pose(qpos) {
    const found = { world: STILL, "": STILL };
    for (const body of this.bodies) {
      let q = body.rest;
      for (const [place, axis] of body.hinges) {
        const half = qpos[place] / 2, by = [Math.cos(half), 0, 0, 0];
        by[1 + axis] = Math.sin(half);
        q = turn(q, by);
      }
      const at = body.name === "puck" ? [qpos[9], qpos[10], 0] : body.at;
      found[body.name] = times(found[body.parent], placed(q, at));
    }
    return found;
  }
}

class Hall extends View {
  constructor(canvas, blob, plain) {
    super(canvas, blob);
    const gl = this.gl = canvas.getContext("webgl2", { alpha: true, antialias: !plain, stencil: true, premultipliedAlpha: true });
    if (!gl) throw new Error("no WebGL 2");
    this.plain = plain;
    const about = this.about;
    this.solid = this.program(SOLID); this.flat = this.program(FLAT);
    let at = this.begin;
    this.mesh = gl.createVertexArray();
    gl.bindVertexArray(this.mesh);
    this.attribute(0, new Float32Array(blob, at, 3 * about.vertices), 3, gl.FLOAT, false, 0);
    at += 12 * about.vertices;
    this.attribute(1, new Int8Array(blob, at, 4 * about.vertices), 4, gl.BYTE, true, 0);
    at += 4 * about.vertices;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(blob, at, about.indices), gl.STATIC_DRAW);
    this.paint = gl.createVertexArray();
    gl.bindVertexArray(this.paint);
    this.paintBuffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.paintBuffer);
    gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 28, 0);
    gl.enableVertexAttribArray(1); gl.vertexAttribPointer(1, 4, gl.FLOAT, false, 28, 12);
    gl.bindVertexArray(null);
  }

  program(sources) {
    const gl = this.gl, made = gl.createProgram();
    [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, i) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, sources[i]); gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    });
    gl.linkProgram(made);
    const places = new Map();
    return { made, at: name => { if (!places.has(name)) places.set(name, gl.getUniformLocation(made, name)); return places.get(name); } };
  }

  attribute(index, values, size, kind, normalised, stride) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, size, kind, normalised, stride, 0);
  }

  camera(aspect) {
    const rise = Math.PI / 180 * Math.min(64, Math.max(34, 62 - 44 * (aspect - 0.5)));
    const eye = [CENTRE[0] + FAR_AWAY * Math.cos(rise), 0, CENTRE[2] + FAR_AWAY * Math.sin(rise)];
    const forward = unit(CENTRE.map((c, i) => c - eye[i])), right = unit(cross(forward, [0, 0, 1])), up = cross(right, forward);
    const see = p => {
      const d = p.map((v, i) => v - eye[i]), depth = dot(d, forward);
      return [dot(d, right) / depth / FOV / aspect, dot(d, up) / depth / FOV];
    };
    const x = this.sizes.half_x + this.sizes.rim, y = this.sizes.half_y + this.sizes.rim, points = [[-1.51, 0, 1.04]];
    for (const a of [-x, x]) for (const b of [-y, y]) points.push([a, b, 0.03], [a, b, -0.14]);
    const seen = points.map(see), low = [0, 1].map(i => Math.min(...seen.map(p => p[i]))), high = [0, 1].map(i => Math.max(...seen.map(p => p[i])));
    const top = 1 - 2 * this.room, bottom = -1 + 2 * this.foot;
    const scale = Math.min(1.9 / (high[0] - low[0]), (top - bottom) / (high[1] - low[1]));
    const shift = [0, (top + bottom) / 2 - scale * (high[1] + low[1]) / 2];
    const near = 1, far = 12, k = scale / FOV;
    const view = new Float32Array([right[0], up[0], -forward[0], 0, right[1], up[1], -forward[1], 0, right[2], up[2], -forward[2], 0,
      -dot(right, eye), -dot(up, eye), dot(forward, eye), 1]);
    const lens = new Float32Array([k / aspect, 0, 0, 0, 0, k, 0, 0, 0, -shift[1], -(far + near) / (far - near), -1, 0, 0, -2 * far * near / (far - near), 0]);
    return { eye, forward, right, up, scale, shift, aspect, all: times(lens, view) };
  }

  onTable(clientX, clientY, table, tables) {
    const box = this.canvas.getBoundingClientRect(), width = box.width / tables, c = this.camera(width / box.height);
    const nx = (2 * (clientX - box.left - table * width) / width - 1 - c.shift[0]) / c.scale * FOV * c.aspect;
    const ny = (1 - 2 * (clientY - box.top) / box.height - c.shift[1]) / c.scale * FOV;
    const ray = c.forward.map((f, i) => f + nx * c.right[i] + ny * c.up[i]);
    if (ray[2] > -1e-3) return null;
    const far = -c.eye[2] / ray[2];
    return { table, x: c.eye[0] + far * ray[0], y: c.eye[1] + far * ray[1] };
  }

  /** Draw the tables side by side. */
  draw(tables) {
    const gl = this.gl, width = this.canvas.width / tables.length, height = this.canvas.height;
    gl.clearColor(0, 0, 0, 0);
    gl.viewport(0, 0, this.canvas.width, height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.enable(gl.SCISSOR_TEST);
    const camera = this.camera(width / height);
    tables.forEach((table, i) => {
      const box = [Math.round(i * width), 0, Math.round(width), height];
      gl.viewport(...box); gl.scissor(...box);
      this.drawTable(table, camera);
    });
  }

  drawTable(table, camera) {
    const gl = this.gl, p = this.solid, bodies = this.pose(table.qpos);
    const part = (one, matrix, lit, alpha, colour) => {
      gl.uniformMatrix4fv(p.at("model"), false, matrix);
      gl.uniform3fv(p.at("colour"), colour || one.colour);
      gl.uniform1f(p.at("shine"), one.shine); gl.uniform1f(p.at("lit"), lit); gl.uniform1f(p.at("alpha"), alpha);
      gl.drawElements(gl.TRIANGLES, one.count, gl.UNSIGNED_SHORT, 2 * one.first);
    };
    gl.useProgram(p.made); gl.bindVertexArray(this.mesh);
    gl.uniformMatrix4fv(p.at("view"), false, camera.all);
    gl.uniform3fv(p.at("eye"), camera.eye); gl.uniform3fv(p.at("light"), LIGHT);
    gl.uniform2f(p.at("field"), this.sizes.half_x, this.sizes.half_y);
    gl.disable(gl.BLEND);
    const ghost = one => one.body === "puck" && table.hidden;
    for (const one of this.parts) if (!ghost(one)) part(one, bodies[one.body] || STILL, one.flat ? 0.25 : 1, 1);
    gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); gl.depthMask(false);
    if (!this.plain) {
      // Where one part has darkened the table the next does not darken it again.
      gl.enable(gl.STENCIL_TEST); gl.stencilFunc(gl.EQUAL, 0, 255); gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      for (const one of this.parts) if (bodies[one.body] && one.body !== "world" && !ghost(one)) part(one, times(FALL, bodies[one.body]), -1, 0.34);
      gl.disable(gl.STENCIL_TEST);
    }
    this.drawMarks(table.marks, camera);
    gl.useProgram(p.made); gl.bindVertexArray(this.mesh);
    for (const one of this.parts) if (ghost(one)) part(one, bodies.puck, 0.6, 0.38, table.tint);
    gl.depthMask(true);
  }

  drawMarks(marks, camera) {
    const gl = this.gl, values = new Float32Array(marks.values);
    gl.useProgram(this.flat.made); gl.bindVertexArray(this.paint);
    gl.uniformMatrix4fv(this.flat.at("view"), false, camera.all);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.paintBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    gl.drawArrays(gl.TRIANGLES, 0, values.length / 7);
  }
}

class Plan extends View {
  place(width, height) {
    const x = this.sizes.half_x + this.sizes.rim, y = this.sizes.half_y + this.sizes.rim, top = this.room * height;
    const scale = Math.min(0.94 * width / (2 * y), (height - top - this.foot * height) / (x + 1.75));
    return { scale, at: (px, py) => [width / 2 + scale * py, top + scale * (px + 1.75)] };
  }

  onTable(clientX, clientY, table, tables) {
    const box = this.canvas.getBoundingClientRect(), width = box.width / tables, p = this.place(width, box.height), [zx, zy] = p.at(0, 0);
    return { table, x: (clientY - box.top - zy) / p.scale, y: (clientX - box.left - table * width - zx) / p.scale };
  }

  draw(tables) {
    const g = this.canvas.getContext("2d"), width = this.canvas.width / tables.length, height = this.canvas.height;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, height);
    tables.forEach((table, i) => { g.setTransform(1, 0, 0, 1, i * width, 0); this.drawTable(g, table, this.place(width, height)); });
  }

  drawTable(g, table, { at, scale }) {
    const s = this.sizes, bodies = this.pose(table.qpos), where = name => at(bodies[name][12], bodies[name][13]);
    const box = (x0, x1, y, colour) => { const [left, top] = at(x0, -y), [right, bottom] = at(x1, y); g.fillStyle = colour; g.fillRect(left, top, right - left, bottom - top); };
    const disc = (p, radius, colour) => { g.fillStyle = colour; g.beginPath(); g.arc(p[0], p[1], radius * scale, 0, 7); g.fill(); };
    box(-s.half_x - s.rim, s.half_x + s.rim, s.half_y + s.rim, "#cdd1d9");
    box(-s.half_x, s.half_x, s.half_y, "#1b3454");
    for (const side of [-1, 1]) box(side * (s.half_x + s.rim / 2) - s.rim / 2, side * (s.half_x + s.rim / 2) + s.rim / 2, s.goal, "#050508");
    box(-0.004, 0.004, s.half_y, "#de423d");
    const v = table.marks.values;
    for (let k = 0; k < v.length; k += 21) {
      g.fillStyle = `rgba(${v.slice(k + 3, k + 6).map(c => Math.round(255 * c))},${v[k + 6]})`;
      g.beginPath();
      for (const c of [k, k + 7, k + 14]) g.lineTo(...at(v[c], v[c + 1]));
      g.fill();
    }
    g.strokeStyle = "#e6e8ed"; g.lineWidth = 0.08 * scale; g.lineCap = g.lineJoin = "round";
    g.beginPath();
    for (const name of ["base", "link_2", "link_4", "link_6", "link_7", "mallet"]) g.lineTo(...where(name));
    g.stroke();
    disc(where("mallet"), s.mallet, "#d42129");
    g.globalAlpha = table.hidden ? 0.5 : 1;
    disc(where("puck"), s.puck, table.hidden ? `rgb(${table.tint.map(c => Math.round(255 * c))})` : "#ffcc1a");
    g.globalAlpha = 1;
  }
}

/** The tables in three dimensions, or from above where the browser cannot. */
function makeView(canvas, blob, plain) {
  try { return new Hall(canvas, blob, plain || drawsInSoftware()); } catch { return new Plan(canvas, blob); }
}
