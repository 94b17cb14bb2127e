// @ts-check
// Past runs: a table with filters, trends, and two to compare.

import { Refusal, call } from "./api.js";
import { swatch } from "./assets/colour.js";
import { comparison } from "./comparing.js";
import { buttonOf, byId, element, fieldOf, replaceIn, reveal } from "./dom.js";
import { tagLinks } from "./label.js";
import { trends } from "./trend.js";
import { counted, money, percent } from "./words.js";

/**
 * @typedef {{suite: string, entrant: string, pass_rate: number | null, band: string | null}} Group
 *
 * @typedef {Object} Run
 * @property {string} id
 * @property {string} state
 * @property {string} started_at
 * @property {string} [asked_at]
 * @property {(string | {name: string})[]} suites
 * @property {string[]} models
 * @property {string} [result]
 * @property {object} [counts]  those of a run whose log can be read
 * @property {Group[]} [groups]
 * @property {number | null} [pass_rate]
 * @property {string | null} [band]
 * @property {number | null} [paid_usd]
 * @property {boolean} [workbench]
 * @property {import("./label.js").Label} [label]  what people call it
 * @property {string} [error]
 * @property {import("./trend.js").Part[]} [by_suite]
 */

const PAGE = 50;
const FILTERS = ["suite", "model", "label", "result"];
const REFRESH_MS = 3000;
const TYPING_MS = 150;
let limit = PAGE;
let asked = 0;
let timer = 0;
/** @type {AbortController | null} */
let asking = null;
/** @type {Set<string>} */
const picked = new Set();
/** @type {Map<string, HTMLElement>} */
let drawn = new Map();

async function load() {
  clearTimeout(timer);
  const number = ++asked;
  const query = new URLSearchParams({ limit: String(limit) });
  for (const id of FILTERS) if (fieldOf(id).value) query.set(id, fieldOf(id).value);
  asking?.abort(); // nobody waits for what was typed before
  asking = new AbortController();
  try {
    const found = await call(`/evaluations?${query}`, { signal: asking.signal });
    if (number === asked) show(found);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (number !== asked) return;
    byId("shown").textContent = error.message;
  }
}

/** @param {{waiting: Run[], runs: Run[], known: number, unread: number}} found */
function show({ waiting, runs, known, unread }) {
  const left = unread ? ` ${counted(unread, "log")} still to be read …` : "";
  byId("shown").textContent = known ? `${counted(runs.length, "run")} shown, ${known.toLocaleString("en")} in all.${left}` : "There is no run yet.";
  byId("empty").hidden = known > 0 || waiting.length > 0;
  rows([...waiting, ...runs]);
  byId("more").hidden = runs.length < limit || runs.length >= known;
  const charts = trends(runs);
  byId("trends").hidden = charts.length === 0;
  replaceIn(byId("charts"), ...charts);
  tally();
  // Only what goes on can change by itself.
  if (unread) load();
  else if (waiting.length || runs.some((run) => run.state === "running")) timer = setTimeout(load, REFRESH_MS);
}

// A row that still says the same stays where it is: nobody loses the box that is being clicked, nor the focus.
/** @param {Run[]} runs */
function rows(runs) {
  const known = drawn;
  const focused = document.activeElement?.id;
  drawn = new Map();
  for (const run of runs) {
    const said = JSON.stringify(run);
    drawn.set(said, known.get(said) || row(run));
  }
  const wanted = [...drawn.values()];
  const shown = [...byId("rows").children];
  if (wanted.length === shown.length && wanted.every((one, index) => one === shown[index])) return;
  replaceIn(byId("rows"), ...wanted);
  if (focused && byId(focused)) byId(focused).focus();
}

/** @param {Run} run */
function row(run) {
  const when = (run.started_at || run.asked_at || "").slice(0, 16).replace("T", " ");
  const suites = run.suites.map((suite) => (typeof suite === "string" ? suite : suite.name)).join(", ");
  const live = run.state === "running" || run.state === "queued";
  const readable = run.counts !== undefined;
  return element(
    "tr",
    { class: run.state },
    element("td", { class: "pick" }, readable && !live ? tick(run, suites, when) : null),
    element("td", { class: "when" }, when || "–"),
    element("td", { class: "suite" }, ...(run.label?.name ? [element("strong", {}, run.label.name), ` ${suites}`] : [suites || run.id]), ...tagLinks(run.label).flatMap((tag) => [" ", tag])),
    element("td", { class: "model" }, ...run.models.flatMap((model, place) => [place ? ", " : "", swatch(model), model])),
    element("td", { class: "result" }, live ? element("strong", { class: "running" }, run.state === "queued" ? "waiting" : "under way") : run.result),
    element("td", { class: "rate" }, ...rates(run)),
    element("td", { class: "cost" }, money(run.paid_usd)),
    element("td", { class: "links" }, ...links(run, suites, live, readable)),
  );
}

// A run of several models or suites has a rate for each of them, and none of all.
/** @param {Run} run */
function rates(run) {
  const rate = (/** @type {{pass_rate?: number | null, band?: string | null}} */ one) => element("span", { class: `band-text ${(one.band || "none").replace(" ", "-")}` }, percent(one.pass_rate));
  const groups = run.groups || [];
  if (groups.length < 2) return [rate(run)];
  const [suites, models] = [new Set(groups.map((one) => one.suite)), new Set(groups.map((one) => one.entrant))];
  const name = (/** @type {Group} */ one) => [models.size > 1 ? one.entrant : "", suites.size > 1 ? one.suite : ""].filter(Boolean).join(", ");
  return groups.map((one) => element("div", {}, rate(one), ` ${name(one)}`));
}

/** @param {Run} run @param {string} suites @param {string} when */
function tick(run, suites, when) {
  const box = element("input", { type: "checkbox", id: `pick-${run.id}`, "aria-label": `Compare ${suites} of ${when}` });
  box.checked = picked.has(run.id);
  box.addEventListener("change", () => {
    if (box.checked) picked.add(run.id);
    else picked.delete(run.id);
    tally();
  });
  return box;
}

/** @param {Run} run @param {string} suites @param {boolean} live @param {boolean} readable */
function links(run, suites, live, readable) {
  const id = encodeURIComponent(run.id);
  if (!readable && !live) return [element("span", { class: "dim" }, run.error || "unreadable")];
  const results = element("a", { href: `/evaluation?run=${id}`, "aria-label": `Results of ${suites}, ${run.id}` }, live ? "watch" : "results");
  if (live) return [results];
  const link = (/** @type {string} */ kind, /** @type {string} */ words) => [" ", element("a", { href: `/runs/${id}/${kind}`, "aria-label": `${words} of ${suites}, ${run.id}` }, kind)];
  const models = readable && run.models.length > 1
    ? [" ", element("a", { href: comparison(run.id), "aria-label": `compare models of ${suites}, ${run.id}` }, "compare models")]
    : [];
  return [results, ...link("report", "Report"), ...models, ...(run.workbench ? link("workbench", "Workbench") : [])];
}

function tally() {
  buttonOf("compare").disabled = buttonOf("side").disabled = picked.size < 2;
  byId("compare").textContent = picked.size > 2 ? `Compare ${picked.size} runs` : "Compare two runs";
  byId("picked").textContent = picked.size < 2 ? `Tick two runs or more (${picked.size} ticked).` : "The later ones are held against the first.";
}

byId("compare").addEventListener("click", () => {
  // The earlier one is what the later one is held against; names begin with the time.
  const [first, ...later] = [...picked].sort();
  location.assign(comparison(first, ...later));
});
byId("side").addEventListener("click", () => {
  location.assign(`/runs/grid?${new URLSearchParams([...picked].sort().map((run) => ["run", run]))}`);
});
byId("more").addEventListener("click", () => {
  limit += PAGE;
  load();
});
byId("filters").addEventListener("submit", (event) => event.preventDefault());
for (const id of FILTERS)
  byId(id).addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, TYPING_MS);
  });
for (const [id, value] of new URLSearchParams(location.search)) if (FILTERS.includes(id)) fieldOf(id).value = value;
load().finally(reveal);
