// @ts-check
// The JSON-RPC frames of a call, folded: what was sent, and what answered it.

import { el } from "./elements.js";

/** @typedef {{body: any, left_out: Object<string, string>}} Frame  `left_out`: where in the body, as a JSON Pointer → what of the step
 * @typedef {{tool: string, arguments: string, result: string, structured: string, media: {words: string, url: string}[], frames: {about: string, request: Frame | string, response: Frame | string}}} Call */

/** @param {Call} call @param {(text: string, label: string) => Element} box */
export function framesFold(call, box) {
  const part = (/** @type {string} */ label, /** @type {Frame | string} */ frame) => frame
    ? [el("span", { class: "caption", text: label }), box(frameText(frame, call), `JSON-RPC ${label} of the call of ${call.tool}`)]
    : [el("p", { class: "caption", text: `There is no ${label}: no JSON-RPC message answered it.` })];
  return el("details", { class: "frames" },
    el("summary", { class: "caption", text: "JSON-RPC frames: raw request and response" }),
    el("p", { class: "caption", text: call.frames.about }),
    ...part("request", call.frames.request),
    ...part("response", call.frames.response));
}

/** @param {Frame | string} frame @param {Call} call */
function frameText(frame, call) {
  if (typeof frame === "string") return frame;
  const body = structuredClone(frame.body);
  for (const [pointer, source] of Object.entries(frame.left_out)) {
    const way = pointer.split("/").slice(1);
    const last = /** @type {string} */ (way.pop());
    way.reduce((place, key) => place[key], body)[last] = leftOut(source, call);
  }
  return JSON.stringify(body, null, 2);
}

/** @param {string} source @param {Call} call */
function leftOut(source, call) {
  if (source === "arguments") return JSON.parse(call.arguments);
  if (source.startsWith("media ")) return `[${call.media[Number(source.slice(6))].words}]`;
  if (source === "structured") return JSON.parse(call.structured || call.result);
  const lines = source.match(/\d+/g); // "text 2-5 of 9"
  return lines ? call.result.split("\n").slice(Number(lines[0]) - 1, Number(lines[1])).join("\n") : call.result;
}
