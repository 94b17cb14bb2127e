// The form: a file is read and judged fit as soon as it is chosen; nothing is started before.

import { Refusal, call, form } from "./api.js";
import { byId, element, replaceIn } from "./dom.js";
import { problems } from "./problems.js";
import { counted } from "./words.js";

const RETRY_MS = 2000;

export class Setup {
  constructor(begun) {
    this.begun = begun;
    this.file = null;
    this.limits = null;
    this.checks = 0;
    byId("file").addEventListener("change", () => this.choose(byId("file").files[0] || null));
    for (const id of ["model", "server", "judge", "concurrency"]) byId(id).addEventListener("change", () => this.check());
    byId("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    byId("use-sample").addEventListener("click", () => this.sample());
    this.watchDrops();
    this.offer();
  }

  async offer() {
    try {
      const options = await call("/evaluations/options");
      this.check();
      this.limits = options.limits;
      for (const model of options.models) {
        const words = model.usable ? model.name : `${model.name} (its key is missing)`;
        byId("model").append(element("option", { value: model.name, disabled: !model.usable }, words));
        if (model.name !== "lexical" && model.usable) byId("judge").append(element("option", { value: model.name }, model.name));
      }
      byId("model").options[0].textContent = `the suite's, or ${options.default_model}`;
      byId("judge").append(element("option", { value: options.no_judge }, "nobody"));
      for (const name of options.servers) byId("server").append(element("option", { value: name }, name));
      byId("limits").textContent =
        `Choose a file or drop it here: up to ${options.limits.bytes / 1e6} MB, ` +
        `${counted(options.limits.cases, "test")}, ${options.limits.case_seconds} s for each.`;
    } catch (error) {
      this.refuse(error);
    }
  }

  choice() {
    return {
      model: byId("model").value,
      server: byId("server").value,
      judge_model: byId("judge").value,
      concurrency: byId("concurrency").value,
    };
  }

  choose(file) {
    this.file = file;
    this.check();
  }

  // The file as it is on the disk now. A browser refuses to read one that has changed since it was chosen: what was
  // checked before is not sent in its place.
  async read() {
    try {
      return new File([await this.file.arrayBuffer()], this.file.name);
    } catch {
      byId("file").value = ""; // the same file can be chosen once more
      throw new Refusal("It has changed on the disk since it was chosen, or cannot be read. Choose it again.");
    }
  }

  async check() {
    byId("run").disabled = true;
    const number = ++this.checks;
    if (!this.file) return replaceIn(byId("verdict"));
    if (this.limits && this.file.size > this.limits.bytes)
      return this.refuse(new Refusal(`The file is larger than ${this.limits.bytes / 1e6} MB.`));
    replaceIn(byId("verdict"), element("p", { class: "dim" }, `Reading ${this.file.name} …`));
    try {
      const file = await this.read();
      const found = await call("/evaluations/check", { method: "POST", body: form(file, this.choice()) });
      if (number === this.checks) this.approve(found);
    } catch (error) {
      if (number === this.checks) this.refuse(error);
    }
  }

  approve(found) {
    const words =
      `${found.suites.map((suite) => suite.name).join(", ")}: ${counted(found.planned, "test")} ` +
      `with ${found.models.join(", ")} on the server ${found.servers.join(", ")}.`;
    replaceIn(
      byId("verdict"),
      element("div", { class: "fine" }, element("p", {}, element("strong", {}, "✓ Ready. "), words),
        ...found.notes.map((note) => element("p", { class: "dim" }, note))),
    );
    byId("run").disabled = false;
  }

  refuse(error) {
    if (!(error instanceof Refusal)) throw error;
    byId("run").disabled = true;
    const title = this.file ? `${this.file.name}: ${error.message}` : error.message;
    replaceIn(byId("verdict"), problems(title, error.problems));
    clearTimeout(this.again);
    if (error.unreached) this.again = setTimeout(() => (this.limits ? this.check() : this.offer()), RETRY_MS);
  }

  async run() {
    byId("run").disabled = true;
    try {
      const file = await this.read();
      this.begun(await call("/evaluations", { method: "POST", body: form(file, this.choice()) }));
    } catch (error) {
      this.refuse(error);
    }
  }

  async sample() {
    const button = byId("use-sample");
    button.disabled = true;
    try {
      const answer = await fetch("/evaluations/sample", { credentials: "same-origin" });
      if (!answer.ok) throw new Refusal(`The server answered ${answer.status}.`);
      this.file = new File([await answer.blob()], "sample.csv", { type: "text/csv" });
      if ([...byId("server").options].some((option) => option.value === "finance")) byId("server").value = "finance";
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
      const file = event.dataTransfer && event.dataTransfer.files[0];
      if (!file) return;
      const chosen = new DataTransfer();
      chosen.items.add(file);
      byId("file").files = chosen.files;
      this.choose(file);
    });
  }
}
