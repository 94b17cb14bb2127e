// The data of a page: blocks of JSON inside it.

const BATCH = 200; // cases searched before the page may do something else
const OURS = new Set(["who", "what", "id", "bars", "calls"]); // fields of which nobody said the values

/** @param {string} id */
export function block(id) {
  return JSON.parse(/** @type {HTMLElement} */ (document.getElementById(id)).textContent || "null");
}

/** @param {number} number  place of a case in the run */
export const caseBlock = async (number) => block(`case-data-${number}`);

/** @type {Map<number, string>} */
const texts = new Map();

/** Finds words in everything that the page holds of its cases.
 * @param {{number?: number, at?: number[]}[]} cells @param {string[]} words @param {AbortSignal} signal
 * @returns {Promise<Map<string, Set<number>>>} */
export async function searchBlocks(cells, words, signal) {
  /** @type {Map<string, Set<number>>} */
  const found = new Map(words.map((word) => [word, new Set()]));
  for (const [place, cell] of cells.entries()) {
    if (place % BATCH === BATCH - 1) await new Promise((go) => setTimeout(go));
    if (signal.aborted) break;
    const number = cell.number ?? place;
    let text = texts.get(number);
    if (text === undefined) texts.set(number, (text = saidIn(await caseBlock(number)).join("\n").toLowerCase()));
    for (const word of words) if (text.includes(word)) for (const one of cell.at || []) found.get(word)?.add(one);
  }
  return found;
}

/** Every text of a value, without the names of its fields. @param {any} value @returns {string[]} */
function saidIn(value) {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, part]) => (OURS.has(name) ? [] : saidIn(part)));
}
