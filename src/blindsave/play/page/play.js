// The game: what is asked for, what is shown when, and who scored. Every shot comes whole from the server; time is ours.
"use strict";

const setup = JSON.parse(document.getElementById("setup").textContent), aim = setup.aim;
const $ = id => document.getElementById(id);
const plates = [...document.querySelectorAll(".plate")];
const ROUND = 10, DEMO_PAUSE_MS = 2200, NOBODY = "", calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const colours = Object.fromEntries(Object.entries(setup.colours).map(([name, c]) => [name, c.map(v => v / 255)]));
for (const [name, c] of Object.entries(setup.colours)) document.documentElement.style.setProperty("--" + name, `rgb(${c})`);

let hall = null, flying = false, take = setup.take, moment = 0, last = null, paused = false, ended = false, counted = true;
let twins = setup.first_twins, demo = 0, waiting = false, drag = null, match = null;

// Words beside the tables and the controls ---------------------------------------------------------------------------

function option(value, text) { const made = document.createElement("option"); made.value = value; made.textContent = text; return made; }

for (const [list, extra] of [[$("first"), []], [$("second"), [option(NOBODY, "nobody: one table")]]]) {
  list.append(...extra, ...setup.goalkeepers.map(one => option(one.key, `${one.plain} (${one.technical})`)));
}
$("first").value = setup.pair[0]; $("second").value = setup.pair[1];
$("hidden").max = setup.most_hidden; $("hidden").value = setup.hidden;
$("fault").max = setup.faults.length - 1; $("fault").value = setup.first_fault;
$("hold").max = setup.holds.length - 1;
$("speed").min = aim.slowest; $("speed").max = aim.fastest;

function say() {
  $("hidden_said").textContent = setup.step_ms * $("hidden").value + " ms";
  $("fault_said").textContent = setup.faults[$("fault").value];
  $("hold_said").textContent = setup.holds[$("hold").value];
  $("from_said").textContent = $("from").value + " mm"; $("to_said").textContent = $("to").value + " mm";
  $("speed_said").textContent = Number($("speed").value).toFixed(1) + " m/s";
}

function note(text) { $("note").textContent = text; $("note").hidden = !text; }

function keepers() { return [$("first").value, $("second").value].filter(key => key !== NOBODY); }

function name(tables) {
  plates.forEach((plate, i) => {
    plate.hidden = i >= tables.length;
    if (plate.hidden) return;
    plate.querySelector(".plain").textContent = tables[i].plain;
    plate.querySelector(".technical").textContent = tables[i].technical;
  });
}

// Shots --------------------------------------------------------------------------------------------------------------

/** Ask for a shot; `mine` ones count, where the puck is hidden at all. */
async function shoot(shot, mine, again = {}) {
  if (waiting) return;
  waiting = true;
  const wish = { shot, goalkeepers: keepers(), hidden: Number($("hidden").value), fault: Number($("fault").value), hold: Number($("hold").value), ...again };
  try {
    const answer = await fetch("/take", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wish) });
    const found = await answer.json();
    if (!answer.ok) { note(found.error); return; }
    note("");
    take = { ...found, wish };
    counted = !(mine && (found.hidden > 0 || wish.hold > 0));
    begin();
  } catch { note("the arena does not answer: is it still open?"); } finally { waiting = false; }
}

function begin() {
  moment = 0; paused = false; ended = false; last = null;
  name(take.tables);
  const end = length();
  $("moment").max = end;
  const longest = take.tables.reduce((a, b) => b.visible.length > a.visible.length ? b : a);
  const stops = longest.visible.map((seen, i) => `var(--${seen ? "seen" : "hidden"}) ${100 * i / end}% ${100 * (i + 1) / end}%`);
  $("blind").style.background = `linear-gradient(to right, ${stops.join(",")})`;
}

function length() { return Math.max(...take.tables.map(table => table.qpos.length - 1)); }
function mine(shot) { demo = -1; $("hint").hidden = true; shoot(shot, true); }

// You against it -----------------------------------------------------------------------------------------------------

function fresh(tables) { return { keys: tables.map(t => t.key).join("|"), shots: 0, boards: tables.map(t => ({ plain: t.plain, marks: [] })) }; }

function yours(board) { return board.marks.filter(mark => mark !== "save").length; }

function count() {
  counted = true;
  if (!match || match.keys !== take.tables.map(t => t.key).join("|") || match.shots >= ROUND) match = fresh(take.tables);
  if (take.tables.some(table => table.verdict === "nobody")) { board(); return; }
  match.shots += 1;
  take.tables.forEach((table, i) => match.boards[i].marks.push(table.verdict));
  board();
}

function board() {
  const shown = match || fresh(take.tables);
  $("round").textContent = shown.shots ? `${shown.shots} of ${ROUND}` : "";
  $("board").replaceChildren(...shown.boards.map(one => {
    const row = document.createElement("div"), who = document.createElement("span"), figures = document.createElement("span"), dots = document.createElement("div");
    const goals = yours(one);
    row.className = "score"; figures.className = "figures"; dots.className = "dots";
    who.textContent = one.plain;
    figures.textContent = `you ${goals} : ${one.marks.length - goals} it`;
    for (let i = 0; i < ROUND; i++) { const dot = document.createElement("i"); dot.className = one.marks[i] || ""; dots.append(dot); }
    row.append(who, figures, dots);
    return row;
  }));
  if (shown.shots < ROUND) { $("result").textContent = `${["Ten", ROUND - shown.shots][Number(shown.shots > 0)]} blind shots${shown.shots ? " to go" : ""}. Wide ones count for nobody.`; return; }
  $("result").textContent = shown.boards.map(one => {
    const goals = yours(one);
    return `${goals > ROUND / 2 ? "You beat" : goals < ROUND / 2 ? "You lost to" : "You drew with"} “${one.plain}” ${goals} : ${ROUND - goals}.`;
  }).join(" ") + " Your next shot begins a new round.";
}

// Time and drawing ---------------------------------------------------------------------------------------------------

function between(table, when) {
  const i = Math.min(Math.floor(when), table.qpos.length - 1), j = Math.min(i + 1, table.qpos.length - 1), share = when - Math.floor(when);
  return table.qpos[i].map((v, k) => i === j ? v : v + share * (table.qpos[j][k] - v));
}

function marked(table, when, i, size) {
  const marks = new Marks(), over = when >= table.qpos.length - 1;
  if (over && table.verdict !== "nobody") {
    const colour = colours[table.verdict === "save" ? "saved" : "lost"], x = -size.half_x, g = size.goal;
    marks.triangle([x - 0.085, -g], [x, -g], [x, g], colour, 0.75, 0.002);
    marks.triangle([x - 0.085, -g], [x, g], [x - 0.085, g], colour, 0.75, 0.002);
  }
  for (let k = 0; k <= i; k++) {
    const at = table.visible[k] && table.seen[k] ? table.seen[k] : table.qpos[k].slice(9, 11);
    if (table.visible[k]) marks.ring(at, 0, 0.0095, colours.seen); else marks.ring(at, 0.0045, 0.0095, colours.hidden);
  }
  if (table.wanted[i]) marks.ring(table.wanted[i], 0.8 * size.mallet, size.mallet, colours.wanted);
  if (table.seen[i]) marks.ring(table.seen[i], 1.12 * size.puck, 1.34 * size.puck, colours.seen);
  if (table.believed && table.believed[i]) marks.ring(table.believed[i], 0, size.puck, colours.believed, 0.85);
  return marks;
}

function draw() {
  if (!hall) return;
  const preview = drag && drag.shot;
  hall.draw(take.tables.map(table => {
    const i = Math.min(Math.floor(moment), table.qpos.length - 1), qpos = between(table, Math.min(moment, table.qpos.length - 1));
    const marks = preview ? new Marks() : marked(table, moment, i, hall.sizes);
    if (preview) { aimed(marks); qpos[9] = preview[0]; qpos[10] = preview[1]; }
    return { qpos, hidden: !preview && !table.visible[i], tint: colours.hidden, marks: ringed(marks, table, i, qpos, preview) };
  }));
}

function ringed(marks, table, i, qpos, preview) {
  if (!preview && !table.visible[i]) marks.ring(qpos.slice(9, 11), 1.2 * hall.sizes.puck, 1.6 * hall.sizes.puck, colours.hidden, 1, 12);
  return marks;
}

/** The line of a shot that is being aimed, to the place on the goal line where it would go in, or miss. */
function aimed(marks) {
  const [x, y, to] = drag.shot, wide = Math.abs(to) > aim.mouth, colour = wide ? [0.75, 0.78, 0.82] : colours.seen;
  marks.line([x, y], [aim.goal_x, to], 0.012, colour, 1, wide ? 0.03 : 0);
  marks.ring([aim.goal_x, to], 0.6 * hall.sizes.puck, hall.sizes.puck, colour);
}

function tell() {
  plates.forEach((plate, i) => {
    const table = take.tables[i], state = plate.querySelector(".state");
    if (!table) return;
    const over = moment >= table.qpos.length - 1, seen = table.visible[Math.min(Math.floor(moment), table.visible.length - 1)];
    const words = drag ? "waits" : over ? table.words : seen ? "sees the puck" : "sees nothing";
    if (state.textContent !== words) state.textContent = words;
    state.dataset.verdict = drag ? "" : over ? table.verdict : seen ? "seen" : "hidden";
    plate.dataset.outcome = over ? table.outcome : "";
    plate.dataset.policy = table.key;
  });
  $("clock").textContent = Math.round(moment * setup.step_ms) + " ms";
  $("moment").value = moment;
  $("pause").innerHTML = paused ? "&#9654;" : moment >= length() ? "&#8634;" : "&#10074;&#10074;";
  $("pause").setAttribute("aria-label", paused ? "Go on" : moment >= length() ? "Show again" : "Pause");
}

function tick(now) {
  const end = length();
  if (!paused && moment < end && !drag && (hall || flying)) {
    if (last !== null) moment = Math.min(end, moment + Math.min(now - last, 250) / setup.step_ms * Number($("pace").value));
  }
  last = now;
  if (moment >= end && !ended) finish();
  draw(); tell();
  if (hall && moment > 0 && !flying) { flying = true; performance.mark("flying"); }
  requestAnimationFrame(tick);
}

function finish() {
  ended = true;
  performance.mark("shot " + take.tables.map(table => table.verdict).join(" "));
  if (!counted) count();
  if (demo >= 0 && !calm && demo < 8) setTimeout(() => {
    if (demo < 0 || !ended || drag) return;
    demo += 1;
    shoot(setup.twins[twins][demo % 2], false);
  }, DEMO_PAUSE_MS);
}

// Controls -----------------------------------------------------------------------------------------------------------

function pressed(id, action) { $(id).addEventListener("click", action); }
pressed("left", () => mine(setup.twins[twins][0]));
pressed("right", () => mine(setup.twins[twins][1]));
pressed("other", () => { demo = -1; twins = (twins + 7) % setup.twins.length; note(""); $("hint").hidden = false; $("hint").textContent = "Another pair of shots: choose a post"; });
pressed("again", () => { demo = -1; shoot(take.wish.shot, false, { hidden: take.wish.hidden, fault: take.wish.fault, hold: take.wish.hold }); });
pressed("aimed", () => mine([aim.reach_x - 0.4, $("from").value / 1000, $("to").value / 1000, Number($("speed").value)]));
pressed("named", () => mine($("shot").value.trim()));
pressed("pause", () => { demo = -1; if (moment >= length()) { moment = 0; paused = false; last = null; } else paused = !paused; });
pressed("step", () => { demo = -1; paused = true; moment = Math.min(length(), Math.floor(moment + 1e-6) + 1); });
pressed("back", () => { demo = -1; paused = true; moment = Math.max(0, Math.ceil(moment - 1e-6) - 1); });
$("moment").addEventListener("input", () => { demo = -1; paused = true; moment = Number($("moment").value); });
for (const id of ["hidden", "fault", "hold", "from", "to", "speed"]) $(id).addEventListener("input", say);
for (const id of ["first", "second"]) $(id).addEventListener("change", () => { demo = -1; shoot(take.wish.shot, false, { hidden: take.wish.hidden, fault: take.wish.fault, hold: take.wish.hold }); });

// Dragging: press where the puck shall start, pull towards the robot, let go. ----------------------------------------

function clamp(v, low, high) { return Math.min(Math.max(v, low), high); }

function pull(event) {
  const to = hall.onTable(event.clientX, event.clientY, drag.table, take.tables.length);
  if (!to) return;
  const dx = to.x - drag.x, dy = to.y - drag.y, far = Math.hypot(dx, dy);
  drag.shot = null;
  if (dx > -0.05) { $("hint").textContent = "Pull towards the robot"; return; }
  const target = clamp(drag.y + dy / dx * (aim.goal_x - drag.x), -aim.reach_y, aim.reach_y);
  drag.shot = [drag.x, drag.y, target, clamp(aim.speed_per_m * far, aim.slowest, aim.fastest)];
  $("hint").textContent = `${drag.shot[3].toFixed(1)} m/s, ${Math.abs(target) > aim.mouth ? "wide" : "at the goal"}: let go to shoot`;
}

$("scene").addEventListener("pointerdown", event => {
  if (!hall || event.button !== 0 || drag) return;
  const at = hall.pick(event.clientX, event.clientY, take.tables.length), size = hall.sizes;
  if (!at || Math.abs(at.x) > size.half_x || Math.abs(at.y) > size.half_y) return;
  event.preventDefault();
  $("scene").setPointerCapture(event.pointerId);
  demo = -1;
  drag = { id: event.pointerId, table: at.table, x: clamp(at.x, aim.near, aim.reach_x), y: clamp(at.y, -aim.reach_y, aim.reach_y), shot: null };
  $("hint").hidden = false; $("hint").textContent = "Pull towards the robot";
});
$("scene").addEventListener("pointermove", event => { if (drag && event.pointerId === drag.id) pull(event); });
for (const kind of ["pointerup", "pointercancel"]) $("scene").addEventListener(kind, event => {
  if (!drag || event.pointerId !== drag.id) return;
  const shot = kind === "pointerup" ? drag.shot : null;
  drag = null;
  $("hint").hidden = true;
  if (shot) shoot(shot, true);
});

// The beginning ------------------------------------------------------------------------------------------------------

function fit() { if (hall) { hall.resize($("plates").offsetHeight + 14, 46); draw(); } }

take.wish = { shot: setup.twins[twins][0], hidden: setup.hidden, fault: setup.first_fault, hold: 0 };
name(take.tables); say(); begin(); tell(); board();
performance.mark("named");
// The names are painted first: making the scene takes longer than reading them.
const painted = new Promise(done => requestAnimationFrame(() => setTimeout(done)));
Promise.all([fetch("/scene").then(answer => answer.arrayBuffer()), painted]).then(([blob]) => {
  hall = makeView($("scene"), blob, setup.plain);
  new ResizeObserver(fit).observe($("hall"));
  fit();
}).catch(() => {
  note("The table could not be drawn; outcomes are still told.");
  flying = true;
}).finally(() => requestAnimationFrame(tick));
