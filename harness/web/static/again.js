// @ts-check
// A run that has ended, asked once more: all of it, the tests that failed, or after a change.

import { Refusal, call, fields, form } from "./api.js";
import { buttonOf, byId, linkOf, replaceIn } from "./dom.js";
import { problems } from "./problems.js";

/** @typedef {{name: string, text: string, suites?: string[], choice: Record<string, string | string[]>}} Asked */

/**
 * What a run asked.
 * @param {string} run
 * @returns {Promise<Asked>}
 */
export const asked = (run) => call(`/evaluations/${encodeURIComponent(run)}/suite`);

export class Again {
  /** @param {string} run */
  constructor(run) {
    this.run = run;
  }

  /** @param {{counts: Record<string, number>}} summary */
  async offer(summary) {
    /** @type {Asked & {name: string | null}} */
    let suite;
    try {
      suite = await call(`/evaluations/${encodeURIComponent(this.run)}/suite?if_any=1`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return;
    }
    if (suite.name === null) return; // no file that the page can read: it is run again where it was started
    const failed = summary.counts.failed + summary.counts.error;
    this.button("run-again", suite, {});
    if (failed) this.button("run-failed", suite, { failed_of: this.run });
    if (!suite.name) return; // several suites are no one text
    linkOf("edit").href = `/evaluation?from=${encodeURIComponent(this.run)}`;
    byId("edit").hidden = false;
  }

  /** @param {string} id @param {Asked} suite @param {Record<string, string>} more */
  button(id, suite, more) {
    const button = buttonOf(id);
    button.hidden = false;
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const { name, text, choice, suites = [] } = suite;
        // The project's own are run from where they lie: an upload could start no server.
        const [path, body] = suites.length ? ["/evaluations/suites", fields({ ...choice, suite: suites, ...more })]
          : ["/evaluations", form(new File([text], name), { ...choice, ...more })];
        const begun = await call(path, { method: "POST", body });
        location.assign(`/evaluation?run=${encodeURIComponent(begun.id)}`);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        replaceIn(byId("failure"), problems(error.message, error.problems));
        button.disabled = false;
      }
    });
  }
}
