# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""AndroWatts: 1,000 tests of 31 s on a Pixel 8, with its battery's current and its power rails. The data have one
number for frequency and time of a cluster, so all CPU time counts as at the highest frequency. The screen is never
off."""
import csv
import math
import random

import trace

SECONDS = 30.0
CLUSTERS = (  # policy, column, frequency without load, highest, cores
    (0, "CPU_LITTLE_FREQ_KHz", 324000, 1704000, 4),
    (4, "CPU_MID_FREQ_KHz", 402000, 2367000, 4),
    (8, "CPU_BIG_FREQ_KHz", 500000, 2914000, 1),
)
RAILS = {
    "cpu": ("CPU_BIG", "CPU_MID", "CPU_LITTLE", "S9M_VDD_CPUCL0_M"),
    "display": ("Display", "L22M_DISP"),
    "gpu": ("GPU", "GPU3D"),
    "wifi": ("WLANBT",),
}
COLOURS = (("red", "RougeMesuré"), ("green", "VertMesuré"), ("blue", "BleuMesuré"))
FULL_MWH = 17800
CHARGE = (0, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
CELL_MV = (3300, 3520, 3620, 3690, 3730, 3760, 3800, 3860, 3930, 4010, 4090, 4190)


def volts(percent):
    """By a curve of a usual cell, scaled to 4.4 V."""
    for i in range(1, len(CHARGE)):
        if percent <= CHARGE[i]:
            part = (percent - CHARGE[i - 1]) / (CHARGE[i] - CHARGE[i - 1])
            return (CELL_MV[i - 1] + part * (CELL_MV[i] - CELL_MV[i - 1])) / CELL_MV[-1] * 4.4
    return 4.4


def test(row):
    """A span, or None where a number is missing or out of range."""
    columns = {"gpu_busy_ns": round(min(float(row["GPU0_FREQ"]) / 890000, 1) * SECONDS * trace.NS),
               "wifi_rx_bytes": round(float(row["TOTAL_DATA_WIFI_BYTES"])),
               f"screen.{round(float(row['Brightness']))}": round(SECONDS * trace.NS)}
    for policy, name, low, high, cores in CLUSTERS:
        try:
            busy = (float(row[name]) - low) / (high - low) * SECONDS
        except ValueError:
            return None
        if not 0 < busy <= cores * SECONDS * 1.02:
            return None
        busy = min(busy, cores * SECONDS)
        columns.update(trace.cpu(policy, high, busy, SECONDS * (1 - (1 - busy / cores / SECONDS) ** cores)))
    span = {"elapsed_s": SECONDS, "owners": [(f"gpu{int(float(row['GPU0_FREQ']) > 560000)}", "foreground", columns)]}
    span.update((f"screen_{word}", round((float(row[name]) / 255) ** 2.2, 4)) for word, name in COLOURS)
    span["power_mw"] = round(float(row["BATTERY_DISCHARGE_RATE_UAS"]) / 1000 * volts(float(row["BATTERY__PERCENT"])), 3)
    for word, names in RAILS.items():
        joules = sum(float(row[name + "_ENERGY_AVG_UWS"]) for name in names) / 1e6 * SECONDS
        span[f"rail.{word}_j"] = round(joules, 6)
    return span


CLASS_POINTS = (35, 65, 100)


def class_profile(classes):
    """The usual phone of data/profiles/class-phone.ini with this one's clusters and battery. Its screen is never off:
    the base has the WiFi's "on" and the dimmest level."""
    keys, section = {}, ""
    with open(classes, encoding="utf-8") as file:
        for line in file:
            if line.startswith("["):
                section = line.strip(" []\n")
            elif " = " in line and not line.startswith(";"):
                key, value = line.split(" = ")
                keys[section, key] = value.split()

    def between(section, word, at):
        points = sorted((int(key[len(word) + 1:]), [float(x) for x in value]) for (name, key), value in keys.items()
                        if name == section and key.startswith(word + "."))
        for (low, a), (high, b) in zip(points, points[1:]):
            if at <= high:
                part = (at - low) / (high - low)
                return [x + part * (y - x) for x, y in zip(a, b)]
        return points[-1][1]

    dim = between("display", "power_mw", 5)
    base = [float(x) for x in keys["base", "power_mw"]]
    lines = ["[profile]", "version = 1", "device = class-phone", "method = class", "[fit]", "degrees_of_freedom = 30",
             "scale_percent = 5", "[battery]", f"energy_full_mwh = {FULL_MWH}", "[base]",
             f"power_mw = {base[0] + 25 + dim[0]:.1f} {math.hypot(base[1], dim[1]):.1f}"]
    for policy, _, _, high, _ in CLUSTERS:
        lines += [f"[cpu {policy}]"] + [f"{word}_mw.{high} = {value:.1f} {error:.1f}" for word in ("active", "shared")
                                        for value, error in [between("cpu 0", f"{word}_mw", high)]]
    lines += ["[display]", "max_brightness = 100"]
    lines += [f"power_mw.{point} = {value - dim[0]:.1f} {0.6 * error:.1f}" for point in CLASS_POINTS
              for value, error in [between("display", "power_mw", point)]]
    lines += ["[wifi]", "rx_mj_per_mb = " + " ".join(keys["wifi", "rx_mj_per_mb"]),
              "[gpu]", "active_mw = " + " ".join(keys["gpu", "active_mw"])]
    return "\n".join(lines) + "\n"


def read(folder):
    """All usable tests, in a random order that is always the same."""
    with open(f"{folder}/androwatts/aggregated.csv", encoding="utf-8") as file:
        spans = [test(row) for row in csv.DictReader(file)]
    spans = [span for span in spans if span]
    random.Random(7).shuffle(spans)
    return spans
