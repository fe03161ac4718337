// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// The two trees of a task as one, whose nodes have a node of A, of B, or of both.
const Z = 1.96; // a 95 % interval reaches so many standard deviations

/*
 * Pairs are those of the matching, unless they cross: a task whose partner was found later is below the one, and what it does
 * was matched below another. What is left over on both sides, below one node, is paired by equal names. A node of one side that
 * has pairs below it stands between them and the node above. Parents get smaller numbers than their children.
 */
function mergeTrees(rootA, rootB) {
  const [A, B] = trees;
  const merged = { a: [], b: [], parent: [], children: [] };
  const within = (side, root, node) => root >= 0 && node >= root && node < trees[side].end[root];
  const partnerOf = (v) => within(1, rootB, partner[v]) ? partner[v] : -1;
  const backOf = (w) => within(0, rootA, back[w]) ? back[w] : -1;
  const isBelow = (tree, node, other) => other > node && other < tree.end[node];
  const queue = [];
  const add = (a, b, parent, xs, ys) => {
    const at = merged.a.push(a) - 1;
    merged.b.push(b);
    merged.parent.push(parent);
    merged.children.push([]);
    if (parent >= 0) merged.children[parent].push(at);
    queue.push([xs, ys]);
  };
  const kids = (side, node) => node < 0 ? [] : trees[side].children[node];
  const pair = (v, w, parent) => add(v, w, parent, kids(0, v), kids(1, w));

  // Which of `ys` have partners of nodes below x.
  const reach = (x, ys) => {
    const found = new Set();
    for (let p = x; p < A.end[x]; p++) {
      const q = partnerOf(p);
      if (q < 0) continue;
      let low = 0, high = ys.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ys[middle] <= q) low = middle + 1;
        else high = middle;
      }
      if (low && q < B.end[ys[low - 1]]) found.add(ys[low - 1]);
    }
    return found;
  };

  const distribute = (at, xs, ys) => {
    if (xs.length && ys.length) {
      const there = new Set(ys);
      xs = xs.filter((x) => {
        const y = partnerOf(x);
        if (!there.delete(y)) return true;
        pair(x, y, at);
        return false;
      });
      ys = [...there];
    }
    if (xs.length && ys.length) {
      const from = new Map(xs.map((x) => [x, reach(x, ys)])), into = new Map(ys.map((y) => [y, []])), names = new Map();
      for (const [x, reached] of from) for (const y of reached) into.get(y).push(x);
      for (const y of ys) if (!names.has(B.label[y])) names.set(B.label[y], y);
      for (const x of xs) { // equal names, which part no pairs below them
        const y = names.get(A.label[x]), reached = from.get(x);
        if (y === undefined || !into.has(y) || isBelow(B, y, partnerOf(x)) || isBelow(A, x, backOf(y))) continue;
        if ([...reached].some((other) => other !== y) || into.get(y).some((other) => other !== x)) continue;
        from.delete(x);
        into.delete(y);
        pair(x, y, at);
      }
      for (const [y, reaching] of into) { // one node of B above several of A, or above one with a partner of its own
        const below = reaching.filter((x) => from.has(x));
        if (!below.every((x) => from.get(x).size === 1) || (below.length < 2 && !below.some((x) => partnerOf(x) >= 0))) continue;
        below.forEach((x) => from.delete(x));
        into.delete(y);
        add(-1, y, at, below, kids(1, y));
      }
      for (const [x, reached] of from) { // one node of A above some of B
        const below = [...reached].filter((y) => into.has(y));
        below.forEach((y) => into.delete(y));
        add(x, -1, at, kids(0, x), below);
      }
      xs = [];
      ys = [...into.keys()];
    }
    for (const x of xs) add(x, -1, at, kids(0, x), []);
    for (const y of ys) add(-1, y, at, [], kids(1, y));
  };

  add(rootA, rootB, -1, kids(0, rootA), kids(1, rootB));
  for (let at = 0; at < queue.length; at++) {
    distribute(at, ...queue[at]);
    queue[at] = null;
  }
  return merged;
}

/*
 * Values (where a side has no node, of what it has below), the width of each node's place, and which subtrees are the same:
 * equal names throughout, and no difference beyond chance. `noise`: of A and B, the variance of a value by the value.
 */
function measure(merged, noise) {
  const n = merged.a.length;
  merged.value = [new Float64Array(n), new Float64Array(n)];
  merged.self = [new Float64Array(n), new Float64Array(n)];
  merged.place = new Float64Array(n);
  merged.same = new Uint8Array(n);
  merged.size = new Int32Array(n).fill(1);
  // What both have stands first, then what is only in A, then what is only in B: gaps are few and wide so.
  const kind = (i) => !merged.value[1][i] ? 1 : !merged.value[0][i] ? 2 : 0;
  for (let i = n - 1; i >= 0; i--) {
    const nodes = [merged.a[i], merged.b[i]];
    for (const side of [0, 1]) {
      merged.self[side][i] = nodes[side] < 0 ? 0 : trees[side].self[nodes[side]];
      merged.value[side][i] = merged.children[i].reduce((sum, child) => sum + merged.value[side][child], merged.self[side][i]);
    }
    const [a, b] = [merged.value[0][i], merged.value[1][i]];
    let same = nodes[0] >= 0 && nodes[1] >= 0 && sameName(...nodes) &&
      Math.abs(a - b) <= Z * Math.sqrt(noise[0] * a + noise[1] * b);
    merged.place[i] = Math.max(merged.self[0][i], merged.self[1][i]);
    for (const child of merged.children[i]) {
      merged.place[i] += merged.place[child];
      merged.size[i] += merged.size[child];
      same = same && merged.same[child] === 1;
    }
    merged.same[i] = same ? 1 : 0;
    merged.children[i].sort((x, y) => kind(x) - kind(y) || merged.place[y] - merged.place[x] || x - y);
  }
  return merged;
}
