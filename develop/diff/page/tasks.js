// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of the comparison; their match is enum task_match of develop/diff/comparison.h.
const TASKS = data.tasks.match.length;
const ONLY_A = 1, ONLY_B = 2, POSSIBLE = 3;

const tasks = [];
for (let i = 0; i < TASKS; i++) {
  const task = { at: i };
  for (const [key, values] of Object.entries(data.tasks)) task[key] = values[i];
  task.nodes = [task.a_node, task.b_node];
  task.side = task.a_node >= 0 ? 0 : 1;
  const node = task.nodes[task.side];
  const above = trees[task.side].parent[node];
  task.name = nameOf(task.side, node);
  task.dso = libraryOf(task.side, node);
  task.from = above > 0 ? nameOf(task.side, above) : data.programs[task.side];
  if (task.a_node >= 0 && task.b_node >= 0 && nameOf(1, task.b_node) !== task.name) task.other = nameOf(1, task.b_node);
  task.text = [task.name, task.other, task.from, task.dso].join("\n").toLowerCase();
  task.rank = task.a_value >= task.b_value ? task.plain_rank_a : task.plain_rank_b;
  tasks.push(task);
}

// Both sides of a task, on the scale of all tasks that are chosen: bars, with their intervals as lines.
function valueBars(task, most) {
  const shapes = [];
  ["a", "b"].forEach((side, i) => {
    const y = 3 + 10 * i, x = (value) => Math.min(100, 100 * value / most);
    if (task.nodes[i] < 0) return;
    shapes.push(["rect", { x: 0, y, width: x(task[side + "_value"]), height: 7, class: "side-" + side }],
      ["line", { x1: x(task[side + "_low"]), x2: x(task[side + "_high"]), y1: y + 3.5, y2: y + 3.5, class: "ci" }]);
  });
  return drawing(100, 23, null, ...shapes);
}

// A difference: its interval as a line, and where 0 is.
function differenceBar(task, most) {
  const x = (value) => 50 + 49 * Math.max(-1, Math.min(1, value / most));
  const side = task.difference > 0 ? "a" : "b", end = x(task.difference);
  return drawing(100, 23, null,
    ["line", { x1: 50, x2: 50, y1: 0, y2: 23, class: "zero" }],
    ["rect", { x: Math.min(50, end), y: 7, width: Math.abs(end - 50), height: 9, class: "side-" + side }],
    ["line", { x1: x(task.difference_low), x2: x(task.difference_high), y1: 11.5, y2: 11.5, class: "ci" }]);
}

const callsKnown = tasks.some((task) => task.a_calls !== null || task.b_calls !== null);
