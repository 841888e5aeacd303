// The list of suspects: filtered, sorted, and no more rows in the page than are in sight.

const scroller = byId("scroller");
const body = byId("suspects").tBodies[0];
const texts = []; // what the search looks through, made when first needed
const AROUND = 12; // rows above and below those in sight
const FILTERS = ["given", "predicted", "decision"];
const collator = new Intl.Collator("en", { numeric: true });

let view = []; // ranks of the suspects that the filters let through, in the order shown
let current = null; // rank of the suspect at hand
let order = { name: "rank", descending: false };
let inTable = ""; // which rows of the view the table holds

// Each column of the list: its heading, what that means, what its cells show, and what it sorts by if it can.
const LIST = [
  { name: "rank", title: "#", means: "1 for the worst", show: (_, rank) => count(rank + 1),
    by: (_, rank) => rank },
  { name: "row", title: "Row", means: "number of the row in the data, from 0", show: rowButton,
    by: (one) => one.row },
  { name: "id", title: "Id", means: "what people call the row", show: (one) => brief(one.id ?? ""),
    by: (one) => one.id ?? "" },
  { name: "given", title: "Given", means: "the label in the data", show: (one) => label(one.given, "given"),
    by: (one) => classes[one.given] },
  { name: "predicted", title: "Proposed", means: "the label that looks right",
    show: (one) => label(one.predicted, "predicted"), by: (one) => classes[one.predicted] },
  { name: "wrong", title: "Wrong", means: "chance that the given label is wrong", by: (one) => one.wrong,
    show: (one) => make("span", { class: "chance" }, bar(one.wrong), percent(one.wrong)) },
  { name: "quality", title: "Quality", means: "how likely the label is to a model that has not seen it",
    show: (one) => one.quality.toFixed(2), by: (one) => one.quality },
  { name: "reason", title: "Strongest reason", means: "what speaks most against the label",
    show: (one) => brief(one.reasons?.[0]?.text ?? "", 300) },
  { name: "decision", title: "Decision", means: "what you have decided", show: decisionMark,
    by: (one) => ["open", ...Object.keys(DONE)].indexOf(decisionOn(one)) },
].filter(({ name }) => (name !== "id" || suspects.some(({ id }) => id !== null)) &&
  (name !== "reason" || explained));

function rowButton(suspect) {
  const words = `Show ${brief(rowName(suspect))}`;
  return make("button", { type: "button", "aria-label": words }, String(suspect.row));
}

function decisionMark(suspect) {
  const { decision, label } = decisions.get(suspect.row) ?? {};
  if (!decision) return make("span", { class: "muted" }, "open");
  const other = decision === "flip" && label !== suspect.predicted;
  const words = other ? `flip to ${brief(classes[label], 40)}` : decision;
  return make("span", { class: `decision ${decision}` }, words);
}

function textOf(suspect) {
  return [rowName(suspect), classes[suspect.given], classes[suspect.predicted], ...suspect.cells,
    ...(suspect.reasons ?? []).map(({ text }) => text)].join("\n").toLowerCase();
}

/** Numbers, also as texts, by what they are worth and first; texts as in a dictionary. */
function compare(a, b) {
  const isNumber = (value) => typeof value === "number" || (value.trim() !== "" && isFinite(value));
  if (isNumber(a) && isNumber(b)) return a - b;
  return isNumber(b) - isNumber(a) || collator.compare(a, b);
}

/** Filter and sort anew, and keep the suspect at hand if it is still there. */
function updateView() {
  const [given, predicted, decision] = FILTERS.map((name) => byId(`filter-${name}`).value);
  const sought = byId("search").value.trim().toLowerCase();
  const { by } = LIST.find(({ name }) => name === order.name);
  const sign = order.descending ? -1 : 1;
  view = [...suspects.entries()]
    .filter(([rank, suspect]) =>
      (given === "" || suspect.given === Number(given)) &&
      (predicted === "" || suspect.predicted === Number(predicted)) &&
      (decision === "" || decisionOn(suspect) === decision) &&
      (sought === "" || (texts[rank] ??= textOf(suspect)).includes(sought)))
    .map(([rank, suspect]) => [by(suspect, rank), rank])
    .sort(([a, first], [b, second]) => sign * compare(a, b) || first - second)
    .map(([, rank]) => rank);
  if (!view.includes(current)) current = view[0] ?? null;
}

function showList() {
  const direction = order.descending ? "descending" : "ascending";
  const filtered = view.length < suspects.length;
  const all = count(suspects.length);
  byId("shown").textContent = filtered ? `${count(view.length)} of ${all} shown` : all;
  byId("reset").hidden = !filtered;
  byId("none").hidden = view.length > 0;
  byId("suspects").setAttribute("aria-rowcount", view.length + 1);
  for (const heading of byId("suspects").querySelectorAll("[aria-sort]")) {
    heading.ariaSort = heading.matches(`.in-${order.name}`) ? direction : "none";
  }
  reveal();
  showRows(true);
  showRows(false); // on a narrow screen the first made the list as high as its rows
  markCurrent();
}

/** In pixels, by way of a padding that the style sets to it: its own unit is the rem. */
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
  const top = Math.floor(scroller.scrollTop / height);
  const inSight = Math.ceil(scroller.clientHeight / height);
  const first = all ? 0 : Math.max(0, top - AROUND);
  const last = all ? view.length : Math.min(view.length, top + inSight + AROUND);
  if (!changed && inTable === `${first}-${last}`) return;
  inTable = `${first}-${last}`;
  const focused = document.activeElement.closest("#suspects tr[data-rank]")?.dataset.rank;
  const rows = view.slice(first, last).map((rank, index) => listRow(rank, first + index));
  body.replaceChildren(spacer(first * height), ...rows, spacer((view.length - last) * height));
  body.querySelector(`[data-rank="${focused}"] button`)?.focus({ preventScroll: true });
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
  const cells = LIST.map(({ name, show }) =>
    make("td", { class: `in-${name}` }, show(suspects[rank], rank)));
  const made = make("tr", { "data-rank": rank, "aria-rowindex": position + 2 }, ...cells);
  made.ariaCurrent = rank === current ? "true" : null;
  made.addEventListener("click", () => choose(rank, true));
  return made;
}

function prepareList() {
  for (const { name, title, means, by } of LIST) {
    const sort = () => {
      order = { name, descending: order.name === name ? !order.descending : name === "wrong" };
      startOver();
    };
    byId("suspects").tHead.rows[0].append(make("th",
      { scope: "col", class: `in-${name}`, title: means, "aria-sort": by ? "none" : null },
      by ? button({}, title, sort) : title));
  }
  for (const role of ["given", "predicted"]) {
    const used = new Set(suspects.map((suspect) => suspect[role]));
    byId(`filter-${role}`).append(...labelOptions().filter((_, index) => used.has(index)));
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
