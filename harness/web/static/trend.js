// A suite over time: one line a model, drawn as SVG.

import { coloured, swatch } from "./assets/colour.js";
import { drawn, element } from "./dom.js";
import { percent } from "./words.js";

const WIDTH = 360;
const HEIGHT = 140;
const EDGE = { left: 44, right: 12, top: 12, bottom: 22 };
const MOST_LINES = 6;
const LEAST = 0.9; // share of the cases that need a verdict for a run to count as a full one

export function trends(runs) {
  const suites = new Map();
  for (const run of [...runs].reverse())
    for (const part of run.by_suite || []) {
      const models = suites.get(part.suite) || suites.set(part.suite, new Map()).get(part.suite);
      const points = models.get(part.model) || models.set(part.model, []).get(part.model);
      points.push({ id: run.id, when: run.started_at, rate: part.passed / part.judged, ...part });
    }
  for (const models of suites.values()) markLike([...models.values()].flat());
  return [...suites].filter(([, models]) => [...models.values()].some((points) => points.length > 1)).map(chart);
}

// Like is joined with like: full runs of the same cases, those of the largest set, the newest if several are as large.
function markLike(points) {
  const full = points.filter((point) => point.with_verdict >= LEAST * point.cases);
  const newest = [...full].sort((a, b) => b.cases - a.cases || b.when.localeCompare(a.when))[0];
  for (const point of points) point.like = full.includes(point) && point.asked === newest?.asked;
}

const share = (point) => (point.like ? percent(point.rate) : `${percent(point.rate)} (other tests: ${point.with_verdict} of ${point.cases})`);

function chart([suite, models]) {
  const lines = [...models].sort((a, b) => b[1].length - a[1].length).slice(0, MOST_LINES);
  const times = [...new Set(lines.flatMap(([, points]) => points.map((point) => point.when)))].sort();
  const x = (when) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * times.indexOf(when)) / Math.max(1, times.length - 1);
  const y = (rate) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - rate);
  const words = lines
    .map(([model, points]) => `${model}: ${points.map(share).join(", ")}`)
    .join("; ");
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${suite}, pass rate. ${words}` });
  for (const rate of [0, 0.5, 1]) {
    svg.append(drawn("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(rate), y2: y(rate), class: "grid" }));
    const label = drawn("text", { x: EDGE.left - 6, y: y(rate) + 4, "text-anchor": "end" });
    label.textContent = percent(rate);
    svg.append(label);
  }
  lines.forEach(([model, points]) => {
    const place = points.filter((point) => point.like).map((point) => `${x(point.when).toFixed(1)},${y(point.rate).toFixed(1)}`).join(" ");
    svg.append(coloured(drawn("polyline", { points: place, class: "line" }), model));
    for (const point of points) {
      const title = drawn("title");
      title.textContent = `${point.when.slice(0, 16).replace("T", " ")} ${model}: ${point.passed} of ${point.judged} passed${point.like ? "" : `; other tests than the line: ${point.with_verdict} of ${point.cases} have a verdict`}`;
      const dot = drawn("circle", { cx: x(point.when), cy: y(point.rate), r: 4, class: point.like ? "dot" : "dot other" }, title);
      svg.append(coloured(dot, model));
    }
  });
  for (const [place, when, anchor] of [[EDGE.left, times[0], "start"], [WIDTH - EDGE.right, times.at(-1), "end"]]) {
    const label = drawn("text", { x: place, y: HEIGHT - 6, "text-anchor": anchor });
    label.textContent = when.slice(0, 10);
    svg.append(label);
  }
  const key = lines.map(([model, points]) =>
    element("li", {}, swatch(model), ` ${model}: ${share(points.at(-1))} of the last`));
  return element("figure", {}, element("figcaption", {}, suite), svg, element("ul", { class: "key" }, ...key));
}
