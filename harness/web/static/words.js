// @ts-check
// Figures as people read them.

/** @typedef {number | null | undefined} Figure */

/** @param {Figure} value */
export function seconds(value) {
  if (value === null || value === undefined) return "unknown";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
}

/** @param {Figure} value */
export function money(value) {
  if (value === null || value === undefined) return "unknown";
  return value >= 0.1 || value === 0 ? `$${value.toFixed(2)}` : `$${value.toFixed(4)}`;
}

/** @param {Figure} share */
export const percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(100 * share)} %`);

const EDGES = [0.4, 0.7, 0.9];

// Rounded, but never up into a band that was not reached.
/** @param {Figure} value */
export function score(value) {
  if (value === null || value === undefined) return "–";
  const rounded = Math.round(value * 100) / 100;
  return (EDGES.some((edge) => value < edge && rounded >= edge) ? rounded - 0.01 : rounded).toFixed(2);
}

/** @param {number} amount @param {string} noun */
export const counted = (amount, noun) => `${amount.toLocaleString("en")} ${noun}${amount === 1 ? "" : "s"}`;

/** @param {unknown} value */
export const json = (value) => (value === undefined || value === null ? "" : JSON.stringify(value, null, 2));
