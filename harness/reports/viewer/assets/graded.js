// @ts-check
// A graded case: its metrics, and each expected call beside the call that came nearest.

import { el } from "./elements.js";

/**
 * @typedef {{tool: string, met: boolean, score: string, expected: string, actual: string}} Pair
 * @typedef {{metrics: {title: string, score: number | null, text: string, label: string}[], pairs: Pair[], calls: {tool: string, expected: boolean}[]}} Graded
 */

/** @param {Graded} graded @param {(text: string, label: string) => Element} box */
export function gradedParts(graded, box) {
  return [
    el("dl", { class: "metrics" }, ...graded.metrics.map((one) => el("div", {},
      el("dt", { text: one.title }),
      el("dd", {},
        el("meter", { min: 0, max: 1, low: 0.4, high: 0.7, optimum: 1, value: one.score ?? 0, "aria-hidden": "true" }),
        ` ${one.text}`),
      one.label ? el("dd", { class: "caption", text: one.label }) : null))),
    el("p", { class: "chips" },
      ...graded.pairs.map((pair) => pair.met ? chip("correct", "✓", pair.tool, "expected and called") : chip("missing", "✗", pair.tool, "expected and not called")),
      ...graded.calls.filter((call) => !call.expected).map((call) => chip("extra", "+", call.tool, "called and not asked for"))),
    ...graded.pairs.filter((pair) => pair.expected || pair.actual).map((pair) => el("section", { class: "pair" },
      el("h4", {}, el("bdi", { text: pair.tool }), pair.score ? ` · arguments match ${pair.score}` : ""),
      el("div", { class: "sides" },
        el("div", {}, el("span", { class: "caption", text: "expected" }), box(pair.expected || "{}", `Expected arguments of ${pair.tool}`)),
        el("div", {}, el("span", { class: "caption", text: "actual" }),
          box(pair.met ? pair.actual : "The tool was not called.", `Actual arguments of ${pair.tool}`))))),
  ];
}

/** @param {string} kind @param {string} mark @param {string} name @param {string} meaning */
function chip(kind, mark, name, meaning) {
  return el("span", { class: `chip ${kind}`, title: meaning },
    el("span", { "aria-hidden": "true", text: `${mark} ` }), el("bdi", { text: name }), el("span", { class: "unseen", text: ` (${meaning})` }));
}
