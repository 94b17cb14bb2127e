// @ts-check
// When the model and the tools were at work: a bar for each reply and each call, on one axis.

import { el, plural, svg } from "./elements.js";

const WIDTH = 1000;
const ROW = 16;
const LEAST = 3; // what takes no time is still seen

/**
 * @typedef {{who: string, name: string, reply: number, call: string, begin: number, end: number, words: string, measured?: boolean, ok?: boolean}} Bar
 */

/** @param {Bar[]} bars @param {(bar: Bar) => void} show  is told which bar was clicked */
export function timeAxis(bars, show) {
  const end = Math.max(...bars.map((bar) => bar.end), 0.001);
  const x = (/** @type {number} */ time) => (WIDTH * time) / end;
  const calls = bars.filter((bar) => bar.who === "tool").length;
  const replies = bars.length - calls;
  const words = `Time axis of ${said(end)}: ${plural(replies, "reply").replace("replys", "replies")} of the model, ${plural(calls, "tool call")}. `
    + bars.map((bar) => `${bar.name}: ${bar.words}`).join("; ");
  const lanes = [...new Set(bars.map((bar) => bar.who))];
  const drawing = svg("svg", {
    class: "time-axis", viewBox: `0 0 ${WIDTH} ${lanes.length * ROW + 2}`, preserveAspectRatio: "none", role: "img", "aria-label": words,
  });
  for (const bar of bars) {
    const shape = svg("rect", {
      x: Math.min(x(bar.begin), WIDTH - LEAST), y: lanes.indexOf(bar.who) * ROW + 2, height: ROW - 4,
      width: Math.max(LEAST, x(bar.end) - x(bar.begin)), class: `bar-${bar.who}${bar.ok === false ? " bar-bad" : ""}${bar.measured === false ? " bar-inferred" : ""}`,
    }, svg("title", { text: `${bar.name}: ${bar.words}` }));
    shape.addEventListener("click", () => show(bar));
    drawing.append(shape);
  }
  return el("div", { class: "time" },
    el("div", { class: "time-lanes", "aria-hidden": "true" }, ...lanes.map((who) => el("span", { class: "caption", text: who }))),
    drawing,
    el("div", { class: "time-ends caption", "aria-hidden": "true" }, el("span", { text: "0" }), el("span", { text: said(end) })));
}

/** @param {number} seconds */
function said(seconds) {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}
