// A card for each test: what was asked, what was expected, what the model did, and why it passed or not.

import { element, replaceIn } from "./dom.js";
import { json, money, score, seconds } from "./words.js";

const METRICS = { tool_selection: "Tool selection", argument_match: "Argument match", faithfulness: "Faithfulness" };

export class Cards {
  constructor(place) {
    this.place = place;
    this.cards = new Map();
    this.named = () => "";
    this.reviews = null;
    this.comparing = null;
  }

  clear() {
    this.cards.clear();
    this.place.replaceChildren();
  }

  plan(run) {
    // Which of several models and suites a card is of.
    this.named = (test) =>
      [run.suites.length > 1 ? test.suite : "", run.models.length > 1 ? test.model : ""].filter(Boolean).join(" · ");
    for (const suite of run.suites)
      for (const name of suite.cases)
        for (const model of run.models) this.card({ suite: suite.name, case: name, model, trial: 1 });
  }

  card(test) {
    const key = [test.suite, test.case, test.model, test.trial].join("\u0000");
    let card = this.cards.get(key);
    if (!card) {
      card = element("li", { class: "card waiting", "data-status": "waiting" });
      this.cards.set(key, card);
      this.place.append(card);
      replaceIn(card, this.head(test, "waiting"));
    }
    return card;
  }

  start(test) {
    const card = this.card(test);
    if (card.dataset.status !== "waiting") return;
    card.className = "card running";
    card.dataset.status = "running";
    replaceIn(card, this.head(test, "running"));
  }

  // It has ended; whether it passed takes what the other identities see.
  waiting(test) {
    const card = this.card(test);
    card.className = "card waiting";
    card.dataset.status = "waiting";
    replaceIn(card, this.head(test, "waiting for the other identities"));
  }

  result(test) {
    const card = this.card(test);
    card.className = `card ${test.colour}`;
    card.dataset.status = test.status;
    const body = element("div", { class: "card-body" });
    const details = element("details", {}, element("summary", {}, "Arguments, answer and judgement"), body);
    // What is inside is made when it is looked at: a hundred conversations are a lot of page.
    details.addEventListener("toggle", () => details.open && !body.firstChild && replaceIn(body, ...inside(test), this.comparing?.link(test), this.reviews?.panel(test)));
    replaceIn(card, this.head(test, test.status), this.reviews?.badge(test), query(test), problem(test), metrics(test), tools(test), details);
  }

  head(test, status) {
    return head(test, status, this.named(test));
  }

  end() {
    for (const card of this.cards.values())
      if (card.dataset.status === "waiting" || card.dataset.status === "running") {
        card.className = "card grey";
        card.dataset.status = "cancelled";
        card.querySelector(".status").textContent = "not run";
      }
  }
}

function head(test, status, of) {
  const name = test.trials > 1 ? `${test.case} (trial ${test.trial})` : test.case;
  return element(
    "div",
    { class: "card-head" },
    element("span", { class: "status" }, status),
    element("h3", {}, name),
    of ? element("span", { class: "of" }, of) : null,
    test.score === undefined || test.score === null ? null : element("span", { class: "score" }, score(test.score)),
    test.seconds === undefined
      ? null
      : element("span", { class: "dim effort" }, `${seconds(test.seconds)} · ${test.cost_usd === null ? "cost unknown" : money(test.cost_usd)}`),
  );
}

const query = (test) => (test.query ? element("p", { class: "query" }, test.query) : null);

const problem = (test) => (test.problem ? element("p", { class: "problem" }, test.problem) : null);

function metrics(test) {
  const names = Object.keys(test.metrics);
  if (!names.length) return null;
  return element(
    "dl",
    { class: "metrics" },
    ...names.map((name) => {
      const value = test.metrics[name].score;
      const meter = element("meter", { min: 0, max: 1, low: 0.4, high: 0.7, optimum: 1, value: value ?? 0, "aria-hidden": "true" });
      const label = test.metrics[name].label;
      return element(
        "div",
        {},
        element("dt", {}, METRICS[name] || name),
        element("dd", {}, meter, ` ${score(value)}`),
        label ? element("dd", { class: "dim small" }, label) : null,
      );
    }),
  );
}

function tools(test) {
  const expected = test.expected.map((call) => {
    const met = call.actual !== undefined ? call.actual !== null : test.calls.some((made) => made.tool === call.tool);
    return met ? chip("correct", "✓", call.tool, "was called") : chip("missing", "✗", call.tool, "was not called");
  });
  const made = test.calls.map((call) =>
    call.expected ? chip("correct", "✓", call.tool, "as expected") : chip("extra", "+", call.tool, "not asked for"),
  );
  return element(
    "dl",
    { class: "tools" },
    element("div", {}, element("dt", {}, "Expected tools"), element("dd", {}, ...listed(expected, test.left_out.expected))),
    element("div", {}, element("dt", {}, "Actual tools"), element("dd", {}, ...listed(made, test.left_out.calls))),
  );
}

function listed(chips, leftOut) {
  if (!chips.length) return ["none"];
  return leftOut ? [...chips, `… ${leftOut.toLocaleString("en")} more are in the run log`] : chips;
}

function chip(kind, mark, name, meaning) {
  return element(
    "span",
    { class: `chip ${kind}` },
    element("span", { "aria-hidden": "true" }, `${mark} `),
    name,
    element("span", { class: "unseen" }, ` (${meaning})`),
  );
}

function inside(test) {
  const graded = test.expected.filter((call) => call.arguments !== undefined);
  const extra = test.calls.filter((call) => !call.expected || !graded.length);
  return [
    ...graded.map((call) =>
      element(
        "section",
        { class: "pair" },
        element("h4", {}, `${call.tool} · arguments match ${score(call.score)}`),
        element(
          "div",
          { class: "sides" },
          side("Expected", json(call.arguments)),
          side("Actual", call.actual === null ? "The tool was not called." : json(call.actual)),
        ),
      ),
    ),
    ...extra.map((call) =>
      element(
        "section",
        { class: "pair" },
        element("h4", {}, `${call.tool} · ${call.outcome}`),
        element("div", { class: "sides" }, side("Arguments", json(call.arguments)), side("Result", call.result)),
      ),
    ),
    text("Answer", test.answer || "There was no answer."),
    test.explanation ? text(judge(test), test.explanation) : null,
    test.error ? text(`Error (${test.error.kind})`, [test.error.message, test.error.detail].filter(Boolean).join("\n")) : null,
    checks(test),
  ];
}

function judge(test) {
  const faith = test.metrics.faithfulness;
  if (faith && faith.judge) return `Judge's explanation (${faith.judge})`;
  return faith && faith.label ? `Explanation (${faith.label})` : "Judge's explanation";
}

const side = (title, content) =>
  element("div", {}, element("span", { class: "dim small" }, title), element("pre", { tabindex: 0, "aria-label": title }, content));

const text = (title, content) =>
  element("section", {}, element("h4", {}, title), element("pre", { tabindex: 0, "aria-label": title }, content));

function checks(test) {
  if (!test.checks.length) return null;
  return element(
    "section",
    {},
    element("h4", {}, "Checks"),
    element(
      "ul",
      { class: "checks" },
      ...test.checks.map((check) =>
        element(
          "li",
          {},
          element("strong", { class: check.verdict }, check.verdict.replace("_", " ")),
          ` ${check.label}`,
          check.explanation ? element("p", { class: "lines" }, check.explanation) : null,
          check.hint && check.verdict !== "passed" ? element("p", { class: "dim" }, `→ ${check.hint}`) : null,
        ),
      ),
    ),
  );
}
