// @ts-check
// Calls of the API; a refusal is thrown with what the server said of it.

/** @typedef {{message: string, line?: number | null, column?: number | null, meant?: string | null}} Problem */

export class Refusal extends Error {
  /** @param {string} message @param {Problem[]} [problems] @param {number | null} [status] */
  constructor(message, problems = [], status = null) {
    super(message);
    this.problems = problems;
    this.status = status;
    this.unreached = false;
  }

  static unreached() {
    const refusal = new Refusal("The server cannot be reached. Is 'harness serve' still running?");
    refusal.unreached = true;
    return refusal;
  }
}

/** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} */
export async function call(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw Refusal.unreached();
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(body.error || `The server answered ${answer.status}.`, body.problems || [], answer.status);
  return body;
}

/** @param {Record<string, string | string[]>} choice */
export function fields(choice) {
  const data = new FormData();
  for (const [name, given] of Object.entries(choice)) for (const value of [given].flat()) if (value) data.append(name, value);
  return data;
}

/** @param {File} file @param {Record<string, string | string[]>} choice */
export function form(file, choice) {
  const data = fields(choice);
  data.append("file", file, file.name);
  return data;
}
