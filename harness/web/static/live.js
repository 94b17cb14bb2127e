// @ts-check
// A run as it goes: its events come one by one, and a page that was reloaded gets them all again.

import { Refusal, call } from "./api.js";
import { Again } from "./again.js";
import { Comparing } from "./comparing.js";
import { swatch } from "./assets/colour.js";
import { buttonOf, byId, element, linkOf, replaceIn, reveal } from "./dom.js";
import { Labelling } from "./label.js";
import { LiveGrid } from "./live_grid.js";
import { problems } from "./problems.js";
import { Reviews } from "./review.js";
import { runSource } from "./run_source.js";
import { Stream } from "./stream.js";
import { Viewer } from "./assets/viewer.js";
import { Windows } from "./windows.js";
import { counted, money, percent, score, seconds } from "./words.js";

/**
 * @typedef {{score: number | null, band: string | null}} Average
 * @typedef {{pass_rate: number | null, pass_rate_interval: [number, number] | null, band: string | null,
 *   averages: Record<string, Average>, suite?: string, entrant?: string}} Figures
 *
 * @typedef {Object} Run
 * @property {string} id
 * @property {string} state
 * @property {string} [file]
 * @property {{name: string, cases: string[]}[]} suites
 * @property {string[]} models
 * @property {string[]} servers
 * @property {string[]} [judges]
 * @property {number} planned
 * @property {string | null} started_at
 * @property {string[]} notes
 * @property {string[]} [plan_notes]
 * @property {import("./label.js").Label} [label]  what people call it, once it has ended
 * @property {boolean} ours  whether it was started on the page
 *
 * @typedef {Object} RunSummary
 * @property {string} reason
 * @property {boolean} cancelled
 * @property {string[]} damaged
 * @property {string[]} call_lines
 * @property {{title: string, lines: string[]}[]} [tables]  what was made of faults
 * @property {string[]} suites
 * @property {string[]} models
 * @property {Record<string, number>} counts
 * @property {number | null} elapsed_s
 * @property {number | null} paid_usd
 * @property {(Figures & {suite: string, entrant: string})[]} groups
 * @property {import("./review.js").Found} reviews
 *
 * @typedef {Record<string, number | null>} Progress  done, planned, paid_usd, and the tests of each ending
 * @typedef {{suite: string, case: string, entrant: string, progress: Progress}} Test
 * @typedef {{grid: any, to_read?: number, read?: number, beginning?: any, run: Run, summary: RunSummary & Figures}} Whole
 * @typedef {import("../../reports/viewer/assets/rows.js").Cell} Cell
 */

const ASK_MS = 500; // after which it is asked again how far a large log is read

const AVERAGES = {
  tool_selection: "Tool selection",
  argument_match: "Argument match",
  faithfulness: "Faithfulness",
  overall: "Overall score",
};

const bar = () => /** @type {HTMLProgressElement} */ (byId("progress"));

export class Live {
  /** @param {string} id  name of the run */
  constructor(id) {
    this.id = id;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.clock = undefined;
    this.over = false;
    this.shown = false;
    this.reviews = new Reviews(id);
    this.comparing = new Comparing(id);
    this.labelling = new Labelling(id, ({ name }) => this.title(name));
    this.viewer = new Viewer(byId("viewer"), runSource(id, (/** @type {Cell} */ cell, /** @type {number} */ _trial, /** @type {any} */ detail) => this.more(cell, detail)));
    this.grid = new LiveGrid(this.viewer);
    /** @type {Run | null} */
    this.run = null;
    this.connected = true;
    /** @type {Progress} */
    this.done = { done: 0, planned: 0, paid_usd: 0 };
    byId("live").hidden = false;
    byId("cancel").addEventListener("click", () => this.cancel());
    this.open();
  }

  // A run that has ended is shown at once; another one is followed.
  async open() {
    let whole = await this.whole(false);
    if (whole?.to_read) whole = await this.reading(whole.to_read);
    if (!whole?.grid) return this.listen();
    this.planned(whole.run);
    await this.summary(whole.summary);
    reveal();
  }

  // What is known of a large log while it is read. The answer with the whole run says what is wrong with it.
  /** @param {string} more @returns {Promise<Partial<Whole>>} */
  async known(more) {
    try {
      return await call(`/evaluations/${encodeURIComponent(this.id)}/grid?${more}`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return {};
    }
  }

  // A large log that nobody has opened yet: its first tests are shown while it is read.
  /** @param {number} size  its bytes */
  async reading(size) {
    const all = this.whole(true);
    let over = false;
    all.finally(() => { over = true; });
    let known = await this.known("beginning=1");
    reveal();
    if (!over && known.beginning) this.viewer.fill(known.beginning);
    while (!over) {
      const read = known.read || 0;
      const share = Math.floor((100 * read) / size);
      byId("state").textContent = `${this.first()}; reading the others: ${share} % of ${Math.round(size / 1e6)} MB. Next time it opens at once …`;
      bar().max = size;
      bar().value = read;
      await Promise.race([all, new Promise((done) => setTimeout(done, ASK_MS))]);
      if (!over) known = await this.known("");
    }
    return all;
  }

  first() {
    return `The first ${this.viewer.all.length} tests of a large log`;
  }

  /**
   * @param {boolean} wait  whether it is waited for, if it has to be made first
   * @returns {Promise<Whole | null>}
   */
  async whole(wait) {
    try {
      const found = await call(`/evaluations/${encodeURIComponent(this.id)}/grid${wait ? "?whole=1" : ""}`);
      if (found.grid) {
        this.shown = true;
        if (found.grid.cells) this.viewer.fill(found.grid);
        else this.viewer.frame(found.grid, new Windows(this.id, found.grid));
      }
      return found;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return null; // the events say what is wrong
    }
  }

  // What this page adds to the trace of a trial.
  /** @param {Cell} cell @param {{key: string, status: string}} detail */
  more(cell, detail) {
    const test = { key: detail.key, suite: cell.suite, case: cell.case, status: detail.status };
    return { top: [this.reviews.badge(test)], bottom: [this.comparing.link(test), this.reviews.panel(test)] };
  }

  listen() {
    new Stream(this.id, /** @type {import("./stream.js").Hear} */ ({
      run: (run) => this.planned(run),
      test_case_start: (test) => this.grid.start(test),
      test_case_waiting: (test) => this.waiting(test),
      test_case_result: (test) => this.result(test),
      summary: (summary) => this.summary(summary),
      error: (error) => this.failed(error),
      gone: () => this.failed({ message: "There is no such run here.", problems: [] }),
      lost: () => this.lost(),
      back: () => this.back(),
    }));
  }

  // Nothing is known of the run until the server is back: neither its time nor its state.
  lost() {
    reveal();
    clearInterval(this.clock);
    this.clock = undefined;
    this.connected = false;
    byId("state").textContent = "The connection to the server was lost; trying again …";
    if (this.run) this.tiles(null, this.done.paid_usd);
  }

  back() {
    this.connected = true;
    replaceIn(byId("failure"));
    if (this.run) this.tick();
  }

  /** @param {Run} run */
  planned(run) {
    if (!this.shown) reveal();
    if (!this.run && !this.shown) this.grid.plan(run);
    this.run = run;
    this.done.planned = Math.max(this.done.planned || 0, run.planned);
    if (run.label) this.labelling.take(run.label);
    else this.title("");
    byId("about").textContent =
      `${run.models.join(", ")} on ${run.servers.join(", ")} · run ${run.id}` +
      (run.judges && run.judges.length ? ` · judged by ${run.judges.join(", ")}` : "");
    // What the plan assumed is a fact beside the model and the server; a notice is what went wrong since.
    const assumed = run.plan_notes || [];
    const since = run.notes.filter((note) => !assumed.includes(note));
    replaceIn(byId("notes"), ...since.map((note) => element("p", { class: "notice" }, note)),
      assumed.length ? element("details", { class: "assumed" }, element("summary", {}, assumed.join(" "))) : null);
    byId("cancel").hidden = !run.ours;
    this.tick();
  }

  /** @param {string} given  the name that people gave it */
  title(given) {
    const name = given || this.run?.file || this.run?.suites.map((suite) => suite.name).join(", ") || "";
    byId("live-title").textContent = byId("live-title").title = name;
    document.title = `${name} · harness`;
  }

  tick() {
    this.clock ||= setInterval(() => this.show(), 500);
    this.show();
  }

  /** @param {Test} test */
  waiting(test) {
    this.grid.waiting(test);
    this.done = test.progress;
    this.show();
  }

  /** @param {Test} test */
  result(test) {
    this.grid.result(test);
    this.done = test.progress;
    this.show();
  }

  show() {
    if (!this.run || this.over || !this.connected) return;
    const { done, planned } = this.done;
    bar().max = planned || 1;
    bar().value = done || 0;
    const words = this.run.state === "queued" ? "Waiting for its turn." : `${done} of ${planned} tests have ended.`;
    if (byId("state").textContent !== words) byId("state").textContent = words;
    const began = this.run.started_at ? Date.parse(this.run.started_at) : null;
    this.tiles(began === null ? null : Math.max(0, (Date.now() - began) / 1000), this.done.paid_usd);
  }

  /** @param {number | null} time @param {number | null | undefined} cost */
  tiles(time, cost) {
    const counts = ["passed", "failed", "error", "skipped", "cancelled"].filter((name) => this.done[name]);
    const tile = (/** @type {string} */ name, /** @type {string} */ value) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
    replaceIn(
      byId("tiles"),
      tile("Time", time === null ? "–" : time < 60 && !this.over ? `${Math.floor(time)} s` : seconds(time)),
      tile(this.over ? "Cost" : "Cost so far", money(cost)),
      ...counts.map((name) => tile(name, String(this.done[name]))),
    );
  }

  /** @param {RunSummary & Figures} summary */
  async summary(summary) {
    this.finish();
    if (!this.shown) this.whole(true);
    replaceIn(byId("failure"));
    const { counts } = summary;
    this.done = { ...counts, done: counts.passed + counts.failed + counts.error };
    bar().max = counts.planned || 1;
    bar().value = counts.planned - counts.cancelled - counts.skipped;
    const ended =
      summary.reason === "complete" ? "All tests have ended."
      : summary.cancelled ? "The run was cancelled."
      : `The run ended early: ${summary.reason}.`;
    byId("state").textContent = [ended, ...[...summary.damaged, ...summary.call_lines].map((words) => `${words}.`)].join(" ");
    this.tiles(summary.elapsed_s, summary.paid_usd);
    // One figure of several models, or of several suites, would be true of none of them.
    const groups = summary.groups.length > 1 ? summary.groups : [summary];
    const rates = groups.map((one) => one.pass_rate).filter((rate) => rate !== null);
    const range = rates.length ? `${percent(Math.min(...rates))} to ${percent(Math.max(...rates))}` : "no verdict";
    replaceIn(byId("scores"), ...(groups.length > 1
      ? [element("details", {}, element("summary", {}, `${groups.length} pass rates: ${range}`), ...groups.map(figures))]
      : groups.map(figures)));
    replaceIn(byId("tables"), ...(summary.tables || []).map(({ title, lines }) =>
      element("details", { open: "" }, element("summary", {}, title), element("pre", {}, lines.join("\n")))));
    byId("bar-line").hidden = true;
    byId("summary").hidden = false;
    this.reviews.take(summary.reviews);
    byId("labelling").hidden = false;
    this.link("download", `/evaluations/${encodeURIComponent(this.id)}/download`);
    this.link("report", `/runs/${encodeURIComponent(this.id)}/report`);
    this.link("share", `/runs/${encodeURIComponent(this.id)}/report?share`);
    byId("download").setAttribute("download", `${this.id}.json`);
    this.comparing.offer(summary); // in a menu, where nothing moves by it
    await new Again(this.id).offer(summary);
  }

  /** @param {{message: string, problems: import("./api.js").Problem[]}} error */
  failed(error) {
    reveal();
    this.finish();
    byId("state").textContent = "";
    replaceIn(byId("failure"), problems(error.message, error.problems.filter((one) => one.line || one.message !== error.message || one.meant)));
  }

  finish() {
    this.over = true;
    clearInterval(this.clock);
    if (!this.shown) this.grid.end();
    byId("cancel").hidden = true;
  }

  /** @param {string} id @param {string} target */
  link(id, target) {
    linkOf(id).href = target;
    byId(id).hidden = false;
  }

  async cancel() {
    buttonOf("cancel").disabled = true;
    byId("cancel").textContent = "Cancelling …";
    try {
      await call(`/evaluations/${encodeURIComponent(this.id)}`, { method: "DELETE" });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      replaceIn(byId("failure"), problems(error.message, []));
    } finally {
      buttonOf("cancel").disabled = false;
      byId("cancel").textContent = "Cancel";
    }
  }
}

/** @param {Figures} group */
function figures(group) {
  const averages = Object.entries(AVERAGES).filter(([name]) => group.averages[name].score !== null);
  return element(
    "section",
    { class: "group" },
    group.entrant ? element("h2", {}, swatch(group.entrant), `${group.entrant} on ${group.suite}`) : null,
    element(
      "div",
      { class: "scores" },
      tile("Pass rate", percent(group.pass_rate), group.band, interval(group)),
    ),
    averages.length ? element("details", { class: "averages", open: matchMedia("(min-width: 40rem)").matches },
      element("summary", {}, counted(averages.length, "average")),
      element("div", { class: "scores" }, ...averages.map(([name, title]) => tile(title, score(group.averages[name].score), group.averages[name].band)))) : null,
  );
}

/** @param {Figures} summary */
function interval(summary) {
  if (!summary.pass_rate_interval) return ["nothing was judged"];
  const [low, high] = summary.pass_rate_interval.map((share) => Math.round(100 * share));
  return [element("span", { class: "wide" }, "95 % interval "), `${low}–${high} %`];
}

/** @param {string} title @param {string} value @param {string | null} band @param {(Node | string)[]} [more] */
function tile(title, value, band, more = []) {
  return element(
    "div",
    { class: `tile ${(band || "none").replace(" ", "-")}` },
    element("span", { class: "dim" }, title),
    element("strong", {}, value),
    band ? element("span", { class: "band" }, band) : null,
    more.length ? element("span", { class: "dim small" }, ...more) : null,
  );
}
