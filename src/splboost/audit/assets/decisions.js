// The decisions: kept in the browser, undone, saved and loaded.

const WORDS = { keep: "kept", flip: "flipped", drop: "dropped" };

/** Decisions by row, {decision, label}; label is the new one of a flip, else null. */
class Decisions {
  constructor({ name, n_rows, digest, suspects, classes }) {
    this.key = `splboost-audit:${name}:${n_rows}:${digest}`;
    this.suspects = new Map(suspects.map((suspect) => [suspect.row, suspect]));
    this.classes = classes;
    this.byRow = new Map();
    this.history = []; // of changes, each the earlier decisions of the rows it touched
    this.lasting = true;
    this.read();
  }

  get(row) {
    return this.byRow.get(row) ?? null;
  }

  /** Whether a decision makes sense here; storage and files may hold anything. */
  fits(row, found) {
    const suspect = this.suspects.get(row);
    if (!suspect || !Object.hasOwn(WORDS, found?.decision)) return false;
    if (found.decision !== "flip") return found.label === null;
    return found.label in this.classes && found.label !== suspect.given;
  }

  /** Take over [row, decision or null] pairs as one change. */
  change(pairs) {
    this.history.push(pairs.map(([row]) => [row, this.get(row)]));
    this.put(pairs);
  }

  /** Undo the last change; the row it began with, or null if there is none. */
  undo() {
    const before = this.history.pop();
    if (!before) return null;
    this.put(before);
    return before[0][0];
  }

  put(pairs) {
    for (const [row, decision] of pairs) {
      if (decision) this.byRow.set(row, decision);
      else this.byRow.delete(row);
    }
    try {
      localStorage.setItem(this.key, JSON.stringify([...this.byRow]));
    } catch {
      this.lasting = false;
    }
  }

  read() {
    try {
      const stored = localStorage.getItem(this.key);
      this.lasting = true;
      const pairs = JSON.parse(stored) ?? [];
      this.byRow = new Map(pairs.filter(([row, found]) => this.fits(row, found)));
    } catch (error) {
      this.lasting = error instanceof SyntaxError || error instanceof TypeError;
    }
  }

  numbers() {
    const numbers = { keep: 0, flip: 0, drop: 0 };
    for (const { decision } of this.byRow.values()) numbers[decision]++;
    return numbers;
  }

  /** Those that change the data. */
  changes() {
    return new Map([...this.byRow].filter(([, { decision }]) => decision !== "keep"));
  }

  table() {
    const rows = [...this.byRow].sort(([one], [other]) => one - other);
    return rows.map(([row, { decision, label }]) => {
      const { id, given } = this.suspects.get(row);
      return { row, id, given: this.classes[given], decision, new_label: label === null ? null : this.classes[label] };
    });
  }

  toCsv() {
    const names = ["row", "id", "given", "decision", "new_label"];
    const lines = this.table().map((line) => names.map((name) => String(line[name] ?? "")));
    return writeCsv([names, ...lines]);
  }

  toJson({ name, target, n_rows, digest }) {
    return `${JSON.stringify({ name, target, n_rows, digest, decisions: this.table() }, null, 1)}\n`;
  }

  /** Take over the decisions of a saved file; returns how many, and how many did not fit. */
  load(text) {
    const lines = savedDecisions(text);
    const pairs = [];
    for (const { row, given, decision, new_label } of lines) {
      const at = row === "" ? NaN : Number(row);
      const label = decision === "flip" ? this.classes.indexOf(new_label) : null;
      const sameLabel = given === this.classes[this.suspects.get(at)?.given];
      if (sameLabel && this.fits(at, { decision, label })) pairs.push([at, { decision, label }]);
    }
    if (pairs.length) this.change(pairs);
    return { taken: pairs.length, left: lines.length - pairs.length };
  }
}

/** The lines of a saved file, CSV or JSON; throws where it is neither. */
function savedDecisions(text) {
  if (/^\s*[{[]/.test(text)) {
    const { decisions } = JSON.parse(text);
    if (Array.isArray(decisions)) return decisions.filter((line) => line !== null);
  }
  const [names = [], ...rows] = readCsv(text);
  if (!["row", "given", "decision", "new_label"].every((name) => names.includes(name))) {
    throw new Error("it is no file of decisions");
  }
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ""])));
}

function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
