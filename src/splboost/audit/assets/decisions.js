// Decisions: kept in the browser, undone, saved and loaded.

const DONE = { keep: "kept", flip: "flipped", drop: "dropped" };
const FIELDS = ["row", "id", "given", "decision", "new_label"];
const storageKey = `splboost-audit:${report.name}:${report.n_rows}:${report.digest}`;
const rankOfRow = new Map(suspects.map(({ row }, rank) => [row, rank]));
const decisions = new Map(); // by row: {decision, label}, where only a flip has a label
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
    localStorage.setItem(storageKey, JSON.stringify([...decisions]));
    lasting = true;
  } catch {
    lasting = false;
  }
}

function readStored() {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey)) ?? [];
    decisions.clear();
    for (const [row, found] of stored) {
      if (fits(row, found)) decisions.set(row, found);
    }
  } catch {
    lasting = false;
  }
}

function decisionLines() {
  return [...decisions].sort(([a], [b]) => a - b).map(([row, { decision, label }]) => {
    const { id, given } = suspects[rankOfRow.get(row)];
    return { row, id, given: classes[given], decision, new_label: classes[label] ?? null };
  });
}

function decisionsCsv() {
  const lines = decisionLines().map((line) => FIELDS.map((name) => String(line[name] ?? "")));
  const written = [FIELDS, ...lines].map((line) => line.map((value) => writeField(guarded(value))).join(","));
  return `${written.join("\n")}\n`;
}

function decisionsJson() {
  const { name, target, n_rows } = report;
  return `${JSON.stringify({ name, target, n_rows, decisions: decisionLines() }, null, 1)}\n`;
}

/** Take over a saved file, CSV or JSON; says how many decisions, and how many did not fit. */
function loadDecisions(text) {
  const isJson = text.trimStart().startsWith("{");
  const lines = isJson ? JSON.parse(text).decisions ?? [] : csvLines(text);
  const pairs = [];
  for (const { row, given, decision: written, new_label } of lines) {
    const decision = (written ?? "").trim().toLowerCase();
    const found = { decision, label: decision === "flip" ? classes.indexOf(new_label) : null };
    const suspect = suspects[rankOfRow.get(parseInt(row, 10))];
    if (!suspect || given !== classes[suspect.given]) continue;
    if (fits(suspect.row, found)) pairs.push([suspect.row, found]);
  }
  if (pairs.length) change(pairs);
  const left = lines.length - pairs.length;
  const rest = left ? `, ${count(left)} left out: their row or label is not on this page` : "";
  return `${counted(pairs.length, "decision")} loaded${rest}.`;
}

/** The lines of a CSV of decisions; spreadsheets may have saved it with semicolons or tabs. */
function csvLines(text) {
  const { separator } = findColumn(text, "decision") ?? { separator: "," };
  const [names = [], ...lines] = [...records(text, separator)]
    .filter(({ blank }) => !blank)
    .map(({ fields }) => fields.map((field) => readField(text, field)));
  const places = FIELDS.map((name) => names.indexOf(name));
  if (places.includes(-1)) throw new Error(`its columns must be ${FIELDS.join(", ")}`);
  const named = (line) => FIELDS.map((name, index) => [name, withoutGuard(line[places[index]] ?? "")]);
  return lines.map((line) => Object.fromEntries(named(line)));
}
