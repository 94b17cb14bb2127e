// @ts-check
// Where the viewer's data come from on this page: the run's own endpoints.

import { call } from "./api.js";

/** @typedef {import("../../reports/viewer/assets/rows.js").Cell} Cell */

const NOTHING_YET = { underWay: true, checks: [], judgements: [], facts: [], bars: [] };

/**
 * @param {string} id  name of the run
 * @param {(cell: Cell, trial: number, detail: any) => import("../../reports/viewer/assets/trace.js").Parts} more
 */
export function runSource(id, more) {
  const base = `/evaluations/${encodeURIComponent(id)}`;
  // The steps so far; what runs in a terminal tells them when a trial has ended.
  /** @param {Cell} cell @param {number} trial */
  const underWay = async (cell, trial) => {
    const name = new URLSearchParams({ suite: cell.suite, case: cell.case, entrant: cell.entrant, trial: String(trial + 1) });
    const { steps } = await call(`${base}/live?${name}`);
    return steps.length ? { ...NOTHING_YET, steps } : null;
  };
  return {
    more,
    /** @param {Cell} cell @param {number} trial */
    trial: async (cell, trial) => {
      const at = cell.at?.[trial];
      return at === undefined ? underWay(cell, trial) : call(`${base}/trials/${at}`);
    },
    /** @param {string[]} words @param {AbortSignal} signal */
    search: async (words, signal) => {
      const query = new URLSearchParams(words.map((word) => ["word", word]));
      const { words: found } = await call(`${base}/search?${query}`, { signal });
      return new Map(Object.entries(found).map(([word, places]) => [word, new Set(places)]));
    },
  };
}
