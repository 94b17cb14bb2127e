// @ts-check
// What differs between two texts, word by word, and between two lists.

/** @typedef {{same: boolean, before: string, after: string}} Part  a stretch that is the same, or what was and what is */

const MOST_STEPS = 800; // differing words after which two texts count as altogether different
const LEAST_SAME = 0.3; // share of two texts below which single equal words say nothing

/**
 * The shortest way from one list to another (Myers 1986), or nothing if it is too long.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Array<[number, number]> | null} places of equal items, in order
 */
export function matches(a, b) {
  const reach = new Map([[1, 0]]);
  const trail = [];
  for (let steps = 0; steps <= Math.min(a.length + b.length, MOST_STEPS); steps++) {
    trail.push(new Map(reach));
    for (let line = -steps; line <= steps; line += 2) {
      const down = line === -steps || (line !== steps && (reach.get(line - 1) ?? -1) < (reach.get(line + 1) ?? -1));
      let x = (down ? reach.get(line + 1) : (reach.get(line - 1) ?? 0) + 1) ?? 0;
      while (x < a.length && x - line < b.length && a[x] === b[x - line]) x++;
      reach.set(line, x);
      if (x >= a.length && x - line >= b.length) return back(trail, a, b);
    }
  }
  return null;
}

/**
 * @param {Map<number, number>[]} trail
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Array<[number, number]>}
 */
function back(trail, a, b) {
  /** @type {Array<[number, number]>} */
  const found = [];
  let [x, y] = [a.length, b.length];
  for (let steps = trail.length - 1; steps >= 0; steps--) {
    const reach = trail[steps];
    const line = x - y;
    const down = line === -steps || (line !== steps && (reach.get(line - 1) ?? -1) < (reach.get(line + 1) ?? -1));
    const from = down ? line + 1 : line - 1;
    const start = steps ? reach.get(from) ?? 0 : 0;
    while (x > start && y > start - from && x > 0 && y > 0 && a[x - 1] === b[y - 1]) found.push([--x, --y]);
    [x, y] = [start, start - from];
  }
  return found.reverse();
}

/**
 * Two texts as stretches that are the same and stretches that differ.
 * @param {string} before
 * @param {string} after
 * @returns {Part[]}
 */
export function wordParts(before, after) {
  if (before === after) return before ? [{ same: true, before, after }] : [];
  const [a, b] = [before, after].map((text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || []);
  const pairs = matches(a, b);
  if (!pairs) return [{ same: false, before, after }];
  /** @type {Part[]} */
  const parts = [];
  let [x, y] = [0, 0];
  for (const [i, j] of [...pairs, /** @type {[number, number]} */ ([a.length, b.length])]) {
    if (i > x || j > y) parts.push({ same: false, before: a.slice(x, i).join(""), after: b.slice(y, j).join("") });
    if (i < a.length && j < b.length) {
      const last = parts.at(-1);
      if (last?.same) (last.before += a[i]), (last.after += b[j]);
      else parts.push({ same: true, before: a[i], after: b[j] });
    }
    [x, y] = [i + 1, j + 1];
  }
  return joined(parts);
}

/**
 * Joins changes that only a space keeps apart. Two texts with few words in common count as altogether different.
 * @param {Part[]} parts
 * @returns {Part[]}
 */
function joined(parts) {
  /** @type {Part[]} */
  const found = [];
  for (const [place, part] of parts.entries()) {
    const last = found.at(-1);
    const gap = part.same && !part.before.trim() && place > 0 && place < parts.length - 1;
    if (last && !last.same && (gap || !part.same)) {
      last.before += part.before;
      last.after += part.after;
    } else found.push({ ...part });
  }
  const length = (/** @type {Part[]} */ some) => some.reduce((sum, part) => sum + part.before.length + part.after.length, 0);
  if (length(found.filter((part) => part.same)) >= LEAST_SAME * length(found)) return found;
  return [{ same: false, before: found.map((part) => part.before).join(""), after: found.map((part) => part.after).join("") }];
}

/**
 * Two sequences of names side by side: equal ones stand together, others alone.
 * @template T
 * @param {T[]} before
 * @param {T[]} after
 * @param {(one: T) => string} name
 * @returns {Array<[T | null, T | null]>}
 */
export function aligned(before, after, name) {
  const pairs = matches(before.map(name), after.map(name)) || [];
  /** @type {Array<[T | null, T | null]>} */
  const rows = [];
  let [x, y] = [0, 0];
  for (const [i, j] of [...pairs, [before.length, after.length]]) {
    while (x < i) rows.push([before[x++], null]);
    while (y < j) rows.push([null, after[y++]]);
    if (i < before.length && j < after.length) rows.push([before[x++], after[y++]]);
  }
  return rows;
}
