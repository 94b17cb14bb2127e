// @ts-check
// What is looked at, kept in the part of the address behind the #: it is never sent to a server.

/**
 * @typedef {Object} State
 * @property {string} q  words to search for
 * @property {string} status @property {string} tool @property {string} model @property {string} identity
 * @property {string} tag @property {string} check  kind of a check that did not pass
 * @property {string} different  "1": only rows whose columns differ
 * @property {string} failed  "1": only rows in which something did not pass
 * @property {string} sort @property {string} by  the axis
 * @property {string} open  the trial that is looked at
 */

/** @type {State} */
export const NOTHING = {
  q: "", status: "", tool: "", model: "", identity: "", tag: "", check: "", different: "", failed: "", sort: "urgency", by: "", open: "",
};

/** Filters; each is a list of options. */
export const CHOICES = /** @type {const} */ (["status", "tool", "model", "identity", "tag", "check"]);

/** @param {string} hash @returns {State} */
export function readState(hash) {
  const state = { ...NOTHING };
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  for (const name of /** @type {(keyof State)[]} */ (Object.keys(NOTHING)))
    if (given.has(name)) state[name] = given.get(name) || "";
  const numbered = /^#case-(\d+)$/.exec(hash);
  if (numbered) state.open = `#${Number(numbered[1]) - 1}`;
  return state;
}

/** @param {State} state */
export function writeState(state) {
  const given = new URLSearchParams();
  for (const name of /** @type {(keyof State)[]} */ (Object.keys(NOTHING)))
    if (state[name] !== NOTHING[name]) given.set(name, state[name]);
  return given.size ? `#${given}` : "";
}

/** Whether the address says what is looked at, and not which section of the page. @param {string} hash */
export const isState = (hash) => hash === "" || hash.includes("=") || /^#case-\d+$/.test(hash);

/** The words of a search; those in quotes stay together. @param {string} text */
export const wordsOf = (text) => [...text.toLowerCase().matchAll(/"([^"]+)"|[^\s"]+/g)].map((found) => found[1] || found[0]);
