// @ts-check
// The project's own suites: the last result of each, and runs of them with chosen models and variants.

import { Refusal, call, fields } from "./api.js";
import { swatch } from "./assets/colour.js";
import { buttonOf, byId, element, replaceIn, reveal } from "./dom.js";
import { problems } from "./problems.js";
import { counted } from "./words.js";

/**
 * @typedef {{id: string, state: string, started_at: string | null, result: string, failed: boolean,
 *   rates: {entrant: string, passed: number, judged: number}[]}} Last
 * @typedef {{file: string, name: string, cases: number | null, variants: string[], model?: string | null, problem: string | null, last?: Last | null}} Suite
 */

const REFRESH_MS = 2000;
let drawn = "";
let timer = 0;

async function load() {
  clearTimeout(timer);
  try {
    const found = await call("/evaluations/suites");
    show(found);
    if (found.suites.some((/** @type {Suite} */ suite) => goesOn(suite))) timer = setTimeout(load, REFRESH_MS);
  } catch (error) {
    refuse(error);
    timer = setTimeout(load, REFRESH_MS);
  }
}

/** @param {Suite} suite */
const goesOn = (suite) => suite.last?.state === "running" || suite.last?.state === "queued";

/** @param {{offered: boolean, why?: string, suites: Suite[]}} found */
function show({ offered, why, suites }) {
  const said = JSON.stringify(suites);
  byId("shown").textContent = offered ? counted(suites.length, "suite") : why || "";
  byId("choices").classList.toggle("none", !suites.length);
  byId("empty").hidden = !offered || suites.length > 0;
  byId("table").hidden = suites.length === 0;
  const fit = suites.filter((suite) => !suite.problem);
  byId("run-all").hidden = fit.length < 2;
  buttonOf("run-all").onclick = () => run(buttonOf("run-all"), fit.map((suite) => suite.file), {});
  if (said === drawn) return; // what somebody has ticked stays
  drawn = said;
  const ticked = new Set([...document.querySelectorAll("#rows input:checked")].map((box) => box.id));
  replaceIn(byId("rows"), ...suites.map(row));
  for (const id of ticked) /** @type {HTMLInputElement | null} */ (document.getElementById(id))?.click();
}

/** @param {Suite} suite @param {number} number */
function row(suite, number) {
  const variants = suite.variants.length ? ["none", ...suite.variants].map((name) => pick("variant", name, `variant-${suite.file}-${name}`)) : [];
  const chosen = () => ({ variant: ticks(variants) });
  const button = element("button", { type: "button", disabled: !!suite.problem, "aria-describedby": `suite-${number}` }, "Run");
  button.addEventListener("click", () => run(button, [suite.file], chosen()));
  const again = element("button", { type: "button", "aria-describedby": `suite-${number}`, hidden: !suite.last?.failed || goesOn(suite) || !!suite.problem }, "Run failed");
  again.addEventListener("click", () => run(again, [suite.file], { ...chosen(), failed_of: suite.last?.id || "" }));
  return element("tr", {},
    element("td", { class: "suite" }, element("span", { id: `suite-${number}` }, suite.name), element("span", { class: "dim small file" }, suite.file)),
    element("td", { class: "amount" }, suite.cases === null ? "" : counted(suite.cases, "case")),
    element("td", { class: "variants" }, variants.length ? element("div", { class: "picks" }, ...variants) : null),
    element("td", { class: "result" }, ...(suite.problem ? [element("p", { class: "lines wrong" }, suite.problem)] : result(suite))),
    element("td", { class: "links" }, element("div", { class: "actions" }, button, again)));
}

/** @param {Suite} suite */
function result({ last }) {
  if (!last) return [element("span", { class: "dim" }, "not run yet")];
  const when = (last.started_at || "").slice(0, 16).replace("T", " ");
  const words = last.state === "queued" ? "waiting" : last.state === "running" ? "under way" : when;
  const rates = last.rates.map((one) => element("span", { class: "rate" }, swatch(one.entrant), `${one.entrant} `,
    element("strong", { class: one.passed < one.judged ? "wrong" : "fine-text" }, `${one.passed} of ${one.judged}`)));
  return [element("a", { href: `/evaluation?run=${encodeURIComponent(last.id)}` }, words),
    ...(rates.length ? rates : [element("span", { class: "dim" }, ` ${last.result}`)])];
}

/** @param {string} name @param {string} value @param {string} id @param {boolean} [disabled] @param {string} [words] */
function pick(name, value, id, disabled = false, words = value) {
  return element("label", { class: "pick-one" }, element("input", { type: "checkbox", name, value, id, disabled }), words);
}

/** @param {Iterable<Element>} picks @returns {string[]} the values that are ticked */
const ticks = (picks) => [...picks].flatMap((one) => [...one.querySelectorAll("input:checked")].map((box) => /** @type {HTMLInputElement} */ (box).value));

/** @param {HTMLButtonElement} button @param {string[]} suite @param {Record<string, string | string[]>} choice */
async function run(button, suite, choice) {
  button.disabled = true;
  replaceIn(byId("failure"));
  try {
    const body = fields({ suite, model: ticks([byId("models")]), ...choice });
    const begun = await call("/evaluations/suites", { method: "POST", body });
    location.assign(`/evaluation?run=${encodeURIComponent(begun.id)}`);
  } catch (error) {
    refuse(error);
    button.disabled = false;
  }
}

/** @param {unknown} error */
function refuse(error) {
  if (!(error instanceof Refusal)) throw error;
  replaceIn(byId("failure"), problems(error.message, error.problems));
}

async function offer() {
  try {
    const { models } = await call("/evaluations/options");
    replaceIn(byId("models"), ...models.map((/** @type {{name: string, usable: boolean}} */ { name, usable }) =>
      pick("model", name, `model-${name}`, !usable, usable ? name : `${name} (its key is missing)`)),
      element("span", { class: "dim" }, "None ticked: as each suite says."));
  } catch (error) {
    refuse(error);
  }
}

byId("choices").addEventListener("submit", (event) => event.preventDefault());
Promise.all([offer(), load()]).finally(reveal);
