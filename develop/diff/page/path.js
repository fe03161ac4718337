// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// The path to a task: rows of the two paths beside each other.
function pathOf(side, node) {
  const path = [];
  for (let at = node; at >= 0; at = trees[side].parent[at]) path.push(at);
  return path.reverse();
}

const sameName = (v, w) => trees[0].label[v] === trees[1].label[w];

// The fewest edits between two paths: pairs [v, w], -1 for a gap.
function alignPaths(a, b) {
  let begin = 0, end = 0;
  while (begin < a.length && begin < b.length && sameName(a[begin], b[begin])) begin++;
  while (end < a.length - begin && end < b.length - begin && sameName(a[a.length - 1 - end], b[b.length - 1 - end])) end++;
  const x = a.slice(begin, a.length - end), y = b.slice(begin, b.length - end), n = x.length, m = y.length;
  const middle = [];
  if (n * m > 1e6) {
    x.forEach((v) => middle.push([v, -1]));
    y.forEach((w) => middle.push([-1, w]));
  } else {
    const cost = Array.from({ length: n + 1 }, (_, i) => Int32Array.from({ length: m + 1 }, (_, j) => i ? j ? 0 : i : j));
    // Frames of the app are never renamed to a framework's.
    const rename = (i, j) => sameName(x[i], y[j]) ? 0 : classOf(0, x[i]) === classOf(1, y[j]) ? 1 : 2;
    for (let i = 1; i <= n; i++)
      for (let j = 1; j <= m; j++)
        cost[i][j] = Math.min(cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + rename(i - 1, j - 1));
    for (let i = n, j = m; i || j;) {
      if (i && j && rename(i - 1, j - 1) < 2 && cost[i][j] === cost[i - 1][j - 1] + rename(i - 1, j - 1))
        middle.push([x[--i], y[--j]]);
      else if (i && cost[i][j] === cost[i - 1][j] + 1) middle.push([x[--i], -1]);
      else middle.push([-1, y[--j]]);
    }
    middle.reverse();
  }
  return [...a.slice(0, begin).map((v, i) => [v, b[i]]), ...middle,
    ...a.slice(a.length - end).map((v, i) => [v, b[b.length - end + i]])];
}

// Where a task is on one side only, the other side's column has what is matched with the frames above it.
function pathRows(a, b) {
  if (a >= 0 && b >= 0) return alignPaths(pathOf(0, a), pathOf(1, b));
  if (a >= 0) return pathOf(0, a).map((v) => [v, v === a ? -1 : partner[v]]);
  return pathOf(1, b).map((w) => [w === b ? -1 : back[w], w]);
}

function frameCell(side, node) {
  if (node < 0) return element("td", { class: "text gap" }, "\u2014");
  const name = nameOf(side, node), library = node ? libraryOf(side, node) : "", frame = frameOf(side, node);
  return element("td", { class: "text frame kind-" + classOf(side, node) }, named(name),
    library ? element("small", {}, " ", named(library)) : null,
    node && frame !== name && frame !== name + "@" + library ? element("small", { class: "input" }, named(frame)) : null);
}

function pathTable(a, b) {
  const rows = pathRows(a, b);
  return element("div", { class: "wide", role: "region", tabindex: "0", "aria-label": words.path },
    element("table", { class: "path" },
      element("thead", {}, element("tr", {}, headCell("A", true), headCell("B", true), headCell(words.step, true))),
      element("tbody", {}, ...rows.map(([v, w]) => {
        const [kind, said] = v < 0 ? ["only", words.in_b] : w < 0 ? ["only", words.in_a] :
          sameName(v, w) ? ["", "="] : ["renamed", words.renamed];
        return element("tr", { class: kind }, frameCell(0, v), frameCell(1, w), element("td", { class: "text note" }, said));
      }))));
}
