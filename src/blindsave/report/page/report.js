"use strict";
// A box that scrolls sideways says so: it is `wide`, and there is `more` until its end is reached.
for (const box of document.querySelectorAll("nav ul, .scroll")) {
  const look = function () {
    const kinds = box.parentElement.classList;
    kinds.toggle("wide", box.scrollWidth > box.clientWidth + 1);
    kinds.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };
  box.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(box);
}
// Plays recorded episodes from above. Data: whole millimetres in the table frame, one frame per 20 ms.
(function () {
  const data = JSON.parse(document.getElementById("replay-data").textContent);
  const root = document.querySelector(".player");
  if (!root || !data || !data.scenes.length) return;
  const HALF_X = 974, HALF_Y = 519, GOAL = 125, PUCK = 31.65, MALLET = 48.15, RIM = 46, STEP_MS = 20, HOLD_MS = 900;
  const pick = root.querySelector("select"), play = root.querySelector(".play"), slow = root.querySelector(".slow");
  const seek = root.querySelector("input"), lanes = root.querySelector(".lanes");
  let scene, views = [], clock = 0, end = 0, running = false, last = null, wanted = false;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const SPEEDS = [0.25, 0.5, 1];
  let speed = 1;

  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  function words(lane) {
    const who = lane.training_seed ? lane.title + " (seed " + lane.training_seed + ")" : lane.title;
    const how = lane.outcome.replace(/_/g, " ");
    return [who, (lane.saved ? "saved: " : "failed: ") + how + " after " + (lane.steps * STEP_MS / 1000).toFixed(2) + " s"];
  }

  function choose(index) {
    scene = data.scenes[index];
    lanes.textContent = "";
    views = scene.lanes.map(function (lane) {
      const box = document.createElement("div"), canvas = document.createElement("canvas"), text = document.createElement("p");
      const said = words(lane);
      const strong = document.createElement("strong"), mark = document.createElement("span");
      strong.textContent = said[0] + " ";
      mark.textContent = said[1];
      mark.className = "mark " + (lane.saved ? "good" : "bad");
      text.append(strong, mark);
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", "The table from above. " + said.join(", ") + ".");
      box.className = "lane";
      box.append(canvas, text);
      lanes.append(box);
      return { lane: lane, canvas: canvas };
    });
    end = Math.max.apply(null, scene.lanes.map(function (lane) { return lane.steps; })) * STEP_MS;
    seek.max = end;
    clock = 0;
    resize();
  }

  function resize() {
    for (const view of views) {
      const width = view.canvas.clientWidth, ratio = window.devicePixelRatio || 1;
      view.canvas.width = Math.round(width * ratio);
      view.canvas.height = Math.round(view.canvas.width * (HALF_Y + RIM) / (HALF_X + RIM));
    }
    draw();
  }

  function at(path, t) {
    const i = Math.min(Math.floor(t), path.length - 1), j = Math.min(i + 1, path.length - 1);
    return path[i] + (path[j] - path[i]) * (t - Math.floor(t));
  }

  function draw() {
    const ink = colour("--f-ink"), ice = colour("--f-ice"), rail = colour("--f-rail"), line = colour("--f-line");
    const alarm = colour("--f-alarm"), unseen = colour("--f-hidden"), own = colour("--s-structured-k0"), ground = colour("--f-ground");
    for (const view of views) {
      const lane = view.lane, g = view.canvas.getContext("2d"), k = view.canvas.width / (2 * (HALF_X + RIM));
      const t = Math.min(clock / STEP_MS, lane.steps), frame = Math.floor(t);
      const hidden = frame >= 5 && frame < 5 + scene.blackout;
      g.setTransform(k, 0, 0, -k, view.canvas.width / 2, view.canvas.height / 2);
      g.fillStyle = rail; g.fillRect(-HALF_X - RIM, -HALF_Y - RIM, 2 * (HALF_X + RIM), 2 * (HALF_Y + RIM));
      g.fillStyle = ice; g.fillRect(-HALF_X, -HALF_Y, 2 * HALF_X, 2 * HALF_Y);
      g.strokeStyle = line; g.lineWidth = 8;
      g.beginPath(); g.moveTo(0, -HALF_Y); g.lineTo(0, HALF_Y); g.stroke();
      g.beginPath(); g.arc(0, 0, 150, 0, 7); g.stroke();
      g.fillStyle = alarm;
      for (const side of [-1, 1]) g.fillRect(side * (HALF_X + RIM / 2) - RIM / 2, -GOAL, RIM, 2 * GOAL);
      trail(g, lane, frame, ink, unseen);
      disc(g, at(lane.mallet_x, t), at(lane.mallet_y, t), MALLET, own, ground, false);
      disc(g, at(lane.puck_x, t), at(lane.puck_y, t), PUCK, hidden ? ice : ink, hidden ? unseen : ground, hidden);
      g.setTransform(1, 0, 0, 1, 0, 0);
      label(g, view.canvas, hidden ? "puck hidden" : "", t, ink, unseen, lane);
    }
    seek.value = clock;
    root.dataset.clock = String(Math.round(clock));
  }

  function trail(g, lane, frame, ink, unseen) {
    g.lineWidth = 9;
    for (let i = 1; i <= frame; i++) {
      const hidden = i >= 5 && i < 5 + scene.blackout;
      g.globalAlpha = 0.35;
      g.strokeStyle = hidden ? unseen : ink;
      g.setLineDash(hidden ? [14, 12] : []);
      g.beginPath(); g.moveTo(lane.puck_x[i - 1], lane.puck_y[i - 1]); g.lineTo(lane.puck_x[i], lane.puck_y[i]); g.stroke();
    }
    g.globalAlpha = 1; g.setLineDash([]);
  }

  function disc(g, x, y, radius, fill, edge, dashed) {
    g.beginPath(); g.arc(x, y, radius, 0, 7);
    g.fillStyle = fill; g.fill();
    g.lineWidth = 9; g.strokeStyle = edge;
    g.setLineDash(dashed ? [20, 14] : []); g.stroke(); g.setLineDash([]);
  }

  function label(g, canvas, state, t, ink, unseen, lane) {
    const size = Math.max(12, canvas.width / 30);
    g.font = "600 " + size + "px system-ui, sans-serif";
    g.textBaseline = "top";
    g.textAlign = "right"; g.fillStyle = ink;
    g.fillText((t * STEP_MS / 1000).toFixed(2) + " s", canvas.width - size * 1.6, size * 1.6);
    g.textAlign = "left"; g.fillStyle = unseen;
    if (state) g.fillText(state, size * 1.6, size * 1.6);
    if (t >= lane.steps) {
      g.fillStyle = lane.saved ? colour("--good") : colour("--bad");
      g.fillText(lane.saved ? "saved" : "failed", size * 1.6, size * 1.6);
    }
  }

  function tick(now) {
    if (!running) { last = null; return; }
    if (last !== null) clock += (now - last) * speed;
    last = now;
    if (clock > end + HOLD_MS) clock = 0;
    draw();
    requestAnimationFrame(tick);
  }

  function run(on) {
    if (running === on) return;
    running = on;
    play.textContent = on ? "Pause" : "Play";
    if (on) requestAnimationFrame(tick);
  }

  data.scenes.forEach(function (one, i) { pick.add(new Option((i + 1) + ". " + one.title, i)); });
  pick.addEventListener("change", function () { choose(Number(pick.value)); });
  play.addEventListener("click", function () { wanted = !running; run(wanted); });
  slow.addEventListener("click", function () {
    speed = SPEEDS[(SPEEDS.indexOf(speed) + 1) % SPEEDS.length];
    slow.textContent = speed === 1 ? "1× speed" : speed === 0.5 ? "½ speed" : "¼ speed";
  });
  seek.addEventListener("input", function () { run(false); clock = Number(seek.value); draw(); });
  window.addEventListener("resize", resize);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  wanted = !calm;
  new IntersectionObserver(function (seen) { run(wanted && seen[0].isIntersecting); }, { threshold: 0.15 }).observe(root);
  choose(0);
})();
