// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// The picture of two trees: A upwards and B downwards from one axis, on one scale.
const MIN_PX = 3, LEVELS = 60;
const view = { merged: null, zoom: 0, collapse: true, hits: null, below: null, focus: 0, items: new Map() };

const nodesOf = (i) => [view.merged.a[i], view.merged.b[i]];

function titleOf(i) {
  const [v, w] = nodesOf(i);
  const a = v < 0 ? null : nameOf(0, v), b = w < 0 ? null : nameOf(1, w);
  return a === null ? b : b === null || a === b ? a : a + " / " + b;
}

function describe(i) {
  const { merged } = view, [v, w] = nodesOf(i);
  const side = v >= 0 ? 0 : 1, library = libraryOf(side, nodesOf(i)[side]);
  return [titleOf(i) + (library ? " (" + library + ")" : ""),
    v < 0 ? words.in_b : "A " + amount(merged.value[0][i]), w < 0 ? words.in_a : "B " + amount(merged.value[1][i]),
    v >= 0 && w >= 0 ? "A \u2212 B " + amount(merged.value[0][i] - merged.value[1][i]) : null,
    v >= 0 && w >= 0 && !sameName(v, w) ? words.renamed : null,
    merged.same[i] && merged.size[i] > 1 ? format(words.same, merged.size[i] - 1) : null].filter((part) => part).join(", ");
}

// What is wide enough to be seen, from the root of the picture down: [node, left edge in units of values, level].
function visible(pixel) {
  const { merged } = view, found = [];
  const visit = (i, left, level) => {
    const at = { i, left, level, children: [], hidden: [], collapsed: view.collapse && merged.same[i] && i !== view.zoom };
    found.push(at);
    if (at.collapsed) return at;
    let x = left;
    for (const child of merged.children[i]) {
      if (merged.place[child] * pixel < MIN_PX || level + 1 >= LEVELS) at.hidden.push([child, x]);
      else at.children.push(visit(child, x, level + 1));
      x += merged.place[child];
    }
    return at;
  };
  visit(view.zoom, 0, 0);
  return found;
}

// Where a side's energy is in a node's place: intervals. Gaps of less than 2 px are closed, and their widths left out, so that
// all intervals together are the value.
function extents(found, side, pixel) {
  const { merged } = view;
  for (let at = found.length - 1; at >= 0; at--) {
    const item = found[at], { i, left } = item;
    const parts = [];
    if (item.collapsed) {
      parts.push([left, left + merged.value[side][i]]);
    } else {
      for (const child of item.children) parts.push(...child.extents[side]);
      for (const [child, x] of item.hidden) if (merged.value[side][child]) parts.push([x, x + merged.value[side][child]]);
      const end = left + merged.place[i] - Math.max(merged.self[0][i], merged.self[1][i]);
      if (merged.self[side][i]) parts.push([end, end + merged.self[side][i]]);
    }
    parts.sort((x, y) => x[0] - y[0]);
    const joined = [];
    for (const part of parts) {
      const last = joined[joined.length - 1];
      if (last && (part[0] - last[1]) * pixel < 2) last[1] += part[1] - part[0];
      else joined.push([...part]);
    }
    (item.extents = item.extents || [[], []])[side] = joined;
  }
}

// Widths are percents, so that paper and a window of another size show all of it.
const percent = (part, whole) => (100 * part / whole).toFixed(4) + "%";

function box(item, side, pixel, top) {
  const { merged } = view, { i } = item, node = nodesOf(i)[side], other = nodesOf(i)[1 - side];
  const parts = item.extents[side];
  if (node < 0 || !parts.length) return null;
  const left = parts[0][0], width = parts[parts.length - 1][1] - left, total = merged.place[view.zoom];
  if (width * pixel < 0.5) return null;
  const kind = other < 0 ? " lone" : trees[0].label[merged.a[i]] !== trees[1].label[merged.b[i]] ? " renamed" : "";
  const found = !view.hits ? "" : view.hits[i] ? " hit" : view.below[i] ? " holds-hit" : " miss";
  const collapsed = item.collapsed && merged.size[i] > 1;
  const made = element("div", { class: "box side-" + (side ? "b" : "a") + kind + (collapsed ? " collapsed" : "") + found +
    (classOf(side, node) === "A" ? " app" : "") });
  made.style.cssText = `left:${percent(left, total)};width:${percent(width, total)};top:${top}px`;
  for (let k = 1; k < parts.length; k++) {
    const gap = element("i", {});
    gap.style.cssText = `left:${percent(parts[k - 1][1] - left, width)};width:${percent(parts[k][0] - parts[k - 1][1], width)}`;
    made.append(gap);
  }
  const below = collapsed ? " \u22ef " + format(words.same, merged.size[i] - 1) : "";
  if (width * pixel > 24) made.append(element("span", {}, nameOf(side, node) + below));
  return made;
}

// A round step of a scale: 1, 2 or 5 times a power of ten.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * 0.999999);
}

function ruler(total, pixel) {
  const step = roundStep(Math.max(90 / pixel, 1e-9)), made = [];
  for (let k = 0; k === 0 || (total - k * step) * pixel > 100; k++) {
    const tick = element("span", {}, amount(k * step));
    tick.style.left = percent(k * step, total);
    made.push(tick);
  }
  return [...made, element("b", {}, "A \u25b2 B \u25bc")];
}

function draw(takeFocus) {
  const { merged } = view, picture = byId("picture"), width = picture.clientWidth, total = merged.place[view.zoom];
  const row = parseFloat(getComputedStyle(picture).getPropertyValue("--row")), axis = 22;
  view.items.clear();
  if (!(total > 0) || width < 10) {
    picture.replaceChildren(element("p", {}, words.nothing));
    picture.style.height = "";
    return;
  }
  const pixel = width / total, found = visible(pixel);
  extents(found, 0, pixel);
  extents(found, 1, pixel);
  const deepest = [0, 1].map((side) => found.reduce((most, item) => item.extents[side].length && nodesOf(item.i)[side] >= 0 ?
    Math.max(most, item.level + 1) : most, 0));
  const middle = deepest[0] * row + 4, children = [];
  if (!found.some((item) => item.i === view.focus)) view.focus = view.zoom;
  for (const item of found) {
    const boxes = [box(item, 0, pixel, middle - (item.level + 1) * row), box(item, 1, pixel, middle + axis + item.level * row)];
    const beside = item.i === view.zoom ? [item.i] : merged.children[merged.parent[item.i]];
    const made = element("div", { role: "treeitem", class: "item", "aria-level": item.level + 1, "aria-setsize": beside.length,
      "aria-posinset": beside.indexOf(item.i) + 1, "aria-label": describe(item.i), tabindex: item.i === view.focus ? "0" : "-1",
      "aria-expanded": merged.children[item.i].length ? String(item.children.length > 0) : null, "data-node": item.i },
    ...boxes.filter((one) => one));
    view.items.set(item.i, { made, item });
    children.push(made);
  }
  const line = element("div", { class: "axis-line", "aria-hidden": "true" }, ...ruler(total, pixel));
  line.style.top = middle + "px";
  picture.replaceChildren(line, ...children);
  picture.style.setProperty("--drawn", row + "px"); // paper is another medium, but nothing is drawn again for it
  picture.style.height = middle + axis + deepest[1] * row + 4 + "px";
  byId("about").textContent = describe(view.focus);
  const hidden = found.reduce((sum, item) => sum + item.hidden.length, 0);
  byId("hidden").textContent = hidden ? format(words.hidden, hidden) : "";
  drawTrail();
  if (takeFocus) focusOn(view.focus);
}

function drawTrail() {
  const trail = [];
  for (let at = view.zoom; at >= 0; at = view.merged.parent[at]) trail.push(at);
  trail.reverse();
  const shown = trail.length > 8 ? [trail[0], -1, ...trail.slice(-6)] : trail;
  byId("trail").hidden = trail.length < 2;
  byId("trail").replaceChildren(...shown.map((at) => element("li", {}, at < 0 ? "\u2026" : at === view.zoom ?
    element("span", { "aria-current": "true" }, named(titleOf(at))) :
    element("button", { type: "button", onclick: () => zoomTo(at) }, named(titleOf(at))))));
}

function focusOn(i) {
  const to = view.items.get(i), from = view.items.get(view.focus);
  if (!to) return;
  if (from) from.made.tabIndex = -1;
  view.focus = i;
  to.made.tabIndex = 0;
  to.made.focus({ preventScroll: true });
  const first = to.made.querySelector(".box");
  if (first) first.scrollIntoView({ block: "nearest" });
  byId("about").textContent = describe(i);
}

function zoomTo(i, takeFocus) {
  view.zoom = i;
  view.focus = i;
  draw(takeFocus);
}

function pressed(event) {
  const at = view.items.get(view.focus);
  if (!at || event.altKey || event.ctrlKey || event.metaKey) return;
  const { item } = at, above = item.i === view.zoom ? null : view.items.get(view.merged.parent[item.i]);
  const beside = above ? above.item.children : [item], place = beside.indexOf(item);
  const move = {
    ArrowDown: () => item.children[0], ArrowUp: () => above && above.item,
    ArrowRight: () => beside[place + 1], ArrowLeft: () => beside[place - 1], Home: () => view.items.get(view.zoom).item,
  }[event.key];
  if (move) {
    const to = move();
    if (to) focusOn(to.i);
  } else if (event.key === "Enter" || event.key === " ") {
    zoomTo(item.i, true);
  } else if (event.key === "Escape" && view.merged.parent[view.zoom] >= 0) {
    const from = view.zoom;
    zoomTo(view.merged.parent[from]);
    focusOn(view.items.has(from) ? from : view.zoom);
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

function find(text) {
  const { merged } = view, n = merged.a.length, wanted = text.toLowerCase();
  const fits = data.strings.map((string) => string.toLowerCase().includes(wanted));
  const isHit = (node, side) => {
    const label = node < 0 ? -1 : trees[side].label[node];
    return label >= 0 && (fits[data.labels.name[label]] || fits[data.labels.dso[label]] || fits[trees[side].frame[node]]);
  };
  view.hits = view.below = null;
  byId("found").textContent = "";
  if (wanted) {
    const sums = [0, 0], inside = new Uint8Array(n);
    let hits = 0;
    view.hits = new Uint8Array(n);
    view.below = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      const parent = merged.parent[i];
      view.hits[i] = nodesOf(i).some(isHit) ? 1 : 0;
      inside[i] = parent >= 0 && (inside[parent] || view.hits[parent]) ? 1 : 0;
      hits += view.hits[i];
      for (const side of [0, 1]) if (view.hits[i] && !inside[i]) sums[side] += merged.value[side][i];
    }
    for (let i = n - 1; i > 0; i--) if (view.hits[i] || view.below[i]) view.below[merged.parent[i]] = 1;
    byId("found").textContent = format(words.found, hits, amount(sums[0]), amount(sums[1]));
  }
  draw();
}

// The frames below whose own cost differs most.
function differenceTable() {
  const { merged } = view, order = [];
  for (let i = 0; i < merged.a.length; i++) order.push(i);
  const size = (i) => Math.abs(merged.self[0][i] - merged.self[1][i]);
  order.sort((x, y) => size(y) - size(x) || x - y);
  const rows = order.slice(0, 10).filter((i) => size(i) > 0);
  if (rows.length < 2) return [];
  return [element("h3", {}, words.where),
    element("div", { class: "wide", role: "region", tabindex: "0", "aria-label": words.where },
      element("table", {},
        element("thead", {}, element("tr", {}, headCell(words.frame, true), headCell("A"), headCell("B"),
          headCell("A \u2212 B"))),
        element("tbody", {}, ...rows.map((i) => element("tr", {},
          element("th", { scope: "row" }, element("button", { type: "button", class: "link", onclick: () => {
            zoomTo(i, true);
            byId("picture").scrollIntoView({ block: "center" });
          } }, named(titleOf(i)))),
          ...[0, 1].map((side) => element("td", {}, nodesOf(i)[side] < 0 ? "\u2014" : amount(merged.self[side][i]))),
          element("td", {}, amount(merged.self[0][i] - merged.self[1][i])))))))];
}
