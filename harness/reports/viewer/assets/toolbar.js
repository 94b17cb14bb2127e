// @ts-check
// The form above the grid: search, filters, order, and what makes the columns.

import { el } from "./elements.js";
import { FILTERS, filtersOf, hiddenOf } from "./state.js";

const TYPING_MS = 150;
const TITLES = /** @type {Object<string, string>} */ ({ check: "Failed check" });
const SELECTS = FILTERS.filter((name) => name !== "status"); // a status has a button
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
    /** @type {import("./state.js").State} */
    this.state = {};
    /** Switches, each with the key and the value that it sets. @type {Map<HTMLButtonElement, [string, string]>} */
    this.switches = new Map();
    this.failed = this.toggle("only-failed", "not passed", "failed");
    this.warned = this.toggle("only-warned", "warnings", "warned");
    this.different = this.toggle("only-different", "changed", "different", "1", "What is not the same in all columns");
    this.statuses = el("span", { class: "statuses" });
    this.columns = el("fieldset", { class: "columns-shown" });
    this.labels = new Map();
    this.choices = el("div", { class: "choices" }, this.labelled("sort", "Order", this.sort), this.labelled("by", "Columns", this.by));
    this.more = el("details", { class: "filters" }, el("summary", { text: "Filters" }), this.choices);
    for (const name of SELECTS) this.add(name, "sort");
    this.place = el("form", { class: "toolbar", role: "search", "aria-label": "Search and filter the tests" },
      el("label", { class: "search" }, "Search", this.search),
      el("div", { class: "strip" },
        el("div", { class: "quick", role: "group", "aria-label": "Quick filters" }, this.failed, this.statuses, this.warned, this.different),
        el("div", { class: "quick", role: "group", "aria-label": "Cells show" },
          this.toggle("show-answers", "Answers", "answers"), this.toggle("show-figures", "Tokens, time, cost", "figures"))),
      this.more);
    this.choices.append(this.columns);
    this.place.addEventListener("submit", (event) => event.preventDefault());
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      const q = this.search.value;
      this.timer = setTimeout(() => change({ q }), TYPING_MS);
    });
  }

  /** A button that sets a value, and takes it away when it is pressed again.
   * @param {string} id @param {string} text @param {string} key @param {string} [value] @param {string} [title] */
  toggle(id, text, key, value = "1", title = "") {
    const button = el("button", { type: "button", id, title: title || null, "aria-pressed": "false", text });
    this.switches.set(button, [key, value]);
    button.addEventListener("click", () => this.change({ [key]: this.state[key] === value ? "" : value }));
    return button;
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
    const label = el("label", { class: "choice" }, title, field);
    this.labels.set(name, label);
    return label;
  }

  /** Shows the choices that there are: one of a single value says nothing.
   * @param {Object<string, string[]>} offered @param {Object<string, number>} amounts  of each status
   * @param {import("./rows.js").Axis[]} axes @param {number} warned  cells with warnings */
  offer(offered, amounts, axes, warned) {
    for (const button of this.statuses.children) this.switches.delete(/** @type {HTMLButtonElement} */ (button));
    this.statuses.replaceChildren(...(offered.status?.length > 1 ? offered.status : []).map((status) =>
      this.toggle(`only-status-${status}`, `${status} ${(amounts[status] || 0).toLocaleString("en")}`, "status", status)));
    this.warned.hidden = !warned;
    this.warned.textContent = `warnings ${warned.toLocaleString("en")}`;
    for (const name of Object.keys(offered)) if (name !== "status" && !this.selects.has(name)) this.add(name, "identity"); // an axis, beside the model
    for (const [name, select] of this.selects) {
      const options = offered[name] || [];
      const chosen = select.value;
      select.replaceChildren(el("option", { value: "", text: "any" }), ...options.map((value) => el("option", { value, text: value })));
      select.value = chosen;
      this.labels.get(name).hidden = options.length < 2 && !(name === "check" && options.length);
    }
    this.by.replaceChildren(...axes.map((axis) => el("option", { value: axis.name, text: `${axis.name}s`.replace("ys", "ies") })));
    this.labels.get("by").hidden = axes.length < 2;
  }

  /** @param {import("./state.js").State} state @param {import("./rows.js").Axis} axis */
  show(state, axis) {
    this.state = state;
    const several = axis.columns.length > 1;
    if (document.activeElement !== this.search) this.search.value = state.q;
    for (const [name, select] of this.selects) select.value = state[name] || "";
    this.sort.value = state.sort;
    this.by.value = axis.name;
    for (const [button, [key, value]] of this.switches) button.setAttribute("aria-pressed", String(state[key] === value));
    this.different.hidden = !several;
    this.offerColumns(axis, hiddenOf(state));
    const chosen = filtersOf(state).filter((name) => this.selects.has(name)).length;
    /** @type {HTMLElement} */ (this.more.firstChild).textContent = chosen ? `Filters (${chosen})` : "Filters";
  }

  /** A box for each column. @param {import("./rows.js").Axis} axis @param {Set<string>} hidden */
  offerColumns(axis, hidden) {
    const titles = axis.columns.map((column) => column.title);
    this.columns.hidden = titles.length < 2;
    const known = [...this.columns.querySelectorAll("input")];
    if (titles.join("\n") !== known.map((box) => box.value).join("\n")) this.columns.replaceChildren(el("legend", { text: "Shown" }),
      ...titles.map((title) => el("label", {}, el("input", { type: "checkbox", value: title }), title)));
    for (const box of this.columns.querySelectorAll("input")) {
      box.checked = !hidden.has(box.value);
      box.onchange = () => {
        const left = [...this.columns.querySelectorAll("input")].filter((one) => !one.checked).map((one) => encodeURIComponent(one.value));
        this.change({ hide: left.length < titles.length ? left.join(",") : "" }); // a grid without columns says nothing
      };
    }
  }
}
