// @ts-check
// The form: a file is read and judged fit as soon as it is chosen; nothing is started before.

import { asked } from "./again.js";
import { Refusal, call, form } from "./api.js";
import { buttonOf, byId, element, fieldOf, listOf, replaceIn, reveal } from "./dom.js";
import { TEMPLATE, forget, keep, kept, textOf } from "./draft.js";
import { problems } from "./problems.js";
import { counted } from "./words.js";

const RETRY_MS = 2000;
const TYPING_MS = 400;
const FIELDS = ["model", "server", "judge", "concurrency"];

/** @typedef {{suites: {name: string}[], models: string[], servers: string[], planned: number, notes: string[]}} Plan */

export class Setup {
  /** @param {(run: {id: string}) => void} begun  told of the run */
  constructor(begun) {
    this.begun = begun;
    /** @type {File | null} */
    this.file = null;
    /** @type {{bytes: number, cases: number, case_seconds: number} | null} */
    this.limits = null;
    /** Options of the run that is asked again which the form has no field for. @type {Record<string, string | string[]>} */
    this.others = {};
    this.checks = 0;
    byId("file").addEventListener("change", () => this.choose(fieldOf("file").files?.[0] || null));
    for (const id of FIELDS) byId(id).addEventListener("change", () => this.changed());
    byId("text").addEventListener("input", () => this.edited());
    byId("write").addEventListener("click", () => this.show("my_tests.yml", TEMPLATE, "").then(() => this.edit()));
    byId("past").addEventListener("change", () => listOf("past").value && this.from(listOf("past").value));
    byId("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    byId("use-sample").addEventListener("click", () => this.sample());
    this.watchDrops();
    this.offer().finally(reveal);
  }

  async offer() {
    try {
      const options = await call("/evaluations/options");
      this.check();
      const limits = (this.limits = options.limits);
      for (const model of options.models) {
        const words = model.usable ? model.name : `${model.name} (its key is missing)`;
        byId("model").append(element("option", { value: model.name, disabled: !model.usable }, words));
        if (model.name !== "lexical" && model.usable) byId("judge").append(element("option", { value: model.name }, model.name));
      }
      listOf("model").options[0].textContent = `the suite's, or ${options.default_model}`;
      byId("judge").append(element("option", { value: options.no_judge }, "nobody"));
      for (const name of options.servers) byId("server").append(element("option", { value: name }, name));
      byId("limits").textContent =
        `Choose a file or drop it here: up to ${limits.bytes / 1e6} MB, ` +
        `${counted(limits.cases, "test")}, ${limits.case_seconds} s for each.`;
      await this.begin();
    } catch (error) {
      this.refuse(error);
    }
  }

  // What the address asks for, else what was here before.
  async begin() {
    const address = new URLSearchParams(location.search);
    if (address.has("new")) forget();
    history.replaceState(history.state, "", address.has("from") ? location.href : "/evaluation");
    await this.pasts();
    const draft = kept();
    const from = address.get("from");
    if (from !== null) await this.from(from);
    else if (draft && !this.file) await this.show(draft.name, draft.text, `${draft.name} as it was read before.`, draft.choice);
  }

  async pasts() {
    /** @type {{runs: {id: string, suites: string[], started_at: string, result: string, counts?: object}[]}} */
    const { runs } = await call("/evaluations?limit=20");
    byId("first-steps").hidden = runs.length > 0;
    const ended = runs.filter((run) => run.suites.length === 1 && run.counts);
    byId("past").append(...ended.map((run) =>
      element("option", { value: run.id }, `${run.started_at.slice(0, 16).replace("T", " ")} · ${run.suites[0]} · ${run.result}`)));
  }

  /** Takes the tests of a past run. @param {string} run */
  async from(run) {
    try {
      const { name, text, choice } = await asked(run);
      if (!name) throw new Refusal("A run of several suites is no one text to edit.");
      await this.show(name, text, `As the run ${run} asked it.`, choice);
      this.edit();
    } catch (error) {
      this.refuse(error);
    }
  }

  /** @param {string} name @param {string} text @param {string} note @param {Record<string, string | string[]>} [choice] */
  async show(name, text, note, choice) {
    const fields = { model: "model", server: "server", judge: "judge_model", concurrency: "concurrency" };
    for (const [id, field] of Object.entries(choice ? fields : {})) {
      const at = byId(id);
      const value = String(choice?.[field] || "");
      const offered = !(at instanceof HTMLSelectElement) || [...at.options].some((option) => option.value === value && !option.disabled);
      if (offered) fieldOf(id).value = value;
    }
    this.others = { ...choice };
    fieldOf("file").value = "";
    this.file = new File([text], name);
    this.written(name, text, note);
    reveal();
    await this.changed();
  }

  /** @param {string} name @param {string | null} text @param {string} note */
  written(name, text, note) {
    byId("editor").hidden = text === null;
    fieldOf("text").value = text ?? "";
    byId("editor-title").textContent = `Edit ${name}`;
    byId("kept").textContent = note;
  }

  edit() {
    /** @type {HTMLDetailsElement} */ (byId("editor")).open = true;
    byId("text").focus();
  }

  edited() {
    this.file = new File([fieldOf("text").value], this.file?.name || "");
    fieldOf("file").value = "";
    byId("kept").textContent = "Changed here; the file on your disk is not.";
    buttonOf("run").disabled = true; // what is being said of the text before holds no longer
    this.checks += 1;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.changed(), TYPING_MS);
  }

  async changed() {
    if (this.file && !byId("editor").hidden) keep({ name: this.file.name, text: fieldOf("text").value, choice: this.choice() });
    await this.check();
  }

  choice() {
    return {
      ...this.others,
      model: listOf("model").value,
      server: listOf("server").value,
      judge_model: listOf("judge").value,
      concurrency: fieldOf("concurrency").value,
    };
  }

  /** @param {File | null} file */
  async choose(file) {
    this.file = file;
    this.others = {};
    const checked = this.check();
    const text = file ? await textOf(file) : null;
    if (this.file !== file) return;
    this.written(file ? file.name : "", text, "");
    if (!file || text === null) forget();
    else keep({ name: file.name, text, choice: this.choice() });
    await checked;
  }

  // The file as it is on the disk now. A browser refuses to read one that has changed since it was chosen: what was
  // checked before is not sent in its place.
  /** @param {File} file */
  async read(file) {
    try {
      return new File([await file.arrayBuffer()], file.name);
    } catch {
      fieldOf("file").value = ""; // the same file can be chosen once more
      throw new Refusal("It has changed on the disk since it was chosen, or cannot be read. Choose it again.");
    }
  }

  async check() {
    buttonOf("run").disabled = true;
    const number = ++this.checks;
    const chosen = this.file;
    if (!chosen) return replaceIn(byId("verdict"));
    if (this.limits && chosen.size > this.limits.bytes)
      return this.refuse(new Refusal(`The file is larger than ${this.limits.bytes / 1e6} MB.`));
    replaceIn(byId("verdict"), element("p", { class: "dim" }, `Reading ${chosen.name} …`));
    try {
      const file = await this.read(chosen);
      const found = await call("/evaluations/check", { method: "POST", body: form(file, this.choice()) });
      if (number === this.checks) this.approve(found);
    } catch (error) {
      if (number === this.checks) this.refuse(error);
    }
  }

  /** @param {Plan} found */
  approve(found) {
    const words =
      `${found.suites.map((suite) => suite.name).join(", ")}: ${counted(found.planned, "test")} ` +
      `with ${found.models.join(", ")} on the server ${found.servers.join(", ")}.`;
    replaceIn(
      byId("verdict"),
      element("div", { class: "fine" }, element("p", {}, element("strong", {}, "✓ Ready. "), words),
        ...found.notes.map((note) => element("p", { class: "dim" }, note))),
    );
    buttonOf("run").disabled = false;
  }

  /** @param {unknown} error */
  refuse(error) {
    if (!(error instanceof Refusal)) throw error;
    buttonOf("run").disabled = true;
    const title = this.file ? `${this.file.name}: ${error.message}` : error.message;
    replaceIn(byId("verdict"), problems(title, error.problems));
    clearTimeout(this.again);
    if (error.unreached) this.again = setTimeout(() => (this.limits ? this.check() : this.offer()), RETRY_MS);
  }

  async run() {
    if (!this.file) return;
    buttonOf("run").disabled = true;
    try {
      const file = await this.read(this.file);
      this.begun(await call("/evaluations", { method: "POST", body: form(file, this.choice()) }));
    } catch (error) {
      this.refuse(error);
    }
  }

  async sample() {
    const button = buttonOf("use-sample");
    button.disabled = true;
    try {
      const answer = await fetch("/evaluations/sample", { credentials: "same-origin" });
      if (!answer.ok) throw new Refusal(`The server answered ${answer.status}.`);
      this.others = {};
      this.file = new File([await answer.blob()], "sample.csv", { type: "text/csv" });
      if ([...listOf("server").options].some((option) => option.value === "finance")) listOf("server").value = "finance";
      this.written("sample.csv", await textOf(this.file), "");
      keep({ name: "sample.csv", text: fieldOf("text").value, choice: this.choice() });
      await this.run();
    } catch (error) {
      this.refuse(error instanceof Refusal ? error : Refusal.unreached());
    } finally {
      button.disabled = false;
    }
  }

  watchDrops() {
    const zone = byId("drop");
    for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
    for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, () => zone.classList.add("over"));
    for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      const chosen = new DataTransfer();
      chosen.items.add(file);
      fieldOf("file").files = chosen.files;
      this.choose(file);
    });
  }
}
