// @ts-check
// The answers that cells show: each is asked for once, when its cell is on the screen.

const AT_ONCE = 4;
const LONGEST = 400; // characters of an answer in a cell

/** @typedef {import("./rows.js").Cell} Cell */

export class Answers {
  /** @param {(cell: Cell, trial: number) => Promise<any>} ask  gives all that there is of a trial */
  constructor(ask) {
    this.ask = ask;
    /** By place in the run and status: a cell of a run that goes on gets its answer later. @type {Map<string, string>} */
    this.known = new Map();
    /** @type {{place: HTMLElement, cell: Cell}[]} */
    this.waiting = [];
    this.asking = 0;
  }

  /** Writes the answer of a cell into a place, now or when it is here. @param {HTMLElement} place @param {Cell} cell */
  write(place, cell) {
    const known = this.known.get(keyOf(cell));
    if (known !== undefined) place.textContent = known;
    else {
      this.waiting.push({ place, cell });
      queueMicrotask(() => this.next()); // by then, the row is part of the page
    }
  }

  async next() {
    while (this.asking < AT_ONCE) {
      const one = this.waiting.pop();
      if (!one) return;
      if (!one.place.isConnected) continue; // it was scrolled away
      this.asking += 1;
      try {
        const { cell, place } = one;
        const detail = await this.ask(cell, Math.max(0, (cell.trials || []).indexOf(cell.status)));
        const text = answerOf(detail);
        if (detail && !detail.underWay) this.known.set(keyOf(cell), text);
        place.textContent = text;
      } catch (error) {
        one.place.textContent = `the answer cannot be asked for: ${/** @type {Error} */ (error).message}`;
      } finally {
        this.asking -= 1;
      }
    }
  }
}

/** @param {Cell} cell */
const keyOf = (cell) => `${cell.run || ""} ${cell.number} ${cell.status}`;

/** What the model said last. @param {any} detail */
function answerOf(detail) {
  const said = (detail?.steps || []).filter((/** @type {any} */ one) => one.who === "assistant" && one.text);
  const text = said.at(-1)?.text || detail?.error?.message || "";
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text || "(no answer)";
}
