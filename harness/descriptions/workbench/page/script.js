// @ts-check
// The page of a workbench: one model at a time, never pooled.

import { at, el } from "../../../reports/viewer/assets/elements.js";
import { data } from "./data.js";
import { showTools } from "./tools.js";
import { shape } from "./widgets.js";

let chosen = 0;

function showHead() {
  document.title = `${data.suite} – description workbench`;
  at("title").textContent = data.suite;
  at("facts").textContent = [`model ${data.models.map((one) => one.name).join(", ")}`, `run ${data.run}`].join(" · ");
  at("notices").append(...data.notices.map((words) => el("p", { class: "notice", role: "note", text: words })));
  at("tiles").append(...data.facts.map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", { text: value }))));
  if (data.models.length < 2) return;
  at("models").hidden = false;
  data.models.forEach((one, number) => {
    const button = el("button", { type: "button", text: one.name });
    button.addEventListener("click", () => choose(number));
    at("models").append(button);
  });
}

/** @param {number} number  place of the model */
function choose(number) {
  chosen = number;
  const model = data.models[number];
  [...at("models").children].forEach((button, place) => button.setAttribute("aria-pressed", String(place === number)));
  at("baseline").hidden = !model.baseline;
  at("baseline").textContent = model.baseline || "";
  showFindings(model);
  showTools(model.list);
  at("studies").replaceChildren(...model.studies.map(studySection));
  const links = [["findings", "What matters"], ["tools", "Tools"], ...model.studies.map((one) => [`study-${one.name}`, titled(one.name)])];
  at("sections").replaceChildren(...links.map(([id, name]) => el("a", { href: `#${id}`, text: name })));
}

/** @param {string} name  of a study */
function titled(name) {
  const words = name.replaceAll(/[_-]/g, " ");
  return words === "ab" ? "A/B" : words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {import("./data.js").Model} model */
function showFindings(model) {
  const items = model.findings.map((one) => el("li", {},
    el("span", { class: "mark", title: one.certain ? "shown by the data" : "suggested, not shown", text: one.certain ? "!" : "?" }),
    el("span", {}, el("span", { dir: "auto", text: one.text }), " ", el("a", { class: "caption", href: `#study-${one.study}`, text: titled(one.study) }))));
  at("findings-list").replaceChildren(...items);
  const more = [];
  if (!items.length) more.push("No study has a finding to report. See each study for what was measured.");
  else more.push("! is shown by the data; ? is only suggested by it.");
  if (model.found > items.length) more.push(`These are the first ${items.length} of ${model.found}.`);
  at("findings-more").textContent = more.join(" ");
}

/** @param {import("./data.js").Study} study */
function studySection(study) {
  const id = `study-${study.name}`;
  const section = el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title`, text: titled(study.name) }),
    study.question ? el("p", { class: "dim", text: study.question }) : null,
    el("p", { class: "headline", dir: "auto", text: study.headline }));
  if (study.lines.length) {
    section.append(el("details", {}, el("summary", { text: "In words" }),
      el("ul", {}, ...study.lines.map((text) => el("li", { dir: "auto", text })))));
  }
  section.append(...study.notes.map((text) => el("p", { class: "note", dir: "auto", text: `Note: ${text}` })));
  section.append(...study.widgets.map((widget) => shape(widget, titled(study.name))));
  return section;
}

at("order").addEventListener("change", () => showTools(data.models[chosen].list));
at("filters").addEventListener("submit", (event) => event.preventDefault());
at("open-all").addEventListener("click", () => {
  const boxes = /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll(".tool")]);
  const opening = boxes.some((one) => !one.open);
  boxes.forEach((one) => { one.open = opening; });
  at("open-all").textContent = opening ? "Close all" : "Open all";
});
showHead();
choose(0);
