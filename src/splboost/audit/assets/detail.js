// One suspect in detail: beliefs, reasons, and the row beside those most like it.

const LISTED_CLASSES = 8;
const MANY_COLUMNS = 30;
const LONGEST = 5_000; // characters of a cell

const explained = suspects.some(({ reasons }) => reasons !== null);
let onlyDiffering = columns.length > MANY_COLUMNS; // which lines of the comparison to show

/** All that is known of a suspect: there may be no reasons, and no columns. */
function caseOf(suspect) {
  const parts = [
    make("div", { class: "verdict" },
      make("p", {}, "Labelled ", label(suspect.given, "given"),
        ", proposed ", label(suspect.predicted, "predicted")),
      make("p", {}, make("strong", {}, `The chance that the label is wrong is ${percent(suspect.wrong)}`),
        make("span", { class: "muted" }, ` (label quality ${suspect.quality.toFixed(2)}).`))),
    make("h3", {}, "What the model believes"),
    beliefs(suspect),
  ];
  if (explained) {
    parts.push(make("h3", {}, "What speaks against the label, and how much"),
      reasons(suspect));
  }
  if (columns.length) {
    const title = suspect.similar.length ? "The row and those most like it" : "The row";
    parts.push(make("h3", {}, title), comparison(suspect));
  }
  return parts;
}

/** Belief in each class, the greatest first; the given and the proposed are always shown. */
function beliefs({ given, predicted, belief }) {
  const order = [...belief.keys()].sort((a, b) => belief[b] - belief[a]);
  const roles = { [predicted]: ["predicted", "proposed"], [given]: ["given", "given"] };
  const shown = order.filter((index, rank) => rank < LISTED_CLASSES || index in roles);
  const items = shown.map((index) => {
    const [role, word] = roles[index] ?? ["", ""];
    return make("li", { class: role }, label(index, role), bar(belief[index]),
      make("span", { class: "number" }, percent(belief[index])),
      make("span", { class: "role" }, word));
  });
  const rest = order.length - shown.length;
  const words = `and ${counted(rest, "other class", "other classes")}`;
  if (rest) items.push(make("li", { class: "muted" }, words));
  return make("ul", { class: "beliefs" }, ...items);
}

function reasons(suspect) {
  if (!suspect.reasons?.length) {
    return make("p", { class: "muted" }, suspect.reasons
      ? "No single column; the row as a whole does not fit."
      : "Not worked out: reasons are given for the worst suspects only.");
  }
  const points = "of 100, by which this lowers the belief in the label";
  return make("ol", { class: "reasons" }, ...suspect.reasons.map(({ column, text, taken }) =>
    make("li", {}, make("b", {}, brief(columns[column].name, 40)), " ",
      make("span", { class: "taken", title: points }, `−${Math.round(100 * taken)} points`),
      make("p", {}, brief(text, LONGEST)))));
}

/** A line for each column, with the similar rows beside the suspect. */
function comparison({ given, cells, reasons, similar }) {
  const speaks = new Set(reasons?.map(({ column }) => column));
  const heading = (words, index) => make("th", { scope: "col" }, words, make("br"),
    label(index, index === given ? "given" : "predicted"));
  const head = make("tr", {}, make("th", { scope: "col" }, "Column"), heading("This row", given),
    ...similar.map((other) => heading(brief(rowName(other), 60), other.label)));
  const lines = columns.map(({ name, kind }, index) => {
    const own = cells[index];
    const others = similar.map((other) => other.cells[index]);
    return make("tr", { class: speaks.has(index) ? "speaks" : null },
      make("th", { scope: "row" }, make("div", {}, brief(name, 200))),
      cell(own, kind), ...others.map((value) => cell(value, kind, value !== own)));
  });
  const table = make("div", { class: "scroller" },
    make("table", { class: "cells" }, make("thead", {}, head), make("tbody", {}, ...lines)));
  const choice = similar.length ? differingChoice(lines) : null;
  return choice ? make("div", {}, choice, table) : table;
}

function cell(value, kind, differs = false) {
  const shown = value === null ? make("i", {}, "missing") : make("div", {}, brief(value, LONGEST));
  if (!differs) return make("td", { class: kind }, shown);
  const note = make("span", { class: "unseen" }, "(differs)");
  return make("td", { class: `${kind} differs` }, shown, note);
}

/** The choice to see all lines, or those alone that differ or speak against the label; null if all do. */
function differingChoice(lines) {
  const others = lines.filter((line) => !line.matches(".speaks, :has(.differs)"));
  if (!others.length) return null;
  const choice = make("input", { type: "checkbox" });
  const show = () => others.forEach((line) => (line.hidden = onlyDiffering));
  choice.checked = onlyDiffering;
  choice.addEventListener("change", () => {
    onlyDiffering = choice.checked;
    show();
  });
  show();
  const shown = `the ${count(lines.length - others.length)} of ${counted(lines.length, "column")}`;
  return make("label", { class: "muted" }, choice,
    ` only ${shown} that differ or speak against the label`);
}
