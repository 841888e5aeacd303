// Decisions: kept in the browser, undone, saved and loaded.

const DONE = { keep: "kept", flip: "flipped", drop: "dropped" };
const FIELDS = ["row", "id", "given", "decision", "new_label", "id_column", "digest", "format"];
const EVIDENCE = ["chance_wrong", "label_quality", "because"]; // which the list of suspects has, too
const storageKey = `splboost-audit:${report.name}:${report.n_rows}:${report.digest}`;
const rankOfRow = new Map(suspects.map(({ row }, rank) => [row, rank]));
const decisions = new Map(); // by row: {decision, label}, where only a flip has a label
const notes = new Map(); // by row: fields of loaded files that the page does not know, by name
const changes = []; // what can be undone: for each change, [row, earlier decision] pairs
let lasting = true; // whether the browser keeps the decisions

const decisionOn = ({ row }) => decisions.get(row)?.decision ?? "open";

/** Whether a decision, from storage or a file, is one on this page. */
function fits(row, { decision, label }) {
  const suspect = suspects[rankOfRow.get(row)];
  if (!suspect || !Object.hasOwn(DONE, decision)) return false;
  return decision === "flip" ? label in classes && label !== suspect.given : label === null;
}

/** Take over [row, decision or null] pairs as one change. */
function change(pairs) {
  changes.push(pairs.map(([row]) => [row, decisions.get(row) ?? null]));
  put(pairs);
}

function put(pairs) {
  for (const [row, decision] of pairs) {
    if (decision) decisions.set(row, decision);
    else decisions.delete(row);
  }
  try {
    localStorage.setItem(storageKey, JSON.stringify([[...decisions], [...notes]]));
    lasting = true;
  } catch {
    lasting = false;
  }
}

function readStored() {
  try {
    const [stored, noted] = JSON.parse(localStorage.getItem(storageKey)) ?? [[], []];
    decisions.clear();
    for (const [row, found] of stored) {
      if (fits(row, found)) decisions.set(row, found);
    }
    for (const [row, found] of noted) notes.set(row, found);
  } catch {
    lasting = false;
  }
}

/** A line for each decision, and for each row that has a note without one. */
function decisionLines() {
  const rows = [...new Set([...decisions.keys(), ...notes.keys()])].sort((a, b) => a - b);
  return rows.map((row) => {
    const { id, given, digest } = suspects[rankOfRow.get(row)];
    const { decision = "", label = null } = decisions.get(row) ?? {};
    const known = { row, id, given: classes[given], decision, new_label: classes[label] ?? null };
    return { ...known, digest, ...notes.get(row) };
  });
}

function decisionsCsv() {
  const lines = decisionLines();
  const own = { id_column: report.id_column, format: report.format };
  const names = [...new Set([...FIELDS, ...lines.flatMap(Object.keys)])];
  const cells = lines.map((line) => names.map((name) => String(line[name] ?? own[name] ?? "")));
  const written = [names, ...cells].map((line) => line.map((value) => writeField(guarded(value))).join(","));
  return `${written.join("\n")}\n`;
}

function decisionsJson() {
  const { format, name, target, n_rows, id_column } = report;
  const document = { format, name, target, n_rows, id_column, decisions: decisionLines() };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** Take over a saved file, CSV or JSON; says how many decisions, and how many did not fit. */
function loadDecisions(text) {
  if (!text.trim()) throw new Error("it is empty");
  const isJson = text.trimStart().startsWith("{");
  const lines = (isJson ? jsonLines(text) : csvLines(text)).map(checkLine);
  const rows = lines.filter(({ decision }) => decision).map(({ row }) => row);
  const twice = rows.find((row, index) => rows.indexOf(row) !== index);
  if (twice !== undefined) throw new Error(`row ${twice} has two decisions`);
  const hasData = lines.some((line) => EVIDENCE.every((name) => name in line));
  const pairs = [];
  let left = 0;
  for (const { row, id, given, decision, new_label, digest, ...others } of lines) {
    const found = { decision, label: decision === "flip" ? classes.indexOf(new_label) : null };
    const suspect = suspects[rankOfRow.get(row)];
    const isRow = suspect && suspect.digest === digest && (!id || !suspect.id || alike(String(id), suspect.id));
    const isSame = isRow && given === classes[suspect.given];
    const note = Object.entries(others).filter(([name, value]) => !isKnown(name, hasData) && value !== "");
    if (isSame && note.length) notes.set(suspect.row, Object.fromEntries(note));
    if (isSame && fits(suspect.row, found)) pairs.push([suspect.row, found]);
    else if (decision) left++;
  }
  if (pairs.length) change(pairs);
  else put([]); // there may be notes
  const rest = left ? `, ${count(left)} left out: their row or label is not on this page, or has changed` : "";
  return `${counted(pairs.length, "decision")} loaded${rest}.`;
}

/** A line with its row as a number and its decision in small letters; throws where it has none such. */
function checkLine([where, line]) {
  const { row, decision, format } = line;
  if (String(format) !== report.format) throw new Error(`${where()} has format ${format}, not ${report.format}`);
  if (typeof (decision ?? "") !== "string") throw new Error(`${where()} has the decision ${decision}`);
  const kind = (decision ?? "").trim().toLowerCase();
  const number = /^\d+$/.test(String(row).trim()) ? Number(row) : -1;
  return { ...line, row: number, decision: kind };
}

/** Whether the page has such a field itself, or the list of suspects, which has the data. */
function isKnown(name, hasData) {
  if (FIELDS.includes(name)) return true;
  if (!hasData) return false;
  return EVIDENCE.includes(name)
    || columns.some((column) => name === column.name || name === `${column.name} (data)`);
}

/** Where each decision is in a file, for errors, and its fields. */
function jsonLines(text) {
  const { decisions: lines, ...ofAll } = JSON.parse(text);
  if (!Array.isArray(lines)) throw new Error("it has no list of decisions");
  return lines.map((line, index) => [() => `decision ${index + 1}`, { format: ofAll.format, ...line }]);
}

/** The lines of a CSV of decisions; spreadsheets may have saved it with semicolons or tabs. */
function csvLines(text) {
  const { separator } = findColumn(text, "decision") ?? { separator: "," };
  const kept = [...records(text, separator)].filter(({ blank }) => !blank);
  const [names = [], ...lines] = kept.map(({ fields }) =>
    fields.map((field) => withoutGuard(strictField(text, field))));
  const where = (index) => `line ${text.slice(0, kept[index + 1].start).split(/\r\n|\r|\n/).length}`;
  const absent = FIELDS.find((name) => names.filter((own) => own === name).length !== 1);
  if (absent) throw new Error(`it must have one column ${absent}; decisions have ${FIELDS.join(", ")}`);
  const stray = lines.findIndex((line) => line.length !== names.length || line.some(swallows));
  if (stray >= 0) throw new Error(`${where(stray)} has a quote too many or too few`);
  const fieldsOf = (line) => Object.fromEntries(names.map((name, index) => [name, line[index]]));
  return lines.map((line, index) => [() => where(index), fieldsOf(line)]);
}

/** Whether a field has taken in the lines after it, because of a quote: each has a digest. */
function swallows(field) {
  return /[\r\n]/.test(field) && /row-[0-9a-f]{16}/.test(field);
}
