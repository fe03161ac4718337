// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// The table of tasks.
const ROWS = 100;
const table = { sort: null, down: true, shown: 0, text: "", kind: "all", rows: tasks, most: {} };

const columns = [
  { id: "task", head: words.task, key: (task) => task.name, text: true },
  { id: "from", head: words.from, key: (task) => task.from, text: true },
  { id: "a", head: "A", key: (task) => task.a_value },
  { id: "b", head: "B", key: (task) => task.b_value },
  { id: "bars", head: words.bars },
  { id: "difference", head: "A \u2212 B", key: (task) => task.difference },
  { id: "interval", head: words.interval },
  { id: "bar", head: words.more_in_b + " \u25c2 \u25b8 " + words.more_in_a },
  { id: "calls", head: words.calls, key: (task) => Math.max(task.a_calls || 0, task.b_calls || 0) },
  { id: "rank", head: words.rank, key: (task) => task.rank === null ? -1e9 : -task.rank },
].filter((column) => column.id !== "calls" || callsKnown);

const calls = (value) => value === null ? "?" : value.toFixed(0);

function cell(task, column) {
  switch (column.id) {
  case "task":
    return element("th", { scope: "row", role: "rowheader", class: "task" },
      element("span", { class: "mark", "aria-hidden": "true" }, task.significant ? "\u25cf" : ""),
      element("a", { href: "#task-" + task.at }, named(task.name)),
      task.other ? element("small", {}, " / ", named(task.other)) : null,
      task.dso ? element("small", {}, " ", named(task.dso)) : null,
      task.match === POSSIBLE ? " ?" : null,
      task.significant ? element("span", { class: "hidden" }, " (" + words.sure + ")") : null);
  case "from":
    return element("td", { class: "text", role: "cell" }, named(task.from));
  case "a": case "b":
    return element("td", { role: "cell", title: bounds(task[column.id + "_low"], task[column.id + "_high"]) },
      task.nodes[column.id === "a" ? 0 : 1] < 0 ? words.not_seen : amount(task[column.id + "_value"]));
  case "bars":
    return element("td", { class: "bar", role: "cell", "aria-hidden": "true" }, valueBars(task, table.most.value));
  case "difference":
    return element("td", { role: "cell" }, amount(task.difference));
  case "interval":
    return element("td", { class: "bounds", role: "cell" }, bounds(task.difference_low, task.difference_high));
  case "bar":
    return element("td", { class: "bar", role: "cell", "aria-hidden": "true" }, differenceBar(task, table.most.difference));
  case "calls":
    return element("td", { role: "cell" }, task.a_calls === null && task.b_calls === null ? "" :
      calls(task.a_calls) + " / " + calls(task.b_calls));
  default: // rank
    return element("td", { role: "cell" }, task.rank === null ? "" : String(task.rank));
  }
}

function row(task) {
  const made = element("tr", { role: "row", class: task.significant ? "sure" : "unsure" });
  for (const column of columns) {
    const at = cell(task, column);
    at.classList.add("of-" + column.id);
    at.dataset.head = column.head;
    made.append(at);
  }
  // The link in it is what the keyboard and screen readers use; the mouse may hit the whole row.
  made.addEventListener("click", (event) => {
    if (!event.target.closest("a") && !String(getSelection())) location.hash = "#task-" + task.at;
  });
  return made;
}

function choose() {
  const kinds = {
    all: () => true, sure: (task) => task.significant, "only-a": (task) => task.match === ONLY_A,
    "only-b": (task) => task.match === ONLY_B, possible: (task) => task.match === POSSIBLE,
  };
  table.rows = tasks.filter((task) => kinds[table.kind](task) && task.text.includes(table.text));
  table.most.value = table.rows.reduce((most, task) => Math.max(most, task.a_high, task.b_high), 0) || 1;
  table.most.difference = table.rows.reduce((most, task) => Math.max(most, -task.difference_low, task.difference_high), 0) || 1;
  if (!table.sort) return;
  const { key, text } = columns.find((column) => column.id === table.sort);
  const sign = table.down ? -1 : 1;
  table.rows.sort((x, y) => sign * (text ? -key(x).localeCompare(key(y)) : key(x) - key(y)) || x.at - y.at);
}

// As many rows again, at least ROWS.
function showMore() {
  const more = Math.max(ROWS, table.shown), left = table.rows.length - table.shown - more;
  byId("rows").append(...table.rows.slice(table.shown, table.shown + more).map(row));
  table.shown += more;
  byId("more").hidden = left <= 0;
  byId("more").textContent = format(words.more, Math.min(table.shown, left));
}

function fill() {
  byId("rows").replaceChildren();
  table.shown = 0;
  showMore();
  byId("count").textContent = format(words.count, table.rows.length, TASKS);
  for (const head of document.querySelectorAll("#tasks thead th")) {
    const sorted = head.dataset.column === table.sort;
    if (!head.dataset.column) continue;
    head.setAttribute("aria-sort", sorted ? table.down ? "descending" : "ascending" : "none");
    head.querySelector(".arrow").textContent = sorted ? table.down ? "\u25bc" : "\u25b2" : "";
  }
}

function sortBy(id) {
  if (table.sort !== id) {
    table.sort = id;
    table.down = true;
  } else if (table.down) {
    table.down = false;
  } else {
    table.sort = null;
  }
  byId("sort").value = table.sort || "";
  choose();
  fill();
}

function makeTable() {
  const filter = (change) => {
    Object.assign(table, change);
    choose();
    fill();
  };
  const classes = (column) => (column.text ? "text of-" : "of-") + column.id;
  const option = (value, text) => element("option", { value }, text);
  const head = element("tr", { role: "row" }, ...columns.map((column) => column.key ?
    element("th", { scope: "col", role: "columnheader", class: classes(column), "data-column": column.id },
      element("button", { type: "button", onclick: () => sortBy(column.id) }, column.head,
        element("span", { class: "arrow", "aria-hidden": "true" }))) :
    element("th", { scope: "col", role: "columnheader", class: classes(column) }, column.head)));
  byId("list").append(
    element("div", { class: "tools", role: "search" },
      searchBox("search", (value) => filter({ text: value.toLowerCase() })),
      element("label", {}, words.show + " ", element("select",
        { id: "kind", onchange: (event) => filter({ kind: event.target.value }) },
        option("all", words.show_all), option("sure", words.show_sure), option("only-a", words.show_only_a),
        option("only-b", words.show_only_b), option("possible", words.possible))),
      element("label", {}, words.sort + " ", element("select",
        { id: "sort", onchange: (event) => filter({ sort: event.target.value || null, down: true }) },
        option("", words.sort_printed),
        ...columns.filter((column) => column.key).map((column) => option(column.id, column.head)))),
      element("a", { href: "#all", class: "whole" }, words.whole)),
    element("p", { class: "note", id: "count", role: "status" }),
    element("p", { class: "note key-line" },
      element("span", {}, element("span", { class: "mark", "aria-hidden": "true" }, "\u25cf"), " ", words.sure),
      element("span", {}, element("span", { class: "key side-a", "aria-hidden": "true" }, "A"), " ", named(data.names[0])),
      element("span", {}, element("span", { class: "key side-b", "aria-hidden": "true" }, "B"), " ", named(data.names[1])),
      element("span", {}, words.line)),
    element("div", { class: "wide", role: "region", tabindex: "0", "aria-label": words.tasks },
      element("table", { role: "table", id: "tasks", "aria-describedby": "count" },
        element("thead", { role: "rowgroup" }, head), element("tbody", { role: "rowgroup", id: "rows" }))),
    element("button", { type: "button", id: "more", onclick: showMore }));
  choose();
  fill();
}
