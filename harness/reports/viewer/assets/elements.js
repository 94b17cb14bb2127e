// @ts-check
"use strict";
// Elements made of parts. All texts are shown by textContent: none from a suite, a model or a server becomes markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} T
 * @param {T} node
 * @param {Object<string, any> | null} attributes  `text` is the content; one that is null, undefined or false is left out
 * @param {(Node | string | null)[]} children
 * @returns {T}
 */
function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") node.textContent = value;
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(.../** @type {(Node | string)[]} */ (children.filter((child) => child !== null)));
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Object<string, any> | null} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes || null, children);

/**
 * @param {string} tag
 * @param {Object<string, any> | null} attributes
 * @param {...(Node | string | null)} children
 * @returns {SVGElement}
 */
export const svg = (tag, attributes, ...children) =>
  put(/** @type {SVGElement} */ (document.createElementNS(SVG, tag)), attributes, children);

/** A name, which is broken between its words if it must be: after `_`, `-`, `/` and `:`.
 * @param {string} name */
export const breakable = (name) =>
  el("bdi", {}, ...name.split(/(?<=[_\-/:])(?![_\-/:])/).flatMap((part, place) => (place ? [el("wbr"), part] : [part])));

const END = 8; // characters of a long name that are never cut

/** A name that is cut in its middle where it has no room: names of one family differ at their ends.
 * @param {string} name */
export const cuttable = (name) => name.length <= 2 * END ? el("bdi", { text: name })
  : el("bdi", { class: "cut" }, el("span", { text: name.slice(0, -END) }), el("span", { text: name.slice(-END) }));

/** @param {string} id */
export const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {number} amount @param {string} word */
export const plural = (amount, word) => `${amount.toLocaleString("en")} ${word}${amount === 1 ? "" : "s"}`;
