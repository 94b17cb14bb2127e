// @ts-check
// One colour for each model, on every page and at any time: it follows from the name alone.

import { el } from "./elements.js";

/** @param {string} model @returns {number} a hue in degrees */
export function hueOf(model) {
  let hash = 2166136261;
  for (const letter of model) hash = Math.imul(hash ^ /** @type {number} */ (letter.codePointAt(0)), 16777619);
  return ((hash >>> 0) * 0.618033988749895 * 360) % 360;
}

/**
 * Gives an element the colour of a model; the style says how light it is.
 * @template {HTMLElement | SVGElement} T
 * @param {T} node @param {string} model @returns {T}
 */
export function coloured(node, model) {
  node.classList.add("of-model");
  node.style.setProperty("--hue", hueOf(model).toFixed(1));
  return node;
}

/** A dot in the colour of a model, beside its name. @param {string} model */
export const swatch = (model) => coloured(el("span", { class: "swatch", "aria-hidden": "true" }), model);
