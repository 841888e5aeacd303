// The review: the suspect at hand, decisions on it, files, keys, and the start of it all.

/** Show everything anew, after a change of filters, order or decisions. */
function refresh() {
  updateView();
  showProgress();
  showList();
  showSuspect();
}

/** The same from the first suspect on. */
function startOver() {
  current = null;
  refresh();
}

function choose(rank, open = false) {
  current = rank;
  if (open) openSuspect(true);
  reveal();
  showRows(false);
  markCurrent();
  showSuspect();
}

function move(step) {
  const rank = view[view.indexOf(current) + step];
  if (rank !== undefined) choose(rank);
  byId("review").scrollIntoView();
}

/** On a narrow screen, show the suspect instead of the list, or the list again. */
function openSuspect(open) {
  document.body.classList.toggle("opened", open);
  if (getComputedStyle(byId("back")).display === "none") return;
  if (!open) showList();
  byId("review").scrollIntoView();
  byId(open ? "detail-title" : "review").focus({ preventScroll: true });
}

function showSuspect() {
  byId("detail").hidden = current === null;
  if (current === null) return;
  const suspect = suspects[current];
  const position = view.indexOf(current);
  const found = decisions.get(suspect.row);
  byId("detail-title").textContent = brief(rowName(suspect), 60);
  byId("detail-title").title = brief(rowName(suspect), 300);
  byId("place").textContent = `${count(position + 1)} of ${count(view.length)}`;
  byId("previous").disabled = position === 0;
  byId("next").disabled = position === view.length - 1;
  byId("undo").disabled = changes.length === 0;
  byId("keep").firstChild.textContent = `Keep ${brief(classes[suspect.given], 24)}`;
  byId("flip").firstChild.textContent = `Flip to ${brief(classes[suspect.predicted], 24)}`;
  for (const name of Object.keys(DONE)) {
    const other = name === "flip" && found?.label !== suspect.predicted;
    byId(name).setAttribute("aria-pressed", found?.decision === name && !other);
  }
  byId("other").replaceChildren(make("option", { value: "" }, "…"),
    ...labelOptions().filter((_, index) => index !== suspect.given));
  byId("other").value = found?.label ?? "";
  byId("case").replaceChildren(...caseOf(suspect));
  byId("detail").scrollTop = 0;
}

/** Note a decision on the suspect at hand and go on to the next, or clear it with null. */
function decide(decision, index = null) {
  if (current === null) return;
  const suspect = suspects[current];
  if (decision) current = view[view.indexOf(current) + 1] ?? current;
  change([[suspect.row, decision && { decision, label: index }]]);
  refresh();
  byId("review").scrollIntoView();
  const words = decision ? DONE[decision] : "open again";
  const to = index === null ? "" : ` to ${brief(classes[index])}`;
  byId("said").textContent = `${brief(rowName(suspect))}: ${words}${to}.`;
}

function undo() {
  const before = changes.pop();
  if (!before) return;
  put(before);
  current = rankOfRow.get(before[0][0]);
  refresh();
  byId("said").textContent = "Undone.";
}

function showProgress() {
  const numbers = Object.entries(DONE).map(([name, word]) =>
    `${count([...decisions.values()].filter(({ decision }) => decision === name).length)} ${word}`);
  byId("progress").max = Math.max(suspects.length, 1);
  byId("progress").value = decisions.size;
  byId("progress-text").textContent =
    `${count(decisions.size)} of ${count(suspects.length)} reviewed: ${numbers.join(", ")}`;
  byId("notice").hidden = lasting;
}

function save(ending, type, content) {
  const name = report.name.split(/[\\/]/).at(-1).replace(/\.csv(\.gz)?$/i, "");
  try {
    const address = URL.createObjectURL(new Blob([content()], { type }));
    make("a", { href: address, download: `${name}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    byId("files-said").textContent = `Saved as ${name}.${ending}.`;
  } catch (error) {
    byId("files-said").textContent =
      `Not saved: ${error.message}. Use splboost audit apply with the decisions.`;
  }
}

async function load({ target }) {
  const [file] = target.files;
  if (!file) return;
  try {
    byId("files-said").textContent = loadDecisions(await file.text());
  } catch (error) {
    byId("files-said").textContent = `${file.name} is not a file of decisions: ${error.message}.`;
  }
  target.value = "";
  refresh();
}

// What buttons do, by their id, and keys.
const ACTIONS = {
  next: () => move(1),
  previous: () => move(-1),
  back: () => openSuspect(false),
  keep: () => decide("keep"),
  flip: () => decide("flip", suspects[current]?.predicted),
  drop: () => decide("drop"),
  clear: () => decide(null),
  undo,
  seek: () => byId("search").focus(),
  reset: () => setFilters("", ""),
  "open-help": () => byId("help").showModal(),
  "open-files": () => byId("files").showModal(),
  "save-csv": () => save("decisions.csv", "text/csv", decisionsCsv),
  "save-json": () => save("decisions.json", "application/json", decisionsJson),
  "save-clean": () => save("cleaned.csv", "text/csv", () => cleanedCsv(report, decisions)),
  load: () => byId("load-file").click(),
};
const KEYS = {
  k: "keep", f: "flip", d: "drop", c: "clear", u: "undo", n: "next", p: "previous",
  ArrowDown: "next", ArrowUp: "previous", "/": "seek", "?": "open-help",
};

function onKey(event) {
  const { target } = event;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  if (target.matches("input:not([type=checkbox]), select")) {
    if (key === "Escape" || (key === "Enter" && target.matches("input"))) target.blur();
  } else if (Object.hasOwn(KEYS, key)) {
    event.preventDefault();
    const moves = ["next", "previous"].includes(KEYS[key]);
    if (moves || !event.repeat) ACTIONS[KEYS[key]](); // a key held down decides only once
  }
}

function prepare() {
  document.addEventListener("keydown", onKey);
  for (const element of document.querySelectorAll("button[id]")) {
    element.addEventListener("click", () => ACTIONS[element.id]());
  }
  document.querySelector(".filters").addEventListener("input", startOver);
  byId("load-file").addEventListener("change", load);
  byId("other").parentElement.hidden = classes.length < 3;
  byId("other").addEventListener("change", ({ target }) => {
    target.blur();
    if (target.value === "") decide(null);
    else decide("flip", Number(target.value));
  });
  addEventListener("storage", ({ key }) => {
    if (key !== storageKey) return;
    readStored();
    refresh();
  });
  addEventListener("beforeunload", (event) => {
    if (!lasting && decisions.size) event.preventDefault();
  });
  if (report.source === null) {
    byId("save-clean").disabled = true;
    byId("clean-note").textContent =
      "The data are not in this page: save the decisions and use splboost audit apply.";
  }
  for (const id of ["review", "pairs"]) byId(id).hidden = !suspects.length;
  document.querySelector(".progress").hidden = !suspects.length;
  byId("open-files").hidden = !suspects.length;
  if (!columns.length) byId("search").placeholder = "any label or row";
  const carried = report.source === null ? "rows of the data" : "all of the data";
  byId("private").textContent = `This page holds ${carried}: give it only to those who may see them.`;
  const { name, target, made, version } = report;
  byId("about").textContent =
    `${name} · labels in ${target} · audited ${made} with splboost ${version}`;
}

readStored();
current = suspects.findIndex(({ row }) => !decisions.has(row)); // go on where the reviewer left
prepare();
prepareList();
showFacts(report);
showConfusion(report);
showQuality(report);
showContradictions(report);
refresh();
performance.mark("ready");
