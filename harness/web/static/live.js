// A run as it goes: its events come one by one, and a page that was reloaded gets them all again.

import { Refusal, call } from "./api.js";
import { Again } from "./again.js";
import { Comparing } from "./comparing.js";
import { swatch } from "./assets/colour.js";
import { byId, element, replaceIn } from "./dom.js";
import { LiveGrid } from "./live_grid.js";
import { problems } from "./problems.js";
import { Reviews } from "./review.js";
import { runSource } from "./run_source.js";
import { Stream } from "./stream.js";
import { Viewer } from "./assets/viewer.js";
import { money, percent, score, seconds } from "./words.js";

const ASK_MS = 500; // after which it is asked again how far a large log is read

const AVERAGES = {
  tool_selection: "Tool selection",
  argument_match: "Argument match",
  faithfulness: "Faithfulness",
  overall: "Overall score",
};

export class Live {
  constructor(id) {
    this.id = id;
    this.reviews = new Reviews(id);
    this.comparing = new Comparing(id);
    this.viewer = new Viewer(byId("viewer"), runSource(id, (cell, _trial, detail) => this.more(cell, detail)));
    this.grid = new LiveGrid(this.viewer);
    this.run = null;
    this.connected = true;
    this.done = { done: 0, planned: 0, cost_usd: 0 };
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
    this.summary(whole.summary);
  }

  // A large log that nobody has opened yet: its first tests are shown while it is read.
  async reading(size) {
    const all = this.whole(true);
    let over = false;
    all.finally(() => { over = true; });
    const ask = async (more) => {
      try {
        return await call(`/evaluations/${encodeURIComponent(this.id)}/grid?${more}`);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return {}; // `all` says what is wrong
      }
    };
    let told = await ask("beginning=1");
    if (!over && told.beginning) this.viewer.fill(told.beginning);
    while (!over) {
      const tests = `The first ${this.viewer.all.length} tests of a large log`;
      const share = Math.floor((100 * (told.read || 0)) / size);
      byId("state").textContent = `${tests}; reading the others: ${share} % of ${Math.round(size / 1e6)} MB. Next time it opens at once …`;
      byId("progress").max = size;
      byId("progress").value = told.read || 0;
      await Promise.race([all, new Promise((done) => setTimeout(done, ASK_MS))]);
      if (!over) told = await ask("");
    }
    return all;
  }

  /** @param {boolean} wait  whether it is waited for, if it has to be made first */
  async whole(wait) {
    try {
      const found = await call(`/evaluations/${encodeURIComponent(this.id)}/grid${wait ? "?whole=1" : ""}`);
      if (found.grid) {
        this.shown = true;
        this.viewer.fill(found.grid);
      }
      return found;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return null; // the events say what is wrong
    }
  }

  // What this page adds to the trace of a trial.
  more(cell, detail) {
    const test = { key: detail.key, suite: cell.suite, case: cell.case, status: detail.status };
    return { top: [this.reviews.badge(test)], bottom: [this.comparing.link(test), this.reviews.panel(test)] };
  }

  listen() {
    new Stream(this.id, {
      run: (run) => this.planned(run),
      test_case_start: (test) => this.grid.start(test),
      test_case_waiting: (test) => this.waiting(test),
      test_case_result: (test) => this.result(test),
      summary: (summary) => this.summary(summary),
      error: (error) => this.failed(error),
      gone: () => this.failed({ message: "There is no such run here.", problems: [] }),
      lost: () => this.lost(),
      back: () => this.back(),
    });
  }

  // Nothing is known of the run until the server is back: neither its time nor its state.
  lost() {
    clearInterval(this.clock);
    this.clock = null;
    this.connected = false;
    byId("state").textContent = "The connection to the server was lost; trying again …";
    if (this.run) this.tiles(null, this.done.cost_usd);
  }

  back() {
    this.connected = true;
    replaceIn(byId("failure"));
    if (this.run) this.tick();
  }

  planned(run) {
    if (!this.run && !this.shown) this.grid.plan(run);
    this.run = run;
    this.done.planned = Math.max(this.done.planned, run.planned);
    const name = run.file || run.suites.map((suite) => suite.name).join(", ");
    byId("live-title").textContent = name;
    document.title = `${name} · harness`;
    byId("about").textContent =
      `${run.models.join(", ")} on ${run.servers.join(", ")} · run ${run.id}` +
      (run.judges && run.judges.length ? ` · judged by ${run.judges.join(", ")}` : "");
    // What the plan assumed is a fact beside the model and the server; a notice is what went wrong since.
    const assumed = run.plan_notes || [];
    const since = run.notes.filter((note) => !assumed.includes(note));
    replaceIn(byId("notes"), ...since.map((note) => element("p", { class: "notice" }, note)),
      assumed.length ? element("p", { class: "dim small" }, assumed.join(" ")) : null);
    byId("cancel").hidden = !run.ours;
    this.tick();
  }

  tick() {
    this.clock ||= setInterval(() => this.show(), 500);
    this.show();
  }

  waiting(test) {
    this.grid.waiting(test);
    this.done = test.progress;
    this.show();
  }

  result(test) {
    this.grid.result(test);
    this.done = test.progress;
    this.show();
  }

  show() {
    if (!this.run || this.over || !this.connected) return;
    const { done, planned } = this.done;
    byId("progress").max = planned || 1;
    byId("progress").value = done;
    const words = this.run.state === "queued" ? "Waiting for its turn." : `${done} of ${planned} tests have ended.`;
    if (byId("state").textContent !== words) byId("state").textContent = words;
    const began = this.run.started_at ? Date.parse(this.run.started_at) : null;
    this.tiles(began === null ? null : Math.max(0, (Date.now() - began) / 1000), this.done.cost_usd);
  }

  tiles(time, cost) {
    const counts = ["passed", "failed", "error", "skipped", "cancelled"].filter((name) => this.done[name]);
    const tile = (name, value) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
    replaceIn(
      byId("tiles"),
      tile("Time", time === null ? "–" : time < 60 && !this.over ? `${Math.floor(time)} s` : seconds(time)),
      tile("Cost so far", money(cost)),
      ...counts.map((name) => tile(name, String(this.done[name]))),
    );
  }

  summary(summary) {
    this.finish();
    if (!this.shown) this.whole(true);
    replaceIn(byId("failure"));
    const { counts } = summary;
    this.done = { ...counts, done: counts.passed + counts.failed + counts.error };
    byId("progress").max = counts.planned || 1;
    byId("progress").value = counts.planned - counts.cancelled - counts.skipped;
    const ended =
      summary.reason === "complete" ? "All tests have ended."
      : summary.cancelled ? "The run was cancelled."
      : `The run ended early: ${summary.reason}.`;
    byId("state").textContent = [ended, ...[...summary.damaged, ...summary.call_lines].map((words) => `${words}.`)].join(" ");
    this.tiles(summary.seconds, summary.cost_usd);
    byId("tiles").firstChild.nextSibling.firstChild.textContent = "Cost";
    // One figure of several models, or of several suites, would be true of none of them.
    const groups = summary.groups.length > 1 ? summary.groups : [summary];
    replaceIn(byId("scores"), ...groups.map(figures));
    byId("summary").hidden = false;
    this.reviews.take(summary.reviews);
    this.comparing.offer(summary);
    new Again(this.id).offer(summary);
    this.link("download", `/evaluations/${encodeURIComponent(this.id)}/download`);
    this.link("report", `/runs/${encodeURIComponent(this.id)}/report`);
    this.link("share", `/runs/${encodeURIComponent(this.id)}/report?share`);
    byId("download").setAttribute("download", `${this.id}.json`);
  }

  failed(error) {
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

  link(id, target) {
    byId(id).href = target;
    byId(id).hidden = false;
  }

  async cancel() {
    byId("cancel").disabled = true;
    byId("cancel").textContent = "Cancelling …";
    try {
      await call(`/evaluations/${encodeURIComponent(this.id)}`, { method: "DELETE" });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      replaceIn(byId("failure"), problems(error.message, []));
    } finally {
      byId("cancel").disabled = false;
      byId("cancel").textContent = "Cancel";
    }
  }
}

function figures(group) {
  const averages = Object.entries(AVERAGES).filter(([name]) => group.averages[name].score !== null);
  return element(
    "section",
    { class: "group" },
    group.model ? element("h3", {}, swatch(group.model), `${group.model} on ${group.suite}`) : null,
    element(
      "div",
      { class: "scores" },
      tile("Pass rate", percent(group.pass_rate), group.band, interval(group)),
      ...averages.map(([name, title]) => tile(title, score(group.averages[name].score), group.averages[name].band)),
    ),
  );
}

function interval(summary) {
  if (!summary.pass_rate_interval) return "nothing was judged";
  const [low, high] = summary.pass_rate_interval.map(percent);
  return `95 % interval ${low} to ${high}`;
}

function tile(title, value, band, more = "") {
  return element(
    "div",
    { class: `tile ${(band || "none").replace(" ", "-")}` },
    element("span", { class: "dim" }, title),
    element("strong", {}, value),
    band ? element("span", { class: "band" }, band) : null,
    more ? element("span", { class: "dim small" }, more) : null,
  );
}
