// The list of suspects: filtered, sorted, and no more rows in the page than are in sight.

const scroller = byId("scroller");
const body = byId("suspects").tBodies[0];
const texts = []; // what the search looks through, made when first needed
const AROUND = 12; // rows above and below those in sight

let view = []; // ranks of the suspects that the filters let through, in the order shown
let current = null; // rank of the suspect at hand
let order = { name: "rank", descending: false };
let inTable = ""; // which rows of the view the table holds

// Each column of the list: its heading, what its cells show, and what it sorts by.
const LIST = [
  { name: "rank", title: "#", show: (_, rank) => count(rank + 1), by: (_, rank) => rank },
  { name: "row", title: "Row", show: rowButton, by: ({ row }) => row },
  { name: "id", title: "Id", show: ({ id }) => brief(id ?? ""), by: ({ id }) => id ?? "" },
  { name: "given", title: "Given", show: ({ given }) => label(given, "given"), by: ({ given }) => given },
  { name: "predicted", title: "Proposed", show: ({ predicted }) => label(predicted, "predicted"), by: ({ predicted }) => predicted },
  { name: "wrong", title: "Wrong", show: ({ wrong }) => make("span", { class: "chance" }, bar(wrong), percent(wrong)), by: ({ wrong }) => wrong },
  { name: "quality", title: "Quality", show: ({ quality }) => quality.toFixed(2), by: ({ quality }) => quality },
  { name: "reason", title: "Strongest reason", show: ({ reasons: [first] }) => brief(first?.text ?? "", 300) },
  { name: "decision", title: "Decision", show: decisionMark, by: (suspect) => ["open", ...Object.keys(DONE)].indexOf(decisionOn(suspect)) },
].filter(({ name }) => name !== "id" || suspects.some(({ id }) => id !== null));

function rowButton(suspect) {
  return make("button", { type: "button", "aria-label": `Show ${brief(rowName(suspect))}` }, String(suspect.row));
}

function decisionMark(suspect) {
  const { decision, label } = decisions.get(suspect.row) ?? {};
  if (!decision) return make("span", { class: "muted" }, "open");
  const other = decision === "flip" && label !== suspect.predicted ? ` to ${brief(classes[label], 40)}` : "";
  return make("span", { class: `decision ${decision}` }, decision + other);
}

function textOf(suspect) {
  return [rowName(suspect), classes[suspect.given], classes[suspect.predicted], ...suspect.cells,
    ...suspect.reasons.map(({ text }) => text)].join("\n").toLowerCase();
}

/** Filter and sort anew, and keep the suspect at hand if it is still there. */
function updateView() {
  const [given, predicted, decision] = ["given", "predicted", "decision"].map((name) => byId(`filter-${name}`).value);
  const sought = byId("search").value.trim().toLowerCase();
  const { by } = LIST.find(({ name }) => name === order.name);
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  view = [...suspects.entries()]
    .filter(([rank, suspect]) =>
      (given === "" || suspect.given === Number(given)) &&
      (predicted === "" || suspect.predicted === Number(predicted)) &&
      (decision === "" || decisionOn(suspect) === decision) &&
      (sought === "" || (texts[rank] ??= textOf(suspect)).includes(sought)))
    .map(([rank, suspect]) => [by(suspect, rank), rank])
    .sort(([a, first], [b, second]) => (order.descending ? -1 : 1) * compare(a, b) || first - second)
    .map(([, rank]) => rank);
  if (!view.includes(current)) current = view[0] ?? null;
}

function showList() {
  const filtered = view.length < suspects.length;
  byId("shown").textContent = filtered ? `${count(view.length)} of ${count(suspects.length)} shown` : count(suspects.length);
  byId("reset").hidden = !filtered;
  byId("none").hidden = view.length > 0;
  byId("none").textContent = suspects.length ? "No suspect fits these filters." : "No label looks wrong.";
  byId("suspects").setAttribute("aria-rowcount", view.length + 1);
  for (const heading of byId("suspects").querySelectorAll("[aria-sort]")) {
    const sorted = heading.matches(`.in-${order.name}`);
    heading.setAttribute("aria-sort", sorted ? (order.descending ? "descending" : "ascending") : "none");
  }
  reveal();
  showRows(true);
  markCurrent();
}

/** In pixels; the style sets the scroller's padding to it, because a length in rem is of no use here. */
const rowHeight = () => parseFloat(getComputedStyle(scroller).scrollPaddingTop);

/** Scroll as little as brings the suspect at hand into sight. */
function reveal() {
  const top = view.indexOf(current) * rowHeight();
  const bottom = top + rowHeight() + byId("suspects").tHead.offsetHeight - scroller.clientHeight;
  scroller.scrollTop = Math.max(Math.min(scroller.scrollTop, top), bottom);
}

/** Put the rows in sight, and some around, into the table; to print, all of them. */
function showRows(changed, all = false) {
  const height = rowHeight();
  const first = all ? 0 : Math.max(0, Math.floor(scroller.scrollTop / height) - AROUND);
  const last = all ? view.length : Math.min(view.length, first + Math.ceil(scroller.clientHeight / height) + 2 * AROUND);
  if (!changed && inTable === `${first}-${last}`) return;
  inTable = `${first}-${last}`;
  const focused = document.activeElement.closest("#suspects tbody tr")?.dataset.rank;
  const rows = view.slice(first, last).map((rank, index) => listRow(rank, first + index));
  body.replaceChildren(spacer(first * height), ...rows, spacer((view.length - last) * height));
  if (focused) body.querySelector(`[data-rank="${focused}"] button`)?.focus({ preventScroll: true });
}

/** Mark the suspect at hand; a focus in the list goes with it. */
function markCurrent() {
  const focused = body.contains(document.activeElement);
  for (const row of body.rows) {
    const here = row.dataset.rank === String(current);
    row.ariaCurrent = here ? "true" : null;
    if (here && focused) row.querySelector("button").focus({ preventScroll: true });
  }
}

function spacer(height) {
  const made = make("tr", { class: "spacer", "aria-hidden": "true" }, make("td"));
  made.firstChild.style.height = `${height}px`;
  made.hidden = height === 0;
  return made;
}

function listRow(rank, position) {
  const cells = LIST.map(({ name, show }) => make("td", { class: `in-${name}` }, show(suspects[rank], rank)));
  const made = make("tr", { "data-rank": rank, "aria-rowindex": position + 2 }, ...cells);
  made.ariaCurrent = rank === current ? "true" : null;
  made.addEventListener("click", () => choose(rank, true));
  return made;
}

function prepareList() {
  byId("suspects").tHead.rows[0].append(...LIST.map(({ name, title, by }) => {
    if (!by) return make("th", { scope: "col", class: `in-${name}` }, title);
    return make("th", { scope: "col", class: `in-${name}`, "aria-sort": "none" }, button({}, title, () => {
      order = { name, descending: order.name === name ? !order.descending : name === "wrong" };
      startOver();
    }));
  }));
  for (const role of ["given", "predicted"]) {
    const used = [...new Set(suspects.map((suspect) => suspect[role]))].sort((a, b) => a - b);
    byId(`filter-${role}`).append(...used.map((index) => make("option", { value: index }, brief(classes[index], 60))));
  }
  scroller.addEventListener("scroll", () => requestAnimationFrame(() => showRows(false)));
  addEventListener("resize", () => showRows(true));
  addEventListener("beforeprint", () => showRows(true, true));
  addEventListener("afterprint", () => showRows(true));
}

/** Let through what is labelled and proposed so ("" for any), whatever else was sought. */
function setFilters(given, predicted) {
  byId("search").value = byId("filter-decision").value = "";
  byId("filter-given").value = given;
  byId("filter-predicted").value = predicted;
  startOver();
}
