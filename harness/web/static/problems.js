// @ts-check
// What is wrong with a file, line by line.

import { element } from "./dom.js";

/** @param {string} title @param {import("./api.js").Problem[]} list */
export function problems(title, list) {
  return element(
    "div",
    { class: "problems" },
    element("p", {}, element("strong", {}, title)),
    element(
      "ul",
      {},
      ...list.map((one) =>
        element(
          "li",
          {},
          one.line ? element("strong", { class: "line" }, `Line ${one.line}${one.column ? `:${one.column}` : ""}: `) : null,
          one.message,
          one.meant ? element("p", { class: "dim lines" }, one.meant) : null,
        ),
      ),
    ),
  );
}
