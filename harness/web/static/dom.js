// @ts-check
// Elements made of parts; every text becomes a text node, so nothing that anybody said is ever markup.

/** @typedef {Node | string | null | undefined} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

/** An element of the page's own markup. @param {string} id */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The same, a field of a form. @param {string} id */
export const fieldOf = (id) => /** @type {HTMLInputElement} */ (byId(id));

/** The same, a list to choose from. @param {string} id */
export const listOf = (id) => /** @type {HTMLSelectElement} */ (byId(id));

/** Shows the page once it has what it is about, so that nothing of it moves afterwards. */
export const reveal = () => byId("main").classList.remove("loading");

/** The same, a button. @param {string} id */
export const buttonOf = (id) => /** @type {HTMLButtonElement} */ (byId(id));

/** The same, a link. @param {string} id */
export const linkOf = (id) => /** @type {HTMLAnchorElement} */ (byId(id));

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name @param {Attributes} [attributes] @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  fill(made, attributes);
  made.append(...there(children).filter((child) => child !== ""));
  return made;
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name @param {Attributes} [attributes] @param {...Node} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(made, attributes);
  made.append(...children);
  return made;
}

/** @param {Element} made @param {Attributes} attributes */
function fill(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
}

/** @param {Element} place @param {...Child} children */
export function replaceIn(place, ...children) {
  place.replaceChildren(...there(children));
}

/** @param {Child[]} children @returns {(Node | string)[]} */
const there = (children) => children.flatMap((child) => (child === null || child === undefined ? [] : [child]));
