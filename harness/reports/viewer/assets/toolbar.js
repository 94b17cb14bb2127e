// @ts-check
// The form above the grid: search, filters, order, and what makes the columns.

import { el } from "./elements.js";
import { FILTERS, filtersOf } from "./state.js";

const TYPING_MS = 150;
const TITLES = /** @type {Object<string, string>} */ ({ check: "Failed check" });
const ORDERS = {
  urgency: "failures first", suite: "as in the suite", name: "by name", score: "lowest score first", latency_s: "slowest first", paid_usd: "dearest first",
};

export class Toolbar {
  /** @param {(changed: Object<string, string>) => void} change  is told what was chosen */
  constructor(change) {
    this.change = change;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.search = el("input", { type: "search", autocomplete: "off", id: "search", placeholder: "question, answer, arguments, results …" });
    this.sort = this.select("sort", Object.entries(ORDERS));
    this.by = this.select("by", []);
    /** @type {Map<string, HTMLSelectElement>} */
    this.selects = new Map();
    this.failed = el("input", { type: "checkbox", id: "only-failed" });
    this.different = el("input", { type: "checkbox", id: "only-different" });
    this.labels = new Map();
    this.choices = el("div", { class: "choices" }, this.labelled("sort", "Order", this.sort), this.labelled("by", "Columns", this.by));
    this.more = el("details", { class: "filters" }, el("summary", { text: "Filters" }), this.choices);
    for (const name of FILTERS) this.add(name, "sort");
    this.place = el("form", { class: "toolbar", role: "search", "aria-label": "Search and filter the tests" },
      el("label", { class: "search" }, "Search", this.search),
      el("label", { class: "tick" }, this.failed, "Only failed"),
      this.labelled("different", "", el("span", {}, this.different, "Only different")),
      this.more);
    this.place.addEventListener("submit", (event) => event.preventDefault());
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      const q = this.search.value;
      this.timer = setTimeout(() => change({ q }), TYPING_MS);
    });
    this.failed.addEventListener("change", () => change({ failed: this.failed.checked ? "1" : "" }));
    this.different.addEventListener("change", () => change({ different: this.different.checked ? "1" : "" }));
  }

  /** Adds a filter. @param {string} name @param {string} before  what it stands before */
  add(name, before) {
    const select = this.select(name, []);
    this.selects.set(name, select);
    const title = TITLES[name] || name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");
    this.choices.insertBefore(this.labelled(name, title, select), this.labels.get(before));
  }

  /** @param {string} name @param {[string, string][]} options */
  select(name, options) {
    const found = el("select", { id: `filter-${name}` }, ...options.map(([value, text]) => el("option", { value, text })));
    found.addEventListener("change", () => this.change({ [name]: found.value }));
    return found;
  }

  /** @param {string} name @param {string} title @param {HTMLElement} field */
  labelled(name, title, field) {
    const label = el("label", { class: title ? "choice" : "tick" }, title, field);
    this.labels.set(name, label);
    return label;
  }

  /** Shows the choices that there are: one of a single value says nothing.
   * @param {Object<string, string[]>} offered @param {Object<string, number>} amounts  of each status
   * @param {import("./rows.js").Axis[]} axes */
  offer(offered, amounts, axes) {
    for (const name of Object.keys(offered)) if (!this.selects.has(name)) this.add(name, "identity"); // an axis, beside the model
    for (const [name, select] of this.selects) {
      const options = offered[name] || [];
      const text = (/** @type {string} */ value) => (name === "status" ? `${value} ${(amounts[value] || 0).toLocaleString("en")}` : value);
      const chosen = select.value;
      select.replaceChildren(el("option", { value: "", text: "any" }), ...options.map((value) => el("option", { value, text: text(value) })));
      select.value = chosen;
      this.labels.get(name).hidden = options.length < 2 && !(name === "check" && options.length);
    }
    this.by.replaceChildren(...axes.map((axis) => el("option", { value: axis.name, text: `${axis.name}s`.replace("ys", "ies") })));
    this.labels.get("by").hidden = axes.length < 2;
  }

  /** @param {import("./state.js").State} state @param {string} axis @param {boolean} several  whether there are columns to compare */
  show(state, axis, several) {
    if (document.activeElement !== this.search) this.search.value = state.q;
    for (const [name, select] of this.selects) select.value = state[name] || "";
    this.sort.value = state.sort;
    this.by.value = axis;
    this.failed.checked = !!state.failed;
    this.different.checked = !!state.different;
    this.labels.get("different").hidden = !several;
    const chosen = filtersOf(state).filter((name) => this.selects.has(name)).length;
    /** @type {HTMLElement} */ (this.more.firstChild).textContent = chosen ? `Filters (${chosen})` : "Filters";
  }
}
