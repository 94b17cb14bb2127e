// @ts-check
// What is looked at, kept in the part of the address behind the #: it is never sent to a server.

/**
 * @typedef {Object<string, string>} State
 * - `q`: words to search for
 * - `different`: "1": only rows whose columns differ
 * - `failed`: "1": only rows in which something did not pass
 * - `warned`: "1": only rows with a warning
 * - `answers` and `figures`: "1": cells show the answer, and tokens, time and cost
 * - `hide`: titles of columns that are left out
 * - `sort`, and `by`, the axis
 * - `open`: the trial that is looked at
 * - any other is a filter: one of `FILTERS`, or an axis that trials have, such as `variant`
 */

/** @type {State} */
export const NOTHING = { q: "", different: "", failed: "", warned: "", answers: "", figures: "", hide: "", sort: "urgency", by: "", open: "" };

/** The filters of every run, each a list of options; `check` is the kind of a check that did not pass. */
export const FILTERS = ["status", "tool", "model", "identity", "tag", "check"];

/** The columns that are left out, by their titles. @param {State} state */
export const hiddenOf = (state) => new Set(state.hide.split(",").filter(Boolean).map(decodeURIComponent));

/** The filters that are set. @param {State} state */
export const filtersOf = (state) => Object.keys(state).filter((name) => !(name in NOTHING) && state[name]);

/** @param {string} hash @returns {State} */
export function readState(hash) {
  const state = { ...NOTHING };
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) state[name] = value;
  const numbered = /^#case-(\d+)$/.exec(hash);
  if (numbered) state.open = `#${Number(numbered[1]) - 1}`;
  return state;
}

/** @param {State} state */
export function writeState(state) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== (NOTHING[name] ?? "")) given.set(name, value);
  return given.size ? `#${given}` : "";
}

/** Whether the address says what is looked at, and not which section of the page. @param {string} hash */
export const isState = (hash) => hash === "" || hash.includes("=") || /^#case-\d+$/.test(hash);

/** The words of a search; those in quotes stay together. @param {string} text */
export const wordsOf = (text) => [...text.toLowerCase().matchAll(/"([^"]+)"|[^\s"]+/g)].map((found) => found[1] || found[0]);
