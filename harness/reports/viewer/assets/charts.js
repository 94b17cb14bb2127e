// @ts-check
// Charts of a grid, each with its axes: pass rates with their intervals, scores, and one column against another.

import { coloured } from "./colour.js";
import { el, plural, svg } from "./elements.js";

const WIDEST = 560;
const RIGHT = 20;
const LINE = 30;
const BINS = 10;
const SIDE = 300; // of the square in which two columns meet
const MOST = 4000; // points of a chart

/** @typedef {import("./grid.js").Shown} Shown @typedef {import("./rows.js").Row} Row @typedef {import("./rows.js").Cell} Cell */

/** @param {Shown[]} columns @param {Row[]} rows  none of a run whose rows are elsewhere @param {number} room  pixels */
export function chartsOf(columns, rows, room) {
  const plots = new Plots(Math.min(WIDEST, Math.max(260, room - 32)));
  return [plots.rates(columns), plots.scores(columns, rows), pairPlot(columns, rows)].flatMap((one) => (one ? [one] : []));
}

/** @param {string} title @param {number} height @param {number} width @param {string} words @param {Element[]} parts */
const figure = (title, height, width, words, parts) => el("figure", { class: "vchart" }, el("figcaption", { text: title }),
  svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${words}` }, ...parts));

/** @param {number} x @param {number} y @param {string} text @param {string} [anchor] */
const label = (x, y, text, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor, text });

/** @param {string} name @param {number} [most] */
const short = (name, most = 24) => (name.length > most ? `${name.slice(0, most / 2)}…${name.slice(1 - most / 2)}` : name);

/** Plots with a row for each column, above one axis. */
class Plots {
  /** @param {number} width */
  constructor(width) {
    this.width = width;
    this.left = Math.round(width * 0.3); // room for the names of columns
    this.letters = 2 * Math.floor((this.left - 14) / 17);
  }

  /** @param {number} share */
  across(share) {
    return this.left + (this.width - this.left - RIGHT) * share;
  }

  /** The lower axis of rows. @param {number} y @param {string} title @param {[number, string][]} ticks  shares and their words */
  axis(y, title, ticks) {
    return [
      ...ticks.map(([share]) => svg("line", { x1: this.across(share), x2: this.across(share), y1: 4, y2: y, class: "vtick" })),
      svg("line", { x1: this.left, x2: this.width - RIGHT, y1: y, y2: y, class: "vaxis" }),
      ...ticks.map(([share, text]) => label(this.across(share), y + 15, text)),
      label(this.across(0.5), y + 32, title),
    ];
  }

  /** @param {Shown[]} columns */
  rates(columns) {
    const rates = columns.flatMap(({ column, entrant }) => column.rates.filter((one) => one.rate !== undefined)
      .map((one) => ({ ...one, name: [column.title, one.suite].filter(Boolean).join(", "), entrant })));
    if (!rates.length) return null;
    const y = LINE * rates.length + 8;
    return figure("Pass rate, with its 95 % interval", y + 38, this.width, rates.map((one) => `${one.name}: ${one.text}`).join("; "), [
      ...this.axis(y, "% of the cases with a verdict", [0, 0.25, 0.5, 0.75, 1].map((share) => [share, `${100 * share}`])),
      ...rates.flatMap(({ name, entrant, text, rate = 0, low = 0, high = 1 }, place) => {
        const at = LINE * place + 20;
        return [label(this.left - 10, at + 4, short(name, this.letters), "end"),
          coloured(svg("line", { x1: this.across(low), x2: this.across(high), y1: at, y2: at, class: "vinterval" }), entrant),
          coloured(svg("circle", { cx: this.across(rate), cy: at, r: 6, class: "vpoint" }, svg("title", { text: `${name}: ${text}` })), entrant)];
      })]);
  }

  /** @param {Shown[]} columns @param {Row[]} rows */
  scores(columns, rows) {
    const all = columns.map((shown) => {
      const amounts = new Array(BINS).fill(0);
      for (const row of rows) {
        const score = row.cells[shown.place]?.score;
        if (score !== undefined) amounts[Math.min(BINS - 1, Math.floor(score * BINS + 1e-9))] += 1;
      }
      return { ...shown, amounts };
    }).filter(({ amounts }) => amounts.some(Boolean));
    if (!all.length) return null;
    const most = Math.max(...all.flatMap(({ amounts }) => amounts));
    const [high, step] = [56, 70];
    const y = step * all.length + 8;
    const told = all.map(({ column, amounts }) => `${column.title}: ${amounts.map((amount, bin) => (amount ? `${amount} from ${bin / BINS}` : "")).filter(Boolean).join(", ")}`);
    return figure("Scores", y + 38, this.width, told.join("; "), [
      ...this.axis(y, `score; the highest bar: ${plural(most, "case")}`, [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => [share, String(share)])),
      ...all.flatMap(({ column, entrant, amounts }, place) => {
        const ground = step * (place + 1);
        return [label(this.left - 10, ground - high / 2, short(column.title, this.letters), "end"),
          svg("line", { x1: this.left, x2: this.width - RIGHT, y1: ground, y2: ground, class: "vaxis" }),
          ...amounts.flatMap((amount, bin) => (amount ? [coloured(svg("rect", {
            x: this.across(bin / BINS) + 1, width: this.across(1 / BINS) - this.left - 2, y: ground - (high * amount) / most, height: (high * amount) / most, class: "vpoint",
          }, svg("title", { text: `${column.title}: ${amount} from ${bin / BINS} to ${(bin + 1) / BINS}` })), entrant)] : []))];
      })]);
  }
}

/** The first two columns that are shown, case by case: by score where there are scores, else by time.
 * @param {Shown[]} columns @param {Row[]} rows */
function pairPlot(columns, rows) {
  if (columns.length < 2) return null;
  const [a, b] = columns;
  const pairs = rows.flatMap((row) => {
    const [one, other] = [row.cells[a.place], row.cells[b.place]];
    return one && other ? [{ name: row.name, one, other }] : [];
  });
  const scored = pairs.some(({ one, other }) => one.score !== undefined && other.score !== undefined);
  const value = (/** @type {Cell} */ cell) => (scored ? cell.score : cell.latency_s);
  const points = pairs.flatMap(({ name, one, other }) => {
    const [x, y] = [value(one), value(other)];
    return x === undefined || y === undefined ? [] : [{ name, one, other, x, y }];
  }).slice(0, MOST);
  if (!points.length) return null;
  const top = scored ? 1 : Math.max(...points.flatMap(({ x, y }) => [x, y])) || 1;
  const [left, ground] = [90, SIDE + 10];
  const x = (/** @type {number} */ at) => left + (SIDE * at) / top;
  const y = (/** @type {number} */ at) => ground - (SIDE * at) / top;
  const words = (/** @type {number} */ at) => (!at ? "0" : scored ? at.toFixed(1) : `${at.toPrecision(2)} s`);
  const differ = points.filter(({ one, other }) => one.status !== other.status).length;
  const title = `${a.column.title} against ${b.column.title}, by ${scored ? "score" : "time"}`;
  return figure(title, ground + 42, SIDE + 130, `${points.length} cases; ${differ} ended differently and are rings`, [
    ...[0, 0.5, 1].flatMap((share) => [
      svg("line", { x1: x(share * top), x2: x(share * top), y1: y(top), y2: ground, class: "vtick" }),
      svg("line", { x1: left, x2: x(top), y1: y(share * top), y2: y(share * top), class: "vtick" }),
      label(x(share * top), ground + 15, words(share * top)), label(left - 6, y(share * top) + 4, words(share * top), "end")]),
    svg("line", { x1: left, x2: x(top), y1: ground, y2: y(top), class: "vaxis" }),
    ...points.map(({ name, one, other, x: at, y: over }) => svg("circle", { cx: x(at), cy: y(over), r: 4, class: one.status === other.status ? "vdot" : "vdot ring" },
      svg("title", { text: `${name}: ${a.column.title} ${one.status}, ${words(at)}; ${b.column.title} ${other.status}, ${words(over)}` }))),
    label(left + SIDE / 2, ground + 34, short(a.column.title)),
    svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(12 ${ground - SIDE / 2}) rotate(-90)`, text: short(b.column.title) })]);
}
