// Elements and words. Data become text nodes and attributes, never markup.

const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** A new element; strings among the children become text. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
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

/** 0.937 as 94%; nearer to none or all, one more digit. */
function percent(share) {
  const value = 100 * share;
  const exact = value === 0 || value === 100 || (value >= 1 && value <= 99);
  return `${value.toFixed(exact ? 0 : 1)}%`;
}

/** A text cut to what one line can show, however long the data are. */
function brief(text, length = 160) {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** A label, marked as the given or the proposed one. */
function labelled(text, role) {
  return make("span", { class: `label ${role}`, title: brief(text, 1000) }, brief(text));
}

function bar(share) {
  const made = make("span", { class: "bar", "aria-hidden": "true" });
  made.style.setProperty("--share", Math.min(Math.max(share, 0), 1));
  return made;
}
