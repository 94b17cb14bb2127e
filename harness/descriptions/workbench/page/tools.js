// @ts-check
// The tool list, part by part: coloured by effect, faded by uncertainty, each with its price.

import { at, el, plural } from "../../../reports/viewer/assets/elements.js";
import { whisker } from "./widgets.js";

/**
 * @typedef {import("./data.js").Tool} Tool @typedef {import("./data.js").Part} Part
 * @typedef {(one: {weight: number, tokens: number}) => number} Key  the smallest comes first
 */

/** @type {Record<string, Key>} */
const ORDERS = {
  list: () => 0,
  effect: (one) => -one.weight,
  price: (one) => -one.tokens,
};

function toolsLegend() {
  const sample = (/** @type {string} */ kind, /** @type {string} */ words, /** @type {string} */ meaning) => el("li", {}, el("span", { class: `words ${kind}`, text: words }), ` ${meaning}`);
  return el("ul", { class: "legend", "aria-label": "Legend" },
    sample("helps shade-4 shown", "▲ blue", "carries weight: without it tests fail"),
    sample("hurts shade-4 shown", "▼ orange", "does harm: without it tests pass"),
    sample("helps shade-4 likely", "? dashed", "may be chance: one of many parts"),
    sample("helps open", "? pale, dotted", "undecided: too few cases to tell"),
    sample("", "= no colour", "carries nothing: it makes no difference"));
}

/** @param {import("./data.js").ToolList} list */
export function showTools(list) {
  const about = [`${plural(list.tools.length, "tool")}, ${plural(list.parts, "part")}, about ${list.tokens.toLocaleString("en")} tokens in every request.`];
  about.push(list.measured
    ? `The effect is what the pass rate loses when the part is taken out, in percentage points; the stronger the colour, the larger. The line beside it is the 95 % interval.`
    : `No part was taken out in this run: effects are not known.`);
  at("tools-about").textContent = about.join(" ");
  at("legend").replaceChildren(...(list.measured ? [toolsLegend()] : []));
  const key = ORDERS[/** @type {HTMLSelectElement} */ (at("order")).value];
  const shown = list.tools.some((tool) => tool.shown);
  const important = (/** @type {Tool} */ tool) => (shown ? tool.shown : tool.largest) > 0; // opened at first
  const few = list.tools.length <= 3;
  const ordered = [...list.tools].sort((a, b) => toolKey(a, key) - toolKey(b, key));
  at("tools-list").replaceChildren(...ordered.map((tool) =>
    toolBox(tool, key, few || important(tool))));
}

/** @param {Tool} tool @param {Key} key */
function toolKey(tool, key) {
  return key({ weight: tool.largest, tokens: tool.tokens });
}

/** @param {Tool} tool @param {Key} key  the order of its parts @param {boolean} open */
function toolBox(tool, key, open) {
  const parts = [...tool.parts].sort((a, b) => key(a) - key(b));
  const most = tool.largest ? `effects up to ${Math.round(100 * tool.largest)} points` : "";
  const remark = [tool.shown ? `${plural(tool.shown, "part")} with a shown effect` : most, `about ${plural(tool.tokens, "token")}`];
  const details = el("details", { class: "tool", ...(open ? { open: "" } : {}) },
    el("summary", {}, el("span", { class: "name" }, el("bdi", { text: tool.name })), el("span", { class: "dim", text: remark.filter(Boolean).join(", ") })));
  const fill = () => {
    if (details.open && details.childElementCount === 1) details.append(el("ol", { class: "parts" }, partsHead(), ...parts.map(partRow)));
  };
  fill();
  details.addEventListener("toggle", fill);
  return details;
}

function partsHead() {
  return el("li", { class: "head part", "aria-hidden": "true" }, el("span", { text: "words" }), el("span", { text: "effect" }), el("span", { class: "price", text: "tokens" }));
}

/** @param {Part} part */
function partRow(part) {
  const colour = part.tone === "" || part.tone === "equivalent" || part.sign === "none" ? "" : `${part.sign} shade-${part.shade} ${part.sure}`;
  const code = part.what.startsWith("name") || /^(enum|examples|default)/.test(part.what) ? " code" : "";
  const facts = part.effect ? `${part.says}: ${part.effect.text}, ${part.effect.more}` : part.says;
  const decide = part.decide ? ` About ${plural(part.decide, "case")} would decide.` : "";
  const effect = part.effect
    ? [el("span", { class: part.tone, text: part.says }), el("span", { text: ` ${part.effect.text}` }), whisker({ ...part.effect, tone: part.tone }),
      el("span", { class: "more", text: `${part.effect.more}${part.cases ? `; ${plural(part.cases, "case")}` : ""}` })]
    : [el("span", { class: "dim", text: part.says })];
  return el("li", {},
    el("div", { class: "say" }, el("span", { class: "part" }, el("bdi", { text: part.what })),
      el("div", { class: `words ${colour}${code}`, dir: "auto", title: facts + decide, text: part.text })),
    el("div", { class: "effect" }, ...effect),
    el("div", { class: "price" }, part.tokens.toLocaleString("en"), el("span", { class: "more", text: " tokens" })));
}
