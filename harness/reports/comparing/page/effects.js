// @ts-check
// The differences of pass rates with their intervals, on one axis, beside the margin that makes no difference.

import { el, svg } from "../../viewer/assets/elements.js";

const WIDTH = 480;
const ROW = 46; // a line of words, and below it the interval on bare ground
const WORDS = 18;
const SIDE = 30;
const TICKS = [1, 2, 5, 10, 20, 25, 50, 100];

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
  const x = (/** @type {number} */ value) => SIDE + ((WIDTH - 2 * SIDE) * (value + far)) / (2 * far);
  const bottom = ROW * shown.length;
  const step = TICKS.find((one) => (100 * far) / one <= 4) || 100;
  const ticks = Array.from({ length: 2 * Math.floor((100 * far) / step) + 1 }, (_, place) => step * (place - Math.floor((100 * far) / step)));
  const label = (/** @type {number} */ at, /** @type {number} */ y, /** @type {string} */ text, anchor = "middle") =>
    svg("text", { x: at, y, "text-anchor": anchor, class: "dim", text });
  const words = shown.map((one) => `${one.title}: ${one.words}`).join("; ");
  return el("div", { class: "effects" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${bottom + 40}`, role: "img", "aria-label": `Difference of the pass rates. ${words}` },
      ...shown.flatMap((one, place) => {
        const [top, y] = [ROW * place, ROW * place + (WORDS + ROW) / 2];
        return [
          svg("text", { x: SIDE, y: top + 13, text: `${one.title}: ${one.words}` }),
          svg("rect", { x: x(-margin), y: top + WORDS, width: x(margin) - x(-margin), height: ROW - WORDS, class: "margin" }),
          ...ticks.map((tick) => svg("line", { x1: x(tick / 100), x2: x(tick / 100), y1: top + WORDS, y2: top + ROW, class: tick ? "tick" : "zero" })),
          svg("line", { x1: x(one.interval[0]), x2: x(one.interval[1]), y1: y, y2: y, class: "interval" }),
          svg("circle", { cx: x(one.difference), cy: y, r: 6, class: "point" }),
        ];
      }),
      svg("line", { x1: SIDE, x2: WIDTH - SIDE, y1: bottom, y2: bottom, class: "zero" }),
      ...ticks.map((tick) => label(x(tick / 100), bottom + 15, tick ? `${tick > 0 ? "+" : "−"}${Math.abs(tick)}` : "0")),
      label(SIDE, bottom + 33, "← worse", "start"), label(WIDTH / 2, bottom + 33, "points"), label(WIDTH - SIDE, bottom + 33, "better →", "end")));
}
