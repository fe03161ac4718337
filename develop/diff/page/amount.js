// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later
// Values with their units, as answer_amount() in develop/diff/answer-table.c prints them.
const SCALES = {
  nJ: [[1e9, "J"], [1e6, "mJ"], [1e3, "uJ"]],
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "us"]],
  bytes: [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]],
}[data.unit] || [];

// That in which a value of this size is short: [factor, unit].
function scaleOf(value) {
  const plain = [1, data.unit === "samples" || data.unit === "calls" ? "" : data.unit];
  return SCALES.find(([factor]) => Math.abs(value) >= factor) || plain;
}

// Three digits; those before the point are all there, up to a million.
function rounded(value) {
  if (Math.abs(value) >= 99.95 && Math.abs(value) < 1e6) return value.toFixed(0);
  const [mantissa, exponent] = value.toExponential(2).split("e");
  const strip = (text) => text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  if (exponent < -4 || exponent > 2)
    return strip(mantissa) + "e" + exponent[0] + exponent.slice(1).padStart(2, "0");
  return strip(value.toFixed(Math.max(0, 2 - exponent)));
}

const withUnit = (text, unit) => unit ? text + "\u00a0" + unit : text;

function amount(value) {
  const [factor, unit] = scaleOf(value);
  return withUnit(rounded(value / factor), unit);
}

function bounds(low, high) {
  if (high === null) return words.unknown;
  const [factor, unit] = scaleOf(Math.max(Math.abs(low), Math.abs(high)));
  return withUnit(rounded(low / factor) + " .. " + rounded(high / factor), unit);
}
