// @ts-check
// The differences of pass rates with their intervals, on one axis, beside the margin that makes no difference.

import { el, svg } from "../../viewer/assets/elements.js";

const WIDTH = 400;
const ROW = 34;
const LEFT = 20;

/** @typedef {{title: string, difference: number | null, interval: [number, number] | null, words: string}} Effect */

/**
 * @param {Effect[]} effects
 * @param {number} margin
 */
export function effectChart(effects, margin) {
  const shown = effects.flatMap(({ title, words, difference, interval }) =>
    (interval && difference !== null ? [{ title, words, difference, interval }] : []));
  if (!shown.length) return null;
  const far = Math.max(margin, 0.1, ...shown.flatMap((one) => one.interval.map(Math.abs)));
  const x = (/** @type {number} */ value) => LEFT + ((WIDTH - 2 * LEFT) * (value + far)) / (2 * far);
  const height = ROW * shown.length + 24;
  const label = (/** @type {number} */ at, /** @type {string} */ text) =>
    svg("text", { x: at, y: height - 6, "text-anchor": "middle", class: "dim", text });
  const words = shown.map((one) => `${one.title}: ${one.words}`).join("; ");
  return el("div", { class: "effects" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `Difference of the pass rates. ${words}` },
      svg("rect", { x: x(-margin), y: 0, width: x(margin) - x(-margin), height: height - 20, class: "margin" }),
      svg("line", { x1: x(0), x2: x(0), y1: 0, y2: height - 20, class: "zero" }),
      ...shown.flatMap((one, place) => {
        const y = ROW * place + 26;
        return [
          svg("text", { x: LEFT, y: y - 12, text: `${one.title}: ${one.words}` }),
          svg("line", { x1: x(one.interval[0]), x2: x(one.interval[1]), y1: y, y2: y, class: "interval" }),
          svg("circle", { cx: x(one.difference), cy: y, r: 6, class: "point" }),
        ];
      }),
      label(x(0), "no difference"), label(x(-far) + 30, "worse"), label(x(far) - 30, "better")));
}
