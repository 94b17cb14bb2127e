// @ts-check
// The rows of a run that has ended: the server filters, sorts, counts and searches, and a page holds those around the
// screen alone.

import { call } from "./api.js";
import { filtersOf, wordsOf } from "./assets/state.js";

/**
 * @typedef {import("../../reports/viewer/assets/rows.js").Row} Row
 * @typedef {import("../../reports/viewer/assets/rows.js").Framed} Framed
 * @typedef {import("../../reports/viewer/assets/state.js").State} State
 * @typedef {import("../../reports/viewer/assets/viewer.js").Heard} Heard
 * @typedef {{count: number, rows: Row[], found?: {row: number | null, column: number} | null}} Answer
 */

const WINDOW = 100; // rows that are asked for at once
const KEPT = 30; // windows that a page holds at most

export class Windows {
  /** @param {string} id  name of the run @param {Framed} grid */
  constructor(id, grid) {
    this.address = `/evaluations/${encodeURIComponent(id)}/rows`;
    this.grid = grid;
  }

  /** @param {string} axis */
  total(axis) {
    return this.grid.rows[axis];
  }

  /** The rows that fit what is asked for. @param {State} state @param {string} axis @param {AbortSignal} signal @param {Heard} heard */
  async arrange(state, axis, signal, heard) {
    const query = queryOf(this.grid, state, axis);
    return new Rows((offset) => this.ask(query, { offset }), await this.ask(query, { offset: 0 }, signal), heard);
  }

  /** Where a cell is among the rows that fit; `null`: there is no such cell. @param {State} state @param {string} axis @param {string} wanted */
  async find(state, axis, wanted) {
    return (await this.ask(queryOf(this.grid, state, axis), { find: wanted, count: 0 })).found ?? null;
  }

  /** @param {URLSearchParams} query @param {Record<string, string | number>} more @param {AbortSignal} [signal] @returns {Promise<Answer>} */
  ask(query, more, signal) {
    const whole = new URLSearchParams(query);
    for (const [name, value] of Object.entries({ count: WINDOW, ...more })) whole.set(name, String(value));
    return call(`${this.address}?${whole}`, { signal });
  }
}

class Rows {
  /** @param {(offset: number) => Promise<Answer>} ask @param {Answer} first @param {Heard} heard */
  constructor(ask, first, heard) {
    this.ask = ask;
    this.heard = heard;
    this.length = first.count;
    /** @type {Map<number, Row[]>} those that were looked at last are its last */
    this.windows = new Map([[0, first.rows]]);
    this.wanted = [0, 0];
    this.asking = false;
  }

  /** @param {number} place @returns {Row | undefined}  nothing: it is not here */
  at(place) {
    return this.windows.get(Math.floor(place / WINDOW))?.[place % WINDOW];
  }

  /** Asks for rows that are not here; of those that were needed meanwhile only the last are asked for.
   * @param {number} first @param {number} last  the first that is not needed */
  async need(first, last) {
    this.wanted = [first, last].map((place) => Math.floor(place / WINDOW));
    if (this.asking) return;
    this.asking = true;
    try {
      for (let number = this.missing(); number !== undefined; number = this.missing()) await this.fetch(number);
    } catch (error) {
      this.heard.failed(/** @type {Error} */ (error));
    } finally {
      this.asking = false;
    }
  }

  missing() {
    const [first, last] = this.wanted;
    for (let number = first; number <= last && number * WINDOW < this.length; number++) if (!this.windows.has(number)) return number;
    return undefined;
  }

  /** The row at `place`, once it is here. @param {number} place */
  async load(place) {
    if (!this.at(place)) await this.fetch(Math.floor(place / WINDOW));
    return this.at(place);
  }

  /** @param {number} number */
  async fetch(number) {
    const { rows } = await this.ask(number * WINDOW);
    this.windows.delete(number);
    this.windows.set(number, rows);
    for (const old of this.windows.keys()) {
      if (this.windows.size <= KEPT) break;
      if (old < this.wanted[0] || old > this.wanted[1]) this.windows.delete(old);
    }
    this.heard.loaded();
  }
}

/** @param {Framed} grid @param {State} state @param {string} axis */
function queryOf(grid, state, axis) {
  const query = new URLSearchParams({ by: axis, sort: state.sort });
  for (const name of filtersOf(state)) if (name in grid.offered) query.set(name, state[name]);
  for (const name of ["failed", "warned", "different"]) if (state[name]) query.set(name, state[name]);
  for (const word of wordsOf(state.q)) query.append("word", word);
  return query;
}
