// @ts-check
// From the results of a run to its comparison with another one, and back: the comparison links to the results.

import { Refusal, call } from "./api.js";
import { byId, element, replaceIn } from "./dom.js";
import { percent } from "./words.js";

const MOST = 20;

/**
 * The address of a comparison: the first run against each further one, or the models of a single one.
 * @param {string} before
 * @param {...string} after
 */
export const comparison = (before, ...after) =>
  `/runs/compare?${new URLSearchParams([["a", before], ...after.map((id) => ["b", id])])}`;

/** @typedef {{id: string, state: string, suites: string[], models: string[], result: string, started_at: string, label?: import("./label.js").Label, pass_rate?: number | null}} Run */

export class Comparing {
  /** @param {string} run name of the run whose results are shown */
  constructor(run) {
    this.run = run;
    /** @type {Map<HTMLAnchorElement, {suite: string, case: string}>} */
    this.links = new Map();
    this.all = element("a", { class: "button" }, "Compare");
    this.select = element("select", { id: "compare-with" });
    this.select.addEventListener("change", () => this.choose());
  }

  /**
   * Offers the runs of the same suites, the newest first, and the models of this run.
   * @param {{suites: string[], models: string[]}} summary
   */
  async offer(summary) {
    /** @type {Run[]} */
    let runs;
    try {
      ({ runs } = await call(`/evaluations?${new URLSearchParams({ suite: summary.suites[0] || "", limit: String(MOST) })}`));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return; // the results stand without it
    }
    const others = runs.filter((run) => run.id !== this.run && run.state !== "running" && run.suites.includes(summary.suites[0]));
    const earlier = others.find((run) => run.id < this.run);
    const options = others.map((run) =>
      element("option", { value: run.id }, `${run.label?.name || run.started_at.slice(0, 16).replace("T", " ")} · ${run.models.join(", ")} · ${rate(run)}`));
    if (summary.models.length > 1) options.unshift(element("option", { value: "" }, `the models of this run: ${summary.models.join(", ")}`));
    if (!options.length) return;
    replaceIn(this.select, ...options);
    if (summary.models.length < 2 && earlier) this.select.value = earlier.id;
    replaceIn(byId("comparing"), element("label", { for: "compare-with" }, "Compare with"), this.select, this.all);
    byId("comparing").hidden = false;
    this.choose();
  }

  /**
   * The link from one test to the same test in the comparison.
   * @param {{suite: string, case: string}} test
   */
  link(test) {
    const made = element("a", {}, "Compare this test");
    const place = element("p", {}, made);
    this.links.set(made, test);
    this.aim(made, test);
    return place;
  }

  address() {
    const other = this.select.value;
    const [before, ...after] = other ? [other, this.run].sort() : [this.run];
    return comparison(before, ...after);
  }

  choose() {
    this.all.href = this.address();
    for (const [link, test] of this.links) this.aim(link, test);
  }

  /** @param {HTMLAnchorElement} link @param {{suite: string, case: string}} test */
  aim(link, test) {
    const place = link.parentElement;
    if (place) place.hidden = !this.select.options.length;
    link.href = `${this.address()}#${new URLSearchParams({ suite: test.suite, case: test.case })}`;
  }
}

/** @param {Run} run */
const rate = (run) => (run.pass_rate === null || run.pass_rate === undefined ? run.result : `${percent(run.pass_rate)} passed`);
