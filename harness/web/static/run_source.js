// @ts-check
// Where the viewer's data come from on this page: the run's own endpoints.

import { call } from "./api.js";

/** @typedef {import("../../reports/viewer/assets/rows.js").Cell} Cell */

/**
 * @param {string} id  name of the run
 * @param {(cell: Cell, trial: number, detail: any) => import("../../reports/viewer/assets/trace.js").Parts} more
 */
export function runSource(id, more) {
  const base = `/evaluations/${encodeURIComponent(id)}`;
  return {
    more,
    /** @param {Cell} cell @param {number} trial */
    trial: async (cell, trial) => {
      const at = cell.at?.[trial];
      return at === undefined ? null : call(`${base}/trials/${at}`);
    },
    /** @param {string[]} words @param {AbortSignal} signal */
    search: async (words, signal) => {
      const query = new URLSearchParams(words.map((word) => ["word", word]));
      const { words: found } = await call(`${base}/search?${query}`, { signal });
      return new Map(Object.entries(found).map(([word, places]) => [word, new Set(places)]));
    },
  };
}
