// CSV: reading, writing, and the source with decisions applied.

/** The records of a CSV: where each of them and its fields lie in the text. */
function* records(text, separator) {
  const unquoted = new RegExp(`[^${separator}\r\n]*`, "y");
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  while (at < text.length) {
    const start = at;
    const fields = [];
    do {
      if (fields.length) at++;
      const from = at;
      unquoted.lastIndex = text[at] === '"' ? closing(text, at) + 1 : at;
      unquoted.test(text);
      at = unquoted.lastIndex;
      fields.push([from, at]);
    } while (text[at] === separator);
    const blank = fields.length === 1 && /^[ \t]*$/.test(readField(text, fields[0]));
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    yield { start, end: at, fields, blank };
  }
}

/** Where the quotes that open at `at` close; doubled ones inside stand for one. */
function closing(text, at) {
  for (let quote = at; ; quote++) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) return text.length - 1; // never: all the rest is quoted
    if (text[quote + 1] !== '"') return quote;
  }
}

function readField(text, [from, to]) {
  if (text[from] !== '"') return text.slice(from, to);
  const end = closing(text, from);
  return text.slice(from + 1, end).replaceAll('""', '"') + text.slice(end + 1, to);
}

/** The value of a field whose quotes close at its end. */
function strictField(text, [from, to]) {
  const isWhole = text[from] !== '"' || (closing(text, from) === to - 1 && to - from > 1 && text[to - 1] === '"');
  if (!isWhole) throw new Error(`its quotes do not close in ${brief(text.slice(from, to), 40)}`);
  return readField(text, [from, to]);
}

function writeField(value, separator = ",", quoted = false) {
  const needed = quoted || /["\r\n]|^\s|\s$/.test(value) || value.includes(separator);
  return needed ? `"${value.replaceAll('"', '""')}"` : value;
}

// What a spreadsheet takes for a formula, or what looks as if it were guarded against that.
const FORMULA = /^'*[=+\-@\t\r]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** A text that no spreadsheet takes for a formula; `splboost audit` reads it as it was. */
function guarded(text) {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function withoutGuard(text) {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

/** The separator that makes a name that of a column, and the position of that column; or null. */
function findColumn(text, name) {
  for (const separator of [",", ";", "\t", "|"]) {
    for (const { fields, blank } of records(text, separator)) {
      if (blank) continue;
      const position = fields.findIndex((field) => readField(text, field) === name);
      if (position >= 0) return { separator, position };
      break;
    }
  }
  return null;
}

/** Where the data records and their targets lie; blank lines count if the audit counted them. */
function targets(text, { separator, position }, rows) {
  const all = [];
  for (const { start, end, fields, blank } of records(text, separator)) {
    const [from, to] = fields[position] ?? [end, end];
    all.push({ start, end, from, to, blank });
  }
  all.splice(0, all.findIndex(({ blank }) => !blank) + 1); // the header, and what is before it
  const written = all.filter(({ blank }) => !blank);
  if (written.length === all.length || written.length === rows) return written;
  if (all.length === rows) return all;
  throw new Error(`the file has ${counted(written.length, "row")}, the audit ${count(rows)}`);
}

/** Whether texts are the same but for their spelling: 1.0 may be 1, and TRUE true. */
function alike(a, b) {
  const plain = (text) => text.trim().toLowerCase();
  return plain(a) === plain(b) || (plain(a) !== "" && Number(a) === Number(b));
}

/** Tells the class of a label as the file spells it. */
function labelReader() {
  const known = new Map(classes.map((name, index) => [name, index]));
  return (text) => {
    if (!known.has(text)) {
      const exactly = known.get(text.trim()); // also where classes differ by a capital
      known.set(text, exactly ?? classes.findIndex((name) => alike(text, name)));
    }
    return known.get(text);
  };
}

/**
 * The source with new labels and without dropped rows; every other line as it was.
 * Throws where source and audit disagree, so that never a wrong line is changed.
 */
function cleanedCsv({ source, target, n_rows }, decisions) {
  const place = findColumn(source, target);
  if (!place) throw new Error(`the file has no column named ${brief(target)}`);
  const rows = targets(source, place, n_rows);
  const classOf = labelReader();
  const spelling = new Map(); // the classes as the file writes them
  const given = rows.map(({ from, to }) => {
    const text = readField(source, [from, to]);
    const index = classOf(text);
    if (!spelling.has(index)) spelling.set(index, text);
    return index;
  });
  const stray = suspects.find((suspect) => given[suspect.row] !== suspect.given);
  if (stray) {
    throw new Error(`row ${stray.row} of the file is not labelled ${brief(classes[stray.given])}`);
  }
  const parts = [];
  let done = 0;
  for (const [row, { decision, label }] of [...decisions].sort(([a], [b]) => a - b)) {
    if (decision === "keep") continue;
    const { start, end, from, to } = rows[row];
    const [changed, rest] = decision === "drop" ? [start, end] : [from, to];
    parts.push(source.slice(done, changed));
    if (decision === "flip") {
      const text = spelling.get(label) ?? classes[label];
      parts.push(writeField(text, place.separator, source[from] === '"'));
    }
    done = rest;
  }
  return parts.join("") + source.slice(done);
}
