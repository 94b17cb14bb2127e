// @ts-check
// The events of a run. A browser opens six connections to a host and a stream keeps one, so at most one page of a
// browser streams (it holds a lock that all of them share), and only while it can be seen. Every other page that can
// be seen asks for news in short requests; a hidden one asks for nothing and catches up when it is looked at again.

import { Refusal, call } from "./api.js";

const LOCK = "harness-stream";
const ASK_MS = 700;
const GONE = 404;
const NAMES = ["run", "test_case_start", "test_case_waiting", "test_case_result", "summary", "error"];

/** @typedef {Record<string, (data?: any) => void>} Hear  a function for each name of an event, and `lost`, `back` and `gone` */

export class Stream {
  /** @param {string} id @param {Hear} hear */
  constructor(id, hear) {
    this.address = `/evaluations/${encodeURIComponent(id)}/events`;
    this.hear = hear;
    this.last = "";
    this.over = false;
    this.lost = false;
    this.follow();
  }

  async follow() {
    while (!this.over) {
      await seen();
      // What is there is asked for first: an answer says plainly whether the run and the server are there.
      const more = await this.ask();
      if (this.over || more) continue;
      if (!this.lost) await alone(() => this.stream());
      if (!this.over) await pause(ASK_MS);
    }
  }

  // Whether there is more to ask for at once.
  async ask() {
    try {
      const { events, more } = await call(this.from(), { headers: { accept: "application/json" } });
      this.connected();
      for (const { id, name, data } of events) this.tell(id, name, data);
      return more;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === GONE) {
        this.over = true;
        this.hear.gone();
      } else this.disconnected();
      return false;
    }
  }

  // Ends with the run, with the connection, or when the page is hidden.
  stream() {
    return /** @type {Promise<void>} */ (new Promise((end) => {
      const source = new EventSource(this.from());
      const close = () => {
        source.close();
        document.removeEventListener("visibilitychange", close);
        end();
      };
      document.addEventListener("visibilitychange", close);
      for (const name of NAMES)
        source.addEventListener(name, (/** @type {MessageEvent} */ event) => {
          if (event.data === undefined) close();
          else this.tell(event.lastEventId, name, JSON.parse(event.data));
          if (this.over) close();
        });
    }));
  }

  /** @param {string} id @param {string} name @param {any} data */
  tell(id, name, data) {
    if (this.over) return;
    this.last = id || this.last;
    this.over = name === "summary" || name === "error";
    this.hear[name](data);
  }

  connected() {
    if (this.lost) this.hear.back();
    this.lost = false;
  }

  disconnected() {
    if (!this.lost) this.hear.lost();
    this.lost = true;
  }

  from() {
    return this.last ? `${this.address}?last_event_id=${encodeURIComponent(this.last)}` : this.address;
  }
}

/** @param {number} time */
const pause = (time) => new Promise((end) => setTimeout(end, time));

async function seen() {
  while (document.visibilityState === "hidden")
    await new Promise((end) => document.addEventListener("visibilitychange", end, { once: true }));
}

// Does `act` unless another page of this browser does it at the same time. Browsers have locks for secure addresses
// and this machine; elsewhere every page asks.
/** @param {() => Promise<void>} act */
async function alone(act) {
  if (navigator.locks) await navigator.locks.request(LOCK, { ifAvailable: true }, async (lock) => lock && act());
}
