// @ts-check
// The page of one evaluation: a form, or the run that the address names.

import { byId } from "./dom.js";
import { Live } from "./live.js";
import { Setup } from "./setup.js";

/** @param {string} id */
function open(id) {
  byId("setup").hidden = true;
  new Live(id);
}

const named = new URLSearchParams(location.search).get("run");
if (named) {
  open(named);
} else {
  new Setup((/** @type {{id: string}} */ run) => {
    history.pushState(null, "", `/evaluation?run=${encodeURIComponent(run.id)}`);
    open(run.id);
    byId("main").focus();
  });
}
window.addEventListener("popstate", () => location.reload());
