// @ts-check
// The API's page, made of the same document that machines read.

import { call } from "./api.js";
import { byId, element, replaceIn, reveal } from "./dom.js";

/** @typedef {{description?: string, type?: string}} Schema */
/**
 * @typedef {Object} Operation
 * @property {string} summary
 * @property {string} [description]
 * @property {{name: string, description: string}[]} [parameters]
 * @property {{content: Record<string, {schema: {properties: Record<string, Schema>}}>}} [requestBody]
 * @property {Record<string, {description: string}>} responses
 */
/** @typedef {[string, string | undefined]} Entry  a name and what it is */

/** @param {string} path @param {string} method @param {Operation} facts */
function operation(path, method, facts) {
  const body = facts.requestBody?.content["multipart/form-data"]?.schema.properties;
  const parameters = (facts.parameters || []).map((one) => /** @type {Entry} */ ([one.name, one.description]));
  const fields = Object.entries(body || {}).map(([name, schema]) => /** @type {Entry} */ ([name, schema.description]));
  return element(
    "section",
    { class: "operation" },
    element("h2", {}, element("code", {}, `${method.toUpperCase()} ${path}`)),
    element("p", {}, facts.summary),
    facts.description ? element("p", { class: "lines" }, facts.description) : null,
    list("Parameters", parameters),
    list("Form fields", fields),
    list("Answers", Object.entries(facts.responses).map(([status, answer]) => /** @type {Entry} */ ([status, answer.description]))),
  );
}

/** @param {string} title @param {Entry[]} rows */
function list(title, rows) {
  if (!rows.length) return null;
  return element(
    "div",
    {},
    element("h3", {}, title),
    element("dl", { class: "help" }, ...rows.flatMap(([name, words]) => [element("dt", {}, name), element("dd", {}, words)])),
  );
}

/**
 * @type {{info: {description: string}, paths: Record<string, Record<string, Operation>>,
 *   components: {schemas: Record<string, Schema & {properties?: Record<string, Schema>}>}}}
 */
const api = await call("/openapi.json");
byId("about").textContent = api.info.description;
replaceIn(
  byId("operations"),
  ...Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, facts]) => operation(path, method, facts))),
);
replaceIn(
  byId("schemas"),
  ...Object.entries(api.components.schemas).map(([name, schema]) =>
    element("section", {}, element("h3", {}, name), element("p", {}, schema.description),
      list("Fields", Object.entries(schema.properties || {}).map(([field, facts]) => /** @type {Entry} */ ([field, facts.description || facts.type]))))),
);
reveal();
