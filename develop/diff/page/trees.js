// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// Both trees: nodes from the root down, a subtree is a range of numbers.
function readTree(tree) {
  const n = tree.depth.length;
  const parent = new Int32Array(n).fill(-1), end = new Int32Array(n);
  const path = [], children = Array.from({ length: n }, () => []);
  for (let i = 0; i < n; i++) {
    path.length = tree.depth[i];
    if (path.length) {
      parent[i] = path[path.length - 1];
      children[parent[i]].push(i);
    }
    path.push(i);
  }
  for (let i = n - 1; i >= 0; i--) {
    end[i] = Math.max(end[i], i + 1);
    if (i === 0) break;
    end[parent[i]] = Math.max(end[parent[i]], end[i]);
  }
  return { n, parent, end, children, self: tree.self, label: tree.label, frame: tree.frame };
}

const trees = data.trees.map(readTree);
const partner = Int32Array.from(data.partner);
const back = new Int32Array(trees[1].n).fill(-1);
partner.forEach((w, v) => { if (w >= 0) back[w] = v; });

const classOf = (side, node) => data.labels.class[trees[side].label[node]];
const libraryOf = (side, node) => data.strings[data.labels.dso[trees[side].label[node]]];
const frameOf = (side, node) => data.strings[trees[side].frame[node]];
const nameOf = (side, node) => node === 0 ? data.names[side] : data.strings[data.labels.name[trees[side].label[node]]];
