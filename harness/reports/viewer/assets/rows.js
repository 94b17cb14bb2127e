// @ts-check
// Cells put into rows, filtered and sorted. Nothing is counted or averaged here: figures come with the cells.

import { FILTERS, filtersOf, wordsOf } from "./state.js";

/**
 * @typedef {Object} Cell  a case with one entrant, as `build_cell` in Python makes it
 * @property {string} suite @property {string} case @property {string} entrant @property {string} status
 * @property {string} [model] @property {Object<string, string>} [axes]  what the entrant is: a model, with values on axes
 * @property {string} [identity] @property {string} [group] @property {string} [problem] @property {string} [question] @property {number} [score]
 * @property {string[]} [tags] @property {string[]} [tools] @property {string[]} [failed]
 * @property {number} [warnings]  failed checks that decide nothing
 * @property {number} [tool_calls] @property {number} [tokens] @property {number} [latency_s] @property {string} [latency] @property {number} [paid_usd] @property {string} [paid]
 * @property {number} [passed] @property {number} [planned] @property {string[]} [trials]  their statuses
 * @property {number[]} [at]  where the log has each trial
 * @property {number} [number]  its place in the run @property {number} [place]  the same, while not all cells are there
 * @property {string} [run]  the run that it is of, if there are several
 *
 * @typedef {{suite: string, text: string, words: string, rate?: number, low?: number, high?: number}} Rate  numbers are shares
 * @typedef {{key: string[], title: string, words: string, rates: Rate[], model?: string,
 *   axes?: Object<string, string>}} Column
 * @typedef {{name: string, column: string[], row: string[], columns: Column[]}} Axis
 * @typedef {{name: string, suite: string, cells: (Cell | undefined)[], first: number}} Row
 * @typedef {Map<string, Set<number>>} Found  word → where the log has it
 *
 * @typedef {Object} RowList  rows in their order, of which some may be elsewhere
 * @property {number} length @property {(place: number) => Row | undefined} at
 * @property {(first: number, last: number) => any} [need]  asks for rows that are elsewhere
 * @property {(place: number) => Promise<Row | undefined>} [load]
 *
 * @typedef {Object} Framed  a grid whose rows are elsewhere
 * @property {string[]} urgency @property {Axis[]} axes @property {boolean} several  whether there are several suites
 * @property {Object<string, string[]>} offered  the values of each filter @property {Object<string, number>} amounts  cells of each status
 * @property {number} warned  cells with warnings
 * @property {Object<string, number>} rows  how many each axis has
 */

const SEPARATOR = "\u0000";

/** Rows of `axis`, in the order of the cells; cells that have no column are left out.
 * @param {Cell[]} cells @param {Axis} axis @returns {Row[]} */
export function rowsOf(cells, axis) {
  const columns = new Map(axis.columns.map((column, place) => [column.key.join(SEPARATOR), place]));
  /** @type {Map<string, Row>} */
  const rows = new Map();
  cells.forEach((cell, place) => {
    const column = columns.get(fields(cell, axis.column));
    const key = fields(cell, axis.row);
    const name = axis.row.includes("group") ? cell.group : cell.case;
    if (column === undefined || name === undefined) return;
    let row = rows.get(key);
    if (!row) rows.set(key, (row = { name, suite: cell.suite, cells: new Array(axis.columns.length), first: place }));
    row.cells[column] = cell;
  });
  return [...rows.values()];
}

/** @param {Cell} cell @param {string[]} names */
const fields = (cell, names) => names.map((name) => /** @type {any} */ (cell)[name] ?? "").join(SEPARATOR);

/** Rows of which a cell fits what is asked for, sorted.
 * @param {Row[]} rows @param {import("./state.js").State} state @param {string[]} urgency @param {Found} found
 * @param {string[]} known  the filters that there are */
export function arranged(rows, state, urgency, found, known) {
  const words = wordsOf(state.q);
  const filters = filtersOf(state).filter((name) => known.includes(name));
  const fitting = rows.filter((row) =>
    row.cells.some((cell) => cell && fits(cell, state, filters) && says(cell, words, found))
    && (!state.different || differs(row))
    && (!state.warned || row.cells.some((cell) => cell?.warnings))
    && (!state.failed || row.cells.some((cell) => cell && cell.status !== "passed")));
  const key = KEYS[state.sort] || KEYS.urgency;
  const keys = new Map(fitting.map((row) => [row, key(row, urgency)]));
  const order = (/** @type {any} */ left, /** @type {any} */ right) => (left < right ? -1 : left > right ? 1 : 0);
  return fitting.sort((left, right) => order(keys.get(left), keys.get(right)) || left.first - right.first);
}

/** @param {Cell} cell @param {import("./state.js").State} state @param {string[]} filters */
function fits(cell, state, filters) {
  if (!filters.length) return true;
  const values = valuesOf(cell);
  return filters.every((name) => values[name]?.includes(state[name]));
}

/** The values that a cell has of each filter; `list_filter_values` in Python is the same. @param {Cell} cell
 * @returns {Object<string, string[]>} */
function valuesOf({ status, model, identity, axes, tags, tools, failed }) {
  const single = Object.entries({ status, model, identity, ...axes }).map(([name, value]) => [name, value ? [value] : []]);
  return { ...Object.fromEntries(single), tag: tags || [], tool: tools || [], check: failed || [] };
}

/** @param {Cell} cell @param {string[]} words @param {Found} found */
function says(cell, words, found) {
  if (!words.length) return true;
  const own = factsOf(cell);
  return words.every((word) => own.includes(word) || !!cell.at?.some((place) => found.get(word)?.has(place)));
}

/** @type {WeakMap<Cell, string>} */
const facts = new WeakMap();

/** @param {Cell} cell */
function factsOf(cell) {
  let text = facts.get(cell);
  if (text === undefined) {
    text = [cell.suite, cell.case, cell.entrant, cell.identity, cell.status, cell.problem, cell.question, ...(cell.tags || []), ...(cell.tools || []), ...(cell.failed || [])]
      .join(" ").toLowerCase();
    facts.set(cell, text);
  }
  return text;
}

/** @param {Row} row */
const differs = (row) => new Set(row.cells.map((cell) => cell?.status)).size > 1;

/** @type {Object<string, (row: Row, urgency: string[]) => any>} */
const KEYS = {
  urgency: (row, urgency) => Math.min(...each(row, (cell) => urgency.indexOf(cell.status) + (cell.problem ? 0 : 0.5))),
  suite: (row) => row.first,
  name: (row) => row.name,
  score: (row) => Math.min(...each(row, (cell) => cell.score ?? 2)),
  latency_s: (row) => -Math.max(...each(row, (cell) => cell.latency_s ?? 0)),
  paid_usd: (row) => -Math.max(...each(row, (cell) => cell.paid_usd ?? 0)),
};

/** @param {Row} row @param {(cell: Cell) => number} value */
const each = (row, value) => row.cells.flatMap((cell) => (cell ? [value(cell)] : []));

/** The values that cells have of each filter. @param {Cell[]} cells @returns {Object<string, string[]>} */
export function offered(cells) {
  const found = /** @type {Object<string, Set<string>>} */ (Object.fromEntries(FILTERS.map((name) => [name, new Set()])));
  for (const cell of cells)
    for (const [name, values] of Object.entries(valuesOf(cell)))
      for (const value of values) (found[name] ||= new Set()).add(value);
  return Object.fromEntries(Object.entries(found).map(([name, values]) => [name, [...values].sort()]));
}
