// @ts-check
// The JSON-RPC frames of a call, folded: what was sent, and what answered it.

import { el } from "./elements.js";

/** @param {{about: string, request: string, response: string}} frames @param {string} tool
 * @param {(text: string, label: string) => Element} box */
export function framesFold(frames, tool, box) {
  const part = (/** @type {string} */ label, /** @type {string} */ text) => text
    ? [el("span", { class: "caption", text: label }), box(text, `JSON-RPC ${label} of the call of ${tool}`)]
    : [el("p", { class: "caption", text: `There is no ${label}: no JSON-RPC message answered it.` })];
  return el("details", { class: "frames" },
    el("summary", { class: "caption", text: "JSON-RPC frames" }),
    el("p", { class: "caption", text: frames.about }),
    ...part("request", frames.request),
    ...part("response", frames.response));
}
