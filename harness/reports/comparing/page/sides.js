// @ts-check
// Both sides of one case: what was asked, the calls one beside the other, and the answers.

import { swatch } from "../../viewer/assets/colour.js";
import { el } from "../../viewer/assets/elements.js";
import { aligned, wordParts } from "./diff.js";

/** @typedef {{tool: string, outcome: string, fine: boolean, arguments: [string, string][], result: string}} Call */
/** @typedef {{number: number, model: string, status: string, problem: string, question: string, calls: Call[],
 *   left_out: number, answer: string, effort: string}} Trial */

/**
 * @param {Trial | undefined} before
 * @param {Trial | undefined} after
 * @param {[string, string]} names names of the sides
 */
export function sides(before, after, names) {
  const none = el("p", { class: "dim", text: "There is no trial of it." });
  return [
    el("div", { class: "pair heads" },
      ...[before, after].map((trial, place) => el("div", {}, trial ? head(trial, names[place]) : none.cloneNode(true)))),
    ...question(before, after, names),
    el("h3", { text: "Calls" }),
    ...calls(before?.calls || [], after?.calls || [], names),
    el("h3", { text: "Answer" }),
    twoTexts(before?.answer || "", after?.answer || "", names, "answer"),
  ];
}

/**
 * @param {Trial} trial
 * @param {string} name
 */
function head(trial, name) {
  return el("div", {},
    swatch(trial.model), el("strong", { class: trial.status, text: `${name}: ${trial.status}` }),
    el("span", { class: "dim", text: ` ${trial.effort}` }),
    trial.problem ? el("p", { class: "said", dir: "auto", text: trial.problem }) : null);
}

/** @param {Trial | undefined} before @param {Trial | undefined} after @param {[string, string]} names */
function question(before, after, names) {
  if (!before || !after || before.question === after.question)
    return [el("h3", { text: "Question" }), el("p", { class: "said", dir: "auto", text: (before || after)?.question || "" })];
  return [el("h3", { text: "Question" }), twoTexts(before.question, after.question, names, "question")];
}

/**
 * Both texts, with what differs marked.
 * @param {string} before
 * @param {string} after
 * @param {[string, string]} names
 * @param {string} what
 */
export function twoTexts(before, after, names, what) {
  const parts = wordParts(before, after);
  const marked = parts.some((part) => part.same); // of altogether different texts nothing is marked
  const side = (/** @type {"before" | "after"} */ which, /** @type {"del" | "ins"} */ mark, /** @type {string} */ name) =>
    el("div", {},
      el("span", { class: "caption", text: name }),
      el("pre", { tabindex: "0", role: "group", "aria-label": `${name}: ${what}`, dir: "auto" },
        ...parts.map((part) => (part.same || !marked ? part[which] : part[which] ? el(mark, { text: part[which] }) : "")),
        ...((which === "before" ? before : after) ? [] : [el("span", { class: "dim", text: "(nothing)" })])));
  return el("div", { class: "pair" }, side("before", "del", names[0]), side("after", "ins", names[1]));
}

/**
 * @param {Call[]} before
 * @param {Call[]} after
 * @param {[string, string]} names
 */
function calls(before, after, names) {
  if (!before.length && !after.length) return [el("p", { class: "dim", text: "Neither side called a tool." })];
  const rows = aligned(before, after, (call) => call.tool);
  return [el("ol", { class: "calls" }, ...rows.map(([one, other]) => {
    const kind = !one ? "only-after" : !other ? "only-before" : sameCall(one, other) ? "same" : "changed";
    const words = { "only-after": `only ${names[1]}`, "only-before": `only ${names[0]}`, same: "the same", changed: "differs" }[kind];
    const both = one && other;
    return el("li", { class: kind },
      el("p", { class: "call-head" }, el("strong", {}, el("bdi", { text: (one || other)?.tool || "" })), " ",
        el("span", { class: "kind-of", text: words }), " ", ...outcomes(one, other)),
      argumentTable(one, other, names),
      both ? results(one, other, names) : null);
  }))];
}

/** @param {Call} one @param {Call} other */
const sameCall = (one, other) => one.outcome === other.outcome && JSON.stringify(one.arguments) === JSON.stringify(other.arguments);

/** @param {Call | null} one @param {Call | null} other */
function outcomes(one, other) {
  const word = (/** @type {Call} */ call) => el("span", { class: `outcome ${call.fine ? "ok" : "not-ok"}`, text: call.outcome.replace("_", " ") });
  if (!one || !other) return [one, other].flatMap((call) => (call ? [word(call)] : []));
  return one.outcome === other.outcome ? [word(one)] : [word(one), " → ", word(other)];
}

/** @param {Call} one @param {Call} other @param {[string, string]} names */
function results(one, other, names) {
  const same = one.result === other.result;
  if (!one.result && !other.result) return null;
  const place = el("div", {});
  const details = el("details", {}, el("summary", { class: "caption", text: same ? "result (the same)" : "results (they differ)" }), place);
  details.addEventListener("toggle", () => {
    if (details.open && !place.firstChild) place.append(twoTexts(one.result, other.result, names, "result"));
  });
  return details;
}

/**
 * A row for each argument; what differs is marked.
 * @param {Call | null} one
 * @param {Call | null} other
 * @param {[string, string]} names
 */
function argumentTable(one, other, names) {
  const [was, now] = [one, other].map((call) => new Map(call?.arguments || []));
  const keys = [...new Set([...was.keys(), ...now.keys()])];
  if (!keys.length) return el("p", { class: "dim", text: "no arguments" });
  const both = one && other;
  const cell = (/** @type {string | undefined} */ value, /** @type {string | undefined} */ against, /** @type {boolean} */ first) => {
    if (value === undefined) return el("td", { class: "absent", text: "–" });
    if (!both || value === against) return el("td", {}, el("code", { text: value }));
    const parts = against === undefined ? [{ same: false, before: value, after: value }] : wordParts(first ? value : against, first ? against : value);
    return el("td", { class: "differs" }, el("code", {}, ...parts.map((part) => {
      const text = first ? part.before : part.after;
      return part.same ? text : text ? el(first ? "del" : "ins", { text }) : "";
    })));
  };
  const heads = both ? ["argument", ...names] : ["argument", one ? names[0] : names[1]];
  return el("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": `Arguments of ${(one || other)?.tool}` },
    el("table", { class: "arguments" },
      el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { scope: "col", text })))),
      el("tbody", {}, ...keys.map((key) => el("tr", {},
        el("th", { scope: "row" }, el("bdi", { text: key || "(value)" })),
        ...(one ? [cell(was.get(key), now.get(key), true)] : []),
        ...(other ? [cell(now.get(key), was.get(key), false)] : []))))));
}
