// A run that has ended, asked once more: all of it, the tests that failed, or after a change.

import { Refusal, call, form } from "./api.js";
import { byId, replaceIn } from "./dom.js";
import { problems } from "./problems.js";

/**
 * What a run asked.
 * @param {string} run
 * @returns {Promise<{name: string, text: string, choice: Record<string, string>}>}
 */
export const asked = (run) => call(`/evaluations/${encodeURIComponent(run)}/suite`);

export class Again {
  /** @param {string} run */
  constructor(run) {
    this.run = run;
  }

  /** @param {{counts: Record<string, number>}} summary */
  async offer(summary) {
    try {
      this.suite = await call(`/evaluations/${encodeURIComponent(this.run)}/suite?if_any=1`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return;
    }
    if (this.suite.name === null) return; // no file that the page can read: it is run again where it was started
    const failed = summary.counts.failed + summary.counts.error;
    this.button("run-again", {});
    if (failed) this.button("run-failed", { failed_of: this.run });
    byId("edit").href = `/evaluation?from=${encodeURIComponent(this.run)}`;
    byId("edit").hidden = false;
  }

  button(id, more) {
    const button = byId(id);
    button.hidden = false;
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const { name, text, choice } = this.suite;
        const begun = await call("/evaluations", { method: "POST", body: form(new File([text], name), { ...choice, ...more }) });
        location.assign(`/evaluation?run=${encodeURIComponent(begun.id)}`);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        replaceIn(byId("failure"), problems(error.message, error.problems));
        button.disabled = false;
      }
    });
  }
}
