// The overview: what the audit found, in numbers and two pictures.

const MATRIX_CLASSES = 6;
const LISTED_PAIRS = 20;
const LISTED_GROUPS = 50;
const LISTED_ROWS = 12;

function showFacts(report) {
  const { n_rows, noise_rate, noise_rate_std, expected_precision, contradictions } = report;
  const suspects = report.suspects.length;
  const facts = [["Rows", count(n_rows), `with ${counted(report.classes.length, "class", "classes")} of ${brief(report.target, 40)}`]];
  if (noise_rate !== null) {
    const spread = noise_rate_std === null ? "" : ` ± ${percent(noise_rate_std)}`;
    facts.push(["Labels estimated wrong", percent(noise_rate) + spread, `about ${count(Math.round(noise_rate * n_rows))} of ${counted(n_rows, "row")}`]);
  }
  let words = "rows whose label looks wrong";
  if (suspects && expected_precision !== null) {
    const wrong = Math.round(expected_precision * suspects);
    words = `expect about ${count(wrong)} really wrong and ${count(suspects - wrong)} right after all (${percent(expected_precision)} precision)`;
  }
  facts.push(["Suspects", count(suspects), words]);
  facts.push(["Contradictions", count(contradictions.length), contradictions.length ? "groups of equal rows with different labels" : "no equal rows have different labels"]);
  byId("facts").append(...facts.map(([term, value, note]) =>
    make("div", { class: "panel" }, make("dt", {}, term), make("dd", { class: "value" }, value), make("dd", {}, note))));
}

/** Suspects by given and predicted label; `choose(given, predicted)` on a click. */
function showConfusion({ classes, confusion }, choose) {
  const most = Math.max(1, ...confusion.map((line) => Math.max(...line)));
  const cell = (given, predicted) => {
    const number = confusion[given][predicted];
    const words = `${counted(number, "suspect")} labelled ${brief(classes[given])}, proposed ${brief(classes[predicted])}`;
    const made = button({ class: "cell", "aria-label": words, title: words }, count(number), () => choose(given, predicted));
    made.style.setProperty("--share", Math.sqrt(number / most));
    return made;
  };
  if (classes.length > MATRIX_CLASSES) {
    byId("confusion").append(confusionList(classes, confusion, cell));
    return;
  }
  const head = make("tr", {}, make("th", { scope: "col" }, "given ↓ proposed →"),
    ...classes.map((label) => make("th", { scope: "col" }, labelled(label, "predicted"))));
  const rows = classes.map((label, given) =>
    make("tr", {}, make("th", { scope: "row" }, labelled(label, "given")),
      ...classes.map((_, predicted) =>
        make("td", {}, confusion[given][predicted] ? cell(given, predicted) : "·"))));
  byId("confusion").append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

function confusionList(classes, confusion, cell) {
  const pairs = confusion
    .flatMap((line, given) => line.map((number, predicted) => ({ number, given, predicted })))
    .filter(({ number }) => number > 0)
    .sort((one, other) => other.number - one.number);
  const items = pairs.slice(0, LISTED_PAIRS).map(({ given, predicted }) =>
    make("li", {}, labelled(classes[given], "given"), " → ", labelled(classes[predicted], "predicted"), cell(given, predicted)));
  if (pairs.length > LISTED_PAIRS) {
    items.push(make("li", { class: "muted" }, `and ${counted(pairs.length - LISTED_PAIRS, "rarer pair")}`));
  }
  return make("ol", {}, ...items);
}

/** The histogram of label quality; heights are roots, so that few suspects are seen. */
function showQuality({ n_rows, quality }) {
  const [width, height, left, top, bottom] = [480, 210, 44, 18, 36];
  const { edges, all, suspects, cut } = quality;
  const span = edges.at(-1) - edges[0];
  const most = Math.max(1, ...all);
  const x = (value) => left + ((width - left - 8) * (value - edges[0])) / span;
  const y = (number) => height - bottom - (height - top - bottom) * Math.sqrt(number / most);
  const rect = (number, index, role) => draw("rect", {
    class: role, x: x(edges[index]) + 0.5, y: y(number), rx: 1,
    width: Math.max(x(edges[index + 1]) - x(edges[index]) - 1, 0.5), height: y(0) - y(number),
  });
  const parts = [...new Set([most, most / 4, most / 25].map(roundDown))].flatMap((number) => [
    draw("line", { class: "grid", x1: left, x2: width - 8, y1: y(number), y2: y(number) }),
    draw("text", { x: left - 6, y: y(number) + 4, "text-anchor": "end" }, count(number)),
  ]);
  all.forEach((number, index) => {
    const words = `quality ${edges[index]} to ${edges[index + 1]}: ${counted(number, "row")}, ${counted(suspects[index], "suspect")}`;
    parts.push(draw("g", {}, draw("title", {}, words), rect(number, index, "all"), rect(suspects[index], index, "suspects")));
  });
  for (const value of [0, 0.25, 0.5, 0.75, 1].map((share) => edges[0] + share * span)) {
    parts.push(draw("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, String(+value.toFixed(3))));
  }
  parts.push(draw("text", { x: x(edges[0] + span / 2), y: height - 4, "text-anchor": "middle" }, "label quality"));
  let words = `Histogram of the label quality of ${counted(n_rows, "row")}.`;
  if (cut !== null) {
    words += ` Suspects lie below ${+cut.toFixed(3)}.`;
    const late = cut > edges[0] + span / 2;
    parts.push(draw("line", { class: "cut", x1: x(cut), x2: x(cut), y1: 4, y2: y(0) }),
      draw("text", { class: "cut", x: x(cut) + (late ? -5 : 5), y: 13, "text-anchor": late ? "end" : "start" }, `cut ${+cut.toFixed(3)}`));
  }
  byId("quality").append(
    draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words }, ...parts),
    make("p", { class: "legend" }, make("span", { class: "all" }, "all rows"), make("span", { class: "suspects" }, "suspects"), "heights: square roots"));
}

/** The largest of 1, 2 or 5 times a power of ten that is not above the number. */
function roundDown(number) {
  const power = 10 ** Math.floor(Math.log10(Math.max(number, 1)));
  return power * ([5, 2].find((step) => step * power <= number) ?? 1);
}

/** Equal rows with different labels; `rowLink(row)` names a row. */
function showContradictions({ contradictions, classes }, rowLink) {
  if (!contradictions.length) return;
  const panel = byId("contradictions");
  panel.hidden = false;
  panel.querySelector("summary").append(`${counted(contradictions.length, "contradiction")}: equal rows with different labels`);
  const item = ({ rows, labels }) => {
    const made = make("li");
    for (const label of new Set(labels)) {
      const those = rows.filter((_, index) => labels[index] === label);
      const links = those.slice(0, LISTED_ROWS).flatMap((row) => [" ", rowLink(row)]);
      const more = those.length > LISTED_ROWS ? ` and ${count(those.length - LISTED_ROWS)} more` : "";
      made.append(make("span", {}, labelled(classes[label], "given"), ` ${those.length === 1 ? "row" : "rows"}`, ...links, more));
    }
    return made;
  };
  const list = panel.querySelector("ul");
  const all = panel.querySelector("button");
  list.append(...contradictions.slice(0, LISTED_GROUPS).map(item));
  all.hidden = contradictions.length <= LISTED_GROUPS;
  all.addEventListener("click", () => {
    contradictions.slice(LISTED_GROUPS).forEach((group) => list.append(item(group)));
    all.hidden = true;
  });
}
