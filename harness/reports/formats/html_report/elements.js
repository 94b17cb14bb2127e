
"use strict";
// All texts are shown by textContent: none from a suite, a model or a server becomes markup.

const SVG = "http://www.w3.org/2000/svg";

function block(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") node.textContent = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => put(document.createElementNS(SVG, tag), attributes, children);
const at = (id) => document.getElementById(id);
const plural = (amount, word) => `${amount.toLocaleString("en")} ${word}${amount === 1 ? "" : "s"}`;
