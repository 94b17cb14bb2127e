// @ts-check
// The name and the tags that people give a run.

import { Refusal, call } from "./api.js";
import { byId, element, fieldOf, replaceIn } from "./dom.js";

/** @typedef {{name: string, tags: string[]}} Label */

/** Tags as links to the runs that have them. @param {Label | undefined} label @returns {Element[]} */
export const tagLinks = (label) =>
  (label?.tags || []).map((tag) => element("a", { class: "tag", href: `/runs?${new URLSearchParams({ label: tag })}` }, tag));

export class Labelling {
  /** @param {string} run @param {(label: Label) => void} named  is told of the label, now and later */
  constructor(run, named) {
    this.address = `/evaluations/${encodeURIComponent(run)}/label`;
    this.named = named;
    byId("labelling").addEventListener("submit", (event) => {
      event.preventDefault();
      this.save();
    });
  }

  /** @param {Label | undefined} label */
  take(label = { name: "", tags: [] }) {
    byId("labelling").hidden = false;
    fieldOf("label-name").value = label.name;
    fieldOf("label-tags").value = label.tags.join(", ");
    replaceIn(byId("tags"), ...tagLinks(label));
    this.named(label);
  }

  async save() {
    const tags = fieldOf("label-tags").value.split(",").map((tag) => tag.trim()).filter(Boolean);
    const body = JSON.stringify({ name: fieldOf("label-name").value, tags });
    try {
      this.take(await call(this.address, { method: "PUT", body, headers: { "content-type": "application/json" } }));
      byId("labelled").textContent = "Saved.";
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      byId("labelled").textContent = error.message;
    }
  }
}
