// @ts-check
// Paper gets every case that is listed, with all that is folded: it is made before the page is printed.

/**
 * Opens everything below a place, in depth; what is opened for the first time is made at once.
 * @param {Element} place
 * @returns {HTMLDetailsElement[]} what was closed
 */
export function openAll(place) {
  /** @type {HTMLDetailsElement[]} */
  const opened = [];
  for (;;) {
    const closed = [...place.querySelectorAll("details")].filter((one) => !one.open);
    if (!closed.length) return opened;
    for (const one of closed) {
      one.open = true;
      one.dispatchEvent(new Event("toggle")); // the browser's own comes later
      opened.push(one);
    }
  }
}

/**
 * Reads what paper needs while nothing else is to be done: nobody can wait once a page is being printed.
 * @param {string[]} names
 * @param {(name: string) => Promise<any>} read
 * @param {Map<string, any>} ready
 */
export async function readAhead(names, read, ready) {
  for (const name of names) {
    await new Promise((go) => requestIdleCallback(go, { timeout: 1000 }));
    if (!ready.has(name)) ready.set(name, await read(name));
  }
}
