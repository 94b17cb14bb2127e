// @ts-check
// The trace of a trial, beside its row: which case, which of its trials, and everything that happened.

import { copyButton } from "./copy.js";
import { el } from "./elements.js";
import { pinned, trialParts } from "./trial.js";

/** @typedef {import("./rows.js").Cell} Cell @typedef {import("./trial.js").Detail} Detail */

/**
 * @typedef {Object} Acts  what the buttons of the panel do
 * @property {(step: number) => void} move @property {() => void} close
 * @property {(trial: number) => void} choose
 */

const NOTHING_HEARD = "Nothing is known of it yet. What a run in a terminal says is shown when the test has ended.";

/** @typedef {{top: Element[], bottom: Element[]}} Parts  what a page adds before and after everything else */

export class Trace {
  /** @param {Acts} acts @param {(cell: Cell, trial: number, detail: Detail) => Parts} [more] */
  constructor(acts, more) {
    this.acts = acts;
    this.more = more || (() => ({ top: [], bottom: [] }));
    this.asked = 0;
    this.read = "";
    this.title = el("h3", { id: "trace-title", tabindex: "-1" });
    this.about = el("p", { class: "dim", role: "status" });
    this.trials = el("div", { class: "trials", role: "group", "aria-label": "Trials" });
    this.content = el("div", { class: "trace-content" });
    this.pin = el("dl", { class: "trace-pin" });
    const button = (/** @type {string} */ text, /** @type {string} */ key, /** @type {() => void} */ act) => {
      const made = el("button", { type: "button", "aria-keyshortcuts": key, title: `Key: ${key}`, text });
      made.addEventListener("click", act);
      return made;
    };
    this.place = el("section", { class: "trace", "aria-labelledby": "trace-title", hidden: true },
      el("div", { class: "trace-head" }, this.title,
        el("div", { class: "trace-buttons" },
          button("Previous", "k", () => acts.move(-1)), button("Next", "j", () => acts.move(1)),
          copyButton(() => location.href, "this trial", "Copy link"), button("Print", "p", () => print()),
          button("Close", "Escape", () => acts.close())), this.pin),
      this.about, this.trials, this.content);
    /** @type {HTMLDetailsElement[]} */
    let folded = [];
    addEventListener("beforeprint", () => {
      folded = [...this.content.querySelectorAll("details")].filter((one) => !one.open);
      for (const one of folded) one.open = true; // paper cannot be unfolded
    });
    addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
  }

  get opened() {
    return !this.place.hidden;
  }

  close() {
    this.asked++;
    this.place.hidden = true;
    this.content.replaceChildren();
  }

  /** @param {Cell} cell @param {number} trial @param {string} where  "3 of 12"
   * @param {() => Promise<Detail | null>} detail  `null`: nothing of it is known yet */
  async show(cell, trial, where, detail) {
    const number = ++this.asked;
    this.place.hidden = false;
    this.title.replaceChildren(el("span", { class: `vstatus ${cell.status}`, text: cell.status }), " ", el("bdi", { text: cell.case }));
    this.pin.replaceChildren();
    this.about.textContent = [cell.suite, cell.entrant, cell.identity, cell.run, where].filter(Boolean).join(" · ");
    this.tabs(cell, trial);
    const waiting = setTimeout(() => this.content.replaceChildren(el("p", { class: "dim", text: "Reading …" })), 150);
    try {
      const found = await detail();
      if (number !== this.asked) return;
      this.read = JSON.stringify(found);
      this.pin.replaceChildren(...(found && !found.underWay ? pinned(found) : []));
      this.content.replaceChildren(...(found
        ? found.underWay ? trialParts(found) : whole(found, this.more(cell, trial, found))
        : [el("p", { class: "dim", text: cell.problem || NOTHING_HEARD })]));
      this.place.scrollTop = 0;
    } catch (error) {
      if (number !== this.asked) return;
      this.content.replaceChildren(el("p", { class: "notice", text: `It cannot be read: ${/** @type {Error} */ (error).message}` }));
    } finally {
      clearTimeout(waiting);
    }
  }

  /** Shows what has come since; what is read stays where it is. @param {() => Promise<Detail | null>} detail */
  async refresh(detail) {
    const number = this.asked;
    const found = await detail().catch(() => null);
    if (number !== this.asked || !found || JSON.stringify(found) === this.read) return;
    this.read = JSON.stringify(found);
    this.content.replaceChildren(...trialParts(found));
  }

  /** @param {Cell} cell @param {number} chosen */
  tabs(cell, chosen) {
    const amount = cell.at?.length || 0;
    this.trials.hidden = amount < 2;
    this.trials.replaceChildren(...Array.from({ length: amount < 2 ? 0 : amount }, (_, place) => {
      const status = cell.trials?.[place];
      const button = el("button", { type: "button", "aria-pressed": String(place === chosen), text: `Trial ${place + 1}${status ? `: ${status}` : ""}` });
      button.addEventListener("click", () => this.acts.choose(place));
      return button;
    }));
  }
}

/** @param {Detail} detail @param {Parts} more */
const whole = (detail, more) => [...more.top, ...trialParts(detail), ...more.bottom];
