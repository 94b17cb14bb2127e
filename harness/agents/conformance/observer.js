// Loaded into the conformance package's process before the package. It notes what each scenario
// asks of the server, and adds the headers of the server's entry and of the caller's identity.
"use strict";

const { appendFileSync } = require("node:fs");
const { createRequire } = require("node:module");

const { OBSERVER_NOTES: notes, OBSERVER_ORIGIN: origin, OBSERVER_HEADERS: given } = process.env;
const headers = Object.entries(JSON.parse(given || "{}"));
let scenario = null;

function note(body) {
  if (typeof body !== "string") return;
  let request;
  try {
    request = JSON.parse(body);
  } catch {
    return; // some scenarios send no JSON on purpose
  }
  if (typeof request?.method !== "string") return;
  const { name, uri, ref } = request.params ?? {};
  const asked = { scenario, method: request.method, name: name ?? uri ?? ref?.name ?? ref?.uri };
  appendFileSync(notes, `${JSON.stringify(asked)}\n`);
}

function isOurs(address) {
  return new URL(address).origin === origin;
}

const log = console.log;
console.log = (...words) => {
  scenario = /Running client scenario '([^']+)'/.exec(String(words[0]))?.[1] ?? scenario;
  log(...words);
};

const send = globalThis.fetch;
globalThis.fetch = (input, init = {}) => {
  if (!isOurs(input.url ?? input)) return send(input, init);
  note(init.body);
  // Without headers of ours the request stays as it is, to the case of its letters.
  if (headers.length === 0) return send(input, init);
  const all = new Headers(init.headers ?? input.headers);
  for (const [name, value] of headers) all.set(name, value);
  return send(input, { ...init, headers: all });
};

try {
  // One scenario sets the Host header, which `fetch` does not let it.
  const undici = createRequire(process.argv[1])("undici");
  const ask = undici.request;
  undici.request = (address, options = {}) => {
    const added = isOurs(address) ? Object.fromEntries(headers) : {};
    return ask(address, { ...options, headers: { ...options.headers, ...added } });
  };
} catch {
  // npx, which starts the package, has no such module.
}
