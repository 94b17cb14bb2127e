// @ts-check
// The page of a comparison: what differs in the tools, the cases, and both sides of the one that is opened.

import { el, at, plural } from "../../viewer/assets/elements.js";
import { block } from "../../formats/html_report/blocks.js";
import { swatch } from "../../viewer/assets/colour.js";
import { effectChart } from "./effects.js";
import { openAll, readAhead } from "./printing.js";
import { sides, twoTexts } from "./sides.js";

/**
 * @typedef {import("./effects.js").Effect} Effect @typedef {import("./sides.js").Trial} Trial
 *
 * @typedef {{suite: string, case: string, change: string, before: string, after: string, alike: boolean, problem: string,
 *   question?: string, lines?: [string, string]}} Row  a case that changed says what was asked and answered
 * @typedef {{part: string, before: string, after: string}} Part
 * @typedef {{name: string, change: "new" | "gone" | "changed", parts: Part[]}} Tool
 * @typedef {{before: string, after: string, verdict: string, effects: Effect[], tools: Tool[], rows: Row[]}} Contrast
 * @typedef {{served: boolean, margin: number, sides: Object<string, {model: string, run: string, link: string}>,
 *   contrasts: Contrast[]}} Overview
 */

const AT_FIRST = 30; // rows that are drawn at once; the others when they come near the screen
const PRINTED = 500; // cases that paper gets at most
const CHANGES = ["worse", "better", "not judged", "same"];
/** @type {Overview} */
const data = await block("overview");
/** @type {Map<string, {before: Trial[], after: Trial[]}>} */
const ready = new Map(); // cases that were read
let printing = false;
let chosen = 0; // the contrast whose cases are listed

const contrast = () => data.contrasts[chosen];
/** @param {string} side */
const nameOf = (side) => `${side} ${data.sides[side].model}`;

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (at(id));

function showLinks() {
  at("models").append(...Object.entries(data.sides).map(([name, side]) => el("span", {}, swatch(side.model), nameOf(name))));
  const served = Object.entries(data.sides).filter(([, side]) => side.link);
  at("links").append(...served.map(([name, side]) =>
    el("a", { href: side.link, text: `Results of ${name}`, "aria-label": `Results of ${name}, ${side.run}` })));
  if (data.served) at("links").append(el("a", { href: "/runs", text: "All runs" }));
}

function showTools() {
  const changed = contrast().tools;
  at("tools").hidden = at("tools-link").hidden = !changed.length;
  const names = /** @type {[string, string]} */ ([contrast().before, contrast().after]);
  at("tool-list").replaceChildren(...changed.map((tool) => {
    const words = { new: `only ${names[1]} was shown it`, gone: `only ${names[0]} was shown it`, changed: "changed" }[tool.change];
    const place = el("div", {});
    const details = el("details", { class: "tool" },
      el("summary", {}, el("strong", {}, el("bdi", { text: tool.name })), ` ${words}: ${tool.parts.map((part) => part.part).join(", ")}`), place);
    details.addEventListener("toggle", () => {
      if (!details.open || place.firstChild) return;
      for (const part of tool.parts) place.append(el("h3", { text: part.part }), twoTexts(part.before, part.after, names, `${part.part} of ${tool.name}`));
    });
    details.open = changed.length === 1;
    return details;
  }));
}

function showFilters() {
  data.contrasts.forEach((one, place) =>
    at("contrast").append(el("option", { value: String(place), text: `${nameOf(one.before)} → ${nameOf(one.after)}` })));
  at("contrast-label").hidden = data.contrasts.length < 2;
  at("contrast").addEventListener("change", () => choose(Number(input("contrast").value)));
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("input", list);
}

/** @param {number} place */
function choose(place) {
  chosen = place;
  input("contrast").value = String(place);
  const amounts = new Map(CHANGES.map((change) => [change, contrast().rows.filter((row) => row.change === change).length]));
  const most = [...amounts].filter(([, amount]) => amount);
  at("changes").replaceChildren(el("legend", { text: "Show" }), ...most.map(([change, amount]) => {
    const box = el("input", { type: "checkbox", value: change });
    box.checked = true;
    return el("label", {}, box, el("span", { class: `change ${change.replace(" ", "-")}`, text: `${change} ${amount}` }));
  }));
  showTools();
  list();
}

const boxes = () => at("changes").querySelectorAll("input");

function wanted() {
  const words = input("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const changes = new Set([...boxes()].filter((box) => box.checked).map((box) => box.value));
  const unlike = input("unlike").checked;
  const rows = contrast().rows.map((row, number) => ({ row, number })).filter(({ row }) =>
    changes.has(row.change) && !(unlike && row.alike)
    && words.every((word) => [row.suite, row.case, row.problem].join(" ").toLowerCase().includes(word)));
  return rows.sort((one, other) => CHANGES.indexOf(one.row.change) - CHANGES.indexOf(other.row.change) || one.number - other.number);
}

/** What is in a row, which is part of the page while it is near the screen. @type {WeakMap<Element, () => Element>} */
const contents = new WeakMap();
const near = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) (isIntersecting ? draw : drop)(/** @type {HTMLElement} */ (target));
}, { rootMargin: "1000px" });

function list() {
  near.disconnect();
  const rows = wanted();
  const several = new Set(contrast().rows.map((row) => row.suite)).size > 1;
  at("list").replaceChildren(...rows.map(({ row, number }, place) => {
    const made = el("li", { "data-change": row.change });
    contents.set(made, () => item(row, number, several));
    if (place < AT_FIRST) draw(made);
    near.observe(made);
    return made;
  }));
  at("shown").textContent = `${plural(rows.length, "case")} of ${contrast().rows.length.toLocaleString("en")}`;
}

/** @param {HTMLElement} row */
function draw(row) {
  const make = contents.get(row);
  if (row.firstChild || !make) return;
  row.append(make());
  row.style.minHeight = "";
}

// It keeps its height, so that nothing moves. What somebody has opened stays.
/** @param {HTMLElement} row */
function drop(row) {
  if (printing || !row.firstChild || row.querySelector("details[open]") || row.contains(document.activeElement)) return;
  row.style.minHeight = `${row.offsetHeight}px`;
  row.replaceChildren();
}

/** @param {Row} row @param {number} number @param {boolean} several */
function item(row, number, several) {
  const body = el("div", { class: "body" });
  const details = el("details", {},
    el("summary", {},
      el("span", { class: `change ${row.change.replace(" ", "-")}`, text: row.change }),
      el("span", { class: "name" }, el("bdi", { text: several ? `${row.suite}::${row.case}` : row.case })),
      el("span", { class: "effort", text: `${row.before} → ${row.after}${row.alike ? ", alike" : ""}` }),
      row.question ? el("span", { class: "asked", dir: "auto", text: row.question }) : null,
      row.lines ? el("dl", { class: "first-lines" }, ...[contrast().before, contrast().after].flatMap((side, place) =>
        [el("dt", { text: side }), el("dd", { dir: "auto", text: row.lines?.[place] || "(no answer)" })])) : null,
      row.problem ? el("span", { class: "problem", dir: "auto", text: row.problem }) : null),
    body);
  details.addEventListener("toggle", () => {
    if (!details.open || !details.isConnected) return;
    if (!printing) history.replaceState(history.state, "", address(row));
    if (!body.firstChild) fill(body, row, number);
  });
  return details;
}

/** @param {number} number */
const nameOfCase = (number) => `case-${chosen}-${number}`;

/** Shows a case, at once if it was read already. @param {HTMLElement} body @param {Row} row @param {number} number */
async function fill(body, row, number) {
  body.append(el("p", { class: "dim", text: "Reading …" }));
  const found = ready.get(nameOfCase(number)) ?? /** @type {{before: Trial[], after: Trial[]}} */ (await block(nameOfCase(number)));
  const { before, after } = contrast();
  const names = /** @type {[string, string]} */ ([nameOf(before), nameOf(after)]);
  const place = el("div", { class: "both" });
  const both = /** @type {["before" | "after", string][]} */ ([["before", before], ["after", after]]);
  const picks = both.map(([which, side]) => {
    const trials = found[which];
    const pick = el("select", { "aria-label": `Trial of ${nameOf(side)}` },
      ...trials.map((trial, index) => el("option", { value: String(index), text: `trial ${trial.number}: ${trial.status}` })));
    const telling = trials.findIndex((trial) => trial.status !== "passed");
    if (which === "after" && telling >= 0) pick.value = String(telling);
    pick.addEventListener("change", draw);
    return el("label", { class: trials.length > 1 ? "" : "alone" }, `${nameOf(side)} `, pick);
  });
  function draw() {
    const [one, other] = picks.map((label) => Number(label.querySelector("select")?.value || 0));
    place.replaceChildren(...sides(found.before[one], found.after[other], names));
  }
  const links = [before, after].filter((side) => data.sides[side].link).map((side) =>
    el("a", { href: `${data.sides[side].link}#${opened(row, data.sides[side].model)}`, text: `This case in ${nameOf(side)}` }));
  body.replaceChildren(el("p", { class: "bar" }, ...picks.filter((label) => label.className !== "alone"), ...links,
    el("a", { href: address(row), text: "Link to this case" })), place);
  draw();
}

// The form in which the page of a run names what it shows.
/** @param {Row} row @param {string} model */
const opened = (row, model) => new URLSearchParams({ open: [row.suite, row.case, model].map(encodeURIComponent).join("/") });

/** @param {Row} row */
const address = (row) =>
  `#${new URLSearchParams([...(chosen ? [["sides", String(chosen)]] : []), ["suite", row.suite], ["case", row.case]])}`;

function follow() {
  const named = new URLSearchParams(location.hash.slice(1));
  if (!named.has("case")) return;
  const sidesNamed = Number(named.get("sides") || 0);
  if (sidesNamed in data.contrasts && sidesNamed !== chosen) choose(sidesNamed);
  input("search").value = "";
  input("unlike").checked = false;
  boxes().forEach((box) => { box.checked = true; });
  list();
  const number = wanted().findIndex(({ row }) => row.case === named.get("case") && (!named.get("suite") || row.suite === named.get("suite")));
  const place = /** @type {HTMLElement | undefined} */ (at("list").children[number]);
  if (place) draw(place);
  const found = place?.querySelector("details");
  if (!found) return;
  found.open = true;
  found.scrollIntoView();
}

function ahead() {
  readAhead(wanted().slice(0, PRINTED).map(({ number }) => nameOfCase(number)), block, ready);
}

/** @type {HTMLDetailsElement[]} */
let unfolded = [];
addEventListener("beforeprint", () => {
  printing = true;
  for (const row of [...at("list").children].slice(0, PRINTED)) draw(/** @type {HTMLElement} */ (row));
  unfolded = [...openAll(at("tools")), ...openAll(at("list"))];
});
addEventListener("afterprint", () => {
  for (const one of unfolded) one.open = false;
  printing = false;
});

document.querySelectorAll("#statistics h2").forEach((title, place) => {
  title.classList.add("verdict", data.contrasts[place].verdict);
  const chart = effectChart(data.contrasts[place].effects, data.margin);
  if (chart) title.after(chart);
});
showLinks();
showFilters();
choose(0);
follow();
addEventListener("hashchange", follow);
at("contrast").addEventListener("change", ahead);
ahead();
