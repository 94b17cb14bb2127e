// @ts-check
// The page of a run; the viewer's scripts stand before it.

import { breakable, el, at, plural, svg } from "../../viewer/assets/elements.js";
import { Viewer } from "../../viewer/assets/viewer.js";
import { block, caseBlock, cellsOf, searchBlocks } from "./blocks.js";

/**
 * @typedef {import("../../viewer/assets/rows.js").Cell} Cell
 * @typedef {{urgency: string[], axes: import("../../viewer/assets/rows.js").Axis[], cells: Cell[], blocks?: number}} GridData
 *
 * @typedef {{words: string, leaked: boolean, status: string, number: number, note: string}} AccessCell
 * @typedef {{legend: string, identities: string[], leaks: {case: string, lines: string[]}[], warnings: string[],
 *   rows: {test: string, cells: (AccessCell | null)[]}[]}} Access  who saw what
 * @typedef {{facts: [string, string][], findings: {words: string, command?: string}[], more: number, told: string[]}} Audit
 * @typedef {[name: string, offered: number, calls: number, errors: number, denied: number, blocked: number]} ToolCounts
 * @typedef {[row: number, column: number, trials: number]} HeatCell
 *
 * @typedef {Object} Overview  what `overview` in Python returns
 * @property {string} run
 * @property {{name: string, description: string}[]} suites
 * @property {{name: string, words: string}[]} models
 * @property {string} servers
 * @property {string} when
 * @property {string[]} damaged
 * @property {string | null} early  why the run ended early
 * @property {number} planned  trials
 * @property {{status: string, amount: number}[]} endings
 * @property {{name: string, rate: number, low: number, high: number, words: string}[]} rates  of each model on each suite, from 0 to 1
 * @property {string[]} repeats
 * @property {{title: string, lines: string[]}[]} scores  of the suites that define any
 * @property {[string, string][]} figures
 * @property {GridData} grid
 * @property {Access | null} access
 * @property {Audit | null} audit
 * @property {ToolCounts[]} tools
 * @property {{rows: string[], columns: string[], cells: HeatCell[]}} heat  tools that were expected and called
 */

/** @type {Overview} */
const data = await block("overview");

const MOST_RATES = 12; // beside each other; the columns of the grid have all
const MOST_BARS = 1000; // of a chart: a screen has no room for more

const several = { suites: data.suites.length > 1, models: data.models.length > 1 };

/** @param {Cell} one */
function fullName(one) {
  return (several.suites ? one.suite + "::" : "") + one.case + (several.models ? ` [${one.entrant}]` : "");
}

// ── Summary ──────────────────────────────────────────────────────────────────────────────────

function showHead() {
  const title = data.suites.map((suite) => suite.name).join(", ") || "No suite";
  document.title = `${title} – evaluation report`;
  at("title").textContent = title;
  if (data.suites.length === 1) at("about").textContent = data.suites[0].description;
  const models = data.models.map((model) => `${model.name} ${model.words}`).join(", ");
  const server = data.servers && `server ${data.servers}`;
  at("facts").textContent = [server, `model ${models}`, data.when, `run ${data.run}`].filter(Boolean).join(" · ");
}

function showTotals() {
  const tiles = [["planned", plural(data.planned, "trial"), ""]];
  for (const { status, amount } of data.endings) tiles.push([status, amount.toLocaleString("en"), status]);
  for (const [name, value] of data.figures) tiles.push([name, value, ""]);
  const rates = data.rates.map(({ rate }) => Math.round(100 * rate));
  at("totals").append(
    rates.length > 1 && !data.audit ? el("details", { class: "rates" },
      el("summary", { text: `${rates.length} pass rates: ${Math.min(...rates)} to ${Math.max(...rates)} %` }), rateBox()) : rateBox(),
    el("dl", { class: "tiles" }, ...tiles.map(([name, value, kind]) =>
      el("div", {}, el("dt", { text: name }), el("dd", { text: value, class: kind })))),
  );
  const told = at("told");
  told.hidden = !data.repeats.length;
  /** @type {HTMLElement} */ (told.firstElementChild).textContent = data.repeats[0] || "";
  told.append(...data.repeats.slice(1).map((words) => el("p", { text: words })));
  for (const { title, lines } of data.scores) {
    at("summary").append(el("p", { text: title }), el("pre", { class: "scores", text: lines.join("\n") }));
  }
  for (const words of data.damaged) at("summary").append(el("p", { class: "notice", text: words }));
  if (data.early) {
    at("summary").append(el("p", { class: "notice", text: `The run ended early: ${data.early}.` }));
  }
}

function rateBox() {
  const box = el("div", { class: "rate" });
  if (data.audit) {  // the share of calls without a finding says nothing of a policy
    const found = data.audit.findings.length + data.audit.more;
    box.append(el("strong", { text: found ? plural(found, "finding") : "No finding" }), el("span", { class: "dim", text: "Evidence has each of them, and what was not tried" }));
    return box;
  }
  if (!data.rates.length) box.append(el("strong", { text: "–" }), el("span", { class: "dim", text: "nothing has a verdict" }));
  // Of several models or suites no figure stands for all.
  for (const { name, rate, low, high, words } of data.rates.slice(0, MOST_RATES)) box.append(
    el("strong", {}, name ? el("bdi", { class: "dim", text: `${name} ` }) : null, `${Math.round(100 * rate)} %`),
    el("span", { class: "dim", text: words }),
    svg("svg", { viewBox: "0 0 1000 26", preserveAspectRatio: "none", role: "img", "aria-label": words },
      svg("rect", { class: "track", x: 0, y: 10, width: 1000, height: 6 }),
      svg("rect", { class: "band", x: 1000 * low, y: 6, width: Math.max(4, 1000 * (high - low)), height: 14 }),
      svg("rect", { class: "point", x: Math.min(994, 1000 * rate - 3), y: 2, width: 6, height: 22 })));
  const left = data.rates.length - MOST_RATES;
  if (left > 0) box.append(el("span", { class: "dim", text: `and ${left} more, above their columns` }));
  return box;
}

// ── Cases ────────────────────────────────────────────────────────────────────────────────────

function showCases() {
  let { cells } = data.grid;
  const viewer = new Viewer(at("viewer"), {
    trial: async (cell, trial) => {
      const found = await caseBlock(/** @type {number} */ (cell.place ?? cell.number));
      if (!found) throw new Error(tooMuch(await block("left-out")));
      return found.trials[trial];
    },
    search: (words, signal) => searchBlocks(cells, words, signal),
  });
  viewer.fill(data.grid);
  if (!data.grid.blocks) return showCharts(cells);
  const waiting = el("p", { class: "dim", role: "status", text: `The first ${plural(viewer.all.length, "test")}; unpacking the others …` });
  at("viewer").before(waiting);
  cellsOf(data.grid.blocks).then((all) => {
    cells = all;
    waiting.remove();
    viewer.fill({ ...data.grid, cells });
    showCharts(cells);
  });
}

async function showLeftOut() {
  const left = await block("left-out");
  if (left) at("summary").append(el("p", { class: "notice", text: `${tooMuch(left)}.` }));
}

/** @param {{from: number, run: string}} left */
const tooMuch = (left) => `The conversations from case ${(left.from + 1).toLocaleString("en")} on are left out: a browser would not open a file with all of them. `
  + `"harness serve" shows them all: open the run ${left.run} there`;

// ── Who saw what ─────────────────────────────────────────────────────────────────────────────

function showAccess() {
  const access = data.access;
  if (!access) return;
  at("access").hidden = false;
  at("access-link").hidden = false;
  if (access.leaks.length) at("cases").before(at("access")); // nothing is more urgent
  const [leaks, table] = [at("access-leaks"), at("access-table")];
  for (const leak of access.leaks) {
    leaks.append(el("div", { class: "notice leak", role: "note" },
      el("strong", { class: "failed" }, "Leak in ", el("bdi", { text: leak.case })),
      ...leak.lines.map((line) => el("p", { dir: "auto", text: line }))));
  }
  leaks.append(...access.warnings.map((words) => el("p", { class: "notice", text: words })));
  if (!access.rows.length) {
    table.remove();
    return;
  }
  const cell = (/** @type {AccessCell | null} */ one) => {
    if (!one) return el("td", { class: "zero", text: "·" });
    const link = el("a", { href: `#case-${one.number}`, class: one.leaked ? "failed" : one.status, text: one.words });
    return el("td", {}, link, one.note ? el("span", { class: "caption", text: one.note }) : null);
  };
  table.append(el("table", { class: "access" },
    el("caption", { text: `Tests and the identities that ask them. ${access.legend}` }),
    el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "test" }),
      ...access.identities.map((name) => el("th", { scope: "col" }, el("bdi", { text: name }))))),
    el("tbody", {}, ...access.rows.map((row) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", { text: row.test })), ...row.cells.map(cell))))));
}

// ── Evidence ─────────────────────────────────────────────────────────────────────────────────

function showAudit() {
  const audit = data.audit;
  if (!audit) return;
  at("audit").hidden = false;
  at("audit-link").hidden = false;
  document.body.classList.add("audited");
  at("audit-facts").append(...audit.facts.map(([name, value]) =>
    el("div", {}, el("dt", { text: name }), el("dd", { text: value }))));
  at("findings-title").textContent = audit.findings.length ? `Findings (${audit.findings.length + audit.more})` : "No finding";
  at("findings").append(...audit.findings.map(({ words, command }) => el("li", { dir: "auto" },
    el("span", { text: words }), command ? el("code", { class: "again", text: command }) : null)));
  if (audit.more) at("findings").append(el("li", { text: `${audit.more} more are in the run log` }));
  at("audit-told").append(...audit.told.map((words) => el("li", { dir: "auto", text: words })));
}

// ── Tools, heat map, charts ──────────────────────────────────────────────────────────────────

function showTools() {
  if (!data.tools.length) {
    at("tools-table").append(el("p", { class: "dim", text: "No tool was offered or called." }));
    return;
  }
  const heads = ["tool", "offered (trials)", "calls", "errors", "denied", "blocked", "remark"];
  const cell = (/** @type {number} */ value, /** @type {number} */ index) => el("td", { text: value.toLocaleString("en"), class: !value ? "zero" : index === 2 ? "bad" : "" });
  const note = (/** @type {number} */ offered, /** @type {number} */ calls) => (calls ? (offered ? "" : "not on offer") : "never used");
  at("tools-table").append(el("table", {},
    el("caption", { text: "How often each tool was offered and called, and what became of the calls" }),
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col", text: head })))),
    el("tbody", {}, ...data.tools.map(([name, ...numbers]) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", { text: name })),
      ...numbers.map(cell),
      el("td", { class: "unused", text: note(numbers[0], numbers[1]) }))))));
}

function showHeat() {
  const { rows: expected, columns, cells } = data.heat;
  if (!expected.length) {
    at("heat-table").append(el("p", { class: "dim", text: "No check of this run expects a tool to be called." }));
    return;
  }
  const amounts = new Map(cells.map(([row, column, trials]) => [`${row},${column}`, trials]));
  const most = Math.max(...cells.map(([, , trials]) => trials));
  const cell = (/** @type {number} */ row, /** @type {number} */ column) => {
    const trials = amounts.get(`${row},${column}`);
    if (!trials) return el("td", { class: "zero", text: "·" });
    const right = expected[row] === columns[column];
    const shade = Math.ceil((4 * trials) / most);
    const words = `${expected[row]} expected, ${columns[column]} called: ${plural(trials, "trial")}`;
    return el("td", { class: `${right ? "good" : "bad"}-${shade}`, title: words, text: trials.toLocaleString("en") });
  };
  const meaning = "Rows: the tool that a check expects. Columns: what was called, which is another tool where the expected one was not.";
  at("heat-table").append(el("p", { class: "dim", text: meaning }), el("table", { class: "heat", "aria-label": meaning },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "expected ↓ called →" }),
      ...columns.map((name) => el("th", { scope: "col" }, breakable(name))))),
    el("tbody", {}, ...expected.map((name, row) => el("tr", {},
      el("th", { scope: "row" }, breakable(name)),
      ...columns.map((_, column) => cell(row, column)))))));
}

/** The cases as bars, the highest first.
 * @param {string} title @param {Cell[]} cases  one or more
 * @param {(one: Cell) => number} value @param {(one: Cell) => string | undefined} words  the value in words */
function chart(title, cases, value, words) {
  const sorted = [...cases].sort((left, right) => value(right) - value(left));
  const top = value(sorted[0]) || 1;
  const step = Math.ceil(sorted.length / MOST_BARS);
  const bars = sorted.filter((_, place) => place % step === 0);
  const width = Math.min(40, 1000 / bars.length);
  const middle = sorted[Math.floor(sorted.length / 2)];
  const text = `${title}, ${plural(sorted.length, "case")}: the most ${words(sorted[0])} (${fullName(sorted[0])}), `
    + `the median ${words(middle)}, the least ${words(sorted[sorted.length - 1])}`;
  return el("figure", {},
    svg("svg", { viewBox: "0 0 1000 150", preserveAspectRatio: "none", role: "img", "aria-label": text },
      ...bars.map((one, place) => {
        const height = Math.max(1, (145 * value(one)) / top);
        const shape = { x: place * width, y: 150 - height, width: Math.max(0.5, width * 0.86), height, class: one.status };
        return svg("rect", shape, svg("title", { text: `${fullName(one)}: ${words(one)}, ${one.status}` }));
      })),
    el("figcaption", { class: "dim", text: step > 1 ? `${text}. A bar is the highest of ${step} cases.` : text }));
}

/** @param {Cell[]} cells */
function showCharts(cells) {
  const ran = cells.filter((one) => (one.latency_s || 0) > 0);
  if (ran.length) at("charts").append(chart("Time", ran, (one) => one.latency_s || 0, (one) => one.latency));
  const paid = cells.filter((one) => one.paid_usd);
  if (paid.length) at("charts").append(chart("Cost", paid, (one) => one.paid_usd || 0, (one) => one.paid));
  const unknown = cells.filter((one) => one.paid_usd === undefined).length;
  if (unknown) at("effort").append(el("p", { class: "dim", text: `The cost of ${plural(unknown, "case")} is unknown.` }));
  else if (!paid.length) at("effort").append(el("p", { class: "dim", text: "Nothing was paid for." }));
}

showHead();
showTotals();
showCases();
showAccess();
showAudit();
showTools();
showHeat();
showLeftOut();
