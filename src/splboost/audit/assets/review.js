// The review: the list of suspects, the one at hand, keys and buttons.

const report = JSON.parse(byId("report").textContent);
const { suspects, classes } = report;
const decisions = new Decisions(report);
const rankOfRow = new Map(suspects.map(({ row }, rank) => [row, rank]));
const haystacks = []; // what the search looks through, made when first needed

let view = []; // ranks of the suspects that the filters let through, as sorted
let current = null; // rank of the suspect at hand
let order = { column: "rank", descending: false };

const DECISION_ORDER = ["open", "keep", "flip", "drop"];
const decisionOf = (suspect) => decisions.get(suspect.row)?.decision ?? "open";
const hasIds = suspects.some(({ id }) => id !== null);

// Each column: its heading, what it sorts by, and what its cells show.
const COLUMNS = {
  rank: { title: "#", by: (_, rank) => rank, show: (_, rank) => count(rank + 1) },
  row: { title: "Row", by: ({ row }) => row, show: ({ row }) => String(row) },
  ...(hasIds && { id: { title: "Id", by: ({ id }) => id ?? "", show: ({ id }) => brief(id ?? "") } }),
  given: { title: "Given", by: ({ given }) => given, show: ({ given }) => labelled(classes[given], "given") },
  predicted: { title: "Proposed", by: ({ predicted }) => predicted, show: ({ predicted }) => labelled(classes[predicted], "predicted") },
  wrong: { title: "Wrong", by: ({ wrong }) => wrong, show: ({ wrong }) => make("span", { class: "chance" }, bar(wrong), percent(wrong)) },
  quality: { title: "Quality", by: ({ quality }) => quality, show: ({ quality }) => quality.toFixed(2) },
  reason: { title: "Strongest reason", by: null, show: ({ reasons: [first] }) => (first ? brief(first.text, 300) : "") },
  decision: { title: "Decision", by: (suspect) => DECISION_ORDER.indexOf(decisionOf(suspect)), show: decisionMark },
};

function decisionMark(suspect) {
  const found = decisions.get(suspect.row);
  if (!found) return make("span", { class: "muted" }, "open");
  const { decision, label } = found;
  const other = label !== null && label !== suspect.predicted ? ` to ${brief(classes[label], 40)}` : "";
  return make("span", { class: `decision ${decision}` }, decision + other);
}

// ---- the list

function filtersFit(suspect, rank) {
  const same = (id, value) => byId(id).value === "" || byId(id).value === String(value);
  const sought = byId("search").value.trim().toLowerCase();
  return same("filter-given", suspect.given) && same("filter-predicted", suspect.predicted) &&
    same("filter-decision", decisionOf(suspect)) && (!sought || haystack(suspect, rank).includes(sought));
}

function haystack(suspect, rank) {
  haystacks[rank] ??= [
    `row ${suspect.row}`, suspect.id, classes[suspect.given], classes[suspect.predicted],
    ...suspect.cells, ...suspect.reasons.map(({ text }) => text),
  ].join("\n").toLowerCase();
  return haystacks[rank];
}

function compare(one, other) {
  return typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other;
}

/** Filter and sort anew, then show list and suspect. */
function refresh() {
  const { by } = COLUMNS[order.column];
  const sign = order.descending ? -1 : 1;
  view = [...suspects.keys()]
    .filter((rank) => filtersFit(suspects[rank], rank))
    .map((rank) => [by(suspects[rank], rank), rank])
    .sort(([one, first], [other, second]) => sign * compare(one, other) || first - second)
    .map(([, rank]) => rank);
  for (const [name, heading] of Object.entries(headings)) {
    const sorted = name === order.column ? (order.descending ? "descending" : "ascending") : "none";
    if (COLUMNS[name].by) heading.setAttribute("aria-sort", sorted);
  }
  const filtered = view.length < suspects.length;
  byId("shown").textContent = filtered ? `${count(view.length)} of ${count(suspects.length)} shown` : count(suspects.length);
  byId("reset").hidden = !filtered;
  byId("none").textContent = suspects.length ? "No suspect fits these filters." : "No label looks wrong.";
  byId("none").hidden = view.length > 0;
  byId("suspects").setAttribute("aria-rowcount", view.length + 1);
  if (!view.includes(current)) current = view[0] ?? null;
  showProgress();
  showRows(true);
  showSuspect();
}

const scroller = byId("scroller");
const body = byId("suspects").tBodies[0];
let shownRows = "";

/** Put the rows in sight, and some around, into the table; all of them to print. */
function showRows(changed = false, all = false) {
  const height = parseFloat(getComputedStyle(scroller).getPropertyValue("--row-height"));
  const around = 12;
  const first = all ? 0 : Math.max(0, Math.floor(scroller.scrollTop / height) - around);
  const last = all ? view.length : Math.min(view.length, first + Math.ceil(scroller.clientHeight / height) + 2 * around);
  if (!changed && shownRows === `${first} ${last}`) return;
  shownRows = `${first} ${last}`;
  const focused = body.contains(document.activeElement);
  body.replaceChildren(spacer(first * height), ...view.slice(first, last).map((rank, index) => listRow(rank, first + index)), spacer((view.length - last) * height));
  if (focused) body.querySelector("[aria-current] button")?.focus({ preventScroll: true });
}

function spacer(height) {
  const cell = make("td");
  cell.style.height = `${height}px`;
  const made = make("tr", { class: "spacer", "aria-hidden": "true" }, cell);
  made.hidden = height === 0;
  return made;
}

function listRow(rank, position) {
  const suspect = suspects[rank];
  const cells = Object.entries(COLUMNS).map(([name, { show }]) => {
    const shown = show(suspect, rank);
    const opening = name === "row" ? make("button", { type: "button", "aria-label": `Show ${rowName(suspect)}` }, shown) : shown;
    return make("td", { class: `in-${name}` }, opening);
  });
  const made = make("tr", { "aria-rowindex": position + 2, "aria-current": rank === current ? "true" : null }, ...cells);
  made.addEventListener("click", () => choose(rank, { open: true }));
  return made;
}

function reveal(position) {
  const height = body.querySelector("tr:not(.spacer)")?.offsetHeight ?? 0;
  const head = byId("suspects").tHead.offsetHeight;
  const top = position * height;
  const bottom = top + height + head - scroller.clientHeight;
  if (scroller.scrollTop > top) scroller.scrollTop = top;
  else if (scroller.scrollTop < bottom) scroller.scrollTop = bottom;
}

// ---- the suspect at hand

function choose(rank, { open = false } = {}) {
  current = rank;
  if (open) openSuspect(true);
  reveal(view.indexOf(rank));
  showRows(true);
  showSuspect();
}

/** On a narrow screen, show the suspect instead of the list, or the list again. */
function openSuspect(open) {
  const changed = document.body.classList.contains("opened") !== open;
  document.body.classList.toggle("opened", open);
  if (!changed || getComputedStyle(byId("back")).display === "none") return;
  scrollTo(0, 0);
  if (open) {
    byId("detail-title").focus({ preventScroll: true });
  } else {
    byId("review").scrollIntoView();
    showRows(true);
    reveal(view.indexOf(current));
  }
}

function showSuspect() {
  byId("detail").hidden = current === null;
  if (current === null) return;
  const suspect = suspects[current];
  const position = view.indexOf(current);
  const found = decisions.get(suspect.row);
  byId("detail-title").textContent = brief(rowName(suspect), 60);
  byId("place").textContent = `${count(position + 1)} of ${count(view.length)}`;
  byId("previous").disabled = position === 0;
  byId("next").disabled = position === view.length - 1;
  byId("undo").disabled = decisions.history.length === 0;
  byId("keep").firstChild.textContent = `Keep ${brief(classes[suspect.given], 24)}`;
  byId("flip").firstChild.textContent = `Flip to ${brief(classes[suspect.predicted], 24)}`;
  for (const name of Object.keys(WORDS)) {
    const pressed = found?.decision === name && (name !== "flip" || found.label === suspect.predicted);
    byId(name).setAttribute("aria-pressed", pressed);
  }
  showOther(suspect, found);
  byId("case").replaceChildren(...caseOf(report, suspect));
  if (showSuspect.last !== current) byId("detail").scrollTop = 0;
  showSuspect.last = current;
}

/** The menu of all labels but the given, where there are more than two. */
function showOther(suspect, found) {
  const options = classes.map((label, index) => make("option", { value: index }, brief(label, 60)));
  options.splice(suspect.given, 1);
  const menu = byId("other").querySelector("select");
  menu.replaceChildren(make("option", { value: "" }, "…"), ...options);
  menu.value = found?.decision === "flip" ? found.label : "";
}

/** Note a decision, or clear it with null, and go on to the next suspect. */
function decide(decision, label = null) {
  if (current === null) return;
  const suspect = suspects[current];
  const next = view[view.indexOf(current) + 1] ?? current;
  decisions.change([[suspect.row, decision && { decision, label }]]);
  const words = decision ? WORDS[decision] + (decision === "flip" ? ` to ${classes[label]}` : "") : "open again";
  if (decision) current = next;
  refresh();
  reveal(view.indexOf(current));
  showRows();
  say(`${rowName(suspect)}: ${words}.`);
}

function undo() {
  const row = decisions.undo();
  if (row === null) return;
  current = rankOfRow.get(row);
  refresh();
  reveal(view.indexOf(current));
  showRows();
  say("Undone.");
}

function move(step) {
  const rank = view[view.indexOf(current) + step];
  if (rank !== undefined) choose(rank);
  if (!document.body.classList.contains("opened")) byId("review").scrollIntoView({ block: "nearest" });
}

function say(words) {
  byId("said").textContent = words;
}

function showProgress() {
  const { keep, flip, drop } = decisions.numbers();
  const done = keep + flip + drop;
  byId("progress").max = Math.max(suspects.length, 1);
  byId("progress").value = done;
  byId("progress-text").textContent = `${count(done)} of ${count(suspects.length)} reviewed: ${count(keep)} kept, ${count(flip)} flipped, ${count(drop)} dropped`;
  byId("files-state").textContent = done ? `${counted(done, "decision")}: ${count(keep)} kept, ${count(flip)} flipped, ${count(drop)} dropped.` : "No decision yet.";
  byId("notice").hidden = decisions.lasting;
  byId("notice").textContent = "This browser does not let the page store anything: decisions last until it is closed. Save them before you leave.";
}

// ---- files

const fileName = (ending) => `${report.name.split(/[\\/]/).at(-1).replace(/\.csv(\.gz)?$/i, "")}.${ending}`;

function saveCleaned() {
  try {
    download(fileName("cleaned.csv"), "text/csv", cleanedCsv(report, decisions.changes()));
    byId("files-said").textContent = "";
  } catch (error) {
    byId("files-said").textContent = `The cleaned file cannot be made here: ${error.message}. Save the decisions and use splboost audit apply.`;
  }
}

async function loadDecisions(input) {
  const [file] = input.files;
  input.value = "";
  if (!file) return;
  try {
    const { taken, left } = decisions.load(await file.text());
    const words = left ? `; ${count(left)} left out, because row or label is not of this page` : "";
    byId("files-said").textContent = `${counted(taken, "decision")} loaded${words}.`;
    refresh();
  } catch (error) {
    byId("files-said").textContent = `${file.name} cannot be read: ${error.message}.`;
  }
}

function prepareFiles() {
  const actions = {
    "save-csv": () => download(fileName("decisions.csv"), "text/csv", decisions.toCsv()),
    "save-json": () => download(fileName("decisions.json"), "application/json", decisions.toJson(report)),
    "save-clean": saveCleaned,
    load: () => byId("load-file").click(),
  };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  byId("load-file").addEventListener("change", ({ target }) => loadDecisions(target));
  if (report.source === null) {
    byId("save-clean").disabled = true;
    byId("clean-note").textContent = "The data are not in this page. Save the decisions and use splboost audit apply.";
  }
}

// ---- keys and start

const flip = () => decide("flip", suspects[current]?.predicted);
const KEYS = {
  j: () => move(1), ArrowDown: () => move(1),
  k: () => move(-1), ArrowUp: () => move(-1),
  K: () => decide("keep"),
  f: flip, F: flip,
  d: () => decide("drop"), D: () => decide("drop"),
  c: () => decide(null), C: () => decide(null),
  u: undo, U: undo,
  "/": () => byId("search").focus(),
  "?": () => byId("help").showModal(),
};

function onKey(event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (target.matches("input:not([type=checkbox]), select")) {
    if (key === "Escape" || (key === "Enter" && target.id === "search")) target.blur();
    return;
  }
  if (!Object.hasOwn(KEYS, key)) return;
  event.preventDefault();
  KEYS[key]();
}

const headings = Object.fromEntries(Object.entries(COLUMNS).map(([name, { title, by }]) => {
  const sort = () => {
    order = { column: name, descending: order.column === name ? !order.descending : name === "wrong" };
    scroller.scrollTop = 0;
    refresh();
  };
  return [name, make("th", { scope: "col", class: `in-${name}` }, by ? button({}, title, sort) : title)];
}));

function filter(given, predicted) {
  byId("search").value = byId("filter-decision").value = "";
  byId("filter-given").value = given;
  byId("filter-predicted").value = predicted;
  scroller.scrollTop = 0;
  refresh();
}

function rowLink(row) {
  if (!rankOfRow.has(row)) return String(row);
  return button({ class: "quiet", title: "a suspect: show it" }, String(row), () => {
    filter("", "");
    choose(rankOfRow.get(row), { open: true });
    byId("review").scrollIntoView();
  });
}

function prepareList() {
  byId("suspects").tHead.rows[0].append(...Object.values(headings));
  for (const [id, indexes] of [["filter-given", suspects.map(({ given }) => given)], ["filter-predicted", suspects.map(({ predicted }) => predicted)]]) {
    const used = [...new Set(indexes)].sort((one, other) => one - other);
    byId(id).append(...used.map((index) => make("option", { value: index }, brief(classes[index], 60))));
  }
  for (const id of ["search", "filter-given", "filter-predicted", "filter-decision"]) {
    byId(id).addEventListener("input", () => {
      scroller.scrollTop = 0;
      refresh();
    });
  }
  byId("reset").addEventListener("click", () => filter("", ""));
  scroller.addEventListener("scroll", () => requestAnimationFrame(() => showRows()));
  addEventListener("resize", () => showRows());
  addEventListener("beforeprint", () => showRows(true, true));
  addEventListener("afterprint", () => showRows(true));
}

function prepareDecisions() {
  const actions = {
    keep: () => decide("keep"), flip, drop: () => decide("drop"), undo,
    previous: () => move(-1), next: () => move(1), back: () => openSuspect(false),
    "open-files": () => byId("files").showModal(), "open-help": () => byId("help").showModal(),
  };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  byId("other").hidden = classes.length < 3;
  byId("other").addEventListener("change", ({ target }) => {
    if (target.value === "") decide(null);
    else decide("flip", Number(target.value));
    target.blur();
  });
  document.addEventListener("keydown", onKey);
  addEventListener("storage", ({ key }) => {
    if (key !== decisions.key) return;
    decisions.read();
    refresh();
  });
  addEventListener("beforeunload", (event) => {
    if (!decisions.lasting && decisions.byRow.size) event.preventDefault();
  });
}

byId("about").textContent = `${report.name} · labels in ${report.target} · audited ${report.made} with splboost ${report.version}`;
showFacts(report);
showConfusion(report, (given, predicted) => {
  filter(given, predicted);
  byId("review").scrollIntoView();
});
showQuality(report);
showContradictions(report, rowLink);
prepareList();
prepareDecisions();
prepareFiles();
refresh();
performance.mark("ready");
