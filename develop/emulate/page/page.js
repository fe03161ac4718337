// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// An emulated run: power and radio over time, and what it would have taken under other conditions. Only what moves no event in
// time can be changed here, so each answer is the sum of recorded amounts.

const sum = (list) => list.reduce((whole, part) => whole + part, 0);
const wish = { brightness: data.brightness, signal: data.signal, battery: data.battery_mwh, target: 0, carrier: 0 };
let now = data; // the amounts of the chosen target and carrier

// Joules of each part of the run by component, under what is wished. Brightness changes all parts of the display alike.
function seriesOf() {
  const series = { ...now.series };
  if (series.display) {
    const then = now.display_j[Math.round(data.brightness)];
    const part = then > 0 ? now.display_j[Math.round(wish.brightness)] / then : 0;
    series.display = then > 0 ? series.display.map((joules) => joules * part)
      : series.display.map(() => now.display_j[Math.round(wish.brightness)] / series.display.length);
  }
  if (now.air[wish.signal]) series[now.air_name] = now.air[wish.signal];
  return series;
}

function showAnswer(series) {
  const parts = Object.entries(series).map(([name, list]) => [name, sum(list)]);
  const joules = sum(parts.map(([, value]) => value));
  const hours = wish.battery * 3.6 * data.wall_s / 3600 / joules;
  byId("answer").textContent = format(words.answer, joules, joules * now.low, joules * now.high,
    joules / data.wall_s * 1e3, hours, hours / now.high, hours / now.low);
  byId("parts").replaceChildren(...parts.map(([name, value]) => element("tr", {},
    element("th", { scope: "row" }, element("span", { class: "key part " + name }), words[name] || name),
    element("td", {}, value.toFixed(2) + " J"), element("td", {}, (value / data.wall_s * 1e3).toFixed(0) + " mW"),
    element("td", {}, (value / joules * 100).toFixed(0) + " %"))));
}

function stacked(lists, classes, most, height) {
  const shapes = [], n = lists[0] ? lists[0].length : 1;
  for (let i = 0; i < n; i++) {
    let below = 0;
    lists.forEach((list, k) => {
      const part = list[i] / most * height;
      if (part > 0.05) shapes.push(["rect", { class: classes[k], x: 1000 * i / n, width: 1000 / n + 0.5, y: height - below - part,
        height: part }]);
      below += part;
    });
  }
  return shapes;
}

function axis() {
  return element("div", { class: "axis-s", "aria-hidden": "true" },
    ...[0, 0.25, 0.5, 0.75, 1].map((part) => element("span", {}, (data.wall_s * part).toPrecision(3) + " s")));
}

function showPower(series) {
  const names = Object.keys(series), lists = Object.values(series), n = data.parts;
  const most = Math.max(...Array.from({ length: n }, (_, i) => sum(lists.map((list) => list[i]))), 1e-9);
  byId("power").replaceChildren(
    element("h3", {}, words.power + " ", element("small", {}, format(words.up_to, most / data.wall_s * n * 1e3))),
    drawing(1000, 200, words.power, ...stacked(lists, names.map((name) => "part " + name), most, 200)), axis());
}

function showRadio() {
  const used = now.states.filter(([, list]) => sum(list) > 0);
  const classes = used.map((_, i) => ["base", "c1", "c2", "c3", "c4", "c6", "c7"][i % 7]);
  const bytes = Math.max(...data.sent, ...data.received, 1);
  byId("radio").replaceChildren(...(used.length ? [
    element("h3", {}, words.states),
    drawing(1000, 36, words.states, ...stacked(used.map(([, list]) => list), classes, data.wall_s / data.parts, 36)),
    element("ul", { class: "legend" }, ...used.map(([name, list], i) => element("li", {},
      element("span", { class: "key " + classes[i] }), named(name), ` ${sum(list).toFixed(2)} s`))),
  ] : []), ...(sum(data.sent) + sum(data.received) ? [
    element("h3", {}, words.received + " ", element("small", {}, (sum(data.received) / 1e3).toFixed(1) + " kB")),
    drawing(1000, 44, words.received, ...stacked([data.received], ["c1"], bytes, 44)),
    element("h3", {}, words.sent + " ", element("small", {}, (sum(data.sent) / 1e3).toFixed(1) + " kB")),
    drawing(1000, 44, words.sent, ...stacked([data.sent], ["c6"], bytes, 44)), axis(),
  ] : [element("p", { class: "note" }, words.no_packets)]));
}

function show() {
  const series = seriesOf();
  byId("brightness-value").textContent = wish.brightness + " %";
  byId("moved").textContent = wish.target || wish.carrier ? words.moved : "";
  showAnswer(series);
  showPower(series);
}

function carriersOf() {
  return data.targets[wish.target].carriers.map(({ carrier }, i) =>
    element("option", { value: i, selected: i === wish.carrier }, carrier || words.usual));
}

// Another target or carrier: its amounts take the place of the run's own.
function choose(target, carrier) {
  const other = data.targets[target];
  if (target !== wish.target) {
    wish.battery = Math.round(other.battery_mwh);
    byId("battery").value = wish.battery;
  }
  wish.target = target;
  wish.carrier = carrier;
  now = { ...data, ...other, ...other.carriers[carrier] };
  byId("carrier").replaceChildren(...carriersOf());
  show();
  showRadio();
}

function change(key, value) {
  if (Number.isNaN(value) || (key === "battery" && !(value > 0))) return;
  wish[key] = value;
  show();
}

byId("what").replaceChildren(
  element("label", {}, words.brightness + " ", element("output", { id: "brightness-value" }), element("input", { type: "range",
    min: 0, max: 100, value: wish.brightness, disabled: !data.series.display,
    oninput: (event) => change("brightness", Number(event.target.value)) })),
  element("label", {}, words.signal, element("select", { disabled: Object.keys(data.air).length < 2,
    onchange: (event) => change("signal", event.target.value) }, ...Object.keys(data.air).map((name) =>
    element("option", { value: name, selected: name === wish.signal }, words[name])))),
  element("label", {}, words.target, element("select", { id: "target",
    onchange: (event) => choose(Number(event.target.value), 0) }, ...data.targets.map(({ target }, i) =>
    element("option", { value: i }, target)))),
  element("label", {}, words.carrier, element("select", { id: "carrier",
    onchange: (event) => choose(wish.target, Number(event.target.value)) }, ...carriersOf())),
  element("label", {}, words.battery, element("input", { id: "battery", type: "number", min: 1, step: 1,
    value: Math.round(wish.battery), oninput: (event) => change("battery", Number(event.target.value)) })));
show();
showRadio();
