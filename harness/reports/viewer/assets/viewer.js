// @ts-check
// The viewer: toolbar, grid and trace, and the address that remembers what is looked at.

import { Answers } from "./answers.js";
import { chartsOf } from "./charts.js";
import { el, plural } from "./elements.js";
import { Grid } from "./grid.js";
import { arranged, offered, rowsOf } from "./rows.js";
import { NOTHING, hiddenOf, isState, readState, wordsOf, writeState } from "./state.js";
import { Toolbar } from "./toolbar.js";
import { Trace } from "./trace.js";

/**
 * @typedef {import("./rows.js").Cell} Cell @typedef {import("./rows.js").Row} Row @typedef {import("./rows.js").Axis} Axis
 * @typedef {import("./rows.js").RowList} RowList @typedef {import("./rows.js").Framed} Framed @typedef {import("./state.js").State} State
 * @typedef {import("./grid.js").Shown} Shown @typedef {import("./rows.js").Column} Column
 *
 * @typedef {Object} Source  where a viewer's data come from
 * @property {(cell: Cell, trial: number) => Promise<import("./trial.js").Detail | null>} trial
 * @property {(words: string[], signal: AbortSignal) => Promise<import("./rows.js").Found>} search
 * @property {(cell: Cell, trial: number, detail: import("./trial.js").Detail) => import("./trace.js").Parts} [more]
 *
 * @typedef {{loaded: () => void, failed: (error: Error) => void}} Heard  what becomes of rows that are asked for
 * @typedef {Object} Elsewhere  rows that are filtered, sorted and searched elsewhere
 * @property {(axis: string) => number} total
 * @property {(state: State, axis: string, signal: AbortSignal, heard: Heard) => Promise<RowList>} arrange
 * @property {(state: State, axis: string, wanted: string) => Promise<{row: number | null, column: number} | null>} find
 */

const REFRESH_MS = 700; // after which the trace of a trial under way is asked for again
const MANY = 2000; // cells from which on a grid that fills is drawn once a second

export class Viewer {
  /** @param {HTMLElement} place @param {Source} source */
  constructor(place, source) {
    this.source = source;
    /** @type {Cell[]} */
    this.cells = [];
    /** @type {Axis[]} */
    this.axes = [];
    /** @type {string[]} */
    this.urgency = [];
    /** @type {Row[]} */
    this.all = [];
    /** @type {import("./rows.js").Found} */
    this.found = new Map();
    /** @type {Elsewhere | undefined} */
    this.elsewhere = undefined;
    this.several = false;
    /** @type {string[]} the filters that there are */
    this.filters = [];
    this.state = readState(location.hash);
    this.stale = true;
    this.toolbar = new Toolbar((changed) => this.change(changed));
    this.grid = new Grid("Tests", (row, column, byKey) => this.open(row, column, { focus: byKey }));
    this.answers = new Answers((cell, trial) => this.source.trial(cell, trial));
    this.trace = new Trace({
      move: (step) => this.move(step), close: () => this.close(), choose: (trial) => this.choose(trial),
    }, source.more);
    this.status = el("span", { class: "dim shown", role: "status", id: "shown" });
    this.toolbar.place.insertBefore(this.status, this.toolbar.more);
    this.panes = el("div", { class: "panes" }, this.grid.place, this.trace.place);
    this.plots = el("div", { class: "vcharts" });
    this.charts = el("details", { class: "vmore" }, el("summary", { text: "Charts" }), this.plots);
    this.charts.addEventListener("toggle", () => this.plot());
    place.replaceChildren(this.toolbar.place, this.panes, this.charts);
    document.addEventListener("keydown", (event) => this.pressed(event));
    addEventListener("hashchange", () => this.follow());
    setInterval(() => this.refresh(), REFRESH_MS);
  }

  // A trial that goes on is followed while somebody looks at it.
  refresh() {
    const cell = this.shown && this.cells[this.shown.number];
    if (!cell || cell.status !== "running" || document.visibilityState === "hidden") return;
    const trial = this.shown?.trial ?? 0;
    this.trace.refresh(() => this.source.trial(cell, trial));
  }

  /** Shows the whole of a run. @param {{urgency: string[], axes: Axis[], cells: Cell[]}} grid */
  fill(grid) {
    this.elsewhere = undefined;
    this.urgency = grid.urgency;
    this.axes = grid.axes;
    this.cells = grid.cells;
    // Cells say their model and axes where these are not the entrant alone.
    const axes = Object.fromEntries(Object.keys(grid.axes[0]?.columns[0]?.axes || {}).map((name) => [name, "none"]));
    this.cells.forEach((cell, number) => { Object.assign(cell, { model: cell.entrant, axes, ...cell, number }); });
    this.stale = true;
    this.update();
    this.search();
    this.openNamed();
  }

  /** Shows a run whose rows are elsewhere, but for those on the screen. @param {Framed} grid @param {Elsewhere} elsewhere */
  async frame(grid, elsewhere) {
    clearTimeout(this.waiting);
    this.elsewhere = elsewhere;
    this.urgency = grid.urgency;
    this.axes = grid.axes;
    this.cells = [];
    this.several = grid.several;
    this.filters = Object.keys(grid.offered);
    this.toolbar.offer(grid.offered, grid.amounts, grid.axes, grid.warned);
    await this.update();
    await this.openNamed();
  }

  /** Takes the place of a cell, or adds it; many that come at once are drawn together. @param {Cell} cell @param {number} number */
  put(cell, number) {
    cell.number = number;
    cell.model ??= cell.entrant;
    this.cells[number] = cell;
    this.stale = true;
    this.waiting ||= setTimeout(() => {
      this.waiting = 0;
      this.update();
      if (this.shown && this.cells[this.shown.number]?.status !== this.shown.status) this.reopen();
    }, this.cells.length > MANY ? 1000 : 50);
  }

  get axis() {
    return this.axes.find((axis) => axis.name === this.state.by) || this.axes[0];
  }

  /** @param {Object<string, string>} changed */
  change(changed) {
    const searching = "q" in changed && changed.q !== this.state.q;
    Object.assign(this.state, changed);
    if ("by" in changed) this.stale = true;
    this.keep();
    this.update();
    if (searching && !this.elsewhere) this.search();
  }

  keep() {
    const { pathname, search } = location;
    history.replaceState(history.state, "", pathname + search + writeState(this.state));
  }

  async update() {
    if (!this.axes.length) return;
    if (this.stale && !this.elsewhere) {
      const cells = this.cells.filter(Boolean);
      this.all = rowsOf(cells, this.axis);
      const amounts = /** @type {Object<string, number>} */ ({});
      for (const cell of cells) amounts[cell.status] = (amounts[cell.status] || 0) + 1;
      const values = offered(cells);
      this.filters = Object.keys(values);
      this.toolbar.offer(values, amounts, this.axes, cells.filter((cell) => cell.warnings).length);
      this.several = new Set(this.all.map((row) => row.suite)).size > 1;
      this.stale = false;
    }
    const named = this.axis.column.indexOf("entrant");
    const columns = this.axis.columns.map((column, place) => ({ column, place, entrant: column.key[named] }))
      .filter(({ column }) => this.isChosen(column));
    this.toolbar.show(this.state, this.axis);
    this.grid.answers = this.state.answers ? this.answers : null;
    for (const name of ["answers", "figures"]) this.panes.classList.toggle(name, !!this.state[name]);
    if (this.elsewhere) return this.arrange(columns, this.elsewhere);
    this.grid.show(columns, arranged(this.all, this.state, this.urgency, this.found, this.filters), this.several);
    this.say();
  }

  // Drawn while somebody looks; of rows that are elsewhere, pass rates alone.
  plot() {
    const rows = this.elsewhere ? [] : /** @type {Row[]} */ (this.grid.rows);
    if (this.charts.open) this.plots.replaceChildren(...chartsOf(this.grid.columns, rows, this.plots.clientWidth));
  }

  /** Whether a column has what is chosen of its identity, its model and the axes of trials. @param {Column} column */
  isChosen(column) {
    const identity = column.key[this.axis.column.indexOf("identity")];
    const own = Object.entries({ model: column.model, identity, ...column.axes });
    return !hiddenOf(this.state).has(column.title) && own.every(([name, value]) => !value || !this.state[name] || value === this.state[name]);
  }

  /** @param {Shown[]} columns @param {Elsewhere} elsewhere */
  async arrange(columns, elsewhere) {
    this.searching?.abort();
    const controller = (this.searching = new AbortController());
    if (wordsOf(this.state.q).length) this.say("searching every text …");
    const failed = (/** @type {Error} */ error) => this.say(`the tests cannot be asked for: ${error.message}`);
    try {
      const rows = await elsewhere.arrange(this.state, this.axis.name, controller.signal, { loaded: () => this.grid.draw(true), failed });
      if (controller.signal.aborted) return;
      this.grid.show(columns, rows, this.several);
      this.say();
    } catch (error) {
      if (!controller.signal.aborted) failed(/** @type {Error} */ (error));
    }
  }

  say(more = "") {
    this.plot();
    const shown = this.grid.rows.length;
    const all = this.elsewhere ? this.elsewhere.total(this.axis.name) : this.all.length;
    const words = shown === all ? plural(all, "test") : `${plural(shown, "test")} of ${all.toLocaleString("en")}`;
    const text = [words, more].filter(Boolean).join(" · ");
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  // Facts are searched at once; what was said and sent is asked for where it is.
  async search() {
    this.searching?.abort();
    const words = wordsOf(this.state.q);
    if (!words.length) {
      this.found = new Map();
      return;
    }
    const controller = (this.searching = new AbortController());
    this.say("searching every text …");
    try {
      const found = await this.source.search(words, controller.signal);
      if (controller.signal.aborted) return;
      this.found = found;
      this.update();
    } catch (error) {
      if (!controller.signal.aborted) this.say(`the texts cannot be searched: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** @param {number} row @param {number} column @param {{trial?: number, focus?: boolean, named?: boolean}} [how]
   *   `named`: the address says it already */
  open(row, column, { trial, focus = false, named = false } = {}) {
    const rows = this.grid.rows;
    const found = rows.at(row);
    if (!found) {
      rows.load?.(row).then((there) => { if (there && rows === this.grid.rows) this.open(row, column, { trial, focus, named }); },
        (error) => this.say(`the test cannot be asked for: ${error.message}`));
      return;
    }
    const cell = found.cells[this.grid.columns[column]?.place];
    if (!cell) return;
    const chosen = trial ?? Math.max(0, (cell.trials || []).indexOf(cell.status));
    this.shown = { number: /** @type {number} */ (cell.number), status: cell.status, trial: chosen };
    this.state.open = nameOf(cell) + (cell.planned ? `/${chosen + 1}` : "");
    if (!named) this.keep();
    this.panes.classList.add("open");
    this.trace.show(cell, chosen, `${(row + 1).toLocaleString("en")} of ${this.grid.rows.length.toLocaleString("en")}`, () => this.source.trial(cell, chosen));
    this.grid.go(row, column);
    const alone = getComputedStyle(this.panes).display === "block"; // on a phone it takes the grid's place
    if (alone) this.trace.place.scrollIntoView({ block: "start" });
    if (focus || alone) this.trace.title.focus({ preventScroll: true });
  }

  reopen() {
    const { row, column } = this.grid.active;
    this.open(row, column);
  }

  /** @param {number} trial */
  choose(trial) {
    const { row, column } = this.grid.active;
    this.open(row, column, { trial });
  }

  /** @param {number} step */
  move(step) {
    const { row, column } = this.grid.active;
    const next = this.trace.opened || step < 0 ? row + step : row;
    const to = Math.max(0, Math.min(this.grid.rows.length - 1, next));
    this.grid.go(to, column);
    this.open(to, column);
  }

  close() {
    this.trace.close();
    this.shown = undefined;
    this.state.open = "";
    this.keep();
    this.panes.classList.remove("open");
    this.grid.draw(true);
    this.grid.place.focus();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("input, select, textarea, [contenteditable]")) return;
    if (event.key === "j") this.move(1);
    else if (event.key === "k") this.move(-1);
    else if (event.key === "Escape" && this.trace.opened) this.close();
    else if (event.key === "p" && this.trace.opened) print();
    else return;
    event.preventDefault();
  }

  // Somebody followed a link inside the page, or changed the address by hand.
  async follow() {
    if (!isState(location.hash)) return;
    this.state = readState(location.hash);
    this.stale = true;
    await this.update();
    if (!this.elsewhere) this.search();
    this.openNamed();
  }

  // Opens the trial that the address names; what hides it is taken away.
  async openNamed() {
    const wanted = this.state.open;
    if (!wanted) return;
    let found = await this.place(wanted);
    if (found && found.row < 0) {
      this.state = { ...NOTHING, open: wanted };
      this.stale = true;
      await this.update();
      found = await this.place(wanted);
    }
    if (!found || found.row < 0) return;
    this.open(found.row, found.column, { trial: found.trial, named: true });
    this.grid.place.scrollIntoView({ block: "nearest" });
  }

  /** Where a trial is among what is shown; row -1: it is hidden. @param {string} wanted
   * @returns {Promise<{row: number, column: number, trial: number | undefined} | null>} */
  async place(wanted) {
    const numbered = wanted.startsWith("#");
    /** @type {number | null | undefined} */
    let row;
    let column, trial;
    if (this.elsewhere) {
      const found = await this.elsewhere.find(this.state, this.axis.name, wanted).catch((error) => this.say(`the test cannot be found: ${error.message}`));
      if (!found) return null;
      ({ row, column } = found);
      trial = numbered ? 0 : Number(wanted.split("/")[3]);
    } else {
      const cell = numbered ? this.cells.find((one) => one && (one.place ?? one.number) === Number(wanted.slice(1)))
        : this.cells.find((one) => one && (wanted === nameOf(one) || wanted.startsWith(`${nameOf(one)}/`)));
      if (!cell) return null;
      const rows = /** @type {Row[]} */ (this.grid.rows);
      row = rows.findIndex((one) => one.cells.includes(cell));
      column = rows[row]?.cells.indexOf(cell);
      trial = numbered ? 0 : Number(wanted.slice(nameOf(cell).length + 1));
    }
    const shown = this.grid.columns.findIndex((one) => one.place === column);
    return { row: shown < 0 ? -1 : row ?? -1, column: shown, trial: trial ? trial - 1 : undefined };
  }
}

/** @param {Cell} cell */
const nameOf = (cell) => [cell.suite, cell.case, cell.entrant, ...(cell.run ? [cell.run] : [])].map(encodeURIComponent).join("/");
