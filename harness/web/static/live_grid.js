// @ts-check
// The grid of a run that goes on: a cell for each planned test, which its events fill.

/** @typedef {import("../../reports/viewer/assets/rows.js").Cell} Cell */

const SEPARATOR = "\u0000";
const URGENCY = ["failed", "error", "cancelled", "running", "waiting", "skipped", "passed"];

export class LiveGrid {
  /** @param {import("../../reports/viewer/assets/viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    /** @type {Map<string, number>} */
    this.numbers = new Map();
  }

  /** @param {{suites: {name: string, cases: string[]}[], models: string[]}} run */
  plan(run) {
    /** @type {Cell[]} */
    const cells = [];
    for (const suite of run.suites)
      for (const name of suite.cases)
        for (const entrant of run.models) {
          this.numbers.set([suite.name, name, entrant].join(SEPARATOR), cells.length);
          cells.push({ suite: suite.name, case: name, entrant, status: "waiting" });
        }
    const columns = run.models.map((entrant) => ({ key: [entrant], title: entrant, words: "", rates: [] }));
    this.viewer.fill({ urgency: URGENCY, axes: [{ name: "model", column: ["entrant"], row: ["suite", "case"], columns }], cells });
  }

  /** @param {{suite: string, case: string, entrant: string}} test @param {Partial<Cell>} facts */
  set(test, facts) {
    const key = [test.suite, test.case, test.entrant].join(SEPARATOR);
    const number = this.numbers.get(key) ?? this.viewer.cells.length;
    this.numbers.set(key, number);
    const known = this.viewer.cells[number] || { suite: test.suite, case: test.case, entrant: test.entrant };
    this.viewer.put(/** @type {Cell} */ ({ ...known, ...facts }), number);
  }

  /** @param {any} test */
  start(test) {
    this.set(test, { status: "running" });
  }

  // It has ended; whether it passed takes what the other identities see.
  /** @param {any} test */
  waiting(test) {
    this.set(test, { status: "waiting", problem: "waiting for the other identities" });
  }

  /** @param {any} test */
  result(test) {
    const known = this.viewer.cells[this.numbers.get([test.suite, test.case, test.entrant].join(SEPARATOR)) ?? -1];
    const at = [...(known?.at || [])];
    const trials = [...(known?.trials || [])];
    at[test.trial - 1] = test.cell.at[0];
    trials[test.trial - 1] = test.status;
    this.set(test, { problem: "", ...test.cell, at, ...(test.repeats > 1 ? { trials } : {}) });
  }

  // Nothing more comes: what has not ended was not run.
  end() {
    this.viewer.cells.forEach((cell) => {
      if (cell?.status === "waiting" || cell?.status === "running") this.set(cell, { status: "cancelled", problem: "not run" });
    });
  }
}
