// @ts-check
// The data of a page: blocks of JSON inside it, several of which are compressed together.

const BATCH = 200; // cases searched before the page may do something else
const BLOCKS = 4; // blocks of cells that are unpacked before it may
const MOST_TEXTS = 4000; // cells whose texts are kept for the next search
const OURS = new Set(["who", "what", "id", "bars", "calls"]); // fields of which nobody said the values
const ENVELOPE = new Set(["jsonrpc", "id", "method", "progressToken"]); // they say the same, or nothing, around every call
const NAMED_IN_FRAMES = new Set(["_meta", "arguments", "structuredContent", "code", "data"]);

/** @type {Map<string, Promise<any>>} */
const packs = new Map(); // those that were unpacked last
const MOST_PACKS = 12;

/** Unpacks one pack; those that were needed last are kept. @param {string} name @returns {Promise<any>} */
function pack(name) {
  const found = packs.get(name) || unpacked(name).then(JSON.parse);
  packs.delete(name);
  packs.set(name, found);
  if (packs.size > MOST_PACKS) packs.delete(/** @type {string} */ (packs.keys().next().value));
  return found;
}

/** The JSON of a pack. @param {string} name @returns {Promise<string>} */
async function unpacked(name) {
  const letters = atob(/** @type {HTMLElement} */ (document.getElementById(`pack-${name}`)).textContent || "");
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

/** @type {Promise<Record<string, [number, number][]>> | undefined} */
let index; // of each kind of block the first number in each of its packs, and the pack

/** The pack that has a block, if there is such a block. @param {string} name @returns {Promise<string | undefined>} */
async function packOf(name) {
  const [, kind = name, digits = "0"] = /^(.*)-(\d+)$/.exec(name) || [];
  const packsOfKind = (await (index ||= pack("index")))[kind] || [];
  let [low, high] = [0, packsOfKind.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (packsOfKind[middle][0] <= Number(digits)) low = middle + 1;
    else high = middle;
  }
  return low ? String(packsOfKind[low - 1][1]) : undefined;
}

/** @param {string} name @returns {Promise<any>}  nothing: there is no such block */
export async function block(name) {
  const place = await packOf(name);
  return place === undefined ? undefined : (await pack(place))[name];
}

/** All cells of a large run, a block at a time; between two of them the page may do something else.
 * @param {number} number  of blocks @returns {Promise<any[]>} */
export async function cellsOf(number) {
  const cells = [];
  for (let one = 0; one < number; one++) {
    cells.push(...await block(`cells-${one}`));
    if (one % BLOCKS === BLOCKS - 1) await new Promise((go) => setTimeout(go));
  }
  return cells;
}

/** @param {number} number  place of a case in the run */
export const caseBlock = (number) => block(`case-data-${number}`);

/** @type {Map<number, string>} */
const texts = new Map(); // of small runs alone: those of large ones would take all memory

/** Finds words in everything that the page holds of its cases.
 * @param {{number?: number, place?: number, at?: number[]}[]} cells @param {string[]} words @param {AbortSignal} signal
 * @returns {Promise<Map<string, Set<number>>>} */
export async function searchBlocks(cells, words, signal) {
  /** @type {Map<string, Set<number>>} */
  const found = new Map(words.map((word) => [word, new Set()]));
  const likely = searchedPacks(words);
  for (const [place, cell] of cells.entries()) {
    if (place % BATCH === BATCH - 1) await new Promise((go) => setTimeout(go));
    if (signal.aborted) break;
    const number = cell.place ?? cell.number ?? place;
    if (!texts.has(number) && cells.length > MOST_TEXTS && !await likely(number)) continue;
    const text = texts.get(number) ?? saidIn(await caseBlock(number) ?? null).join("\n").toLowerCase();
    if (cells.length <= MOST_TEXTS) texts.set(number, text);
    for (const word of words) if (text.includes(word)) for (const one of cell.at || []) found.get(word)?.add(one);
  }
  return found;
}

/** Whether the pack of a case has the letters of a word anywhere: only then it is taken apart.
 * @param {string[]} words @returns {(number: number) => Promise<boolean>} */
function searchedPacks(words) {
  const plain = words.every((word) => !/["\\\p{Cc}]/u.test(word) && /[^-+.e\d]/.test(word)); // JSON writes them as they are
  /** @type {string | undefined} */
  let last = "";
  let has = true;
  return async (number) => {
    const name = await packOf(`case-data-${number}`);
    if (plain && name !== last) {
      const text = name === undefined ? "" : (await unpacked(name)).toLowerCase();
      has = words.some((word) => text.includes(word));
      last = name;
    }
    return has;
  };
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
