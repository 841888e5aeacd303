// The report, and elements and words to show it. Data become text and attributes, never markup.

const byId = (id) => document.getElementById(id);
const report = JSON.parse(byId("report").textContent);
const { classes, columns, suspects } = report;

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** A new element; strings among the children become text. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function button(attributes, text, action) {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", action);
  return made;
}

const count = (number) => number.toLocaleString("en");

function counted(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** 0.937 as 94%; nearer to none or all, one more digit, but never as none or all. */
function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.05) return "<0.1%";
  if (value < 100 && value >= 99.95) return ">99.9%";
  const whole = value === 0 || value === 100 || (value >= 1 && value <= 99);
  return `${value.toFixed(whole ? 0 : 1)}%`;
}

/** As much of a text as one line can show. */
function brief(text, length = 160) {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** The name of a class, marked as the "given" or the "predicted" label, or as neither. */
function label(index, role = "") {
  const name = classes[index];
  return make("span", { class: `label ${role}`, title: brief(name, 1000) }, brief(name));
}

/** The classes, for a menu. */
function labelOptions() {
  return classes.map((name, index) => make("option", { value: index }, brief(name, 60)));
}

function bar(share) {
  const made = make("span", { class: "bar", "aria-hidden": "true" });
  made.style.setProperty("--share", share);
  return made;
}

function rowName({ row, id }) {
  return id === null ? `Row ${row}` : `Row ${row} · ${id}`;
}
