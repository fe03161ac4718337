// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// What scripts of pages share: the data, texts, elements. Names get into a page as text nodes and attributes only.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words;
const byId = (id) => document.getElementById(id);

// The parts of printf() that the words use.
function format(text, ...values) {
  let next = 0;
  return text.replace(/%(?:\.(\d+))?(?:[df]|zu|s)|%%/g, (mark, digits) => {
    if (mark === "%%") return "%";
    const value = values[next++];
    return mark.endsWith("s") ? value : Number(value).toFixed(digits || 0);
  });
}

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawing(width, height, label, ...shapes) {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("viewBox", `0 0 ${width} ${height}`);
  made.setAttribute("preserveAspectRatio", "none");
  made.setAttribute("height", height);
  made.setAttribute("width", "100%");
  if (label) {
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", label);
  } else {
    made.setAttribute("aria-hidden", "true");
  }
  for (const [tag, attributes] of shapes) {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    made.append(shape);
  }
  return made;
}

const headCell = (text, left) => element("th", { scope: "col", class: left ? "text" : null }, text);
const searchBox = (id, change) => element("label", {}, words.search + " ", element("input",
  { type: "search", id, autocomplete: "off", spellcheck: "false", oninput: (event) => change(event.target.value) }));
const named = (name) => element("bdi", {}, name);
