// @ts-check
// A grid of one-line rows, of which only those that are seen are part of the page: 100,000 scroll like 10.

import { swatch } from "./colour.js";
import { breakable, cuttable, el, plural } from "./elements.js";

const AROUND = 12; // rows drawn above and below those that are seen
const FEW = 2; // pass rates that a column shows one by one
const MEASURED = 300; // rows whose names say how wide their column is
const PRINTED = 5000; // rows that paper gets at most
const MARKS = /** @type {Object<string, string>} */ ({
  passed: "✓", failed: "✗", error: "!", skipped: "–", cancelled: "⊘", running: "…", waiting: "·",
});

/** @typedef {import("./rows.js").Cell} Cell @typedef {import("./rows.js").RowList} RowList @typedef {import("./rows.js").Column} Column */
/** @typedef {{column: Column, place: number, entrant: string}} Shown  a column, its place among all, and its entrant */

export class Grid {
  /** @param {string} name  for a screen reader @param {(row: number, column: number, byKey: boolean) => void} open */
  constructor(name, open) {
    this.open = open;
    /** @type {RowList} */
    this.rows = [];
    /** @type {Shown[]} */
    this.columns = [];
    this.suites = false;
    /** @type {import("./answers.js").Answers | null} what writes the answers, if cells show them */
    this.answers = null;
    this.active = { row: 0, column: 0 };
    this.whole = false;
    this.head = el("div", { class: "vrow vhead", role: "row", "aria-rowindex": "1" });
    this.body = el("div", { class: "vbody", role: "rowgroup" });
    this.place = el("div", { class: "vgrid", role: "grid", tabindex: "0", "aria-label": name, "aria-readonly": "true" },
      el("div", { role: "rowgroup", class: "vtop" }, this.head), this.body);
    this.drawn = "";
    this.place.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.place.addEventListener("click", (event) => this.clicked(event));
    this.place.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => this.draw(true)).observe(this.place);
    addEventListener("beforeprint", () => { this.whole = true; this.draw(true); });
    addEventListener("afterprint", () => { this.whole = false; this.draw(true); });
  }

  /** @param {Shown[]} columns @param {RowList} rows @param {boolean} suites  whether rows name their suite */
  show(columns, rows, suites) {
    this.columns = columns;
    this.rows = rows;
    this.suites = suites;
    this.active.row = Math.min(this.active.row, Math.max(0, rows.length - 1));
    this.active.column = Math.min(this.active.column, Math.max(0, columns.length - 1));
    this.place.classList.toggle("single", columns.length <= 1);
    this.place.style.setProperty("--columns", String(columns.length));
    // As wide as the names need, so that the rest is the columns'.
    let longest = 8;
    for (let place = 0; place < Math.min(rows.length, MEASURED); place++) longest = Math.max(longest, rows.at(place)?.name.length || 0);
    this.place.style.setProperty("--names", `${Math.min(longest, 36)}ch`);
    this.place.setAttribute("aria-rowcount", String(rows.length + 1));
    this.place.setAttribute("aria-colcount", String(columns.length + 1));
    this.titles();
    this.draw(true);
  }

  titles() {
    const title = (/** @type {number} */ place, /** @type {(Node | string | null)[]} */ ...parts) =>
      el("div", { role: "columnheader", "aria-colindex": place + 1 }, ...parts);
    this.head.replaceChildren(title(0, "Test"), ...this.columns.map(({ column, entrant }, place) => title(place + 1,
      el("span", { class: "vname", title: `${column.title} ${column.words}`.trim() }, swatch(entrant), breakable(column.title)),
      ...(column.rates.length > FEW ? [rangeOf(column.rates)] : column.rates.map((rate) => el("span", { class: "vrate", title: rate.words, text: `${rate.suite ? `${rate.suite} ` : ""}${rate.text}` }))))));
  }

  height() {
    return parseFloat(getComputedStyle(this.place).getPropertyValue("--row")) || 20;
  }

  /** @param {boolean} [anew]  whether rows that are drawn already are drawn again */
  draw(anew = false) {
    const height = this.height();
    const top = Math.max(0, this.place.scrollTop);
    const seen = Math.ceil(this.place.clientHeight / height) || 1;
    const first = this.whole ? 0 : Math.max(0, Math.floor(top / height) - AROUND);
    const last = Math.min(this.rows.length, this.whole ? PRINTED : first + seen + 2 * AROUND);
    const range = `${first}-${last}`;
    if (!anew && range === this.drawn) return;
    this.drawn = range;
    this.body.style.height = `${(this.whole ? last : this.rows.length) * height}px`;
    const shown = [];
    for (let place = first; place < last; place++) shown.push(this.row(place, height));
    this.body.replaceChildren(...shown);
    this.point();
    this.rows.need?.(first, last);
  }

  /** @param {number} place @param {number} height */
  row(place, height) {
    const row = this.rows.at(place);
    if (!row) return this.waiting(place, height);
    const question = row.cells.find(Boolean)?.question || "";
    const suite = this.suites ? el("span", { class: "vsuite dim", text: `${row.suite} · ` }) : null;
    const made = el("div", { class: "vrow", role: "row", "aria-rowindex": place + 2, "data-row": place },
      el("div", { role: "rowheader", class: "vcase", "aria-colindex": 1, title: question || row.name },
        suite, cuttable(row.name), question ? el("span", { class: "vquestion", dir: "auto", text: ` ${question}` }) : null),
      ...this.columns.map((column, number) => this.cell(row.cells[column.place] || undefined, place, number)));
    made.style.top = `${place * height}px`;
    return made;
  }

  // A row that is on its way.
  /** @param {number} place @param {number} height */
  waiting(place, height) {
    const made = el("div", { class: "vrow", role: "row", "aria-busy": "true", "aria-rowindex": place + 2, "data-row": place },
      el("div", { role: "rowheader", class: "vcase dim", "aria-colindex": 1, text: "…" }));
    made.style.top = `${place * height}px`;
    return made;
  }

  /** @param {Cell | undefined} cell @param {number} row @param {number} column */
  cell(cell, row, column) {
    const facts = { role: "gridcell", "aria-colindex": column + 2, "data-column": column, id: `cell-${row}-${column}` };
    if (!cell) return el("div", { ...facts, class: "vcell none" }, el("span", { "aria-label": "not asked", role: "img", text: "·" }));
    const trials = cell.planned ? ` ${cell.passed}/${cell.planned}` : "";
    return el("div", { ...facts, class: "vcell", title: cell.problem || cell.status },
      el("span", { class: `vstatus ${cell.status}` }, el("span", { "aria-hidden": "true", text: `${MARKS[cell.status] || "?"} ` }),
        el("span", { class: "vword", text: `${cell.status}${trials}` }),
        cell.warnings ? el("span", { class: "vwarn", title: plural(cell.warnings, "warning") }, el("span", { "aria-hidden": "true", text: ` ⚠${cell.warnings > 1 ? cell.warnings : ""}` }),
          el("span", { class: "unseen", text: ` ${plural(cell.warnings, "warning")}` })) : null),
      el("span", { class: "vscore", text: cell.score === undefined ? "" : shownScore(cell.score) }),
      el("span", { class: "vproblem", dir: "auto", text: cell.problem || "" }),
      el("span", { class: "veffort", text: [cell.tokens ? plural(cell.tokens, "token") : "", cell.latency, cell.paid_usd ? cell.paid : ""].filter(Boolean).join(", ") }),
      this.answer(cell));
  }

  /** @param {Cell} cell */
  answer(cell) {
    if (!this.answers) return null;
    const place = el("span", { class: "vanswer", dir: "auto" });
    this.answers.write(place, cell);
    return place;
  }

  // The row and the cell that keys act on.
  point() {
    for (const one of this.body.querySelectorAll(".active")) one.classList.remove("active");
    const cell = this.body.querySelector(`#cell-${this.active.row}-${this.active.column}`);
    if (!cell) return this.place.removeAttribute("aria-activedescendant");
    cell.classList.add("active");
    cell.parentElement?.classList.add("active");
    this.place.setAttribute("aria-activedescendant", cell.id);
  }

  /** @param {number} row @param {number} [column] */
  go(row, column = this.active.column) {
    if (!this.rows.length) return;
    this.active = {
      row: Math.max(0, Math.min(this.rows.length - 1, row)), column: Math.max(0, Math.min(this.columns.length - 1, column)),
    };
    const height = this.height();
    const head = this.head.offsetHeight;
    const top = this.active.row * height;
    if (top < this.place.scrollTop) this.place.scrollTop = top;
    else if (top + height > this.place.scrollTop + this.place.clientHeight - head)
      this.place.scrollTop = top + height - this.place.clientHeight + head;
    this.draw();
    this.point();
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    // A row that was drawn anew while the button was down is found by its place.
    const hit = [/** @type {Element} */ (event.target), document.elementFromPoint(event.clientX, event.clientY)];
    const target = hit.find((one) => one?.closest("[data-row]"));
    const row = target?.closest("[data-row]");
    if (!target || !row || String(getSelection())) return;
    const column = target.closest("[data-column]");
    this.go(Number(row.getAttribute("data-row")), column ? Number(column.getAttribute("data-column")) : this.active.column);
    this.open(this.active.row, this.active.column, false);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, column } = this.active;
    const page = Math.max(1, Math.floor(this.place.clientHeight / this.height()) - 2);
    const moves = /** @type {Object<string, [number, number]>} */ ({
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageDown: [row + page, column], PageUp: [row - page, column], Home: [0, column], End: [this.rows.length - 1, column],
    });
    if (moves[event.key]) this.go(...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.open(row, column, true);
    else return;
    event.preventDefault();
  }
}

/** The lowest and the highest of many rates: together they have none. @param {{suite: string, text: string}[]} rates */
function rangeOf(rates) {
  const known = rates.map((rate) => parseInt(rate.text)).filter((rate) => !Number.isNaN(rate));
  const range = known.length ? `${Math.min(...known)} to ${Math.max(...known)} %` : "–";
  return el("span", { class: "vrate", title: rates.map((rate) => `${rate.suite} ${rate.text}`).join("\n"), text: `${range} on ${rates.length} suites` });
}

// Rounded, but never up into a band that was not reached.
/** @param {number} value */
export function shownScore(value) {
  const rounded = Math.round(value * 100) / 100;
  return ([0.4, 0.7, 0.9].some((edge) => value < edge && rounded >= edge) ? rounded - 0.01 : rounded).toFixed(2);
}
