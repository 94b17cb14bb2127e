// @ts-check
// One colour for each model, on every page and at any time: it follows from the name alone.
// It is never that of a verdict: red (27°), amber (75°), green (152°) and violet (312°) are left out.

import { el } from "./elements.js";

const HUES = /** @type {[number, number][]} */ ([[185, 285], [338, 356]]); // from teal to indigo, and pink
const LIGHTNESS = [0, 0.13, -0.12]; // hues of so few degrees are told apart by it

/** @param {string} model @returns {number} a number from 0 to 1 */
function hashOf(model) {
  let hash = 2166136261;
  for (const letter of model) hash = Math.imul(hash ^ /** @type {number} */ (letter.codePointAt(0)), 16777619);
  return ((hash >>> 0) * 0.618033988749895) % 1;
}

/** @param {string} model @returns {number} a hue in degrees */
export function hueOf(model) {
  let place = hashOf(model) * HUES.reduce((sum, [low, high]) => sum + high - low, 0);
  for (const [low, high] of HUES) {
    if (place < high - low) return low + place;
    place -= high - low;
  }
  return HUES[0][0];
}

/**
 * Gives an element the colour of a model; the style says how light it is.
 * @template {HTMLElement | SVGElement} T
 * @param {T} node @param {string} model @returns {T}
 */
export function coloured(node, model) {
  node.classList.add("of-model");
  node.style.setProperty("--hue", hueOf(model).toFixed(1));
  node.style.setProperty("--light", String(LIGHTNESS[Math.floor(hashOf(`${model}'`) * LIGHTNESS.length)]));
  return node;
}

/** A dot in the colour of a model, beside its name. @param {string} model */
export const swatch = (model) => coloured(el("span", { class: "swatch", "aria-hidden": "true" }), model);
