// CSV: reading, writing, and the source with decisions applied.

/** The records of a CSV, each with where it and its fields lie in the text. */
function* records(text, separator) {
  const plain = new RegExp(`[^${separator}\r\n]*`, "y");
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  while (at < text.length) {
    const start = at;
    const fields = [];
    do {
      if (fields.length) at++;
      const from = at;
      plain.lastIndex = text[at] === '"' ? closing(text, at) + 1 : at;
      plain.test(text);
      at = plain.lastIndex;
      fields.push([from, at]);
    } while (text[at] === separator);
    const blank = at === start;
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    yield { start, end: at, fields, blank };
  }
}

/** Where the quotes that open at `at` close; doubled ones inside stand for one. */
function closing(text, at) {
  for (let quote = at; ; quote++) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) return text.length - 1; // never closed: all the rest
    if (text[quote + 1] !== '"') return quote;
  }
}

function fieldValue(text, [from, to]) {
  if (text[from] !== '"') return text.slice(from, to);
  const end = closing(text, from);
  return text.slice(from + 1, end).replaceAll('""', '"') + text.slice(end + 1, to);
}

function writeField(value, separator = ",", quoted = false) {
  const needed = quoted || /["\r\n]|^\s|\s$/.test(value) || value.includes(separator);
  return needed ? `"${value.replaceAll('"', '""')}"` : value;
}

function writeCsv(rows) {
  return rows.map((row) => row.map((value) => writeField(value)).join(",") + "\n").join("");
}

function readCsv(text) {
  const found = [];
  for (const { fields, blank } of records(text, ",")) {
    if (!blank) found.push(fields.map((field) => fieldValue(text, field)));
  }
  return found;
}

/** The separator that makes the target a column, and the position of that column. */
function findTarget(text, target) {
  const found = [",", ";", "\t", "|"].map((separator) => {
    const header = records(text, separator).next().value?.fields ?? [];
    const names = header.map((field) => fieldValue(text, field));
    return { separator, width: names.length, position: names.indexOf(target) };
  });
  const fitting = found.filter(({ position }) => position >= 0);
  if (!fitting.length) throw new Error(`the file has no column named ${brief(target)}`);
  return fitting.reduce((best, other) => (other.width > best.width ? other : best));
}

/** Where data records and their targets lie; blank lines count if they did in the audit. */
function dataRecords(text, { separator, position }, rows) {
  const all = [];
  for (const { start, end, fields, blank } of records(text, separator)) {
    const [from, to] = fields[position] ?? [end, end];
    all.push({ start, end, from, to, blank });
  }
  all.shift();
  const written = all.filter(({ blank }) => !blank);
  if (written.length === all.length || written.length === rows) return written;
  if (all.length === rows) return all;
  throw new Error(`the file has ${counted(written.length, "row")}, the audit ${count(rows)}`);
}

/** Tells the class of a written label: 1.0 is 1, and TRUE is true. */
function labelReader(classes) {
  const plain = (text) => text.trim().toLowerCase();
  const same = (one, other) =>
    plain(one) === plain(other) || (plain(one) !== "" && Number(one) === Number(other));
  const known = new Map(classes.map((label, index) => [label, index]));
  return (text) => {
    if (!known.has(text)) known.set(text, classes.findIndex((label) => same(label, text)));
    return known.get(text);
  };
}

/**
 * The source with new labels and without dropped rows; every other line as it was.
 * `changes` maps a row to {decision, label}. Throws where source and audit disagree,
 * so that no wrong line is ever changed.
 */
function cleanedCsv({ source, target, classes, n_rows, suspects }, changes) {
  const { separator, position } = findTarget(source, target);
  const rows = dataRecords(source, { separator, position }, n_rows);
  const classOf = labelReader(classes);
  const spelling = new Map();
  const labels = rows.map(({ from, to }) => {
    const text = fieldValue(source, [from, to]);
    const label = classOf(text);
    if (!spelling.has(label)) spelling.set(label, text);
    return label;
  });
  for (const { row, given } of suspects) {
    if (labels[row] !== given) {
      throw new Error(`row ${row} of the file is not labelled ${brief(classes[given])}`);
    }
  }
  const parts = [];
  let done = 0;
  for (const [row, { decision, label }] of [...changes].sort(([one], [other]) => one - other)) {
    const { start, end, from, to } = rows[row];
    const dropped = decision === "drop";
    parts.push(source.slice(done, dropped ? start : from));
    if (!dropped) {
      parts.push(writeField(spelling.get(label) ?? classes[label], separator, source[from] === '"'));
    }
    done = dropped ? end : to;
  }
  return parts.join("") + source.slice(done);
}
