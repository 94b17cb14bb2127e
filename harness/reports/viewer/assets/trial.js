// @ts-check
// One trial: facts, time, checks, conversation.

import { copyButton } from "./copy.js";
import { el } from "./elements.js";
import { framesFold } from "./frames.js";
import { gradedParts } from "./graded.js";
import { timeAxis } from "./time_axis.js";

const LONG = 1500; // characters of expected and actual from which on they are folded

/** @typedef {Object<string, any>} Detail  what `trial_detail` in Python returns */

/** @param {Detail} trial @returns {Generator<Element>} */
export function* trialParts(trial) {
  if (trial.description) yield el("p", { dir: "auto", text: trial.description });
  if (trial.error) {
    yield el("h3", { class: "error", text: `${trial.error.kind} error` });
    yield box(trial.error.message, "Error");
    if (trial.error.detail) yield box(trial.error.detail, "Detail of the error");
  }
  if (trial.steps.length) yield* conversation(trial);
  if (trial.graded) yield* gradedParts(trial.graded, box);
  if (trial.checks.length) {
    const met = trial.checks.filter((/** @type {Detail} */ one) => one.verdict === "passed");
    const unmet = trial.checks.filter((/** @type {Detail} */ one) => one.verdict !== "passed");
    yield el("h3", { text: "Checks" });
    if (unmet.length) yield el("ul", { class: "checks" }, ...unmet.map(check));
    if (met.length) yield el("details", { class: "met" },
      el("summary", { class: "passed", text: `✓ ${met.length} passed` }), el("ul", { class: "checks" }, ...met.map(check)));
  }
  for (const said of trial.judgements) {
    yield el("h3", { text: `Judge ${said.judge}: ${said.verdict}` });
    yield box(said.explanation, "Judge's explanation");
  }
  if (trial.facts.length) yield el("h3", { text: "Facts" });
  if (trial.facts.length) yield el("dl", { class: "pairs" }, ...trial.facts.flatMap((/** @type {string[]} */ [name, value]) =>
    [el("dt", { text: name }), el("dd", { dir: "auto", text: value })]));
  if (trial.stderr) {
    yield el("h3", { text: "Server's stderr" });
    yield box(trial.stderr, "Server's stderr");
  }
}

/** @param {Detail} trial */
function* conversation(trial) {
  yield el("h3", { text: "Conversation" });
  const replies = Math.max(0, ...trial.steps.map((/** @type {Detail} */ one) => one.reply || 0));
  const steps = trial.steps.map((/** @type {Detail} */ one) => step(one, replies));
  if ((trial.bars || []).length)
    yield timeAxis(trial.bars, (bar) => {
      const place = trial.steps.findIndex((/** @type {Detail} */ one) =>
        one.reply === bar.reply && (bar.call ? one.id === bar.call : true));
      steps[place]?.scrollIntoView({ block: "center" });
    });
  yield el("ol", { class: "timeline" }, ...steps);
  const calls = trial.steps.filter((/** @type {Detail} */ one) => one.who === "call");
  if (calls.length)
    yield el("p", { class: "caption", text: `A call is shown as the MCP session recorded it: arguments, result, outcome and times. ${calls.some((/** @type {Detail} */ one) => one.frames)
      ? "JSON-RPC frames: as they crossed the session; a call that was not sent has none."
      : "This log has no JSON-RPC frames."}` });
}

/** What stays on top while the rest is scrolled: what was asked, what is expected, and how it ended.
 * @param {Detail} trial @returns {Element[]} */
export function pinned(trial) {
  const line = (/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ kind = "") => text
    ? [el("dt", { text: name }), el("dd", { class: kind, dir: "auto", title: text, text })] : [];
  const asked = trial.steps.find((/** @type {Detail} */ one) => one.who === "user")?.text || "";
  const decisive = trial.checks.filter((/** @type {Detail} */ one) => !one.warn);
  const unmet = decisive.find((/** @type {Detail} */ one) => one.verdict !== "passed");
  const why = trial.error?.message || unmet && (unmet.explanation || unmet.label) || "";
  return [...line("Question", asked), ...line("Expected", decisive.map((/** @type {Detail} */ one) => one.label).join(" · ")),
    ...line("Verdict", [trial.status, why.split("\n")[0]].filter(Boolean).join(": "), trial.status)];
}

/** Focusable, for a keyboard must be able to scroll what is longer than its box.
 * @param {string} text @param {string} label */
export function box(text, label) {
  return el("div", { class: "box" },
    el("pre", { dir: "auto", tabindex: "0", role: "group", "aria-label": label, text }),
    copyButton(() => text, label));
}

/** @param {Detail} one */
function check(one) {
  const marks = /** @type {Object<string, string>} */ ({ passed: "✓ passed", failed: "✗ failed", not_judged: "? not judged" });
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
    const folded = one.verdict === "passed" || one.expected.length + one.actual.length > LONG;
    item.append(folded ? el("details", {}, el("summary", { class: "caption", text: "expected and actual" }), sides) : sides);
  }
  return item;
}

/** A picture or a sound, shown on a click. @param {{words: string, url: string}} file */
function mediaFold(file) {
  if (!file.url) return el("p", { class: "caption", text: file.words });
  const fold = el("details", {}, el("summary", { class: "caption", text: file.words }));
  const tag = file.url.startsWith("data:audio") ? "audio" : "img";
  fold.addEventListener("toggle", () => fold.append(el(tag, { src: file.url, alt: file.words, class: "media", controls: tag === "audio" })), { once: true });
  return fold;
}

/** @param {Detail} one @param {number} replies  how many the trial has */
function step(one, replies) {
  const reply = one.reply ? `reply ${one.reply} of ${replies}` : "";
  if (one.who !== "call") {
    const who = [one.who, reply].filter(Boolean).join(", ");
    if (one.thinking) {
      const fold = el("details", {}, el("summary", { class: "caption", text: "thinking" }), box(one.thinking, `Thinking of ${who}`));
      return el("li", { class: one.who }, el("span", { class: "who", text: who }), fold);
    }
    return el("li", { class: one.who }, el("span", { class: "who", text: who }), box(one.text || "(no text)", who), ...(one.media || []).map(mediaFold));
  }
  const ok = one.wanted || ["ok", "under way", "tool_search"].includes(one.outcome); // a wanted refusal is no fault
  const item = el("li", { class: ok ? "call" : "call bad" },
    el("span", { class: "who" }, el("span", { class: "dim", text: `${one.what} ` }), el("bdi", { text: one.tool })), " ",
    el("span", { class: `outcome ${ok ? "ok" : "not-ok"}`, text: one.outcome.replaceAll("_", " ") + (one.wanted ? ", as wanted" : "") }),
    el("span", { class: "dim", text: ` ${[reply, one.took, one.size].filter(Boolean).join(", ")}` }));
  if (one.refused) item.append(el("p", { class: one.wanted ? "dim" : "refused", text: one.refused }));
  for (const fault of one.faults || []) item.append(el("p", { class: "failed", text: fault }));
  for (const note of one.notes || []) item.append(el("p", { text: note }));
  const part = (/** @type {string} */ label, /** @type {string} */ text) => {
    if (text) item.append(el("span", { class: "caption", text: label }), box(text, `${label} of the call of ${one.tool}`));
  };
  part("arguments", one.arguments);
  part("result", one.result);
  for (const file of one.media || []) item.append(mediaFold(file));
  part("structured result", one.structured);
  if (one.frames) item.append(framesFold(/** @type {any} */ (one), box));
  return item;
}
