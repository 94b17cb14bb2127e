// Past runs: a table with filters, trends, and two to compare.

import { Refusal, call } from "./api.js";
import { swatch } from "./assets/colour.js";
import { comparison } from "./comparing.js";
import { byId, element, replaceIn } from "./dom.js";
import { trends } from "./trend.js";
import { counted, money, percent } from "./words.js";

const PAGE = 50;
const REFRESH_MS = 3000;
const TYPING_MS = 150;
let limit = PAGE;
let asked = 0;
let timer = null;
let asking = null;
const picked = new Set();
let drawn = new Map();

async function load() {
  clearTimeout(timer);
  const number = ++asked;
  const query = new URLSearchParams({ limit });
  for (const id of ["suite", "model", "result"]) if (byId(id).value) query.set(id, byId(id).value);
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

function row(run) {
  const when = (run.started_at || run.asked_at || "").slice(0, 16).replace("T", " ");
  const suites = run.suites.map((suite) => suite.name || suite).join(", ");
  const live = run.state === "running" || run.state === "queued";
  const readable = run.counts !== undefined;
  return element(
    "tr",
    { class: run.state },
    element("td", { class: "pick" }, readable && !live ? tick(run, suites, when) : null),
    element("td", { class: "when" }, when || "–"),
    element("td", { class: "suite" }, suites || run.id),
    element("td", { class: "model" }, ...run.models.flatMap((model, place) => [place ? ", " : "", swatch(model), model])),
    element("td", { class: "result" }, live ? element("strong", { class: "running" }, run.state === "queued" ? "waiting" : "under way") : run.result),
    element("td", { class: "rate" }, ...rates(run)),
    element("td", { class: "cost" }, money(run.cost_usd)),
    element("td", { class: "links" }, ...links(run, suites, live, readable)),
  );
}

// A run of several models has a rate for each of them, and none of all.
function rates(run) {
  const rate = (one) => element("span", { class: `band-text ${(one.band || "none").replace(" ", "-")}` }, percent(one.pass_rate));
  if (new Set((run.groups || []).map((one) => one.model)).size < 2) return [rate(run)];
  const suites = new Set(run.groups.map((one) => one.suite));
  return run.groups.map((one) => element("div", {}, rate(one), ` ${one.model}${suites.size > 1 ? `, ${one.suite}` : ""}`));
}

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

function links(run, suites, live, readable) {
  const id = encodeURIComponent(run.id);
  if (!readable && !live) return [element("span", { class: "dim" }, run.error || "unreadable")];
  const results = element("a", { href: `/evaluation?run=${id}`, "aria-label": `Results of ${suites}, ${run.id}` }, live ? "watch" : "results");
  if (live) return [results];
  const link = (kind, words) => [" ", element("a", { href: `/runs/${id}/${kind}`, "aria-label": `${words} of ${suites}, ${run.id}` }, kind)];
  const models = readable && run.models.length > 1
    ? [" ", element("a", { href: comparison(run.id), "aria-label": `compare models of ${suites}, ${run.id}` }, "compare models")]
    : [];
  return [results, ...link("report", "Report"), ...models, ...(run.workbench ? link("workbench", "Workbench") : [])];
}

function tally() {
  byId("compare").disabled = byId("side").disabled = picked.size < 2;
  byId("compare").textContent = picked.size > 2 ? `Compare ${picked.size} runs` : "Compare two runs";
  byId("picked").textContent = picked.size < 2 ? `Tick two runs or more (${picked.size} ticked).` : "The later ones are held against the first.";
}

byId("compare").addEventListener("click", () => {
  // The earlier one is what the later one is held against; names begin with the time.
  location.assign(comparison(...[...picked].sort()));
});
byId("side").addEventListener("click", () => {
  location.assign(`/runs/grid?${new URLSearchParams([...picked].sort().map((run) => ["run", run]))}`);
});
byId("more").addEventListener("click", () => {
  limit += PAGE;
  load();
});
byId("filters").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["suite", "model", "result"])
  byId(id).addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, TYPING_MS);
  });
load();
