// @ts-check
// A suite over time: one line a model, drawn as SVG.

import { coloured, swatch } from "./assets/colour.js";
import { drawn, element } from "./dom.js";
import { percent } from "./words.js";

const WIDTH = 360;
const HEIGHT = 140;
const EDGE = { left: 44, right: 12, top: 12, bottom: 22 };
const MOST_LINES = 6;
const LEAST = 0.9; // share of the cases that need a verdict for a run to count as a full one

/**
 * @typedef {{suite: string, entrant: string, passed: number, judged: number, asked: string, cases: number, with_verdict: number}} Part
 * @typedef {Part & {id: string, when: string, rate: number, like?: boolean}} Point
 */

/** @param {{id: string, started_at: string, by_suite?: Part[]}[]} runs */
export function trends(runs) {
  /** @type {Map<string, Map<string, Point[]>>} */
  const suites = new Map();
  for (const run of [...runs].reverse())
    for (const part of run.by_suite || []) {
      const models = suites.get(part.suite) || new Map();
      const points = models.get(part.entrant) || [];
      suites.set(part.suite, models.set(part.entrant, points));
      points.push({ id: run.id, when: run.started_at, rate: part.passed / part.judged, ...part });
    }
  for (const models of suites.values()) markLike([...models.values()].flat());
  return [...suites].filter(([, models]) => [...models.values()].some((points) => points.length > 1)).map(chart);
}

// Like is joined with like: full runs of the same cases, those of the largest set, the newest if several are as large.
/** @param {Point[]} points */
function markLike(points) {
  const full = points.filter((point) => point.with_verdict >= LEAST * point.cases);
  const newest = [...full].sort((a, b) => b.cases - a.cases || b.when.localeCompare(a.when))[0];
  for (const point of points) point.like = full.includes(point) && point.asked === newest?.asked;
}

/** @param {Point | undefined} point */
const share = (point) => (!point ? "" : point.like ? percent(point.rate) : `${percent(point.rate)} (other tests: ${point.with_verdict} of ${point.cases})`);

/** @param {[string, Map<string, Point[]>]} suite */
function chart([suite, models]) {
  const lines = [...models].sort((a, b) => b[1].length - a[1].length).slice(0, MOST_LINES);
  const times = [...new Set(lines.flatMap(([, points]) => points.map((point) => point.when)))].sort();
  const x = (/** @type {string} */ when) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * times.indexOf(when)) / Math.max(1, times.length - 1);
  const y = (/** @type {number} */ rate) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - rate);
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
  const ends = [{ place: EDGE.left, when: times[0], anchor: "start" }, { place: WIDTH - EDGE.right, when: times[times.length - 1], anchor: "end" }];
  for (const { place, when, anchor } of ends) {
    const label = drawn("text", { x: place, y: HEIGHT - 6, "text-anchor": anchor });
    label.textContent = when.slice(0, 10);
    svg.append(label);
  }
  const key = lines.map(([model, points]) =>
    element("li", {}, swatch(model), ` ${model}: ${share(points.at(-1))} of the last`));
  return element("figure", {}, element("figcaption", {}, suite), svg, element("ul", { class: "key" }, ...key));
}
