// @ts-check
// Copies texts to the clipboard.

import { el } from "./elements.js";

const SAID_MS = 1500;

/** A button that copies what `text` returns, and says whether it could.
 * @param {() => string} text @param {string} what  what is copied, for a screen reader @param {string} [title] */
export function copyButton(text, what, title = "Copy") {
  const button = el("button", { type: "button", class: "copy", "aria-label": `${title}: ${what}`, text: title });
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    button.textContent = (await copied(text())) ? "Copied" : "Cannot copy";
    setTimeout(() => { button.textContent = title; }, SAID_MS);
  });
  return button;
}

/** @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text); // pages that are neither local nor encrypted have no clipboard
  }
}

/** @param {string} text */
function copiedBySelection(text) {
  const area = el("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  area.value = text;
  document.body.append(area);
  area.focus();
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus();
  return done;
}
