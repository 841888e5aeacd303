// The overview: what the audit found, in numbers and two pictures.

const MATRIX_CLASSES = 6;
const LISTED_PAIRS = 20;
const LISTED_GROUPS = 50;
const LISTED_ROWS = 12;

function showFacts({ n_rows, n_labels, noise_rate, noise_rate_std, expected_precision, contradictions }) {
  const fact = (term, value, words) =>
    byId("facts").append(make("div", { class: "panel" }, make("dt", {}, term),
      make("dd", { class: "value" }, value), make("dd", {}, words)));
  const kinds = counted(classes.length, "class", "classes");
  const audited = n_labels < n_rows ? `; ${counted(n_labels, "label")} audited` : "";
  fact("Rows", count(n_rows), `${kinds} of ${brief(report.target, 40)}${audited}`);
  if (noise_rate !== null) {
    const spread = noise_rate_std === null ? "" : ` ± ${percent(noise_rate_std)}`;
    fact("Labels estimated wrong", percent(noise_rate) + spread,
      `about ${count(Math.round(noise_rate * n_labels))} of ${count(n_labels)}`);
  }
  let words = suspects.length ? "rows whose label looks wrong"
    : "no label looks wrong enough to review; --top 20, or top=20 in Python, lists the worst all the same";
  if (suspects.length && expected_precision !== null) {
    const wrong = Math.round(expected_precision * suspects.length);
    words = `expect about ${count(wrong)} really wrong and ${count(suspects.length - wrong)} ` +
      `right after all (${percent(expected_precision)} precision)`;
  }
  fact("Suspects", count(suspects.length), words);
  if (contradictions) fact("Contradictions", count(contradictions.length), contradictions.length
    ? "groups of equal rows with different labels" : "no equal rows have different labels");
}

/** Suspects by given and predicted label; a click on a number lists them. */
function showConfusion({ confusion }) {
  const most = Math.max(1, ...confusion.map((line) => Math.max(...line)));
  const cell = (given, predicted) => {
    const number = confusion[given][predicted];
    const pair = `labelled ${brief(classes[given])}, proposed ${brief(classes[predicted])}`;
    const words = `${counted(number, "suspect")} ${pair}`;
    const made = button({ class: "cell", "aria-label": words, title: words }, count(number), () => {
      setFilters(given, predicted);
      byId("review").scrollIntoView();
    });
    made.style.setProperty("--share", Math.sqrt(number / most));
    return made;
  };
  const shape = classes.length > MATRIX_CLASSES ? confusionList : confusionMatrix;
  byId("confusion").append(shape(confusion, cell));
}

function confusionMatrix(confusion, cell) {
  const head = ["given ↓ proposed →", ...classes.map((_, index) => label(index, "predicted"))];
  const lines = confusion.map((line, given) =>
    make("tr", {}, make("th", { scope: "row" }, label(given, "given")),
      ...line.map((number, predicted) => make("td", {}, number ? cell(given, predicted) : "·"))));
  return make("table", {},
    make("thead", {}, make("tr", {}, ...head.map((one) => make("th", { scope: "col" }, one)))),
    make("tbody", {}, ...lines));
}

function confusionList(confusion, cell) {
  const pairs = confusion
    .flatMap((line, given) => line.map((number, predicted) => ({ number, given, predicted })))
    .filter(({ number }) => number > 0)
    .sort((a, b) => b.number - a.number);
  const items = pairs.slice(0, LISTED_PAIRS).map(({ given, predicted }) =>
    make("li", {}, label(given, "given"), " → ", label(predicted, "predicted"),
      cell(given, predicted)));
  const rest = pairs.length - items.length;
  if (rest) items.push(make("li", { class: "muted" }, `and ${counted(rest, "rarer pair")}`));
  return make("ol", {}, ...items);
}

/** The histogram of label quality; heights are roots, so that few suspects are seen. */
function showQuality({ n_rows, quality: { edges, all, suspects, cut } }) {
  const [width, height, left, right, top, bottom] = [480, 210, 44, 472, 18, 174];
  const span = edges.at(-1) - edges[0];
  const most = Math.max(1, ...all);
  const x = (value) => left + ((right - left) * (value - edges[0])) / span;
  const y = (number) => bottom - (bottom - top) * Math.sqrt(number / most);
  const text = (place, words) => draw("text", { "text-anchor": "middle", ...place }, String(words));
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const number of new Set([most, most / 4, most / 25].map(roundDown))) {
    svg.append(draw("line", { class: "grid", x1: left, x2: right, y1: y(number), y2: y(number) }),
      text({ x: left - 6, y: y(number) + 4, "text-anchor": "end" }, count(number)));
  }
  all.forEach((number, index) => {
    const [from, to] = [edges[index], edges[index + 1]];
    const rect = (rows, role) => draw("rect", { class: role, rx: 1, x: x(from) + 0.5, y: y(rows),
      width: Math.max(x(to) - x(from) - 1, 0.5), height: bottom - y(rows) });
    const doubtful = suspects[index];
    const words = `quality ${from} to ${to}: ${counted(number, "row")}, ${counted(doubtful, "suspect")}`;
    svg.append(draw("g", {}, draw("title", {}, words), rect(number, "all"), rect(doubtful, "suspects")));
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const value = edges[0] + share * span;
    svg.append(text({ x: x(value), y: bottom + 16 }, +value.toFixed(3)));
  }
  svg.append(text({ x: (left + right) / 2, y: height - 4 }, "label quality"));
  if (cut !== null) {
    const [anchor, gap] = cut > edges[0] + span / 2 ? ["end", -5] : ["start", 5];
    svg.append(draw("line", { class: "cut", x1: x(cut), x2: x(cut), y1: 4, y2: bottom }),
      text({ class: "cut", x: x(cut) + gap, y: 13, "text-anchor": anchor }, `cut ${+cut.toFixed(3)}`));
  }
  svg.setAttribute("aria-label", `Histogram of the label quality of ${counted(n_rows, "row")}` +
    (cut === null ? "" : `; suspects lie below ${+cut.toFixed(3)}`));
  byId("quality").append(svg, make("p", { class: "legend" },
    make("span", { class: "all" }, "all rows"), make("span", { class: "suspects" }, "suspects"),
    make("small", {}, "Heights are square roots, so that small numbers can be seen.")));
}

/** The largest of 1, 2 or 5 times a power of ten that is not above the number. */
function roundDown(number) {
  const power = 10 ** Math.floor(Math.log10(Math.max(number, 1)));
  return power * ([5, 2].find((step) => step * power <= number) ?? 1);
}

/** Equal rows with different labels. */
function showContradictions({ contradictions }) {
  if (!contradictions?.length) return;
  const list = byId("contradictions").querySelector("ul");
  const show = (groups) => groups.forEach(({ rows, labels }) => {
    const item = make("li");
    for (const index of new Set(labels)) {
      const those = rows.filter((_, place) => labels[place] === index);
      const links = those.slice(0, LISTED_ROWS).flatMap((row) => [" ", rowLink(row)]);
      const rest = those.length - LISTED_ROWS;
      item.append(make("span", {}, label(index, "given"), those.length === 1 ? " row" : " rows",
        ...links, rest > 0 ? ` and ${count(rest)} more` : ""));
    }
    list.append(item);
  });
  show(contradictions.slice(0, LISTED_GROUPS));
  if (contradictions.length > LISTED_GROUPS) {
    const all = button({}, "Show all", () => {
      show(contradictions.slice(LISTED_GROUPS));
      all.remove();
    });
    list.after(all);
  }
  byId("contradictions").querySelector("summary").textContent =
    `${counted(contradictions.length, "contradiction")}: equal rows with different labels`;
  byId("contradictions").hidden = false;
}

/** The number of a row, as a button where it is a suspect. */
function rowLink(row) {
  if (!rankOfRow.has(row)) return String(row);
  return button({ class: "quiet", title: "a suspect: show it" }, String(row), () => {
    setFilters("", "");
    choose(rankOfRow.get(row), true);
    byId("review").scrollIntoView();
  });
}
