// @ts-check
// The data of a page: blocks of JSON inside it, several of which are compressed together.

const BATCH = 200; // cases searched before the page may do something else
const OURS = new Set(["who", "what", "id", "bars", "calls"]); // fields of which nobody said the values
const ENVELOPE = new Set(["jsonrpc", "id", "method", "progressToken"]); // they say the same, or nothing, around every call
const NAMED_IN_FRAMES = new Set(["_meta", "arguments", "structuredContent", "code", "data"]);

/** @type {Map<string, Promise<any>>} */
const packs = new Map(); // those that were unpacked last
const MOST_PACKS = 12;

/** Unpacks one pack; those that were needed last are kept. @param {string} name @returns {Promise<any>} */
function pack(name) {
  const found = packs.get(name) || unpacked(/** @type {HTMLElement} */ (document.getElementById(`pack-${name}`)).textContent || "");
  packs.delete(name);
  packs.set(name, found);
  if (packs.size > MOST_PACKS) packs.delete(/** @type {string} */ (packs.keys().next().value));
  return found;
}

/** @param {string} text */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** @type {Promise<Record<string, number>> | undefined} */
let index;

/** @param {string} name @returns {Promise<any>} */
export async function block(name) {
  const places = await (index ||= pack("index"));
  return (await pack(String(places[name])))[name];
}

/** @param {number} number  place of a case in the run */
export const caseBlock = (number) => block(`case-data-${number}`);

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
  return Object.entries(value).flatMap(([name, part]) => (OURS.has(name) ? [] : name === "frames" ? saidInFrames(part) : saidIn(part)));
}

/** Every text of the JSON-RPC frames of a call, by the rules of `text_search.py`. @param {any} frames @returns {string[]} */
function saidInFrames(frames) {
  const session = /session (.+)$/.exec(frames?.about || "");
  return [...(session ? [session[1]] : []), ...[frames?.request, frames?.response].flatMap((frame) => saidInFrame(bodyOf(frame), false))];
}

/** @param {any} frame  with a body, or a text: the whole frame as JSON, which may be cut */
function bodyOf(frame) {
  if (typeof frame !== "string") return frame?.body;
  try {
    return JSON.parse(frame);
  } catch {
    return frame;
  }
}

/** @param {any} value @param {boolean} named  whether the names of its fields and its numbers count @returns {string[]} */
function saidInFrame(value, named) {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return named ? [String(value)] : [];
  if (value === null || typeof value !== "object") return [];
  if (Array.isArray(value)) return value.flatMap((part) => saidInFrame(part, named));
  return Object.entries(value).flatMap(([name, part]) => (ENVELOPE.has(name) ? []
    : [...(named ? [name] : []), ...saidInFrame(part, named || NAMED_IN_FRAMES.has(name))]));
}
