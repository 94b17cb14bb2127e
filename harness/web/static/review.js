// @ts-check
// What people say of the verdicts of a run: a form and a mark for each trial. The machine's verdict stays.

import { Refusal, call } from "./api.js";
import { byId, element, replaceIn } from "./dom.js";

/** @typedef {{decision: "accepted"|"overruled", verdict: string, machine: string, by: string, note: string, at: string}} Review */
/** @typedef {{reviewed: number, accepted: number, overruled: number, trials: Record<string, Review>}} Found */
/** @typedef {{key: string, case: string, status: string}} Test */

const NAME = "harness-reviewer";
let made = 0;

export class Reviews {
  /** @param {string} run name of the run */
  constructor(run) {
    this.address = `/evaluations/${encodeURIComponent(run)}/reviews`;
    /** @type {Found | null} null until the run has ended: nobody reviews what may still change */
    this.found = null;
    /** @type {Map<string, Array<() => void>>} what shows the review of a trial, by its key */
    this.shown = new Map();
  }

  /** @param {Found} found */
  take(found) {
    const before = this.found;
    this.found = found;
    const words = found.reviewed ? `${found.reviewed} reviewed, ${found.overruled} overruled` : "";
    replaceIn(byId("reviewed"), words ? element("p", {}, element("strong", {}, words), " by people; rates and exit code are the machine's.") : null);
    for (const [key, draws] of this.shown)
      if (!before || JSON.stringify(before.trials[key]) !== JSON.stringify(found.trials[key])) for (const draw of draws) draw();
  }

  /**
   * The mark of a trial: empty until somebody has reviewed it.
   * @param {Test} test
   */
  badge(test) {
    return this.keep(test, element("p", { class: "reviewed" }), (place) => {
      const review = this.found?.trials[test.key];
      place.hidden = !review;
      if (review) replaceIn(place, ...words(review));
    });
  }

  /**
   * The form of a trial; empty for one without a verdict.
   * @param {Test} test
   */
  panel(test) {
    return this.keep(test, element("section", { class: "review" }), (place) => {
      const open = this.found && (test.status === "passed" || test.status === "failed");
      place.hidden = !open;
      replaceIn(place, ...(open ? this.form(test) : []));
    });
  }

  /**
   * @template {HTMLElement} T
   * @param {Test} test @param {T} place @param {(place: T) => void} fill @returns {T}
   */
  keep(test, place, fill) {
    const draw = () => fill(place);
    this.shown.set(test.key, [...(this.shown.get(test.key) || []), draw]);
    draw();
    return place;
  }

  /** @param {Test} test */
  form(test) {
    const known = this.found?.trials[test.key];
    const number = ++made;
    const by = element("input", { id: `by-${number}`, autocomplete: "name", maxlength: 100, required: true });
    by.value = localStorage.getItem(NAME) || "";
    const note = element("textarea", { id: `note-${number}`, rows: 2, maxlength: 4000, "aria-describedby": `hint-${number}` });
    note.value = known?.note || "";
    const said = element("p", { role: "status" });
    const other = test.status === "passed" ? "failed" : "passed";
    const send = async (/** @type {"accept" | "overrule"} */ decision) => {
      if (!by.reportValidity()) return;
      note.required = decision === "overrule";
      if (!note.reportValidity()) return;
      localStorage.setItem(NAME, by.value.trim());
      const body = JSON.stringify({ key: test.key, decision, by: by.value, note: note.value });
      try {
        this.take(await call(this.address, { method: "POST", body, headers: { "content-type": "application/json" } }));
        byId("reviewed").scrollIntoView({ block: "nearest" });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        said.textContent = error.message;
      }
    };
    const button = (/** @type {string} */ words, /** @type {"accept" | "overrule"} */ decision) => {
      const one = element("button", { type: "button" }, words);
      one.addEventListener("click", () => send(decision));
      return one;
    };
    return [
      element("h4", {}, "Review by a person"),
      known ? element("p", {}, ...words(known)) : null,
      element(
        "div",
        { class: "fields" },
        element("p", {}, element("label", { for: `by-${number}` }, "Your name"), by),
        element("p", {}, element("label", { for: `note-${number}` }, "Note"), note),
      ),
      element("p", { class: "dim small", id: `hint-${number}` }, "A verdict that is overruled needs a note."),
      element("p", { class: "actions" }, button(`Accept: ${test.status}`, "accept"), button(`Overrule: it ${other === "passed" ? "passed" : "failed"}`, "overrule")),
      said,
    ];
  }
}

/** @param {Review} review */
function words(review) {
  const what = review.decision === "accepted" ? `✓ ${review.machine} was accepted` : `✗ ${review.machine} was overruled: ${review.verdict}`;
  return [element("strong", { class: review.decision }, what), ` by ${review.by}, ${review.at.slice(0, 10)}`, review.note ? `: ${review.note}` : ""];
}
