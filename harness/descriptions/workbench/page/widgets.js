// @ts-check
// Widgets of the workbench's page: tables with intervals, heat maps, curves, texts to paste.

import { block } from "../../../reports/formats/html_report/blocks.js";
import { breakable, el, plural, svg } from "../../../reports/viewer/assets/elements.js";
import { box, trialParts } from "../../../reports/viewer/assets/trial.js";
import { data } from "./data.js";

/** @typedef {import("./data.js").TableCell} TableCell @typedef {import("./data.js").HeatCell} HeatCell */

// A difference or a share with its interval, drawn on its scale.
/** @param {import("./data.js").Figure} cell */
export function whisker(cell) {
  const [least, most] = cell.scale;
  const x = (/** @type {number} */ value) => 4 + (192 * (Math.min(most, Math.max(least, value)) - least)) / (most - least);
  const [value, low, high] = cell.interval;
  return svg("svg", { class: `whisker ${cell.tone}`, viewBox: "0 0 200 16", "aria-hidden": "true", focusable: "false" },
    svg("line", { class: "grid", x1: 4, x2: 196, y1: 8, y2: 8, stroke: "currentColor", opacity: .2 }),
    least < 0 ? svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 1, y2: 15 }) : null,
    svg("line", { class: "reach", x1: x(low), x2: Math.max(x(high), x(low) + 1), y1: 8, y2: 8 }),
    svg("circle", { class: "dot", cx: x(value), cy: 8, r: 4.5 }));
}

/** @param {TableCell} cell */
function cellParts(cell) {
  if (typeof cell === "string") return [el("bdi", { text: cell })];
  if (cell.interval) {
    return [el("span", { class: `text ${cell.tone}`, text: cell.text }), whisker(cell),
      el("span", { class: "caption", text: cell.more })];
  }
  if (cell.code !== undefined) return [el("code", {}, el("bdi", { text: cell.code }))];
  return [el("bdi", { class: cell.tone || "", text: cell.text })];
}

/** @param {import("./data.js").Table} widget */
function tableOf(widget) {
  const hasInterval = (/** @type {TableCell} */ one) => typeof one !== "string" && !!one.interval;
  const cell = (/** @type {TableCell} */ one, /** @type {number} */ place) => el(place === 0 ? "th" : "td",
    { class: hasInterval(one) ? "interval" : place < widget.left ? "left" : "", ...(place === 0 ? { scope: "row" } : {}) },
    ...cellParts(one));
  const name = widget.caption || "Facts";
  const caption = widget.caption ? el("p", { class: "dim", text: widget.caption }) : null;
  return el("div", {}, caption, scrolling(name, el("table", { class: "facts", "aria-label": name },
    el("thead", {}, el("tr", {}, ...widget.columns.map((name, place) =>
      el("th", { scope: "col", class: place < widget.left || widget.rows.some((row) => hasInterval(row[place])) ? "left" : "", text: name })))),
    el("tbody", {}, ...widget.rows.map((row) => el("tr", {}, ...row.map(cell)))))));
}

// Focusable, for a keyboard must be able to scroll what is wider than its place.
/** @param {string} name @param {...Element} children */
function scrolling(name, ...children) {
  return el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name }, ...children);
}

// ── Heat map: each number opens the conversations behind it ──

/** @param {import("./data.js").Heat} widget */
function heatOf(widget) {
  const cells = new Map(widget.cells.map((one) => [`${one.row},${one.column}`, one]));
  const most = Math.max(1, ...widget.cells.map((one) => one.trials));
  const place = el("div", { "aria-live": "polite" });
  const cell = (/** @type {number} */ row, /** @type {number} */ column) => {
    const one = cells.get(`${row},${column}`);
    if (!one) return el("td", { class: "zero", text: "·" });
    const words = `${widget.rows[row]} wanted, ${widget.columns[column]} called: ${plural(one.trials, "trial")}`;
    const button = el("button", { type: "button", "aria-label": words, title: words, text: one.trials.toLocaleString("en") });
    button.addEventListener("click", () => place.replaceChildren(trialsOf(words, one)));
    return el("td", { class: `${one.right ? "good" : "bad"}-${Math.ceil((4 * one.trials) / most)}` }, button);
  };
  return el("div", {},
    el("p", { class: "dim", text: widget.caption }),
    scrolling(widget.caption, el("table", { class: "heat", "aria-label": widget.caption },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "wanted ↓ called first →" }),
        ...widget.columns.map((name) => el("th", { scope: "col" }, breakable(name))))),
      el("tbody", {}, ...widget.rows.map((name, row) => el("tr", {},
        el("th", { scope: "row" }, breakable(name)),
        ...widget.columns.map((_, column) => cell(row, column))))))),
    place);
}

/** @param {string} words @param {HeatCell} cell */
function trialsOf(words, cell) {
  const missing = cell.trials - cell.keys.length;
  return el("div", { class: "opened" }, el("h3", { text: words }), ...cell.keys.map(trialOf),
    missing > 0 ? el("p", { class: "dim", text: `${plural(missing, "more trial")} in the run log.` }) : null);
}

/** @param {string} key  of the trial */
function trialOf(key) {
  const known = data.conversations[key];
  if (!known) return el("p", { class: "dim", text: "This trial is no longer in the logs." });
  const title = el("span", {}, el("bdi", { text: known.case }),
    ` ${known.trials > 1 ? `trial ${known.trial}, ` : ""}`, el("span", { class: known.status, text: known.status }));
  if (!known.block) {
    return el("p", {}, title, el("span", { class: "dim" },
      " – not part of this file, for want of room. See it with: "), el("code", { text: `harness view ${known.run}` }));
  }
  const name = known.block;
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const body = el("div", { class: "body" });
    details.append(body);
    body.append(...trialParts(await block(name)));
  });
  return details;
}

// ── Curves: drawn in the pixels that there are, so that their words keep their size ──

/** @param {import("./data.js").Curve} widget */
function curveOf(widget) {
  const plot = svg("svg", { class: "plot", role: "img", "aria-label": `${widget.caption} The table below has the figures.` });
  const draw = () => plot.replaceChildren(...curveParts(widget, plot.clientWidth || 600, plot.clientHeight || 280));
  new ResizeObserver(draw).observe(plot);
  const names = widget.series.map((one, number) => el("li", {},
    svg("svg", { width: 34, height: 12, "aria-hidden": "true" }, svg("line", { class: `series-${number % 3}`, x1: 0, x2: 34, y1: 6, y2: 6, "stroke-width": 3 })),
    ` ${one.name}`));
  return el("figure", {}, el("figcaption", { class: "dim", text: widget.caption }), el("ul", { class: "legend" }, ...names), plot);
}

/** @param {import("./data.js").Curve} widget @param {number} width @param {number} height  pixels */
function curveParts(widget, width, height) {
  const amounts = widget.series.flatMap((one) => [...one.fitted, ...one.measured].map((point) => point[0]));
  const far = Math.log2(1 + Math.max(1, ...amounts));
  const x = (/** @type {number} */ added) => 48 + ((width - 64) * Math.log2(1 + added)) / far;
  const y = (/** @type {number} */ rate) => 12 + (height - 52) * (1 - rate);
  const path = (/** @type {number[][]} */ points) => points.map(([a, b], place) => `${place ? "L" : "M"}${a.toFixed(1)},${b.toFixed(1)}`).join("");
  const ticks = [...new Set(widget.series.flatMap((one) => one.measured.map((point) => point[0])))];
  const parts = [0, .25, .5, .75, 1].flatMap((rate) => [
    svg("line", { class: "grid", x1: 48, x2: width - 16, y1: y(rate), y2: y(rate) }),
    svg("text", { x: 42, y: y(rate) + 4, "text-anchor": "end", text: `${100 * rate} %` })]);
  parts.push(...ticks.map((added) => svg("text", { x: x(added), y: height - 22, "text-anchor": "middle", text: String(added) })),
    svg("text", { x: width / 2, y: height - 5, "text-anchor": "middle", text: widget.x }));
  widget.series.forEach((one, number) => {
    const kind = `series-${number % 3}`;
    const upper = one.fitted.map(([added, , , high]) => [x(added), y(high)]);
    const lower = one.fitted.map(([added, , low]) => [x(added), y(low)]).reverse();
    if (upper.length) {
      parts.push(svg("path", { class: `area ${kind}`, d: `${path([...upper, ...lower])}Z` }),
        svg("path", { class: `line ${kind}`, d: path(one.fitted.map(([added, rate]) => [x(added), y(rate)])) }));
    }
    parts.push(...one.measured.map(([added, rate]) => svg("circle", { class: `point ${kind}`, cx: x(added), cy: y(rate), r: 5 },
      svg("title", { text: `${one.name}, ${added} added: ${Math.round(100 * rate)} %` }))));
  });
  return parts;
}

// ── Texts to paste, and changes side by side ──

/** @param {import("./data.js").Cards} widget */
function cardsOf(widget) {
  const shown = widget.cards.map((one, place) => {
    const card = el("details", { class: "card", ...(place ? {} : { open: "" }) },
      el("summary", {}, el("bdi", { text: one.title })), ...one.texts.map((text) => el("p", { dir: "auto", text })));
    if (one.paste) card.append(box(one.paste, `Text to paste: ${one.title}`));
    return card;
  });
  return el("div", {}, el("h3", { text: `${widget.title} (${shown.length})` }), el("p", { class: "dim", text: widget.caption }), ...shown);
}

/** @param {import("./data.js").Changes} widget */
function changesOf(widget) {
  const side = (/** @type {string} */ name, /** @type {import("./data.js").Piece[]} */ pieces, /** @type {"del" | "ins"} */ tag) => el("div", {}, el("span", { class: "caption", text: `${name} ` }),
    el("br"), ...(pieces.length ? pieces.map(([text, changed]) => el(changed ? tag : "span", { text })) : [el("span", { class: "dim", text: "(nothing)" })]));
  return el("div", {}, widget.caption ? el("p", { class: "dim", text: widget.caption }) : null, ...widget.changes.map((one) => el("div", { class: "card" },
    el("h3", { dir: "auto", text: one.title }),
    ...one.texts.map((text) => el("p", { dir: "auto", text })),
    one.effect ? el("div", { class: "effect" }, ...cellParts(one.effect)) : null,
    el("div", { class: "change" }, side("before", one.before, "del"), side("after", one.after, "ins")))));
}

/** Draws a widget. @param {import("./data.js").Widget} widget @param {string} study  its name, for a screen reader */
export function shape(widget, study) {
  switch (widget.kind) {
    case "table": return tableOf(widget);
    case "heat": return heatOf(widget);
    case "curve": return curveOf(widget);
    case "cards": return cardsOf(widget);
    case "changes": return changesOf(widget);
    case "text": return el("p", { dir: "auto", text: widget.text });
    case "raw": return el("details", {}, el("summary", { class: "caption", text: "Everything that this study found, as JSON" }), box(widget.text, `Facts as JSON: ${study}`));
  }
}
