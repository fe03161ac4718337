#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of ./quickstart: joulecast's JSON answers beside the true values of a virtual device.

Usage: tour.py learned TRUTH.ini PROFILE.ini... -- PROGRESS.json...
       tour.py cost TRUTH.json METHOD=COST.json...
       tour.py play SCENARIO.ini APP MINUTES                    (prints the scenario of a future)
       tour.py airport SCENARIO.ini APP MINUTES CALLER          (play, three hours of standby, a call of ten minutes)
       tour.py predicted PREDICT.json TRUTH.json
       tour.py budgeted BUDGET.json TRUTH.json
       tour.py get FILE.json KEY...                             (one value)
"""
import configparser
import json
import math
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def last_line(path):
    with open(path, encoding="utf-8") as file:
        return json.loads([line for line in file if line.strip()][-1])


def read_ini(path):
    ini = configparser.ConfigParser(delimiters=("=",), inline_comment_prefixes=(" ;", ";"), interpolation=None,
                                    default_section="", comment_prefixes=(";", "#"))
    ini.optionxform = str
    ini.read(path, encoding="utf-8")
    return ini


def number(value, digits=3):
    """With three significant digits."""
    if value is None or not math.isfinite(value):
        return "unknown"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"


def table(head, rows, left=1):
    """Aligned columns; the first `left` are text."""
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        cells = [cell.ljust(width) if i < left else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print("   ".join(cells).rstrip())


# ---- what calibration learned ----------------------------------------------------------------------------------------

class Profile:
    def __init__(self, path):
        self.ini = read_ini(path)
        self.fit = self.ini["fit"] if self.ini.has_section("fit") else {}

    def coefficient(self, key):
        """"cpu.0.active_mw.384000" -> (value, standard error), None if not measured."""
        section, name = key.split(".", 1)
        if section in ("cpu", "disk") and name.split(".")[0] in [s.split()[1] for s in self.ini.sections() if " " in s]:
            instance, name = name.split(".", 1)
            section = f"{section} {instance}"
        if not self.ini.has_option(section, name):
            return None
        words = self.ini.get(section, name).split()
        return float(words[0]), float(words[1]) if len(words) > 1 else math.nan

    def covariance(self, a, b):
        for pair in (f"{a},{b}", f"{b},{a}"):
            if self.ini.has_option("covariance", pair):
                return float(self.ini.get("covariance", pair))
        return 0.0

    def sum(self, weights):
        """A weighted sum of coefficients of one component with its 95 % half-width; see joulecast-profile(5),
        INTERVALS."""
        if any(self.coefficient(key) is None for key in weights):
            return math.nan, math.nan
        value = sum(weight * self.coefficient(key)[0] for key, weight in weights.items())
        variance = sum((weight * self.coefficient(key)[1]) ** 2 for key, weight in weights.items())
        keys = list(weights)
        variance += sum(2 * weights[a] * weights[b] * self.covariance(a, b)
                        for i, a in enumerate(keys) for b in keys[i + 1:])
        percents = [float(self.fit.get(key, "nan")) for key in ("scale_percent", "discrepancy_percent")]
        variance += sum((percent / 100 * value) ** 2 for percent in percents)
        degrees = float(self.fit.get("degrees_of_freedom", "nan"))
        z = 1.959964
        t = z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2)
        return value, t * math.sqrt(max(variance, 0))


def show(pair):
    value, half_width = pair
    if not math.isfinite(value):
        return "not measured"
    if not math.isfinite(half_width):
        return number(value)
    decimals = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{decimals}f} ± {half_width:.{decimals}f}"


def mean_unseen_mw(truth):
    """Mean power of daemons and spikes, which no counter shows: a calibration finds it in the base."""
    get = lambda key: float(truth.ini.get("virtual", key, fallback="0"))
    return get("background_mw") + get("spike_mw") * get("spike_s") * get("spike_per_h") / 3600


def learned(truth_path, profile_paths, progress_paths):
    truth, profiles = Profile(truth_path), [Profile(path) for path in profile_paths]
    done = [last_line(path) for path in progress_paths]
    methods = [profile.ini.get("profile", "method", fallback="?") for profile in profiles]
    table(["", *(f"by {method}" for method in methods)], [
        ["battery used", *(f"{one['battery_percent_used']:.1f} %" for one in done)],
        ["time it takes", *(f"{one['hours']:.1f} h" for one in done)],
        ["observations", *(one["observations"] for one in done)],
        ["validated on states not used in the fit", *("yes" if one["validated"] else "no" for one in done)],
    ])
    print()
    # All cores together cost a little less than the sum of each: sub-additivity.
    cut = float(truth.ini.get("virtual", "sub_additivity_percent", fallback="0")) / 100
    khz = sorted(int(key.split(".")[1]) for key in truth.ini["cpu 0"] if key.startswith("active_mw."))
    middle = khz[len(khz) // 2]
    levels = sorted(int(key.split(".")[1]) for key in truth.ini["display"] if key.startswith("power_mw."))
    bright = levels[-1]
    rows = []
    for words, unit, weights in (
            ("awake and idle", "mW", {"base.power_mw": 1}),
            (f"one core at {middle // 1000} MHz", "mW",
             {f"cpu.0.active_mw.{middle}": 1, f"cpu.0.shared_mw.{middle}": 1}),
            (f"four cores at {middle // 1000} MHz", "mW",
             {f"cpu.0.active_mw.{middle}": 4, f"cpu.0.shared_mw.{middle}": 1}),
            ("display at full brightness", "mW", {f"display.power_mw.{bright}": 1}),
            ("writing to the disk", "mJ/MB", {"disk.write_mj_per_mb": 1}),
            ("receiving over WiFi", "mJ/MB", {"wifi.rx_mj_per_mb": 1})):
        real = truth.sum(weights)[0]
        if "base.power_mw" in weights:
            real += mean_unseen_mw(truth)
        if words.startswith("four"):
            real -= 4 * cut * truth.coefficient(f"cpu.0.active_mw.{middle}")[0]
        rows.append([words, unit, number(real), *(show(profile.sum(weights)) for profile in profiles)])
    table(["what it learned", "", "truth", *(f"by {method}" for method in methods)], rows, left=2)


# ---- what apps cost --------------------------------------------------------------------------------------------------

def held(estimate, real):
    """"4241 ± 168", and whether the interval contains the true value."""
    if estimate["value"] is None:
        return "unknown", ""
    if estimate["low"] is None:
        return number(estimate["value"]), ""
    half_width = (estimate["high"] - estimate["low"]) / 2
    return show((estimate["value"], half_width)), "inside" if estimate["low"] <= real <= estimate["high"] else "outside"


def cost(truth_path, labelled_paths):
    truth, labels = load(truth_path), [path.split("=")[0] for path in labelled_paths]
    costs = [load(path.split("=")[1]) for path in labelled_paths]
    names = sorted(truth["apps"], key=truth["apps"].get, reverse=True)
    rows = []
    for name in [*names, "base", "total"]:
        real = truth["apps"].get(name)
        if name == "total":
            real = truth["total_j"]
        elif real is None:
            real = truth["base_j"]
        row = [name, number(real)]
        for one in costs:
            if name == "total":
                found = one["total"]["energy_j"]
            elif name not in truth["apps"]:
                base = one["base"]["energy_j"]
                found = base if isinstance(base, dict) else {"value": base, "low": None, "high": None}
            else:
                found = next((app["energy_j"] for app in one["apps"] if f"{app['app']}/{app['state']}" == name),
                             {"value": None, "low": None, "high": None})
            row += held(found, real)
        rows.append(row)
    head = ["energy in J (95 % CI)", "true"]
    for label in labels:
        head += [f"by {label}", ""]
    table(head, rows)


# ---- the future ------------------------------------------------------------------------------------------------------

def segments(path, app):
    ini = read_ini(path)
    return dict(ini["scenario"]), [dict(ini[name]) for name in ini.sections()
                                   if name.startswith("segment") and ini[name]["app"] == app]


def print_scenario(settings, parts):
    print("[scenario]")
    for key, value in settings.items():
        print(f"{key} = {value}")
    for n, (part, state, start_s, length_s) in enumerate(parts, 1):
        print(f"[segment {n}]")
        for key, value in {**part, "state": state, "start_s": f"{start_s:g}", "length_s": f"{length_s:g}"}.items():
            print(f"{key} = {value}")


def background(path, start_s, length_s):
    """Apps that were in the background all the time."""
    ini = read_ini(path)
    parts = [dict(ini[name]) for name in ini.sections() if name.startswith("segment")]
    end_s = max(float(part["start_s"]) + float(part["length_s"]) for part in parts)
    return [(part, "background", start_s, length_s) for part in parts
            if part["state"] == "background" and float(part["length_s"]) > 0.9 * end_s]


def sessions(path, app, start_s, length_s):
    """The app's sessions of the recorded scenario in turn, for that length."""
    known, parts, at = segments(path, app)[1], [], start_s
    while at < start_s + length_s - 0.001:
        part = known[len(parts) % len(known)]
        span_s = min(float(part["length_s"]), start_s + length_s - at)
        parts.append((part, "foreground", at, span_s))
        at += span_s
    return parts


def play(path, app, minutes):
    print_scenario(segments(path, app)[0], sessions(path, app, 0, 60 * minutes) + background(path, 0, 60 * minutes))


def airport(path, app, minutes, caller):
    minutes = math.floor(minutes)
    call_s = 60 * minutes + 3 * 3600
    print_scenario(segments(path, app)[0], sessions(path, app, 0, 60 * minutes) + sessions(path, caller, call_s, 600) +
                   background(path, 0, call_s + 600))


def predicted(answer_path, truth_path):
    answer, truth = load(answer_path), load(truth_path)
    real = truth["percent_start"] - truth["percent_end"]
    app = truth["apps"].get(f"{answer['app']}/foreground", math.nan)
    rows = []
    for words, unit, estimate, happened in (
            ("the whole device", "% of battery", answer["device_percent"], real),
            (f"{answer['app']} alone", "J", answer["energy_j"], app)):
        rows.append([words, unit, *held(estimate, happened), number(happened)])
    table(["90 % prediction interval", "", "predicted", "", "true"], rows, left=2)


def budgeted(answer_path, truth_path):
    answer, truth = load(answer_path), load(truth_path)
    end = truth["percent_end"]
    sure, likely = (math.floor(answer["minutes"][key]) for key in ("low", "value"))
    print(f"Then the game runs for the {sure} minutes of the lower bound (expected: {likely}), three hours\n"
          "of standby follow, and the call is made:")
    print(f"{end:.1f} % of the battery are left." if end > 0.05 else
          "the battery is empty before its end. That is the one case in twenty.")


def get(path, *keys):
    value = load(path)
    for key in keys:
        value = value[int(key) if isinstance(value, list) else key]
    print(value)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    command, rest = arguments[0], arguments[1:]
    if command == "learned":
        split = rest.index("--")
        learned(rest[0], rest[1:split], rest[split + 1:])
    elif command == "cost":
        cost(rest[0], rest[1:])
    elif command == "play":
        play(rest[0], rest[1], float(rest[2]))
    elif command == "airport":
        airport(rest[0], rest[1], float(rest[2]), rest[3])
    elif command == "predicted":
        predicted(*rest)
    elif command == "budgeted":
        budgeted(*rest)
    elif command == "get":
        get(*rest)
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
