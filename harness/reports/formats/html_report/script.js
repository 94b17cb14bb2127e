
// The page of a run; elements.js and trial.js stand before it.

const PAGE = 100; // cases listed before somebody asks for more
const data = block("overview");
const rows = new Map(); // number of a case → its list item, made when first shown
let limit = PAGE;

const several = { suites: data.suites.length > 1, models: data.models.length > 1 };

function fullName(one) {
  return (several.suites ? one.suite + "::" : "") + one.case + (several.models ? ` [${one.model}]` : "");
}

// ── Summary ──────────────────────────────────────────────────────────────────────────────────

function showHead() {
  const title = data.suites.map((suite) => suite.name).join(", ") || "No suite";
  document.title = `${title} – evaluation report`;
  at("title").textContent = title;
  if (data.suites.length === 1) at("about").textContent = data.suites[0].description;
  const models = data.models.map((model) => `${model.name} ${model.words}`).join(", ");
  at("facts").textContent = [`model ${models}`, data.when, `run ${data.run}`].filter(Boolean).join(" · ");
}

function showTotals() {
  const tiles = [["planned", plural(data.planned, "trial"), ""]];
  for (const { status, amount } of data.endings) tiles.push([status, amount.toLocaleString("en"), status]);
  for (const [name, value] of data.figures) tiles.push([name, value, ""]);
  at("totals").append(
    rateBox(),
    el("dl", { class: "tiles" }, ...tiles.map(([name, value, kind]) =>
      el("div", {}, el("dt", { text: name }), el("dd", { text: value, class: kind })))),
  );
  at("summary").append(...data.repeats.map((words) => el("p", { text: words })));
  for (const words of data.damaged) at("summary").append(el("p", { class: "notice", text: words }));
  if (data.early) {
    at("summary").append(el("p", { class: "notice", text: `The run ended early: ${data.early}.` }));
  }
}

function rateBox() {
  const box = el("div", { class: "rate" });
  if (!data.rate) {
    box.append(el("strong", { text: "–" }), el("span", { class: "dim", text: "nothing has a verdict" }));
    return box;
  }
  const { rate, low, high, words } = data.rate;
  box.append(
    el("strong", { text: `${Math.round(100 * rate)} %` }),
    el("span", { class: "dim", text: words }),
    svg("svg", { viewBox: "0 0 1000 26", preserveAspectRatio: "none", role: "img", "aria-label": words },
      svg("rect", { class: "track", x: 0, y: 10, width: 1000, height: 6 }),
      svg("rect", { class: "band", x: 1000 * low, y: 6, width: Math.max(4, 1000 * (high - low)), height: 14 }),
      svg("rect", { class: "point", x: Math.min(994, 1000 * rate - 3), y: 2, width: 6, height: 22 })),
  );
  return box;
}

// ── Cases ────────────────────────────────────────────────────────────────────────────────────

function showFilters() {
  for (const status of data.urgency) {
    const amount = data.cases.filter((one) => one.status === status).length;
    if (!amount) continue;
    const box = el("input", { type: "checkbox", value: status, checked: "" });
    at("statuses").append(el("label", {}, box, el("span", { class: status, text: `${status} ${amount}` })));
  }
  const open = el("button", { type: "button", text: "Open all shown" });
  open.addEventListener("click", () => {
    const shown = [...at("list").querySelectorAll(":scope > li > details")];
    const opening = shown.some((one) => !one.open);
    shown.forEach((one) => { one.open = opening; });
    open.textContent = opening ? "Close all shown" : "Open all shown";
  });
  at("filters").append(open);
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("input", () => { limit = PAGE; list(); });
}

function wanted() {
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const statuses = new Set([...at("statuses").querySelectorAll("input:checked")].map((box) => box.value));
  const fits = (one) => {
    const text = [one.suite, one.case, one.model, one.status, one.problem, ...one.tags, ...one.tools].join(" ").toLowerCase();
    return statuses.has(one.status) && words.every((word) => text.includes(word));
  };
  const numbers = data.cases.map((_, number) => number).filter((number) => fits(data.cases[number]));
  const keys = {
    urgency: (one) => data.urgency.indexOf(one.status),
    suite: () => 0,
    latency: (one) => -one.latency,
    cost: (one) => (one.cost === null ? 1 : -one.cost),
  };
  const key = keys[at("order").value];
  return numbers.sort((left, right) => key(data.cases[left]) - key(data.cases[right]) || left - right);
}

function list() {
  const numbers = wanted();
  const shown = numbers.slice(0, limit);
  at("list").replaceChildren(...shown.map(row));
  at("shown").textContent = `${plural(numbers.length, "case")} of ${data.cases.length.toLocaleString("en")}`
    + (shown.length < numbers.length ? `, the first ${shown.length} are listed` : "");
  at("more-place").replaceChildren();
  if (shown.length < numbers.length) {
    const more = el("button", { type: "button", text: `List all ${numbers.length.toLocaleString("en")}` });
    more.addEventListener("click", () => {
      const next = numbers[limit];
      limit = Infinity;
      list();
      rows.get(next).querySelector("summary").focus();
    });
    at("more-place").append(more);
  }
}

function row(number) {
  if (rows.has(number)) return rows.get(number);
  const one = data.cases[number];
  const effort = [one.words.time, plural(one.calls, "call"), one.cost ? one.words.cost : ""].filter(Boolean).join(", ");
  const details = el("details", {},
    el("summary", {},
      el("span", { class: `status ${one.status}`, text: one.status }),
      el("span", { class: "name" }, el("bdi", { text: fullName(one) }),
        ...one.tags.flatMap((tag) => [" ", el("span", { class: "tag", text: tag })])),
      el("span", { class: "effort", text: (one.planned > 1 ? `${one.passed} of ${one.planned} passed, ` : "") + effort }),
      one.problem ? el("span", { class: "problem", dir: "auto", text: one.problem }) : null));
  details.addEventListener("toggle", () => {
    if (details.open && !details.querySelector(".body")) details.append(caseBody(number));
  });
  rows.set(number, el("li", { id: `case-${number + 1}` }, details));
  return rows.get(number);
}

function caseBody(number) {
  const one = block(`case-data-${number}`);
  const place = el("div");
  const show = (trial) => place.replaceChildren(...trialParts(trial));
  const body = el("div", { class: "body" });
  if (one.trials.length > 1) {
    const buttons = one.trials.map((trial) =>
      el("button", { type: "button", "aria-pressed": "false", text: `Trial ${trial.number}: ${trial.status}` }));
    const press = (chosen) => {
      buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === chosen)));
      show(one.trials[chosen]);
    };
    buttons.forEach((button, index) => button.addEventListener("click", () => press(index)));
    const first = one.trials.findIndex((trial) => trial.status === data.cases[number].status);
    body.append(
      el("p", { class: "dim", text: `${one.needed} of ${one.planned} trials must pass` }),
      el("div", { class: "trials", role: "group", "aria-label": "Trials" }, ...buttons));
    press(Math.max(0, first));
  } else {
    show(one.trials[0]);
  }
  body.append(place, el("p", { class: "bar" }, el("a", { href: `#case-${number + 1}`, text: "Link to this case" })));
  return body;
}

// ── Who saw what ─────────────────────────────────────────────────────────────────────────────

function showAccess() {
  const access = data.access;
  if (!access) return;
  at("access").hidden = false;
  at("access-link").hidden = false;
  const [leaks, table] = [at("access-leaks"), at("access-table")];
  for (const leak of access.leaks) {
    leaks.append(el("div", { class: "notice leak", role: "note" },
      el("strong", { class: "failed" }, "Leak in ", el("bdi", { text: leak.case })),
      ...leak.lines.map((line) => el("p", { dir: "auto", text: line }))));
  }
  leaks.append(...access.warnings.map((words) => el("p", { class: "notice", text: words })));
  if (!access.rows.length) {
    table.remove();
    return;
  }
  const cell = (one) => {
    if (!one) return el("td", { class: "zero", text: "·" });
    const link = el("a", { href: `#case-${one.number}`, class: one.leaked ? "failed" : one.status, text: one.words });
    return el("td", {}, link, one.note ? el("span", { class: "caption", text: one.note }) : null);
  };
  table.append(el("table", { class: "access" },
    el("caption", { text: `Tests and the identities that ask them. ${access.legend}` }),
    el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "test" }),
      ...access.identities.map((name) => el("th", { scope: "col" }, el("bdi", { text: name }))))),
    el("tbody", {}, ...access.rows.map((row) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", { text: row.test })), ...row.cells.map(cell))))));
}

// ── Tools, heat map, charts ──────────────────────────────────────────────────────────────────

function showTools() {
  if (!data.tools.length) {
    at("tools-table").append(el("p", { class: "dim", text: "No tool was offered or called." }));
    return;
  }
  const heads = ["tool", "offered (trials)", "calls", "errors", "denied", "blocked", "remark"];
  const cell = (value, index) => el("td", { text: value.toLocaleString("en"), class: !value ? "zero" : index >= 2 ? "bad" : "" });
  const note = (offered, calls) => (calls ? (offered ? "" : "not on offer") : "never used");
  at("tools-table").append(el("table", {},
    el("caption", { text: "How often each tool was offered and called, and what became of the calls" }),
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col", text: head })))),
    el("tbody", {}, ...data.tools.map(([name, ...numbers]) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", { text: name })),
      ...numbers.map(cell),
      el("td", { class: "unused", text: note(...numbers) }))))));
}

function showHeat() {
  const { rows: expected, columns, cells } = data.heat;
  if (!expected.length) {
    at("heat-table").append(el("p", { class: "dim", text: "No check of this run expects a tool to be called." }));
    return;
  }
  const amounts = new Map(cells.map(([row, column, trials]) => [`${row},${column}`, trials]));
  const most = Math.max(...cells.map(([, , trials]) => trials));
  const cell = (row, column) => {
    const trials = amounts.get(`${row},${column}`);
    if (!trials) return el("td", { class: "zero", text: "·" });
    const right = expected[row] === columns[column];
    const shade = Math.ceil((4 * trials) / most);
    const words = `${expected[row]} expected, ${columns[column]} called: ${plural(trials, "trial")}`;
    return el("td", { class: `${right ? "good" : "bad"}-${shade}`, title: words, text: trials.toLocaleString("en") });
  };
  const meaning = "Rows: the tool that a check expects. Columns: what was called, which is another tool where the expected one was not.";
  at("heat-table").append(el("p", { class: "dim", text: meaning }), el("table", { class: "heat", "aria-label": meaning },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "expected ↓ called →" }),
      ...columns.map((name) => el("th", { scope: "col" }, el("bdi", { text: name }))))),
    el("tbody", {}, ...expected.map((name, row) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", { text: name })),
      ...columns.map((_, column) => cell(row, column)))))));
}

function chart(title, cases, value, words) {
  const sorted = [...cases].sort((left, right) => value(right) - value(left));
  const top = value(sorted[0]) || 1;
  const width = Math.min(40, 1000 / sorted.length);
  const middle = sorted[Math.floor(sorted.length / 2)];
  const text = `${title}, ${plural(sorted.length, "case")}: the most ${words(sorted[0])} (${fullName(sorted[0])}), `
    + `the median ${words(middle)}, the least ${words(sorted.at(-1))}`;
  return el("figure", {},
    svg("svg", { viewBox: "0 0 1000 150", preserveAspectRatio: "none", role: "img", "aria-label": text },
      ...sorted.map((one, place) => {
        const height = Math.max(1, (145 * value(one)) / top);
        const shape = { x: place * width, y: 150 - height, width: Math.max(0.5, width * 0.86), height, class: one.status };
        return svg("rect", shape, svg("title", { text: `${fullName(one)}: ${words(one)}, ${one.status}` }));
      })),
    el("figcaption", { class: "dim", text }));
}

function showCharts() {
  const ran = data.cases.filter((one) => one.latency > 0);
  if (ran.length) at("charts").append(chart("Time", ran, (one) => one.latency, (one) => one.words.time));
  const paid = data.cases.filter((one) => one.cost);
  if (paid.length) at("charts").append(chart("Cost", paid, (one) => one.cost, (one) => one.words.cost));
  const unknown = data.cases.filter((one) => one.cost === null).length;
  if (unknown) at("effort").append(el("p", { class: "dim", text: `The cost of ${plural(unknown, "case")} is unknown.` }));
  else if (!paid.length) at("effort").append(el("p", { class: "dim", text: "Nothing was paid for." }));
}

function follow() {
  const number = Number((/^#case-(\d+)$/.exec(location.hash) || [])[1]) - 1;
  if (!(number in data.cases)) return;
  if (!at(`case-${number + 1}`)) {
    at("search").value = "";
    at("statuses").querySelectorAll("input").forEach((one) => { one.checked = true; });
    limit = Infinity;
    list();
  }
  row(number).querySelector("details").open = true;
  row(number).scrollIntoView();
}

showHead();
showTotals();
showFilters();
list();
showAccess();
showTools();
showHeat();
showCharts();
follow();
addEventListener("hashchange", follow);
