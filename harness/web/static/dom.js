// Elements made of parts; every text becomes a text node, so nothing that anybody said is ever markup.

export const byId = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  fill(made, attributes);
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(made, attributes);
  made.append(...children);
  return made;
}

function fill(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
}

export function replaceIn(place, ...children) {
  place.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}
