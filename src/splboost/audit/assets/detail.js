// One suspect in detail: beliefs, reasons, and the row beside its nearest rows.

const LISTED_CLASSES = 8;
const MANY_COLUMNS = 30;

let onlyDiffering = null; // what the reviewer chose; until then, where there are many

function rowName({ row, id }) {
  return id === null ? `Row ${row}` : `Row ${row} · ${id}`;
}

function caseOf(report, suspect) {
  const { classes } = report;
  return [
    make("p", { class: "verdict" },
      "Labelled ", labelled(classes[suspect.given], "given"),
      ", proposed ", labelled(classes[suspect.predicted], "predicted"), ". ",
      make("strong", {}, `The chance that the label is wrong is ${percent(suspect.wrong)}`),
      make("span", { class: "muted" }, ` (label quality ${suspect.quality.toFixed(2)}).`)),
    make("h3", {}, "What the model believes"),
    beliefs(classes, suspect),
    make("h3", {}, "What speaks against the label"),
    reasons(report.columns, suspect),
    make("h3", {}, suspect.similar.length ? "The row and those most like it" : "The row"),
    comparison(report, suspect),
  ];
}

/** Belief in each class, the greatest first; the given and the proposed always. */
function beliefs(classes, { given, predicted, belief }) {
  const order = belief.map((_, index) => index).sort((one, other) => belief[other] - belief[one]);
  const shown = order.filter((index, rank) => rank < LISTED_CLASSES || index === given || index === predicted);
  const roleOf = (index) => (index === given ? "given" : index === predicted ? "predicted" : "");
  const items = shown.map((index) =>
    make("li", { class: roleOf(index) },
      labelled(classes[index], roleOf(index)), bar(belief[index]),
      make("span", { class: "number" }, percent(belief[index])),
      make("span", { class: "role" }, { given: "given", predicted: "proposed" }[roleOf(index)] ?? "")));
  if (shown.length < order.length) {
    items.push(make("li", { class: "muted" }, `and ${counted(order.length - shown.length, "other class", "other classes")}`));
  }
  return make("ul", { class: "beliefs" }, ...items);
}

function reasons(columns, suspect) {
  if (!suspect.reasons.length) {
    return make("p", { class: "muted" }, "No single column; it is the row as a whole that does not fit.");
  }
  return make("ol", { class: "reasons" }, ...suspect.reasons.map(({ column, text, gain }) =>
    make("li", {}, make("b", { title: brief(columns[column].name, 1000) }, brief(columns[column].name, 40)), " ",
      make("span", { class: "gain" }, `+${Math.round(100 * gain)} points`), make("p", {}, text))));
}

/** A line for each column, with the similar rows beside the suspect. */
function comparison(report, suspect) {
  const { columns, classes } = report;
  const spoken = new Set(suspect.reasons.map(({ column }) => column));
  const differs = columns.map((_, index) => suspect.similar.some(({ cells }) => cells[index] !== suspect.cells[index]));
  const head = make("tr", {},
    make("th", { scope: "col" }, "Column"),
    make("th", { scope: "col" }, "This row", make("br"), labelled(classes[suspect.given], "given")),
    ...suspect.similar.map((other) =>
      make("th", { scope: "col" }, brief(rowName(other), 60), make("br"), labelled(classes[other.label], other.label === suspect.given ? "given" : "predicted"))));
  const lines = columns.map(({ name, kind }, index) => {
    const cell = (value, different) =>
      make("td", { class: `${kind}${different ? " differs" : ""}` }, cellText(value), different ? make("span", { class: "unseen" }, " (differs)") : "");
    return make("tr", { class: spoken.has(index) ? "spoken" : null },
      make("th", { scope: "row", title: spoken.has(index) ? "speaks against the label" : null }, make("div", {}, name)),
      cell(suspect.cells[index], false),
      ...suspect.similar.map(({ cells }) => cell(cells[index], cells[index] !== suspect.cells[index])));
  });
  const choice = make("input", { type: "checkbox" });
  choice.checked = onlyDiffering ?? columns.length > MANY_COLUMNS;
  const limit = () => lines.forEach((line, index) => {
    line.hidden = choice.checked && !differs[index] && !spoken.has(index);
  });
  choice.addEventListener("change", () => {
    onlyDiffering = choice.checked;
    limit();
  });
  const table = make("div", { class: "scroller" },
    make("table", { class: "cells" }, make("thead", {}, head), make("tbody", {}, ...lines)));
  if (!suspect.similar.length) return table;
  limit();
  const differing = differs.filter(Boolean).length;
  return make("div", {},
    make("label", { class: "muted" }, choice, ` only columns that differ (${count(differing)} of ${count(columns.length)}) or speak against the label`), table);
}

function cellText(value) {
  return value === null ? make("i", {}, "missing") : make("div", {}, value);
}
