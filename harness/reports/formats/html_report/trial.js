
// ── One trial: facts, checks, conversation ───────────────────────────────────────────────────

function* trialParts(trial) {
  if (trial.description) yield el("p", { dir: "auto", text: trial.description });
  yield el("dl", { class: "pairs" }, ...trial.facts.flatMap(([name, value]) =>
    [el("dt", { text: name }), el("dd", { dir: "auto", text: value })]));
  if (trial.error) {
    yield el("h3", { class: "error", text: `${trial.error.kind} error` });
    yield box(trial.error.message, "Error");
    if (trial.error.detail) yield box(trial.error.detail, "Detail of the error");
  }
  if (trial.checks.length) {
    yield el("h3", { text: "Checks" });
    yield el("ul", { class: "checks" }, ...trial.checks.map(check));
  }
  for (const said of trial.judgements) {
    yield el("h3", { text: `Judge ${said.judge}: ${said.verdict}` });
    yield box(said.explanation, "Judge's explanation");
  }
  if (trial.steps.length) {
    yield el("h3", { text: "Conversation" });
    yield el("ol", { class: "timeline" }, ...trial.steps.map(step));
  }
  if (trial.stderr) {
    yield el("h3", { text: "Server's stderr" });
    yield box(trial.stderr, "Server's stderr");
  }
}

// Focusable, for a keyboard must be able to scroll what is longer than its box.
function box(text, label) {
  return el("pre", { dir: "auto", tabindex: "0", role: "region", "aria-label": label, text });
}

function check(one) {
  const marks = { passed: "✓ passed", failed: "✗ failed", not_judged: "? not judged" };
  const score = one.score === null ? "" : `, score ${one.score}`;
  const item = el("li", { class: one.verdict },
    el("span", { class: "mark", text: marks[one.verdict] + (one.warn ? " (warning)" : "") + score }),
    " ", el("bdi", { text: one.label }),
    one.where ? el("span", { class: "caption", text: `  ${one.where}` }) : null);
  if (one.explanation) item.append(box(one.explanation, "Explanation"));
  if (one.hint) item.append(el("p", { class: "hint", dir: "auto", text: one.hint }));
  if (one.expected || one.actual) {
    const sides = el("div", { class: "sides" },
      el("div", {}, el("span", { class: "caption", text: "expected" }), box(one.expected || "(nothing)", "Expected")),
      el("div", {}, el("span", { class: "caption", text: "actual" }), box(one.actual || "(nothing)", "Actual")));
    item.append(one.verdict === "passed" ? el("details", {}, el("summary", { class: "caption", text: "expected and actual" }), sides) : sides);
  }
  return item;
}

function step(one) {
  if (one.who !== "call") {
    const who = one.reply ? `${one.who}, reply ${one.reply}` : one.who;
    return el("li", { class: one.who }, el("span", { class: "who", text: who }), box(one.text || "(no text)", who));
  }
  const ok = one.outcome === "ok";
  const item = el("li", { class: ok ? "call" : "call bad" },
    el("span", { class: "who" }, el("span", { class: "dim", text: `${one.what} ` }), el("bdi", { text: one.tool })), " ",
    el("span", { class: `outcome ${ok ? "ok" : "not-ok"}`, text: one.outcome.replace("_", " ") }),
    el("span", { class: "dim", text: ` ${[one.reply ? `reply ${one.reply}` : "", one.took, one.size].filter(Boolean).join(", ")}` }));
  for (const fault of one.faults || []) item.append(el("p", { class: "failed", text: fault }));
  for (const note of one.notes || []) item.append(el("p", { text: note }));
  const part = (label, text) => {
    if (text) item.append(el("span", { class: "caption", text: label }), box(text, `${label} of the call`));
  };
  part("arguments", one.arguments);
  part("result", one.result);
  part("structured result", one.structured);
  return item;
}
