// @ts-check
// The page's first block of data, as `overview` in Python returns it.

import { block } from "../../../reports/formats/html_report/blocks.js";

/**
 * @typedef {[value: number, low: number, high: number]} Interval
 * @typedef {Object} Figure  a value with its 95 % interval, on a scale
 * @property {Interval} interval @property {[least: number, most: number]} scale
 * @property {string} tone @property {string} text @property {string} more
 * @typedef {string | Figure | {code: string, interval?: undefined} | {text: string, tone?: string, interval?: undefined, code?: undefined}} TableCell
 *
 * @typedef {{kind: "table", caption: string, columns: string[], rows: TableCell[][], left: number}} Table
 * @typedef {{row: number, column: number, trials: number, right: boolean, keys: string[]}} HeatCell
 * @typedef {{kind: "heat", caption: string, rows: string[], columns: string[], cells: HeatCell[]}} Heat
 * @typedef {{name: string, fitted: [added: number, rate: number, low: number, high: number][],
 *   measured: [added: number, rate: number][]}} Series
 * @typedef {{kind: "curve", caption: string, x: string, series: Series[]}} Curve
 * @typedef {{title: string, texts: string[], paste?: string | null}} Card
 * @typedef {{kind: "cards", title: string, caption: string, cards: Card[]}} Cards
 * @typedef {[text: string, changed: boolean]} Piece
 * @typedef {{title: string, texts: string[], effect?: TableCell | null, before: Piece[], after: Piece[]}} Change
 * @typedef {{kind: "changes", caption: string, changes: Change[]}} Changes
 * @typedef {{kind: "text" | "raw", text: string}} Words
 * @typedef {Table | Heat | Curve | Cards | Changes | Words} Widget
 *
 * @typedef {Object} Part  a part of a tool, and what was measured of it
 * @property {string} what @property {string} text @property {number} tokens
 * @property {string} tone @property {string} says @property {number} shade @property {string} sure @property {string} sign
 * @property {number} weight @property {Figure | null} effect @property {number | null} decide @property {number | null} cases
 * @typedef {{name: string, parts: Part[], tokens: number, shown: number, largest: number}} Tool
 * @typedef {{tools: Tool[], tokens: number, measured: number, parts: number}} ToolList
 *
 * @typedef {{name: string, question: string, headline: string, lines: string[], notes: string[], widgets: Widget[]}} Study
 * @typedef {{text: string, certain: boolean, study: string}} Finding
 * @typedef {{name: string, baseline: string | null, findings: Finding[], found: number, list: ToolList, studies: Study[]}} Model
 * @typedef {{case: string, trial: number, trials: number, status: string, run: string, block: string | null}} Conversation
 * @typedef {{suite: string, run: string, facts: [string, string][], notices: string[], models: Model[],
 *   conversations: Record<string, Conversation>}} Overview
 */

/** @type {Overview} */
export const data = await block("overview");
