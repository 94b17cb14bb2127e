// @ts-check
// The tests and choices of the form, kept for Back and for a reload of the page; they leave with the tab.

const NAME = "harness-draft";

/** @typedef {{name: string, text: string, choice: Record<string, string | string[]>}} Draft */

/** @param {Draft} draft */
export function keep(draft) {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(draft));
  } catch {
    sessionStorage.removeItem(NAME); // too large for a browser to keep
  }
}

/** @returns {Draft | null} */
export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) || "null");
  } catch {
    return null;
  }
}

export const forget = () => sessionStorage.removeItem(NAME);

/** The text of a file, or nothing if it is not UTF-8 and would be changed. @param {File} file */
export async function textOf(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return null;
  }
}

export const TEMPLATE = `suite: my_tests
tests:
  - name: price_of_apple
    prompt: What is Apple's stock price?
    assertions:
      must_call:
        - {tool: get_stock_price, args: {ticker: AAPL}}
`;
