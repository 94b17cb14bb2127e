// @ts-check
// Several runs in one grid: a column for each run and model.

import { call } from "./api.js";
import { Viewer } from "./assets/viewer.js";
import { runSource } from "./run_source.js";

const STEP = 2 ** 40; // no log is longer: a place in one of several logs is one number

const about = /** @type {HTMLElement} */ (document.getElementById("about"));
const place = /** @type {HTMLElement} */ (document.getElementById("viewer"));
const [first, ...others] = new URLSearchParams(location.search).getAll("run");

async function show() {
  const query = new URLSearchParams(others.map((run) => ["run", run]));
  const { grid, shown, tests } = await call(`/evaluations/${encodeURIComponent(first || "")}/grid/with?${query}`);
  const runs = /** @type {string[]} */ ([...new Set(grid.axes[0].columns.map((/** @type {any} */ column) => column.key[0]))]);
  const sources = new Map(runs.map((run) => [run, runSource(run, () => ({ top: [], bottom: [] }))]));
  for (const cell of grid.cells) cell.at = (cell.at || []).map((/** @type {number} */ at) => runs.indexOf(cell.run) * STEP + at);
  new Viewer(place, {
    trial: async (cell, trial) => {
      const at = (cell.at || []).map((one) => one % STEP);
      return sources.get(cell.run || "")?.trial({ ...cell, at }, trial) ?? null;
    },
    search: async (words, signal) => {
      /** @type {Map<string, Set<number>>} */
      const found = new Map(words.map((word) => [word, new Set()]));
      for (const [number, run] of runs.entries())
        for (const [word, places] of (await sources.get(run)?.search(words, signal)) || [])
          for (const at of places) found.get(word)?.add(number * STEP + at);
      return found;
    },
  }).fill(grid);
  const left = shown < tests
    ? ` · ${shown.toLocaleString("en")} of ${tests.toLocaleString("en")} tests: those whose results differ, then those that did not pass`
    : "";
  about.textContent = runs.join(" · ") + left;
}

const reveal = () => document.getElementById("main")?.classList.remove("loading");

show().catch((error) => {
  about.textContent = error.message;
}).finally(reveal);
