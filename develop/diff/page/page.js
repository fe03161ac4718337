// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// A task, and which part of the page is shown.
// The variance of a value by the value, as its interval says.
function noiseOf(task) {
  return ["a", "b"].map((side, i) => {
    if (task[side + "_high"] === null) return Infinity;
    const wide = (task[side + "_high"] - task[side + "_low"]) / (2 * Z), value = task[side + "_value"];
    return value > 0 ? wide * wide / value : data.sample[i];
  });
}

function numbers(task) {
  const line = (head, side, node) => element("tr", {},
    element("th", { scope: "row" }, head, side ? " " : "", side ? named(data.names[node]) : ""),
    ...(side && task.nodes[node] < 0 ? [element("td", { class: "none" }, words.not_seen), element("td"), element("td")] :
      [element("td", {}, amount(side ? task[side + "_value"] : task.difference)),
        element("td", { class: "bounds" }, side ? bounds(task[side + "_low"], task[side + "_high"]) :
          bounds(task.difference_low, task.difference_high)),
        element("td", {}, side && task[side + "_calls"] !== null ? calls(task[side + "_calls"]) : "")]));
  return element("table", { class: "numbers" },
    element("thead", {}, element("tr", {}, element("th"), headCell(words.value), headCell(words.interval),
      headCell(callsKnown ? words.calls : ""))),
    element("tbody", {}, line("A", "a", 0), line("B", "b", 1), line("A \u2212 B")));
}

function picture() {
  return [
    element("div", { class: "tools", role: "search" },
      searchBox("find", find),
      element("label", {}, element("input", { type: "checkbox", id: "collapse", checked: view.collapse, onchange: (event) => {
        view.collapse = event.target.checked;
        draw();
      } }), " " + words.collapse),
      element("span", { class: "note", id: "found", role: "status" })),
    element("ol", { class: "trail", id: "trail", "aria-label": words.zoom }),
    element("p", { class: "about", id: "about" }),
    element("div", { id: "picture", role: "tree", "aria-label": words.trees, onkeydown: pressed,
      onclick: (event) => {
        const item = event.target.closest(".item");
        const node = item ? Number(item.dataset.node) : -1;
        if (item) zoomTo(node === view.zoom && node ? view.merged.parent[node] : node, true);
      },
      onmouseover: (event) => {
        const item = event.target.closest(".item");
        if (item) byId("about").textContent = describe(Number(item.dataset.node));
      } }),
    element("p", { class: "note", id: "hidden" }),
    element("p", { class: "note key-line" },
      element("span", {}, element("span", { class: "box key lone side-a", "aria-hidden": "true" }), " ", words.key_lone),
      element("span", {}, element("span", { class: "box key renamed side-a", "aria-hidden": "true" }), " ", words.key_renamed),
      element("span", {}, element("span", { class: "box key collapsed side-a", "aria-hidden": "true" }), " ", words.key_same),
      element("span", {}, element("span", { class: "box key side-a", "aria-hidden": "true" }, element("i")), " ", words.key_gap)),
    element("p", { class: "note" }, words.keys)];
}

function showTask(task) {
  const detail = byId("detail"), whole = task === null, [a, b] = whole ? [0, 0] : task.nodes;
  const at = whole ? -1 : table.rows.indexOf(task);
  const link = (to, text) => to ? element("a", { href: "#task-" + to.at }, text) : null;
  const merged = measure(mergeTrees(a, b), whole ? data.sample : noiseOf(task));
  Object.assign(view, { merged, zoom: 0, focus: 0, hits: null, below: null });
  const said = whole ? [] : [task.significant ? "\u25cf " + words.sure : words.unsure];
  if (!whole && task.match === POSSIBLE) said.push(words.possible);
  detail.replaceChildren(
    element("nav", { "aria-label": words.tasks }, element("a", { href: "#", id: "back" }, "\u2190 " + words.back),
      link(at > 0 ? table.rows[at - 1] : null, words.previous), link(at >= 0 ? table.rows[at + 1] : null, words.next)),
    element("h2", { tabindex: "-1", id: "title" }, whole ? words.whole : named(task.name),
      !whole && task.other ? " / " : null, !whole && task.other ? named(task.other) : null,
      !whole && task.dso ? element("small", {}, " ", named(task.dso)) : null),
    ...(whole ? [] : [element("p", { class: "verdict" }, said.join("; ") + "."), numbers(task),
      element("p", {}, task.advice || ""), element("h3", {}, words.path), pathTable(a, b),
      element("h3", {}, words.trees)]),
    ...picture(), ...differenceTable());
  byId("list").hidden = true;
  detail.hidden = false;
  draw();
  byId("title").focus({ preventScroll: true });
  scrollTo(0, detail.offsetTop - 10);
  document.title = (whole ? words.whole : task.name) + " \u2013 " + words.title;
}

let before = null; // the task that was open, and where the table stood
function route() {
  const found = /^#task-(\d+)$/.exec(location.hash), task = found ? tasks[found[1]] : undefined;
  if (!byId("list").hidden && (task || location.hash === "#all")) before = { y: scrollY };
  if (task || location.hash === "#all") {
    if (before) before.task = task;
    showTask(task || null);
    return;
  }
  const back = !byId("detail").hidden;
  byId("detail").hidden = true;
  byId("detail").replaceChildren();
  byId("list").hidden = false;
  document.title = words.title;
  if (!back) return;
  if (before) scrollTo(0, before.y);
  const link = before && document.querySelector(before.task ? `#rows a[href="#task-${before.task.at}"]` : "a.whole");
  if (link) link.focus({ preventScroll: true });
}

makeTable();
addEventListener("hashchange", route);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !byId("detail").hidden && event.target.tagName !== "INPUT") location.hash = "#";
});
let drawn = 0;
new ResizeObserver(() => {
  if (byId("detail").hidden || drawn === document.documentElement.clientWidth) return;
  drawn = document.documentElement.clientWidth;
  draw();
}).observe(document.documentElement);
route();
